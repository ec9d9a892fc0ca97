"""Functions that call themselves: where that ends, and what has called on and on where it does not."""

from collections.abc import Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import each
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recursion_cycles import cycle_text, recursion_cycle, written_into_itself
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode

_MOST_CALLS = 300
"""Of one recursion that are looked through for its ends: the first ones."""

_MOST_ENDS = 3

_TORN = 20
"""Frames at the recursion's limit: what the recorder itself calls fails there, too."""

_MOST_FRAMES = 80

ERROR = "RecursionError"

TOO_DEEP = "maximum recursion depth exceeded"
"""How its message begins, where the interpreter raises it."""


def recursion_raised(
    past: PastProcess, value: str, raising: str, execution: StatementExecution
) -> tuple[str, list[SliceEdge]]:
    """Return what is said of a line that raises, with a message, as `recursion_said` does of an exception.

    At the limit the recorder itself may have had no room to write that it was raised.
    """
    if not raising.startswith(TOO_DEEP):
        return value, []
    return recursion_said(past, f"{ERROR}({raising!r})", execution)


def recursion_said(past: PastProcess, value: str, execution: StatementExecution | None) -> tuple[str, list[SliceEdge]]:
    """Return an exception, with the calls if they were too many, and the lines that have begun them."""
    if execution is None or not value.startswith(ERROR):
        return value, []
    cycle = recursion_cycle(past, execution.frame)
    if cycle is None:
        return value, []
    lines = [(cycle.begun, "begins these calls")] if cycle.begun else []
    lines += [(row, "puts it into itself") for row in written_into_itself(past, cycle)]
    return f"{value}: {cycle_text(past, cycle)}", [SliceEdge(cost.RAISED, SliceNode(row), said) for row, said in lines]


class RecursionEdges:
    """The edges along recursions of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_result(self, ending: Row) -> Iterator[SliceEdge]:
        """Yield the lines that ended the innermost calls of a function within one call of it."""
        start = self._record.frame(ending.subject).start
        calls: list[tuple[int, int, int]] = []
        within = {ending.subject: True}
        for number in islice(each(self._record, rows.START, ending.key, start), _MOST_CALLS):
            if number > ending.number:
                break
            end = self._past.executions.outcome(number)
            if end is not None and end.owner and self._is_within(end.subject, within):
                calls.append((number, end.number, end.owner))
        first = self._past.executions.at(ending.owner)
        known = {first.statement} if first is not None else set()
        for place, (_, end_row, owner) in enumerate(calls):
            is_innermost = place + 1 == len(calls) or calls[place + 1][0] > end_row
            execution = self._past.executions.at(owner) if is_innermost else None
            if execution is not None and execution.statement not in known and len(known) <= _MOST_ENDS:
                known.add(execution.statement)
                yield SliceEdge(cost.RECURSION_END, SliceNode(owner), "ends the recursion")

    def _is_within(self, frame: int, known: dict[int, bool]) -> bool:
        """Whether a frame was called by one that is known to be: what runs beside it, another task, was not."""
        passed = []
        while frame and frame not in known:
            passed.append(frame)
            frame = self._record.frame(frame).parent
        known.update(dict.fromkeys(passed, known.get(frame, False)))
        return known.get(passed[0] if passed else frame, False)

    def of_error(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the calls that have followed one another until there were too many."""
        raised = self._past.executions.raised(execution.row)
        if raised is None or not self._record.text(raised).startswith(ERROR):
            return
        lines: dict[object, StatementExecution] = {}
        at: StatementExecution | None = execution
        for depth in range(_MOST_FRAMES):
            at = self._past.executions.caller(at.frame) if at is not None else None
            if at is not None and depth >= _TORN and at.statement.calls:
                lines.setdefault(at.statement, at)
        for run in list(lines.values())[:_MOST_ENDS]:
            yield SliceEdge(cost.RAISED, SliceNode(run.row), "is called again and again from here")
            yield SliceEdge(cost.RAISED, SliceNode(run.row, aim="run"), "is called again and again from here")
