"""Loops that go through a container while what they call changes it: they pass over items."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import iterated_path, path_of
from trio_debugmcp.runs.source.source_scopes import Statement

_MOST_CALLERS = 5

_COPIES = ("list", "tuple", "sorted", "dict", "set")
"""Calls that make another container, which does not change."""


class IterationEdges:
    """The edges to loops over what a statement of one process changes."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_statement(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the loops that were going through a container when a statement changed how many items it has."""
        changed = {row.subject for row in self._sizes(execution.row)}
        at: StatementExecution | None = execution
        for _ in range(_MOST_CALLERS if changed else 0):
            if at is None:
                return
            for loop in at.statement.outer():
                run = self._past.executions.last_run(loop, at.frame, at.row) if _goes_through(loop) else None
                if run is not None and self._iterated(run) in changed:
                    note = f"goes through what line {execution.statement.first} changes meanwhile"
                    yield SliceEdge(cost.MEANWHILE, SliceNode(run.row), note)
            at = self._past.executions.caller(at.frame)

    def _sizes(self, line: int) -> list[rows.Row]:
        owned = [self._record.row(number) for number in self._record.owned(line)]
        return [row for row in owned if row.kind == rows.SIZE and row.key == 1 and row.text != row.object]

    def _iterated(self, run: StatementExecution) -> int:
        """Return the container that a loop goes through; 0: not known, or a copy."""
        path = iterated_path(run.statement.node.iter) if isinstance(run.statement.node, ast.For) else None
        value = self._past.values.value(run, path) if path is not None else None
        return value.object if value is not None else 0


def _goes_through(loop: Statement) -> bool:
    """Whether a loop goes through a container itself, or what shows it as it is: `items()`, `enumerate`."""
    node = loop.node.iter if isinstance(loop.node, ast.For) else None
    while isinstance(node, ast.Call):
        name = getattr(node.func, "id", "")
        if name in _COPIES:
            return False
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
    return node is not None and path_of(node) is not None
