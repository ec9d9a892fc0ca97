"""Calls that a function still owed an object: `variable.reset(token)` behind what has raised, after `variable.set(…)`.

What is in such an object is not recorded. That a method of it was called in a function, and the next one was not, is.
"""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.past.recorded_values import RecordedValue, says_nothing, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import PathRead
from trio_debugmcp.runs.source.source_scopes import Statement

_MOST_FRAMES = 20
"""Of a function that would have called a method: the last ones."""


class UnfinishedCallEdges:
    """The edges to what decided against further calls on objects of one process whose content is not recorded."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._decisions = decisions

    def of_read(self, execution: StatementExecution, read: PathRead, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield what decided last against a call on the object of which a statement calls a method."""
        if read.target_of is None or not self._is_opaque(value):
            return
        label = str(read.path.steps[-1]) if read.path.steps else read.path.name
        last: tuple[StatementExecution, str] | None = None
        for statement, path, call in self._past.mentions.method_calls({label.removeprefix(".")}):
            if not isinstance(statement.node, ast.Expr) or statement is execution.statement:
                continue
            for frame in self._past.scopes.frames([statement.scope])[-_MOST_FRAMES:]:
                begun = self._begun(statement, path, frame, execution.row, value.object)
                decided = self._decided(statement, execution, begun) if begun is not None else None
                if decided is not None and (last is None or decided.row > last[0].row):
                    last = decided, f"so {called(call)} is not called at line {statement.first}"
        if last is not None:
            decided, note = last
            yield SliceEdge(cost.UNFINISHED, SliceNode(decided.row), note)
            yield from self._decisions.not_reached(decided, note)

    def _is_opaque(self, value: RecordedValue) -> bool:
        """Whether a value is an object of a class that is not recorded, of which no content is, either."""
        is_plain = not value.object or value.text[:1] != "<" or says_nothing(value.text)
        return not is_plain and not self._past.scopes.classes(type_name(value.text))

    def _begun(
        self, statement: Statement, path: object, frame: int, before: int, target: int
    ) -> StatementExecution | None:
        """Return the last run, in a frame, of a statement before another one that has called a method of an object."""
        begun: StatementExecution | None = None
        for earlier in statement.scope.statements:
            is_before = earlier.last < statement.first and any(read.path == path for read in earlier.reads)
            for read in earlier.reads if is_before else ():
                run = self._past.executions.last_run(earlier, frame, before)
                held = self._past.values.value(run, read.path) if run is not None else None
                is_call = read.path == path and read.target_of is not None
                if run is not None and is_call and held is not None and held.object == target:
                    begun = run if begun is None or run.row > begun.row else begun
        return begun

    def _decided(
        self, statement: Statement, use: StatementExecution, begun: StatementExecution
    ) -> StatementExecution | None:
        """Return what decided against a statement since another one has begun; None if it has run."""
        run = self._past.executions.last_run(statement, begun.frame, use.row)
        if run is not None and run.row > begun.row:
            return None
        return self._decisions.against(statement, use, begun.row, begun.frame)
