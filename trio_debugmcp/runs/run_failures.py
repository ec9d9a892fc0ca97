"""What failed in a recorded run: the exception that nothing in recorded code caught, and where it was raised."""

from typing import NamedTuple

from trio_debugmcp.runs import process_record as rows
from trio_debugmcp.runs.past_process import PastProcess
from trio_debugmcp.runs.process_record import ProcessRecord

_NO_FAILURES = (
    "SystemExit(0",
    "SystemExit()",
    "StopIteration",
    "GeneratorExit",
    "StopAsyncIteration",
    "CancelledError",
)


class RunFailure(NamedTuple):
    """What failed.

    Attributes:
        row: the LINE row of the statement that raised it first.
        value: the exception as text.
        raised: the RAISE row.
    """

    row: int
    value: str
    raised: int


def _unwound(record: ProcessRecord, before: int) -> int:
    """Return the last row before one at which an exception has left a frame; 0: none."""
    numbers = range(before - 1, record.first - 1, -1)
    return next((number for number in numbers if record.row(number).kind == rows.UNWIND), 0)


def failure(past: PastProcess) -> RunFailure | None:
    """Return the last exception that has left recorded code, or None.

    A frame whose caller is not recorded is the program's own beginning, a test, a thread or a callback: an exception
    that leaves it has reached a runner.
    """
    record = past.record
    number = record.last + 1
    while number := _unwound(record, number):
        unwound = record.row(number)
        text = record.text(unwound)
        start = record.row(record.frame(unwound.subject).start)
        if start.owner or text.startswith(_NO_FAILURES):
            continue
        raised = record.forth_of(rows.WITH_VALUE, unwound.object, 0, by_value=True)
        while raised and record.row(raised).kind != rows.RAISE:
            raised = record.forth_of(rows.WITH_VALUE, unwound.object, raised, by_value=True)
        row = record.row(raised).owner if raised else unwound.owner
        if row:
            return RunFailure(row, text, raised or number)
    return None
