"""Steps through the past of a program that is stopped, and is recorded: back, forth, and from breakpoint to breakpoint.

    walk = walked(record, RunWalk(mode="back", stack=[("/src/shop.py", 12)]))
    walk.moment                 # the moment before; None: that is the present again
    walk.notes                  # what is to be said of the way

Nothing is undone: the program is where it was.
"""

from typing import Literal

import msgspec

from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.histories.recorded_hits import LineBreakpoint, hit_after, hit_before
from trio_debugmcp.runs.past.moment_values import NoValueError, value_at_moment
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.present_moments import (
    PresentMoment,
    StackPlace,
    present_moment,
    stepped_back,
    stepped_forth,
)
from trio_debugmcp.runs.past.run_moves import first_line, moment_at
from trio_debugmcp.runs.shown_moments import RunMoment

WalkMode = Literal["here", "back", "over", "in", "out", "reverse", "continue"]


class NoWalkError(Exception):
    """A step that the record has nothing for, and what can be done instead."""


class RunWalk(msgspec.Struct, frozen=True, kw_only=True):
    """A way through the past.

    Attributes:
        mode: `over`, `in`, `out` and `continue` go forth, `back` and `reverse` back; `here` stays.
        at: the LINE row where it begins; 0: the present.
        stack: of the present, the innermost frame first; empty: the run is over.
        count: how many steps.
        breakpoints: at which `reverse` and `continue` stop.
        show: names and paths whose values are wanted.
    """

    mode: WalkMode
    at: int = 0
    count: int = 1
    stack: list[StackPlace] = []
    breakpoints: list[LineBreakpoint] = []
    show: list[str] = []


class WalkedMoment(msgspec.Struct, frozen=True):
    """Where a way has led to.

    Attributes:
        moment: None: to the present.
        hits: the breakpoints that were hit there.
        is_first: the record begins there, so that the way ended.
        show: values, or why there is none.
        notes: what was passed over, or is missing.
    """

    moment: RunMoment | None
    hits: list[str] = []
    is_first: bool = False
    show: dict[str, str] = {}
    notes: list[str] = []


def walked(record: ProcessRecord, walk: RunWalk) -> WalkedMoment:
    """Return where a way leads to.

    Raises:
        NoWalkError: nothing of this thread is recorded.
    """
    past = PastProcess(record)
    present = present_moment(past, walk.stack)
    if present is None:
        raise NoWalkError("no line that this thread has come through is recorded")
    hits: list[str] = []
    notes: list[str] = []
    if walk.mode in ("reverse", "continue"):
        line, hits, notes = _run(past, present, walk)
    else:
        line, notes = _stepped(record, present, walk)
    if not line and walk.mode not in ("back", "reverse"):
        return WalkedMoment(None, notes=notes)
    is_first = not line
    line = line or _beginning(record, present, walk)
    if is_first:
        notes = [_first_note(record, walk, is_sure=not notes), *notes]
    moment = moment_at(past, line)
    return WalkedMoment(moment, hits, is_first, {name: _value(past, line, name) for name in walk.show}, notes)


def _stepped(record: ProcessRecord, present: PresentMoment, walk: RunWalk) -> tuple[int, list[str]]:
    """Return the LINE row that some steps lead to, and what is to be said of it."""
    line = walk.at
    if walk.mode == "here":
        return line or present.line, []
    for step in range(walk.count):
        is_back = walk.mode == "back"
        found = stepped_back(record, present, line) if is_back else stepped_forth(record, present, line, walk.mode)
        if not found:
            if walk.count > 1:
                return 0, [f"{step} of {walk.count} steps"]
            return 0, []
        line = found
    return line, []


def _run(past: PastProcess, present: PresentMoment, walk: RunWalk) -> tuple[int, list[str], list[str]]:
    """Return the LINE row of the next breakpoint on the way, which these are, and what was passed over."""
    if walk.mode == "reverse":
        found = hit_before(past, walk.breakpoints, walk.at or present.line + present.is_within)
    else:
        found = hit_after(past, walk.breakpoints, walk.at, present.end)
    return found.row or found.looked_until, found.breakpoints, found.passed


def _beginning(record: ProcessRecord, present: PresentMoment, walk: RunWalk) -> int:
    """Return the LINE row where a way back ends: of the whole record, or of the thread that it stays in."""
    if walk.mode == "reverse":
        return first_line(record)
    line = walk.at or present.line
    while found := stepped_back(record, present._replace(is_within=False), line):
        line = found
    return line


def _first_note(record: ProcessRecord, walk: RunWalk, is_sure: bool) -> str:
    of_what = "what can be stepped back to"
    if walk.mode == "reverse":
        of_what = f"no breakpoint {'was' if is_sure else 'is known to have been'} hit before: the record"
    dropped = f"; {record.first - 1:,} rows before it are not kept" if record.first > 1 else ""
    return f"{of_what} begins here{dropped}"


def _value(past: PastProcess, line: int, expression: str) -> str:
    try:
        return value_at_moment(past, line, 0, expression).text
    except NoValueError as error:
        return f"<{error}>"
