"""`RecordFacts`: what is known of the record of one process as a whole."""

from typing import Any, NamedTuple

from trio_debugmcp.masking.mask import masked

_ENDS = {1: "ended", 2: "no room on the disk", 3: "an error of the recorder"}


class RecordFacts(NamedTuple):
    """What is known of the record as a whole; `began`: in seconds since 1970, 0 if that is not known."""

    pid: int
    began: float
    argv: tuple[str, ...]
    python: str
    root: str
    parent: tuple[int, int] | None
    ended: str | None
    faults: int
    first_fault: str
    dropped: int


def record_facts(facts: list[dict[str, Any]], state: int, dropped: int) -> RecordFacts:
    """Return them from what the process wrote, the state of its rows, and how many of these were dropped."""
    merged: dict[str, Any] = {}
    for fact in facts:
        if not {"code", "library", "site", "source"} & set(fact):
            merged |= fact
    parent = merged.get("parent")
    return RecordFacts(
        pid=int(merged.get("pid", 0)),
        began=float(merged.get("time", 0)),
        argv=tuple([masked(str(word)) for word in merged.get("argv") or ()]),
        python=str(merged.get("python", "")),
        root=str(merged.get("root", "")),
        parent=(int(parent[0]), int(parent[1])) if parent else None,
        ended=merged.get("ended") or _ENDS.get(state),
        faults=int(merged.get("faults", 0)),
        first_fault=str(merged.get("first", "")) if merged.get("faults") else "",
        dropped=dropped,
    )
