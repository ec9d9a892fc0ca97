"""What failed in a recorded run: the exception that nothing in recorded code caught, and where it was raised."""

import ast
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import each_of_code_back
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess

_RAISED = frozenset({rows.RAISE, rows.UNWIND})
"""An exception raised again by a bare `raise` is not a RAISE: the line at which it leaves its frame tells."""

_EVENTS = frozenset({rows.LINE, rows.RETURN, rows.YIELD, rows.UNWIND})

_ENDINGS = ("SystemExit(0", "SystemExit()")

_SIGNALS = ("StopIteration", "GeneratorExit", "StopAsyncIteration", "CancelledError")
"""Who called the function expects them: they are failures only where they end a module or a test."""


class RunFailure(NamedTuple):
    """What failed.

    Attributes:
        row: the LINE row of the statement that raised it first.
        value: the exception as text.
        raised: the RAISE row.
        again: LINE rows of `raise` statements that have raised it again, in handlers.
        is_kept: it left a thread, not a test: the program that had begun that continued.
    """

    row: int
    value: str
    raised: int
    again: tuple[int, ...] = ()
    is_kept: bool = False


def failure(past: PastProcess) -> RunFailure | None:
    """Return the last exception that has left recorded code, or is on its way; None if there is none.

    A frame whose caller is not recorded is the program's own beginning, a test, a thread or a callback: an exception
    that leaves it has reached a runner. One that is on its way is what a stop at an exception is about.
    """
    record = past.record
    kept: RunFailure | None = None
    for number in each_of_code_back(record, (rows.UNWIND, rows.RAISE), record.last + 1):
        row = record.row(number)
        text = record.text(row)
        is_kept = kept is None and _is_of_test(past, row)
        if text.startswith(_ENDINGS) or not (is_kept or _is_last(past, row)):
            continue
        if text.startswith(_SIGNALS) and not _ends_program(past, row):
            continue
        raised = past.values.first_raise(row.object) or number
        line = record.row(raised).owner
        if not line:
            continue
        failed = RunFailure(line, text, raised, _raised_again(past, row.object, raised), _is_of_thread(past, row))
        if not is_kept:
            return failed
        kept = failed
    return kept


def looked_back_from(past: PastProcess) -> tuple[tuple[int, ...], int]:
    """Return where one looks if no moment is named: first at the line that failed, then back from a row; or the end.

    What that line has called, `total(cart)` of an assertion, ran behind its row and before it raised.
    """
    failed = failure(past)
    return ((), past.record.last) if failed is None or failed.is_kept else ((failed.row,), failed.raised)


def came_of_unrecorded(past: PastProcess, execution: StatementExecution) -> bool:
    """Whether the exception that a line has raised came out of a call of code that is not recorded."""
    if isinstance(execution.statement.node, ast.Raise | ast.Assert) or not execution.statement.calls:
        return False
    endings = (past.executions.outcome(start.number) for start in past.executions.calls(execution.row))
    return all(ending is None or ending.kind != rows.UNWIND for ending in endings)


def _ends_program(past: PastProcess, row: Row) -> bool:
    """Whether an exception has left a module or a test: nothing there expects one as a signal."""
    name = past.record.code(row.key).name if row.kind == rows.UNWIND else ""
    return name == "<module>" or _of_test(name)


def _is_of_test(past: PastProcess, row: Row) -> bool:
    """Whether an exception has left a test that a runner has called in a recorded line, and the runner kept it."""
    if row.kind != rows.UNWIND or not _of_test(past.record.code(row.key).name):
        return False
    caller = past.executions.caller(row.subject)
    raised = past.executions.raised(caller.row) if caller is not None else None
    return caller is not None and (raised is None or raised.object != row.object)


def _is_of_thread(past: PastProcess, row: Row) -> bool:
    """Whether an exception has left the first function of another thread than that in which recorded code began."""
    record = past.record
    if row.kind != rows.UNWIND or not record.frames.has(record.frames.first):
        return False
    is_other = record.frame(row.subject).thread != record.frame(record.frames.first).thread
    return is_other and not _of_test(record.code(row.key).name)


def _of_test(name: str) -> bool:
    return name.rpartition(".")[2].startswith("test")


def _raised_again(past: PastProcess, exception: int, first: int) -> tuple[int, ...]:
    """Return the lines at which handlers have raised an exception again."""
    lines: list[int] = []
    raising, number = past.record.row(first).owner, first
    while number := past.record.forth_of(_RAISED, exception, number, by_value=True):
        owner = past.record.row(number).owner
        execution = past.executions.at(owner) if owner else None
        if execution is not None and isinstance(execution.statement.node, ast.Raise) and owner not in [*lines, raising]:
            lines.append(owner)
    return tuple(lines)


def _is_last(past: PastProcess, row: Row) -> bool:
    """Whether an exception has left all that is recorded, or was the last event of its frame."""
    if row.kind == rows.UNWIND:
        return not past.record.row(past.record.frame(row.subject).start).owner
    return not past.record.forth_of(_EVENTS, row.subject, row.number)
