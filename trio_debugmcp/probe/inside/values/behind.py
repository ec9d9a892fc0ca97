"""What lies behind the cut: a digest for each value of which the text shows a part only.

    add_digests([("text", "a" * 1000000)], listed)    # listed[0]["digest"] is another one after text += "b"

So a change is seen that the text does not show. No code of the program runs, and the time is bounded for all values of
a stop: one that is too large for it has none.
"""

import time
from typing import Any, List, Tuple

from trio_debugmcp.probe.inside.bounds import patient
from trio_debugmcp.probe.inside.values.digests import Digests
from trio_debugmcp.probe.inside.visible_frames import Json

SECONDS = 0.01
"""For all values of a stop, which a step waits for. Mostly they take a fraction of a millisecond."""

MOST_STEPS = 2000
"""Values that are visited for one digest, which take about two milliseconds."""

_BEGINNINGS = ("<int of ", "DataFrame(", "<no ")


def add_digests(pairs: List[Tuple[str, Any]], listed: List[Json]) -> None:
    """Put digests into the entries of these variables, in the same order, as far as there is time."""
    end = time.monotonic() + patient(SECONDS)
    for (_, value), entry in zip(pairs, listed):
        if not _is_part(entry["value"]):
            continue
        if time.monotonic() >= end:
            return
        digest, _ = Digests(end, MOST_STEPS).of(value)
        if digest:
            entry["digest"] = digest


def _is_part(text: str) -> bool:
    """Whether the text of a value shows a part only. A string of the program that looks like one costs a digest."""
    if "…" in text or "(...)" in text or text.startswith(_BEGINNINGS):
        return True
    before, shape, _ = text.partition("shape=")
    if shape and not (before[-1:].isalnum() or before[-1:] == "_"):
        return True
    before, *counted = text.split(" item")
    for after in counted:  # `3 items]`, and the other brackets
        if before[-1:].isdecimal() and after[1 if after[:1] == "s" else 0 :][:1] in tuple("])}>"):
            return True
        before = after
    return False
