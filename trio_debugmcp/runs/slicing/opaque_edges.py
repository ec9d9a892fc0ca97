"""Objects of which the content is not recorded: the calls and stores that may have changed it."""

from collections.abc import Iterator
from itertools import chain, islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.call_arguments import called
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode

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
            for frame in self._past.scopes.frames([statement.scope])[-_MOST_CHANGES:]:
                run = self._past.executions.last_run(statement, frame, execution.row)
                held = self._past.values.value(run, path) if run is not None else None
                is_of_others = frame != execution.frame or is_buffer
                if run is not None and held is not None and held.object == target and is_of_others:
                    note = f"{called(call)} {word}; its content is not recorded"
                    edges[statement] = SliceEdge(cost.CALLED_ON, SliceNode(run.row, focus=tuple(call.args)), note)
        yield from self.of_stores(execution, target)
        yield from sorted(edges.values(), key=lambda edge: edge.node.row)[-_MOST_CHANGES:]

    def of_stores(self, execution: StatementExecution, target: int) -> Iterator[SliceEdge]:
        """Yield the last stores into an object: of its items, or by an operator."""
        found: list[int] = []
        for statement, path in self._past.scopes.item_stores(self.names_of(target)):
            for frame in self._past.scopes.frames([statement.scope])[-_MOST_CHANGES:]:
                run = self._past.executions.last_run(statement, frame, execution.row)
                held = self._past.values.value(run, path) if run is not None else None
                if run is not None and held is not None and held.object == target and run.row != execution.row:
                    found.append(run.row)
                    break
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
