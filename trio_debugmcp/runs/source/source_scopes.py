"""`Statement` and `SourceScope`: the statements of a source, and the functions, classes and modules that they are in.

A statement with a block is its head: what is evaluated before the block. Statements that stand in a row on one line are
one, as the record has one event for them; so is a compound with its block on the same line.
"""

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath, calls_in, path_of
from trio_debugmcp.runs.source.statement_trees import (
    MUTATORS,
    first_line,
    head_end,
    heads_of,
    is_empty_container,
    names_written,
    parameters_of,
    reads_in_order,
    targets_of,
)

_MOST_TEXT = 100

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Statement:
    """One statement of a scope: each property is one fact of its tree, hence so many.

    Attributes:
        node: its tree; of statements that share a line, the first.
        scope: the function, class or module that it is in.
        parent: the statement in whose block it is; None at the scope's own level.
        branch: the block of the parent: `body`, `orelse`, `handlers`, `finalbody`, `cases`.
        before: the statements before it in the same block.
        inner: those in its blocks.
        first, last: the lines of its head.
    """

    def __init__(
        self, node: ast.AST, scope: "SourceScope", parent: "Statement | None", branch: str, before: "list[Statement]"
    ) -> None:
        self.node = node
        self.scope = scope
        self.parent = parent
        self.branch = branch
        self.before = before
        self.inner: list[Statement] = []
        self.nodes: list[ast.AST] = [node]
        self.first = first_line(node)
        self.last = head_end(node)

    def __repr__(self) -> str:
        return f"<Statement {self.first} {self.text!r}>"

    @cached_property
    def text(self) -> str:
        """Its source on one line, without its block."""
        lines = [line.strip() for line in self.scope.lines[self.first - 1 : self.last]]
        text = " ".join(lines)
        return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"

    @property
    def heads(self) -> list[ast.AST]:
        """The expressions that are evaluated when it begins."""
        return [head for node in self.nodes for head in heads_of(node)]

    @cached_property
    def reads(self) -> list[PathRead]:
        """What it reads, in the order of evaluation."""
        return reads_in_order(self.nodes)

    @cached_property
    def calls(self) -> list[ast.Call]:
        """The calls that are written in it, in the order in which they are made."""
        return calls_in(*self.heads)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that it gives values to."""
        return frozenset(name for node in self.nodes for name in names_written(node))

    @cached_property
    def stores(self) -> list[ValuePath]:
        """The attributes and items that it gives values to, as far as they are paths."""
        targets = [target for node in self.nodes for target in targets_of(node)]
        paths = [path_of(target) for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]
        return [path for path in paths if path is not None]

    @cached_property
    def carried(self) -> frozenset[ValuePath]:
        """The names, attributes and items that it reads to give them new values."""
        written = {*self.stores, *(ValuePath(name) for name in self.names)}
        return frozenset(written & {read.path for read in self.reads})

    @cached_property
    def mutates(self) -> list[tuple[ValuePath, str]]:
        """The containers that it changes: their paths, and the methods of theirs that it calls; empty: an item."""
        items = [path for path in self.stores if not isinstance(path.steps[-1], str) or path.steps[-1][:1] == "["]
        found = [(path.holder, "") for path in items]
        for call in self.calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr in MUTATORS:
                path = path_of(call.func.value)
                if path is not None:
                    found.append((path, call.func.attr))
        return found

    @property
    def is_definition(self) -> bool:
        return isinstance(self.node, _DEFINITIONS)

    @property
    def is_loop(self) -> bool:
        return isinstance(self.node, _LOOPS)

    @property
    def is_condition(self) -> bool:
        """Whether what it evaluates decides what runs next."""
        return isinstance(self.node, ast.If | ast.While | ast.Match | ast.Assert)

    @property
    def is_constant(self) -> bool:
        """Whether its effect is the same whenever it runs: that it ran is all there is to know."""
        if len(self.nodes) > 1:
            return False
        node = self.node
        if isinstance(node, ast.Break | ast.Continue | ast.Pass):
            return True
        if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign):
            value = node.value
            return value is None or isinstance(value, ast.Constant) or is_empty_container(value)
        return isinstance(node, ast.Raise) and not any(not read.is_callee for read in self.reads)

    @property
    def copied(self) -> ValuePath | None:
        """The path whose value it passes on as it is: of `x = a.b` this is `a.b`."""
        value = getattr(self.node, "value", None)
        if len(self.nodes) > 1 or not isinstance(self.node, ast.Assign | ast.AnnAssign | ast.Return):
            return None
        return path_of(value) if isinstance(value, ast.expr) else None

    def place_of(self, names: tuple[str, ...]) -> int:
        """Return the place at which a statement that takes a value apart finds that of a name; -1: it does not."""
        targets = self.node.targets if isinstance(self.node, ast.Assign) else []
        if len(names) == 1 and len(targets) == 1 and isinstance(targets[0], ast.Tuple):
            for place, target in enumerate(targets[0].elts):
                if getattr(target, "id", getattr(target, "attr", "")) == names[0]:
                    return place
        return -1

    @cached_property
    def leaves_out(self) -> bool:
        """Whether what it makes is without that which another value has: by `not in`, or by a difference."""
        parts = [part for head in self.heads for part in ast.walk(head)]
        return any(
            isinstance(part, ast.NotIn) or (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub))
            for part in parts
        )

    @cached_property
    def filters(self) -> bool:
        """Whether a comprehension in it passes over some of what it goes through."""
        parts = [part for head in self.heads for part in ast.walk(head)]
        return any(isinstance(part, ast.comprehension) and bool(part.ifs) for part in parts)

    @property
    def is_passing_on(self) -> bool:
        """Whether it returns variables of its function as they are: where they come from is all that counts."""
        if any(outer.branch == "finalbody" for outer in (self, *self.outer())):  # it takes the place of another end
            return False
        if any(outer.is_loop for outer in self.outer()):  # it ends that
            return False
        if not isinstance(self.node, ast.Return) or self.node.value is None or len(self.nodes) > 1:
            return False
        values = self.node.value.elts if isinstance(self.node.value, ast.Tuple) else [self.node.value]
        return all(isinstance(value, ast.Name) and self.scope.home(value.id) is self.scope for value in values)

    @property
    def is_given(self) -> bool:
        """Whether it is a constant of the module: written out, from nothing that ran."""
        return self.scope.parent is None and isinstance(self.node, ast.Assign) and not self.calls and not self.reads

    @property
    def leaves(self) -> bool:
        """Whether the next statement never runs after it."""
        return isinstance(self.nodes[-1], _LEAVES)

    def block(self, branch: str) -> "list[Statement]":
        return [statement for statement in self.inner if statement.branch == branch]

    def all_inner(self) -> Iterator["Statement"]:
        """Yield the statements in its blocks, and those in theirs."""
        for statement in self.inner:
            yield statement
            yield from statement.all_inner()

    def outer(self) -> Iterator["Statement"]:
        """Yield the statements in whose blocks it is, innermost first."""
        statement = self.parent
        while statement is not None:
            yield statement
            statement = statement.parent


class ScopeBody(NamedTuple):
    """What is in a scope: all its statements, those of its own level, names of outer scopes, the scopes in it."""

    statements: list[Statement]
    own: list[Statement]
    outside: set[str]
    inner: "list[SourceScope]"


ReadScope = Callable[["SourceScope"], ScopeBody]


class SourceScope:
    """A module, class, function, lambda or generator expression.

    What is in it is read when it is first asked for: of most functions of a file nothing is ever asked.

    Attributes:
        lines: the text that it is a part of.
        name: as the code object has it (`co_qualname`).
        first: its first line, with decorators.
        parent: the scope around it.
        parameters: names that its calls fill.
    """

    def __init__(
        self, lines: list[str], node: ast.AST, name: str, parent: "SourceScope | None", read: "ReadScope"
    ) -> None:
        self.lines = lines
        self.node = node
        self.name = name
        self.parent = parent
        self.first = first_line(node) if parent is not None else 1
        self.parameters = parameters_of(node)
        self._read = read

    def __repr__(self) -> str:
        return f"<SourceScope {self.name}>"

    @cached_property
    def body(self) -> ScopeBody:
        return self._read(self)

    @property
    def statements(self) -> list[Statement]:
        return self.body.statements

    @property
    def inner(self) -> "list[SourceScope]":
        return self.body.inner

    @property
    def is_function(self) -> bool:
        return self.parent is not None and not isinstance(self.node, ast.ClassDef)

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that are its own."""
        names = {name for statement in self.statements for name in statement.names}
        return (frozenset(names) | frozenset(self.parameters)) - self.body.outside

    @property
    def bases(self) -> list[str]:
        """The names of the bases of a class, as far as they are names."""
        nodes = self.node.bases if isinstance(self.node, ast.ClassDef) else []
        return [getattr(node, "id", getattr(node, "attr", "")) for node in nodes]

    @property
    def fields(self) -> list[str]:
        """The names that a class body annotates: the fields of a data class, in their order."""
        nodes = [statement.node for statement in self.body.own]
        targets = [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
        return [target.id for target in targets if isinstance(target, ast.Name)]

    def home(self, name: str) -> "SourceScope | None":
        """Return the scope that a name belongs to; None if it is of the module, or built in."""
        scope: SourceScope | None = self
        while scope is not None and scope.parent is not None:
            if name in scope.bound and (scope is self or scope.is_function):
                return scope
            scope = scope.parent
        return None

    def statement(self, line: int) -> Statement | None:
        """Return the innermost statement whose head has a line."""
        best = None
        for statement in self.statements:
            if statement.first <= line <= statement.last:
                best = statement
        return best

    def writers(self, name: str) -> list[Statement]:
        """Return its statements that give a name a value."""
        return [statement for statement in self.statements if name in statement.names]

    def all_inner(self) -> Iterator["SourceScope"]:
        for scope in self.inner:
            yield scope
            yield from scope.all_inner()

    @property
    def is_named(self) -> bool:
        """Whether it is not a lambda or a generator expression."""
        return not isinstance(self.node, ast.Lambda | ast.GeneratorExp)

    @property
    def module(self) -> "SourceScope":
        """The module that it is in."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope
