"""Code of the program that a call into a library has run elsewhere: the handler of a request, a job of a pool, a task.

    #141 reply = client.post("/order", json=order)      #142 to #177: `order`, called by a thread of the framework

The line has not called that function itself. That ran, from its beginning to its end, while the line waited.
"""

import ast
import builtins
from collections.abc import Iterator
from itertools import islice, takewhile

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import each_of_code_back
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, call_of, called
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import calls_in

_BUILT_IN = frozenset(dir(builtins))

_WAITS = frozenset({"sleep", "wait", "join", "acquire", "is_set"})
"""Methods that wait for time to pass or for a word: what runs meanwhile gives them no value."""

_CANCELLED = ("CancelledError", "Cancelled")

_YIELDS = frozenset({rows.YIELD})

_MOST_ENDINGS = 2_000
"""Frames that ended while a line waited, and are looked at: the last ones."""

_MOST_SHOWN = 2

_MOST_CALLERS = 20
"""Frames around a line, in one of which an event loop may run: the innermost ones."""


class CallbackEdges:
    """The edges from calls of one process into libraries to what ran meanwhile."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_calls(self, execution: StatementExecution, node: SliceNode) -> Iterator[SliceEdge]:
        """Yield the lines that ended what ran during the calls of a statement, or of expressions in it.

        First come those that also began meanwhile, of them those that raised, then those whose result has what is
        wanted, then the last ones.
        """
        calls = self._calls_of_libraries(execution, node) if not self._was_cancelled(execution) else []
        endings = (
            sorted(self._endings(execution, calls), key=lambda ending: self._place(ending, execution.row, node))
            if calls
            else []
        )
        during = f"{called(calls[0])} (#{execution.row})" if len(calls) == 1 else f"#{execution.row}"
        others = len(endings) - _MOST_SHOWN
        more = f", as did {others:,} other call{'s' if others > 1 else ''}" if others > 0 else ""
        for ending in endings[:_MOST_SHOWN]:
            origin = SliceNode(self._line_of(ending), hint=node.hint, wanted=node.wanted._replace(path=()))
            verb = "ran" if self._record.frame(ending.subject).start > execution.row else "ended"
            yield SliceEdge(cost.CALLBACK, origin, f"{verb} during {during}{more}")

    def _calls_of_libraries(self, execution: StatementExecution, node: SliceNode) -> list[ast.Call]:
        """Return the calls whose value is wanted that have called no recorded function."""
        if isinstance(execution.statement.node, ast.Expr) and not node.focus:
            return []
        calls = calls_in(*node.focus) if node.focus else execution.statement.calls
        starts = self._past.executions.calls(execution.row) if calls else []
        recorded = {id(call_of(self._past, execution, start)) for start in starts}
        return [call for call in calls if id(call) not in recorded and not _runs_nothing(call)]

    def _was_cancelled(self, execution: StatementExecution) -> bool:
        """Whether a line waited until it was cancelled: nothing that ran meanwhile has given it a value."""
        raised = self._past.executions.raised(execution.row)
        return raised is not None and self._record.text(raised).startswith(_CANCELLED)

    def _endings(self, execution: StatementExecution, calls: list[ast.Call]) -> Iterator[Row]:
        """Yield how frames ended while calls of a line were under way that neither it nor what it called has called."""
        callers = {0, *self._callers(execution.frame)}
        ended = each_of_code_back(self._record, (rows.RETURN, rows.UNWIND), self._over(execution, calls))
        for number in islice(takewhile(lambda number: number > execution.row, ended), _MOST_ENDINGS):
            ending = self._record.row(number)
            if ending.owner and self._record.frame(ending.subject).parent in callers:
                yield self._past.executions.with_return_line(ending)

    def _over(self, execution: StatementExecution, calls: list[ast.Call]) -> int:
        """Return the row at which calls of a line are over: those in what it yields when it yields that."""
        over, parts = self._past.executions.over(execution), list(ast.walk(execution.statement.node))
        given = [part.value for part in parts if isinstance(part, ast.Yield) and part.value is not None]
        is_mixed = len(given) != 1 or any(isinstance(part, ast.Await) for part in parts)  # which one left is not known
        if is_mixed or not set(calls) <= set(calls_in(*given)):
            return over
        return self._record.forth_of(_YIELDS, execution.frame, execution.row, until=over) or over

    def _callers(self, frame: int) -> Iterator[int]:
        for _ in range(_MOST_CALLERS):
            frame = self._record.frame(frame).parent
            if not frame:
                return
            yield frame

    def _line_of(self, ending: Row) -> int:
        """Return the line that ended a frame; of one that an exception left, where that was raised."""
        raised = self._past.values.first_raise(ending.object) if ending.kind == rows.UNWIND else 0
        return (self._record.row(raised).owner if raised else 0) or ending.owner

    def _place(self, ending: Row, row: int, node: SliceNode) -> tuple[bool, bool, int, bool, int]:
        text, is_older = self._record.text(ending), self._record.frame(ending.subject).start < row
        return is_older, ending.kind != rows.UNWIND, node.wanted.place(text), text == "None", -ending.number


def _runs_nothing(call: ast.Call) -> bool:
    """Whether a call has no other code run for its value: a function of Python's own, or one that only waits."""
    if isinstance(call.func, ast.Name):
        return call.func.id in _BUILT_IN
    return isinstance(call.func, ast.Attribute) and call.func.attr in _WAITS
