"""What should have raised an exception and did not: where one was expected, the conditions that let it pass."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import Statement

_LINES = frozenset({rows.LINE})

_DEEPEST = 3
"""Calls in calls in which a `raise` is looked for."""

_MOST_RAISES = 4


class UnraisedEdges:
    """The edges to exceptions of one process that were expected and not raised."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._decisions = decisions

    def of_statement(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield what raised nothing before a statement that runs, or fails, for just that."""
        for completed in self._completed(execution)[-1:]:
            yield SliceEdge(cost.UNRAISED, SliceNode(completed.row), "raised nothing")
            yield from self.of_calls(completed, execution)

    def of_handler(self, writer: Statement, use: StatementExecution, frame: int) -> Iterator[SliceEdge]:
        """Yield what raised nothing, so that a statement in a handler has not run."""
        handler = next(
            (outer for outer in (writer, *writer.outer()) if isinstance(outer.node, ast.ExceptHandler)), None
        )
        if handler is None or handler.parent is None or self._past.executions.last_run(handler, frame, use.row):
            return
        if self._is_under_way(handler.parent, frame, use.row):
            return
        for completed in self._last_of(handler.parent.block("body"), frame, use.row):
            yield SliceEdge(
                cost.ABSENCE, SliceNode(completed.row), f"raised nothing, so line {writer.first} does not run"
            )
            yield from self.of_calls(completed, use)

    def _is_under_way(self, guarded: Statement, frame: int, at: int) -> bool:
        """Whether a `try` block is left later than at a row: it may still raise."""
        number = self._past.record.back_of(_LINES, frame, at + 1)
        line = self._past.executions.at(number) if number else None
        if line is None or self._past.executions.over(line) <= at:
            return False
        inner = next((part for part in (line.statement, *line.statement.outer()) if part.parent is guarded), None)
        return inner is not None and inner.branch == "body"

    def _completed(self, execution: StatementExecution) -> list[StatementExecution]:
        """Return the last statement that ran without an exception where one was expected."""
        statement = execution.statement
        if isinstance(statement.node, ast.With | ast.AsyncWith) and any(map(_expects, statement.calls)):
            return self._last_of(statement.block("body"), execution.frame, execution.row)
        for inner in (statement, *statement.outer()):
            if inner.parent is not None and isinstance(inner.parent.node, ast.Try):
                if inner.branch == "orelse":
                    return self._last_of(inner.parent.block("body"), execution.frame, execution.row)
                if inner.branch == "body" and inner is statement and _fails(statement.node):
                    return self._last_of(inner.before, execution.frame, execution.row)
        return []

    def _last_of(self, block: list[Statement], frame: int, before: int) -> list[StatementExecution]:
        runs = [self._past.executions.last_run(statement, frame, before) for statement in block]
        return [run for run in runs if run is not None][-1:]

    def of_calls(
        self, execution: StatementExecution, use: StatementExecution, deep: int = _DEEPEST
    ) -> Iterator[SliceEdge]:
        """Yield the conditions in what a statement has called that decided against a `raise`."""
        left = _MOST_RAISES
        for start in self._past.executions.calls(execution.row):
            scope = self._past.scopes.of_code(start.key)
            for statement in scope.statements if scope is not None else ():
                if isinstance(statement.node, ast.Raise) and left:
                    decided = self._decisions.against(statement, use, 0, start.subject)
                    if decided is not None:
                        left -= 1
                        note = f"so line {statement.first} does not raise"
                        yield SliceEdge(cost.UNRAISED, SliceNode(decided.row), note)
                elif statement.calls and deep > 1:
                    run = self._past.executions.last_run(statement, start.subject, use.row)
                    if run is not None:
                        yield from self.of_calls(run, use, deep - 1)


def _expects(call: ast.Call) -> bool:
    """Whether a call makes a context that an exception must leave: `pytest.raises`, `assertRaises` and the like."""
    return "raises" in called(call).lower()


def _fails(node: ast.AST) -> bool:
    """Whether a statement fails whenever it runs."""
    if isinstance(node, ast.Assert):
        return isinstance(node.test, ast.Constant) and not node.test.value
    value = getattr(node, "value", None)
    return isinstance(node, ast.Raise) or (isinstance(value, ast.Call) and called(value) == "fail")
