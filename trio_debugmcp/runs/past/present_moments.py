"""Where a stopped thread of a living program is in its record, and the steps from there into the past and back.

    present = present_moment(past, [("/src/shop.py", 12)])  # by the places of its stack
    line = stepped_back(record, present, 0)                 # the LINE row before; 0: this is where the record begins
    line = stepped_forth(record, present, line, "over")     # 0: that is the present

A step stays in its thread. One over a line stays in the frame as long as that has lines, as in a debugger.
"""

from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import thread_of
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.run_moves import after_callers, moved

_OF_THREADS = frozenset((rows.LINE, rows.START, rows.RESUME, rows.RETURN, rows.YIELD, rows.UNWIND))
"""Kinds of rows that tell which line a thread has come to."""

_MOST_ROWS = 300_000
"""From the end, in which a thread is looked for: others have run on meanwhile. They take some tenths of a second."""

StackPlace = tuple[str, int]
"""The file and the line of a frame."""


class PresentMoment(NamedTuple):
    """The last moment of a thread.

    Attributes:
        line: the LINE row under way; 0: none.
        is_within: that line has begun: it has made calls, or is in code that is not recorded.
        end: the row before which the past is.
    """

    line: int
    is_within: bool
    end: int


def present_moment(past: PastProcess, stack: list[StackPlace]) -> PresentMoment | None:
    """Return where the thread is that has this stack, the innermost frame first; None: no line of it is recorded.

    Without a stack, of a run that is over, it is behind the line that ran last.
    """
    if not stack:
        return _end(past.record)
    record, only = past.record, list[PresentMoment]()
    threads: set[int] = set()
    for number in range(record.last, max(record.first, record.last - _MOST_ROWS) - 1, -1):
        row = record.row(number)
        if row.kind not in _OF_THREADS:
            continue
        thread = thread_of(record, row)
        if thread in threads:
            continue
        threads.add(thread)
        line = number if row.kind == rows.LINE else _caller(record, row)
        if not line:
            continue
        is_at = row.kind == rows.LINE and _is_at(past, line, stack[0])
        present = PresentMoment(line, not is_at, line if is_at else record.last + 1)
        if any(_is_at(past, line, place) for place in stack):
            return present
        only.append(present)
    # What is in a file of another name here is not found by its place.
    return only[0] if len(threads) == len(only) == 1 else None


def _end(record: ProcessRecord) -> PresentMoment | None:
    """Return the last line of a run that is over."""
    for number in range(record.last, max(record.first, record.last - _MOST_ROWS) - 1, -1):
        if record.row(number).kind == rows.LINE:
            return PresentMoment(number, True, record.last + 1)
    return None


def stepped_back(record: ProcessRecord, present: PresentMoment, line: int) -> int:
    """Return the LINE row before a moment, or before the present (0); 0: the record has none in this thread."""
    if not line and present.is_within:
        return present.line
    return moved(record, line or present.line, "back")


def stepped_forth(record: ProcessRecord, present: PresentMoment, line: int, mode: str) -> int:
    """Return the LINE row that a step over, in or out leads to from a moment; 0: it leads to the present."""
    if mode == "out":
        found = after_callers(record, line)
    else:
        found = (moved(record, line, "in") if mode == "in" else 0) or moved(record, line, "forward")
    return found if found < present.end else 0


def _caller(record: ProcessRecord, row: rows.Row) -> int:
    """Return the LINE row that a call, or its end, belongs to; 0: none is recorded."""
    if row.kind in (rows.START, rows.RESUME):
        owner = row.owner
    else:
        start = record.frame(row.subject).start
        entered = max(start, record.back_of(frozenset((rows.RESUME,)), row.subject, row.number))
        owner = record.row(entered).owner if entered >= record.first else 0
    return owner if owner >= record.first else 0


def _is_at(past: PastProcess, line: int, place: StackPlace) -> bool:
    record = past.record
    site = record.site(record.row(line).key)
    execution = past.executions.at(line)
    first, last = (site.line, site.line)
    if execution is not None:
        first, last = execution.statement.first, execution.statement.last
    return record.code(site.code).file == place[0] and first <= place[1] <= last
