"""What the tools about recorded runs answer, beside why: histories, calls, moments."""

from collections.abc import Iterable
from typing import ClassVar

from trio_debugmcp.runs.histories.call_trees import CallNode
from trio_debugmcp.runs.shown_moments import BecauseLine
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.state.payloads import printable, shortened

_MOST_VALUE = 200
"""Characters of a value; whole texts are in the record, as far as that keeps them."""


class HistoryData(AnswerData, frozen=True, kw_only=True):
    """A page of `total` entries; `isLeast`: there are more. `undecided`: of how many `where` could not be judged."""

    same: ClassVar[tuple[str, ...]] = ()  # who reads data counts entries, and needs no note on how to get the next ones
    entries: list[BecauseLine]
    total: int
    is_least: bool
    undecided: int
    run: str


class HistoryShown(Answer, frozen=True, kw_only=True):
    """A line each, in the order of time: number, place, statement, values. `total`: of all, not only of the page.

    `undecided`: at how many of them `where` could not be judged, as what it needs was not recorded.
    """

    full: HistoryData | None = None
    entries: list[str]
    total: int
    undecided: int = 0
    run: str
    notes: list[str] = []


class CallsData(AnswerData, frozen=True, kw_only=True):
    """The lines of the tree as data. `omitted`: calls that are in none of them."""

    calls: list[CallNode]
    total: int
    omitted: int
    undecided: int
    run: str


class CallsShown(Answer, frozen=True, kw_only=True):
    """The calls as a tree, two spaces for each level: number, function, arguments, result; `N more` that are equal.

    `total`: calls in the lines and beyond, `omitted` of them are in no line.
    """

    full: CallsData | None = None
    calls: list[str]
    total: int
    omitted: int = 0
    undecided: int = 0
    run: str
    notes: list[str] = []


def call_lines_of(places: Places, calls: Iterable[CallNode]) -> list[str]:
    """Return `  #22 total shop.py:7 | cart=[] -> 0` for each call."""
    shown = []
    for call in calls:
        more = f"… {call.count:,} more of " if call.count > 1 else ""
        values = shortened(" ".join(call.values), _MOST_VALUE * 2)
        last = f" (the last is {call.at})" if call.count > 1 else ""
        name = f"{'' if more else call.at + ' '}{more}{printable(call.function)}{last}"
        shown.append(f"{'  ' * call.depth}{name} {places.line(call.file, call.line)} | {values}")
    return shown
