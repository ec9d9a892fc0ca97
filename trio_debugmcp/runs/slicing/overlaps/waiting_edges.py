"""What still waits when a time is up: for what, and what would have woken it."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.past.recorded_values import says_nothing
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.origins.opaque_edges import OpaqueEdges
from trio_debugmcp.runs.slicing.overlaps.standstills import Standstills
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import path_of

_TIMES = ("TimeoutError", "CancelledError", "TooSlowError", "Cancelled")
"""How the texts of exceptions begin that say that something took too long."""

_TASK = "<Task>"
"""What asyncio has made of a coroutine, in the text of a value."""

_WAITING = frozenset({"wait", "wait_for", "get", "acquire", "join", "receive", "recv", "result", "read", "lock"})

_SUSPENDING = ("coroutine", "async_generator")

_FRAME_EVENTS = frozenset({rows.LINE, rows.RESUME, rows.RETURN, rows.YIELD, rows.UNWIND})
_RAISING_TOO = _FRAME_EVENTS | {rows.RAISE}

_MOST_FRAMES = 100
"""Of one function: the last ones."""

_MOST_WAITING = 3

_MOST_WAKING = 3


class WaitingEdges:
    """The edges to what waits in one process."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._record = past.record
        self._opaque = OpaqueEdges(past)
        self._decisions = decisions
        self._standstills = Standstills(past)

    def of_statement(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield what waits when a statement fails as its time is up; of a line that waits, what would have woken it."""
        raised = self._past.executions.raised(execution.row)
        if raised is not None and (self._record.text(raised).startswith(_TIMES) or self._is_about_tasks(execution)):
            waiting = {line: note for line, note in self._waiting(raised.number) if line != execution.row}
            for line in sorted(waiting)[-_MOST_WAITING:]:
                yield SliceEdge(cost.WAITING, SliceNode(line), waiting[line])
        yield from self._of_standstill(execution)
        for call in execution.statement.calls:
            target = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
            value = self._past.values.value(execution, target) if target is not None else None
            is_waiting = called(call) in _WAITING and self._is_suspended(execution)
            if is_waiting and value is not None and value.object and not says_nothing(value.text):
                yield from self._of_waking(execution, value.object, called(call))

    def _is_about_tasks(self, execution: StatementExecution) -> bool:
        """Whether a statement has read a task, or what has tasks in it: `assert not pending`."""
        values = (self._past.values.read(execution, read) for read in execution.statement.reads)
        return any(value is not None and _TASK in value.text for value in values)

    def _of_standstill(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the lines that hold what a line waits for, and at which these calls are themselves."""
        for step in self._standstills.steps(execution):
            if step.holder is not None:
                yield SliceEdge(cost.WAITING, SliceNode(step.holder.row), f"holds {step.path}")
            if step.now is not None:
                yield SliceEdge(cost.WAITING, SliceNode(step.now.row), "waits still")

    def _is_suspended(self, execution: StatementExecution) -> bool:
        """Whether a statement was left by an `await`, or cancelled in one, or waits still."""
        if self._standstills.stands(execution):
            return True
        if not isinstance(execution.statement.scope.node, ast.AsyncFunctionDef):
            return False  # a generator that yields does not wait
        number = self._past.executions.ended(execution.row)
        row = self._record.row(number) if number <= self._record.last else None
        is_cancelled = row is not None and row.kind == rows.UNWIND and self._record.text(row).startswith(_TIMES)
        return row is not None and (row.kind == rows.YIELD or is_cancelled)

    def _said(self, row: rows.Row) -> str:
        """Return what is said of a frame that was left at a row; empty: it was continued, or has ended by itself."""
        if row.kind == rows.YIELD and (number := self._record.forth_of(_FRAME_EVENTS, row.subject, row.number)):
            after = self._record.forth_of(_RAISING_TOO, row.subject, number)  # perhaps an exception was thrown in
            row = self._record.row(after or number)
            if row.kind == rows.YIELD:  # it was continued, and has waited again
                return ""
        elif row.kind == rows.YIELD:
            return "waits still"
        has_ended = row.kind in (rows.UNWIND, rows.RAISE) and self._record.text(row).startswith(_TIMES)
        return "waited until it was cancelled" if has_ended else ""

    def _waiting(self, before: int) -> list[tuple[int, str]]:
        """Return the lines at which frames were suspended before a row, or cancelled, and what is said of them."""
        lines = []
        for code in self._record.codes:
            scope = self._past.scopes.of_code(code.number) if code.kind in _SUSPENDING else None
            for frame in self._past.scopes.frames_of(scope)[-_MOST_FRAMES:] if scope is not None else ():
                number = self._record.back_of(_FRAME_EVENTS, frame, before)
                row = self._record.row(number) if number else None
                note = self._said(row) if row is not None and row.owner else ""
                if row is not None and note:
                    lines.append((row.owner, note))
        return [(line, note) for line, note in lines if self._past.executions.at(line) is not None]

    def _of_waking(self, execution: StatementExecution, target: int, method: str) -> Iterator[SliceEdge]:
        """Yield the lines that call other methods of what is waited for, or what decided against them."""
        end = self._record.last + 1
        use = execution._replace(row=end)
        found = 0
        for statement, path, call in self._past.mentions.method_calls(self._opaque.names_of(target)):
            if called(call) == method or statement is execution.statement or found >= _MOST_WAKING:
                continue
            for frame in self._past.scopes.frames_of(statement.scope)[-_MOST_FRAMES:][::-1]:
                run = self._past.executions.last_run(statement, frame, end)
                decided = self._decisions.against(statement, use, 0, frame) if run is None else None
                at = run or decided
                held = self._past.values.value(at, path) if at is not None else None
                if at is None or held is None or held.object != target:
                    continue
                found += 1
                note = (
                    f"{called(call)} was called" if run is not None else f"so line {statement.first} does not wake it"
                )
                yield SliceEdge(cost.WAITING, SliceNode(at.row), note)
                break
