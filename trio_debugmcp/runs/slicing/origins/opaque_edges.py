"""Objects of which the content is not recorded: the calls and stores that may have changed it.

Calls that name what is wanted come first: of `options = parser.parse_args()`, where `options.dry_run` is wanted,
`parser.add_argument("--dry-run", type=bool)`.
"""

import ast
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.past.recorded_values import says_nothing, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import NOTHING_WANTED, WantedPieces
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of
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

_SHARED = frozenset({"bytearray", "memoryview", "ndarray", *_OF_NUMPY})
"""Those of which the content is recorded as far as it is small; others may have the same memory."""

_ONLY_READ = frozenset({"bytes", "hash", "hex", "id", "isinstance", "iter", "len", "list", "print", "repr", "str"})

_GIVEN = frozenset({rows.WRITE, rows.FIELD, rows.RETURN, rows.YIELD})

_MOST_ROUNDS = 100
"""Of a call, in which its arguments are compared with what is wanted: the last ones."""

_MOST_HANDLES = 4
"""Objects that one gave, of which the calls are looked for: the last ones."""


class OpaqueEdges:
    """The edges to what may have changed objects of one process whose content is not recorded."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_calls_on(
        self,
        execution: StatementExecution,
        target: int,
        wanted: WantedPieces = NOTHING_WANTED,
        *,
        is_buffer: bool,
        before: int = 0,
    ) -> Iterator[SliceEdge]:
        """Yield the last calls of methods of an object; of a buffer all, and what it was given to.

        Those whose arguments name what is wanted come first; in the frame itself there are only such, which are
        called for what they change. `before`: if it is not the statement's own row: a call in it gave the object.
        """
        edges: dict[object, SliceEdge] = {}
        before = before or execution.row
        names = self.names_of(target)
        given = self._past.mentions.calls_with(names) if is_buffer else iter(())
        methods = ((*found, "was called on it") for found in self._past.mentions.method_calls(names))
        for statement, path, call, word in chain(methods, ((*found, "was given it") for found in given)):
            if word == "was given it" and called(call) in _ONLY_READ:
                continue
            note = f"{called(call)} {word}; its content is not recorded"
            is_named, runs = self._runs_of(statement, path, call, target, before, wanted)
            for run in (run for run in runs if run.row != execution.row):
                if run.frame != execution.frame or is_buffer or (is_named and _is_for_change(statement, call)):
                    edges[statement] = _edge(run, call, note, is_named=is_named)
        for statement, edge in self._of_calls_through(target, names, before, wanted):
            edges.setdefault(statement, edge)
        yield from self.of_stores(execution, target)
        yield from sorted(edges.values(), key=lambda edge: (-edge.cost, edge.node.row))[-_MOST_CHANGES:]

    def _of_calls_through(
        self, target: int, names: set[str], before: int, wanted: WantedPieces
    ) -> Iterator[tuple[Statement, SliceEdge]]:
        """Yield the last calls of methods of what an object has given: a cursor changes what its connection has.

        Only of those whose results nothing uses: they are called for what they change.
        """
        handles = self._handles(target, names, before)
        inner = [self._handles(handle, self.names_of(handle), before, method) for handle, method in handles.items()]
        for holder, holders in ((target, names), *((handle, self.names_of(handle)) for handle in handles)):
            of = f" of what {handles[holder]} of it" if holder in handles else " of it"
            for statement, path, call in self._past.mentions.method_calls(holders):
                outer = _called_on_result(statement, call)
                if outer is not None:
                    note = f"{called(outer)} was called on what {called(call)}{of} gave; its content is not recorded"
                    yield from self._through(statement, path, outer, holder, before, wanted, note)
        for handle, method in {**handles, **{handle: way for more in inner for handle, way in more.items()}}.items():
            for statement, path, call in self._past.mentions.method_calls(self.names_of(handle)):
                if _is_for_change(statement, call):
                    note = f"{called(call)} was called on what {method} of it gave; its content is not recorded"
                    yield from self._through(statement, path, call, handle, before, wanted, note)

    def _through(
        self,
        statement: Statement,
        path: ValuePath,
        call: ast.Call,
        holder: int,
        before: int,
        wanted: WantedPieces,
        note: str,
    ) -> Iterator[tuple[Statement, SliceEdge]]:
        is_named, runs = self._runs_of(statement, path, call, holder, before, wanted)
        for run in runs:
            yield statement, _edge(run, call, note, is_named=is_named)

    def _handles(self, target: int, names: set[str], before: int, way: str = "") -> dict[int, str]:
        """Return the objects of other classes than the program's that methods of an object gave, and those methods."""
        found: dict[int, str] = {}
        for statement, path, call in self._past.mentions.method_calls(names):
            if call not in _made(statement.node):
                continue
            for run in self._runs_on(statement, path, target, before):
                ending = self._past.executions.ending(run.row)
                results = [*self._past.executions.effects(run.row), *([ending] if ending is not None else [])]
                for row in [each for each in results if each.kind in _GIVEN and each.object not in (0, target)]:
                    if self._is_foreign(self._record.text(row)):
                        found[row.object] = f"{called(call)} of what {way}" if way else called(call)
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

    def _runs_of(
        self,
        statement: Statement,
        path: ValuePath,
        call: ast.Call,
        target: int,
        before: int,
        wanted: WantedPieces,
    ) -> tuple[bool, Iterable[StatementExecution]]:
        """Return the last runs of a call on an object; if its arguments named what is wanted, the last such run."""
        words = _words(wanted)
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        paths = [each for each in map(path_of, given) if each is not None]
        if words & _named_in(call):
            return True, list(self._runs_on(statement, path, target, before))[-1:]
        for run in islice(self._all_runs(statement, before), _MOST_ROUNDS if words and paths else 0):
            held = self._past.values.value(run, path)
            values = [self._past.values.value(run, each) for each in paths]
            names = {_plain(value.text) for value in values if value is not None and not value.object}
            if held is not None and held.object == target and words & names:
                return True, [run]
        return False, self._runs_on(statement, path, target, before)

    def _all_runs(self, statement: Statement, before: int) -> Iterator[StatementExecution]:
        for frame in reversed(self._past.scopes.frames([statement.scope])):
            yield from self._past.executions.runs(statement, frame, before)

    def of_stores(self, execution: StatementExecution, target: int) -> Iterator[SliceEdge]:
        """Yield the last stores into an object: of its items, or by an operator."""
        found: list[int] = []
        for statement, path in self._past.mentions.item_stores(self.names_of(target)):
            found += [run.row for run in self._runs_on(statement, path, target, execution.row)][:1]
        for row in sorted(found)[-_MOST_CHANGES:]:
            yield SliceEdge(cost.CALLED_ON, SliceNode(row), "changed it; its content is not recorded")

    def is_buffer(self, name: str, deep: int = 0) -> bool:
        """Whether a type, or a base of a class of the program, is there to be changed in place."""
        bases = [base for scope in self._past.scopes.classes(name) for base in scope.bases]
        own = name.rpartition(".")[2]
        return own in BUFFERS or (deep < _MOST_BASES and any(self.is_buffer(base, deep + 1) for base in bases))

    def is_shared(self, name: str) -> bool:
        """Whether others may have the memory of a value of that type."""
        return name in _SHARED or (bool(self._past.scopes.classes(name)) and self.is_buffer(name))

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


def naming(edge: SliceEdge, label: str) -> SliceEdge:
    """Return an edge to what has made an object with an attribute: calls that name that attribute are looked for."""
    node = edge.node
    if label[:1] != "." or node.wanted.pieces or node.focus:
        return edge
    return edge._replace(node=node._replace(wanted=node.wanted._replace(pieces=(repr(label[1:]),))))


def _edge(run: StatementExecution, call: ast.Call, note: str, *, is_named: bool) -> SliceEdge:
    price = cost.CALLED_ON * cost.WANTED if is_named else cost.CALLED_ON
    return SliceEdge(price, SliceNode(run.row, focus=tuple(call.args)), note)


def _is_for_change(statement: Statement, call: ast.Call) -> bool:
    """Whether nothing uses the result of a call: it is called for what it changes."""
    return isinstance(statement.node, ast.Expr) and call in _made(statement.node)


def _called_on_result(statement: Statement, call: ast.Call) -> ast.Call | None:
    """Return the call of a method of what a call gave, if that is all that a statement does: `add(…).limit(…)`."""
    outer = statement.node.value if isinstance(statement.node, ast.Expr) else None
    is_chain = isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute) and outer.func.value is call
    return outer if is_chain and isinstance(outer, ast.Call) else None


def _words(wanted: WantedPieces) -> set[str]:
    """Return the names in what is wanted, without what an option has before it: `dry_run` of `--dry-run`."""
    return {_plain(piece) for piece in (*wanted.pieces, *(label.strip(".[]") for label in wanted.path))} - {""}


def _named_in(call: ast.Call) -> set[str]:
    """Return the names that are written in the arguments of a call."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    texts = [part.value for part in values if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return {_plain(text) for text in (*texts, *(keyword.arg or "" for keyword in call.keywords))} - {""}


def _plain(text: str) -> str:
    return text.strip("'\"").lstrip("-").replace("-", "_")
