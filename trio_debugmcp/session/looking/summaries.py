"""Summaries of collections of a paused program: by the probe, or of the children that an adapter knows.

    summary = await session.looking.values.summary(FramePlace(1), VariablesQuestion(path="prices", count=5))
    summary.count, summary.numeric["mean"]

Nothing is said of a value that is not a collection, but what it is.
"""

import logging
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial

import trio
from msgspec import field
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import ProbeAnswer
from trio_debugmcp.probe.inside.values.facts import even
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import evaluate
from trio_debugmcp.session.looking.by_adapter.composites import ADAPTER_SECONDS, children
from trio_debugmcp.session.looking.from_outside.silence import no_collection
from trio_debugmcp.session.looking.variables import FramePlace, VariablesQuestion
from trio_debugmcp.session.looking.ways import Ways, without_code_first
from trio_debugmcp.state.payloads import shortened

log = logging.getLogger(__name__)

_NUMBER = re.compile(r"-?\d+(\.\d*)?([eE][-+]?\d+)?")

_NULLS = frozenset({"null", "nil", "None", "undefined", "nullptr", "NaN", "nan"})


Number = int | float | str
"""Text where it is too large for a number of JSON."""


class Summary(ProbeAnswer, frozen=True):
    """The answer to `summarize`: what a collection holds, as far as `sampled` items tell, if not all were looked at."""

    count: int
    kind: str
    shape: tuple[int, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
    key_types: dict[str, int] = field(default_factory=dict)
    element_types: dict[str, int] = field(default_factory=dict)
    null_count: int = 0
    numeric: dict[str, Number] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    sampled: int = 0
    notes: tuple[str, ...] = ()
    withheld: bool = False
    """Whether an item lacks what only code of the program knows, which was not to be run."""


async def by_probe(ways: Ways, place: FramePlace, question: VariablesQuestion) -> Summary:
    """Ask the probe; see `without_code_first`."""
    found, failure = await without_code_first(
        partial(ways.probe.ask, "summarize", Summary, **question.at(place, "path", "count", "limit")),
        lambda found: found.withheld,
        again=ways.profile.expressions.is_path(question.path or ""),
    )
    if failure is None:
        return found
    log.info("summarizing: %s", failure.text)
    return replace(found, notes=(*found.notes, "a repr of the program's took too long: the items are without"))


# --- By the adapter ---------------------------------------------------------------------------------------------------


async def by_adapter(ways: Ways, place: FramePlace, question: VariablesQuestion) -> Summary:
    """Ask the adapter for all items, within bounds."""
    requests, profile, path = ways.requests, ways.profile, question.path or ""
    frame = await ways.frames.find(ways.snapshot, place.thread_id, place.index)
    seconds = requests.patience.seconds(ADAPTER_SECONDS)
    value = await evaluate(requests, frame, path, seconds)
    found: list[DapVariable] | None = None
    with trio.move_on_after(seconds):
        found = await children(requests, value.reference, value.type)
    if found is None:
        raise UsageError(
            "TIMEOUT",
            f"{profile.name} did not list `{shortened(path)}` within {seconds:g} s. Look at a part of it with "
            "variables_get.",
            {"adapter": profile.name},
        )
    if not value.reference:
        raise no_collection(f"`{shortened(path)}`", value.type or shortened(value.value))
    items = profile.values.items_of(value.value, found)
    return summary_of(value.type or "?", items, question.count, profile.habits.unlisted_in(value.value))


def summary_of(kind: str, found: Sequence[DapVariable], most: int, unlisted: int) -> Summary:
    """Return the summary of the children that an adapter has listed; so many more are `unlisted`."""
    total = len(found)
    sample = [found[index] for index in even(total)]
    types = Counter(child.type or "?" for child in sample)
    nulls = sum(child.value in _NULLS for child in sample)
    shown = [_text(child) for child in found[:most]]
    return Summary(
        count=total + unlisted,
        kind=kind,
        element_types=dict(sorted(types.items(), key=lambda pair: (-pair[1], pair[0]))[:10]),
        null_count=nulls,
        numeric=_numeric([float(child.value) for child in sample if _NUMBER.fullmatch(child.value)]),
        first=tuple(shown),
        last=() if unlisted else tuple(_text(child) for child in found[max(most, total - most) :]),
        sampled=len(sample) if len(sample) < total + unlisted else 0,
    )


def _text(variable: DapVariable) -> str:
    value = shortened(variable.value)
    return value if re.fullmatch(r"\[?\d+\]?", variable.name) else f"{variable.name}: {value}"


def _numeric(numbers: list[float]) -> dict[str, Number]:
    if not numbers:
        return {}
    statistics = {"min": min(numbers), "max": max(numbers), "mean": sum(sorted(numbers)) / len(numbers)}
    return {
        name: int(number) if number.is_integer() else number
        for name, number in statistics.items()
        if abs(number) < 1e300
    }
