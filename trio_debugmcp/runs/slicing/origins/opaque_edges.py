"""Objects of which the content is not recorded: the calls and stores that may have changed it."""

import ast
from collections.abc import Iterator
from itertools import chain, islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.call_arguments import called
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import says_nothing, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import ValuePath
from trio_debugmcp.runs.source.source_scopes import Statement

_MOST_HELD = 2_000
"""Rows with an object as their value that are looked at for the names it has: the first ones."""

_MOST_BASES = 10
"""One above the other."""

_MOST_CHANGES = 4
"""Of one object: the last ones, at as many lines."""

_NAMED = frozenset({rows.WRITE, rows.FIELD, rows.SEEN, rows.GAP, rows.SEEN_NAME})

_OF_NUMPY = ("chararray", "MaskedArray", "matrix", "memmap", "recarray")

BUFFERS = frozenset({"array", "bytearray", "BytesIO", "memoryview", "mmap", "ndarray", "StringIO", *_OF_NUMPY})
"""Types whose objects are there to be changed in place, also by C code that they are given to."""

SHARED = frozenset({"bytearray", "memoryview", "ndarray", *_OF_NUMPY})
"""Those of which the content is recorded as far as it is small; others may have the same memory."""

_ONLY_READ = frozenset({"bytes", "hash", "hex", "id", "isinstance", "iter", "len", "list", "print", "repr", "str"})


_GIVEN = frozenset({rows.WRITE, rows.FIELD, rows.RETURN, rows.YIELD})

_MOST_HANDLES = 4
"""Objects that one gave, of which the calls are looked for: the last ones."""


class OpaqueEdges:
    """The edges to what may have changed objects of one process whose content is not recorded."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_calls_on(self, execution: StatementExecution, target: int, *, is_buffer: bool) -> Iterator[SliceEdge]:
        """Yield the last calls of methods of an object by other frames; of a buffer all, and what it was given to."""
        edges: dict[object, SliceEdge] = {}
        names = self.names_of(target)
        given = self._past.scopes.calls_with(names) if is_buffer else iter(())
        methods = ((*found, "was called on it") for found in self._past.scopes.method_calls(names))
        for statement, path, call, word in chain(methods, ((*found, "was given it") for found in given)):
            if word == "was given it" and called(call) in _ONLY_READ:
                continue
            for run in self._runs_on(statement, path, target, execution.row):
                if run.frame != execution.frame or is_buffer:
                    note = f"{called(call)} {word}; its content is not recorded"
                    edges[statement] = SliceEdge(cost.CALLED_ON, SliceNode(run.row, focus=tuple(call.args)), note)
        for statement, edge in self._of_calls_through(execution, target, names):
            edges.setdefault(statement, edge)
        yield from self.of_stores(execution, target)
        yield from sorted(edges.values(), key=lambda edge: edge.node.row)[-_MOST_CHANGES:]

    def _of_calls_through(
        self, execution: StatementExecution, target: int, names: set[str]
    ) -> Iterator[tuple[Statement, SliceEdge]]:
        """Yield the last calls of methods of what an object has given: a cursor changes what its connection has.

        Only of those whose results nothing uses: they are called for what they change.
        """
        for handle, method in self._handles(execution, target, names).items():
            for statement, path, call in self._past.scopes.method_calls(self.names_of(handle)):
                if not isinstance(statement.node, ast.Expr) or call not in _made(statement.node):
                    continue
                for run in self._runs_on(statement, path, handle, execution.row):
                    note = f"{called(call)} was called on what {method} of it gave; its content is not recorded"
                    yield statement, SliceEdge(cost.CALLED_ON, SliceNode(run.row, focus=tuple(call.args)), note)

    def _handles(self, execution: StatementExecution, target: int, names: set[str]) -> dict[int, str]:
        """Return the objects of other classes than the program's that methods of an object gave, and those methods."""
        found: dict[int, str] = {}
        for statement, path, call in self._past.scopes.method_calls(names):
            if call not in _made(statement.node):
                continue
            for run in self._runs_on(statement, path, target, execution.row):
                ending = self._past.executions.ending(run.row)
                results = [*self._past.executions.effects(run.row), *([ending] if ending is not None else [])]
                for row in [each for each in results if each.kind in _GIVEN and each.object not in (0, target)]:
                    if self._is_foreign(self._record.text(row)):
                        found[row.object] = called(call)
        return dict(list(found.items())[-_MOST_HANDLES:])

    def _is_foreign(self, text: str) -> bool:
        """Whether a text is that of an object whose class is not of recorded code."""
        return text[:1] == "<" and not says_nothing(text) and not self._past.scopes.classes(type_name(text))

    def _runs_on(self, statement: Statement, path: ValuePath, target: int, before: int) -> Iterator[StatementExecution]:
        """Yield the last runs of a statement, of its last frames, in which a path led to an object."""
        for frame in self._past.scopes.frames([statement.scope])[-_MOST_CHANGES:]:
            run = self._past.executions.last_run(statement, frame, before)
            held = self._past.values.value(run, path) if run is not None else None
            if run is not None and held is not None and held.object == target:
                yield run

    def of_stores(self, execution: StatementExecution, target: int) -> Iterator[SliceEdge]:
        """Yield the last stores into an object: of its items, or by an operator."""
        found: list[int] = []
        for statement, path in self._past.scopes.item_stores(self.names_of(target)):
            found += [run.row for run in self._runs_on(statement, path, target, execution.row)][:1]
        for row in sorted(found)[-_MOST_CHANGES:]:
            yield SliceEdge(cost.CALLED_ON, SliceNode(row), "changed it; its content is not recorded")

    def is_buffer(self, name: str, deep: int = 0) -> bool:
        """Whether a type, or a base of a class of the program, is there to be changed in place."""
        bases = [base for scope in self._past.scopes.classes(name) for base in scope.bases]
        own = name.rpartition(".")[2]
        return own in BUFFERS or (deep < _MOST_BASES and any(self.is_buffer(base, deep + 1) for base in bases))

    def names_of(self, target: int) -> set[str]:
        """Return the names and attributes that an object was found in."""
        held = islice(self._record.rows.next_like(1, target, self._record.first - 1), _MOST_HELD)
        keys = {row.key for row in map(self._record.row, held) if row.kind in _NAMED}
        return {self._record.label(key).removeprefix(".") for key in keys} - {""}


def _made(node: ast.AST) -> list[ast.expr]:
    """Return the expressions whose values a statement keeps, hands on or enters as they are."""
    if isinstance(node, ast.With | ast.AsyncWith):
        return [item.context_expr for item in node.items]
    value = getattr(node, "value", None)
    while isinstance(value, ast.Await | ast.Yield):
        value = value.value
    return [value] if isinstance(value, ast.expr) else []
