"""Loops that go through a container while what they call changes it: they pass over items."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.owned_rows import owned_of_kinds
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import ValuePath, iterated_path, path_of
from trio_debugmcp.runs.source.source_scopes import Statement

_MOST_CALLERS = 5

_MOST_FRAMES = 20
"""Of a function with a loop: the last ones."""

_SIZE, _CHANGED = frozenset({rows.SIZE}), (1,)

_COPIES = ("list", "tuple", "sorted", "dict", "set")
"""Calls that make another container, which does not change."""


class IterationEdges:
    """The edges to loops over what a statement of one process changes."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_statement(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the loops that were going through a container when a statement changed how many items it has."""
        yield from self._of_zip(execution)
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

    def _of_zip(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the last run of a loop around a statement whose `zip` went through what is not equally long."""
        for loop in execution.statement.outer():
            paths = _zipped(loop)
            for frame in reversed(self._past.scopes.frames([loop.scope])[-_MOST_FRAMES:]) if paths else ():
                run = self._past.executions.last_run(loop, frame, execution.row)
                lengths = [self._length(run, path) for path in paths] if run is not None else []
                if run is not None and None not in lengths and len(set(lengths)) > 1:
                    said = ", ".join(f"{path} has {length}" for path, length in zip(paths, lengths, strict=True))
                    yield SliceEdge(cost.MEANWHILE, SliceNode(run.row), f"ends with the shortest: {said}")
                    break

    def _length(self, run: StatementExecution, path: ValuePath) -> int | None:
        value = self._past.values.value(run, path)
        size = self._record.back_of(_SIZE, value.object, run.row) if value is not None and value.object else 0
        return self._record.row(size).text if size else None

    def _sizes(self, line: int) -> list[rows.Row]:
        sizes = owned_of_kinds(self._record, line, _SIZE, _CHANGED)
        return [row for row in sizes if row.text != row.object]

    def _iterated(self, run: StatementExecution) -> int:
        """Return the container that a loop goes through; 0: not known, or a copy."""
        path = iterated_path(run.statement.node.iter) if isinstance(run.statement.node, ast.For) else None
        value = self._past.values.value(run, path) if path is not None else None
        return value.object if value is not None else 0


def _zipped(loop: Statement) -> list[ValuePath]:
    """Return what a loop goes through by `zip`, if all of it are paths."""
    node = loop.node.iter if isinstance(loop.node, ast.For) else None
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "zip" or node.keywords:
        return []
    paths = [path_of(part) for part in node.args]
    return [path for path in paths if path is not None] if None not in paths else []


def _goes_through(loop: Statement) -> bool:
    """Whether a loop goes through a container itself, or what shows it as it is: `items()`, `enumerate`."""
    node = loop.node.iter if isinstance(loop.node, ast.For) else None
    while isinstance(node, ast.Call):
        name = getattr(node.func, "id", "")
        if name in _COPIES:
            return False
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
    return node is not None and path_of(node) is not None
