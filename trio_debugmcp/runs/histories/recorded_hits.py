"""Where a recorded run has come by line breakpoints: the last hit before a moment, or the first after it.

    found = hit_before(past, [LineBreakpoint("bp-1", "/src/shop.py", 7, "cart")], 913)
    found.row                   # the LINE row; 0: none
    found.passed                # what is to be said of hits that may have been some

Conditions are judged over what was recorded. Where one cannot be, that run of the line is passed over, and named.
"""

from collections import defaultdict
from collections.abc import Iterator
from heapq import merge
from itertools import takewhile

import msgspec

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.row_search import each, each_back
from trio_debugmcp.runs.histories.histories import MOST_JUDGED
from trio_debugmcp.runs.histories.line_histories import frame_lookup, sites_at
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_conditions import ConditionError, RecordedCondition


class LineBreakpoint(msgspec.Struct, frozen=True):
    """A breakpoint on a line, as the record has its file."""

    id: str
    file: str
    line: int
    condition: str | None = None


class HitInRecord(msgspec.Struct, frozen=True):
    """Where the record has come by a breakpoint; `row` 0: nowhere.

    `passed`: sentences on what was passed over. `looked_until`: the row up to which was looked, if that is not the end.
    """

    row: int
    breakpoints: list[str]
    passed: list[str]
    looked_until: int = 0


class _Judge:
    """Breakpoints over the runs of their lines, one after another."""

    def __init__(self, past: PastProcess, breakpoints: list[LineBreakpoint]) -> None:
        self._past = past
        self._undecided: dict[str, list[int]] = defaultdict(list)
        self._problems: list[str] = []
        self._conditions: dict[str, RecordedCondition | None] = {}
        self.at: dict[int, list[LineBreakpoint]] = defaultdict(list)
        for breakpoint in breakpoints:
            try:
                condition = None if breakpoint.condition is None else RecordedCondition(breakpoint.condition)
            except ConditionError as error:
                self._problems.append(f"{breakpoint.id} was passed over: {str(error).rstrip('.')}")
                continue
            self._conditions[breakpoint.id] = condition
            for site in sites_at(past, breakpoint.file, breakpoint.line):
                self.at[site].append(breakpoint)

    def hits(self, row: int) -> list[str]:
        """Return the breakpoints that a LINE row has hit."""
        found = []
        for breakpoint in self.at[self._past.record.row(row).key]:
            condition = self._conditions[breakpoint.id]
            if condition is not None:
                frame = self._past.record.row(row).subject
                holds = condition.holds(frame_lookup(self._past, frame, self._past.executions.settled(row)))
                if holds is None:
                    self._undecided[breakpoint.id].append(row)
                if not holds:
                    continue
            found.append(breakpoint.id)
        return found

    def found(self, stream: Iterator[int]) -> HitInRecord:
        """Return the first hit of a stream of LINE rows."""
        row, hits, passed, until = 0, list[str](), [], 0
        for looked, number in enumerate(stream):
            if looked >= MOST_JUDGED:
                passed = [f"only {MOST_JUDGED:,} runs of these lines were looked at, up to #{number}; continue there"]
                until = number
                break
            hits = self.hits(number)
            if hits:
                row = number
                break
        passed += [
            f"the condition of {id_} cannot be judged at {len(there)} run{'s' if len(there) > 1 else ''} of its line, "
            f"which {'were' if len(there) > 1 else 'was'} passed over: #{there[0]} is the nearest"
            for id_, there in self._undecided.items()
        ]
        return HitInRecord(row, hits, [*self._problems, *passed], until)


def hit_before(past: PastProcess, breakpoints: list[LineBreakpoint], before: int) -> HitInRecord:
    """Return the last hit of a breakpoint before a row, in any thread."""
    judge = _Judge(past, breakpoints)
    streams = [each_back(past.record, rows.LINE, site, before) for site in judge.at]
    return judge.found(merge(*streams, reverse=True))


def hit_after(past: PastProcess, breakpoints: list[LineBreakpoint], after: int, end: int) -> HitInRecord:
    """Return the first hit of a breakpoint after a row and before the row `end`, in any thread."""
    judge = _Judge(past, breakpoints)
    streams = [each(past.record, rows.LINE, site, after) for site in judge.at]
    return judge.found(takewhile(lambda row: row < end, merge(*streams)))
