"""Exceptions that a library has kept: a pool's future, a gathered task, a thread. What they have left undone.

    #29 price = float(PRICES[name])     raises ValueError, which leaves the function that the pool has called

The line that raised is in another frame than all that the question is about, and no recorded line has caught it.
"""

from collections.abc import Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import each_of_code_back
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import ValuePath
from trio_debugmcp.runs.source.source_scopes import Statement

_MOST_UNWOUND = 2_000
"""Frames that an exception has left and that are looked at: the last ones."""

_MOST_KEPT = 50

_MOST_RAISES = 10
"""Of a frame that are looked at, the last ones: an exception is raised again at the end of each block."""

_RAISES = frozenset({rows.RAISE})

_ORDINARY = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "SystemExit", "CancelledError")


class KeptExceptionEdges:
    """The edges to lines of one process whose exceptions left all that is recorded, while the program continued."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._known: list[tuple[Row, StatementExecution]] | None = None

    def of_attribute(self, execution: StatementExecution, label: str, holder: int) -> Iterator[SliceEdge]:
        """Yield the lines for whose exceptions an attribute of an object was not set."""
        for row, raiser in self._before(execution):
            for statement in raiser.scope.statements:
                stored = [path for path in statement.stores if str(path.steps[-1]) == label]
                if any(self._is(raiser, path.holder, holder) for path in stored) and self._is_left_out(
                    statement, raiser
                ):
                    yield self._edge(row, raiser, f"{label} is not set at line {statement.first}")
                    break

    def of_container(self, execution: StatementExecution, target: int) -> Iterator[SliceEdge]:
        """Yield the lines for whose exceptions a container was not changed."""
        for row, raiser in self._before(execution):
            for statement in raiser.scope.statements:
                changed = [path for path, _ in statement.mutates if self._is(raiser, path, target)]
                if changed and self._is_left_out(statement, raiser):
                    yield self._edge(row, raiser, f"{changed[0]} is not changed at line {statement.first}")
                    break

    def _edge(self, row: Row, raiser: StatementExecution, what: str) -> SliceEdge:
        name = self._record.code(row.key).name.rpartition(".")[2]
        return SliceEdge(cost.ABSENCE, SliceNode(raiser.row), f"its exception left {name} and was kept; so {what}")

    def _is(self, run: StatementExecution, path: ValuePath, target: int) -> bool:
        value = self._past.values.value(run, path)
        return value is not None and value.object == target

    def _is_left_out(self, statement: Statement, raiser: StatementExecution) -> bool:
        """Whether a statement would have run, or run again, if a line had not raised."""
        if statement is raiser.statement:
            return True
        around = [outer for outer in statement.outer() if outer.is_loop and outer in list(raiser.statement.outer())]
        return bool(around) or self._past.executions.last_run(statement, raiser.frame, raiser.row) is None

    def _before(self, execution: StatementExecution) -> Iterator[tuple[Row, StatementExecution]]:
        """Yield the kept exceptions before a line that is in another frame, the last ones first."""
        if self._known is None:
            self._known = list(islice(self._kept(), _MOST_KEPT))
        before = (found for found in self._known if found[0].number < execution.row)
        yield from islice(before, _MOST_KEPT)

    def _kept(self) -> Iterator[tuple[Row, StatementExecution]]:
        unwound = each_of_code_back(self._record, (rows.UNWIND,), self._record.last + 1)
        for number in islice(unwound, _MOST_UNWOUND):
            row = self._record.row(number)
            raiser = self._past.executions.at(self._raised_at(row)) if row.owner else None
            if raiser is None or self._record.text(row).startswith(_ORDINARY):
                continue
            caller = self._past.executions.caller(row.subject)
            passed = self._past.executions.raised(caller.row) if caller is not None else None
            if passed is None or passed.object != row.object:
                yield row, raiser

    def _raised_at(self, unwound: Row) -> int:
        """Return the line that raised what left a frame; behind it the ends of `with` and `finally` blocks ran."""
        found, number = unwound.owner, unwound.number
        for _ in range(_MOST_RAISES):
            number = self._record.back_of(_RAISES, unwound.subject, number)
            if not number:
                break
            raised = self._record.row(number)
            found = raised.owner if raised.object == unwound.object and raised.owner else found
        return found
