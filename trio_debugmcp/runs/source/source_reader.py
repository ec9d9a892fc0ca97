r"""`read_source`: a text of a program as scopes and their statements.

    source = read_source("def f(x):\n    return x\n")
    scope = source.scope("f", 1)
    scope.statement(2).text                 # "return x"
    scope.home("x")                         # the scope itself: a name of its own

A scope is found by the qualified name and the first line that its code object has.
"""

import ast
import re
from collections.abc import Iterator

from trio_debugmcp.runs.source.source_scopes import ScopeBody, SourceScope, Statement
from trio_debugmcp.runs.source.statement_trees import first_line, head_end, heads_of

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp)

_LINE_ENDS = re.compile(r"\r\n?|\n")

_INLINE = (ast.Lambda, ast.GeneratorExp)

_INLINE_WORDS = ("lambda", "for")
"""One of these is in the text of each of them."""


class ScopedSource:
    """One text of a program, and its scopes. Made by `read_source`."""

    def __init__(self, text: str) -> None:
        self.lines = lines_of(text)
        self.module = SourceScope(self.lines, ast.parse(text), "<module>", None, self._body)

    @property
    def scopes(self) -> list[SourceScope]:
        """All of them, the outer ones first."""
        return [self.module, *self.module.all_inner()]

    def scope(self, name: str, first: int) -> SourceScope | None:
        """Return the scope with a qualified name that begins at a line."""
        named = [self.module] if name == self.module.name else list(_named(self.module, name))
        for scope in named:
            if scope.first == first:
                return scope
        return named[0] if len(named) == 1 else None

    def _body(self, scope: SourceScope) -> ScopeBody:
        node, body = scope.node, ScopeBody([], [], set(), [])
        try:
            if isinstance(node, ast.Lambda):
                self._add_inline(scope, body, node.body)
            elif isinstance(node, ast.GeneratorExp):
                self._add_inline(scope, body, node)
            else:
                self._add_block(scope, body, list(getattr(node, "body", [])), None, "body")
        except RecursionError:  # a chain of a thousand `elif`
            return ScopeBody([], [], set(), [])
        return body

    def _add_inline(self, scope: SourceScope, body: ScopeBody, expression: ast.expr) -> None:
        statement = Statement(expression, scope, None, "body", [])
        body.statements.append(statement)
        body.own.append(statement)
        inner = expression if isinstance(scope.node, ast.Lambda) else None
        self._add_scopes(scope, body, [inner] if inner is not None else list(ast.iter_child_nodes(expression)))

    def _add_block(
        self, scope: SourceScope, body: ScopeBody, nodes: list[ast.stmt], parent: Statement | None, branch: str
    ) -> None:
        siblings = body.own if parent is None else parent.inner
        before: list[Statement] = []
        for node in nodes:
            if isinstance(node, ast.Global | ast.Nonlocal):
                body.outside.update(node.names)
                continue
            if before and first_line(node) <= before[-1].last and not before[-1].inner:
                before[-1].nodes.append(node)  # on one line with the statement before
                before[-1].last = max(before[-1].last, head_end(node))
                self._add_scopes(scope, body, heads_of(node))
                continue
            statement = Statement(node, scope, parent, branch, list(before))
            before.append(statement)
            siblings.append(statement)
            body.statements.append(statement)
            self._add_scopes(scope, body, statement.heads)
            self._add_inner(scope, body, statement, node)

    def _add_inner(self, scope: SourceScope, body: ScopeBody, statement: Statement, node: ast.AST) -> None:
        if isinstance(node, _SCOPES):
            self._add_scope(scope, body, node)
            return
        for branch in ("body", "orelse", "handlers", "finalbody", "cases"):
            children = list(getattr(node, branch, []))
            while children and isinstance(children[0], ast.stmt) and first_line(children[0]) <= statement.last:
                child = children.pop(0)  # on the line of its head
                statement.nodes.append(child)
                statement.last = max(statement.last, head_end(child))
                self._add_scopes(scope, body, heads_of(child))
            if branch in ("handlers", "cases"):
                for child in children:
                    self._add_handler(scope, body, statement, child, branch)
            else:
                self._add_block(scope, body, children, statement, branch)

    def _add_handler(
        self,
        scope: SourceScope,
        body: ScopeBody,
        parent: Statement,
        node: "ast.ExceptHandler | ast.match_case",
        branch: str,
    ) -> None:
        handler = Statement(node, scope, parent, branch, [])
        parent.inner.append(handler)
        body.statements.append(handler)
        self._add_inner(scope, body, handler, node)

    def _add_scopes(self, scope: SourceScope, body: ScopeBody, nodes: list[ast.AST]) -> None:
        stack = [node for node in reversed(nodes) if self._may_have_inline(node)]
        while stack:
            node = stack.pop()
            if isinstance(node, _INLINE):
                self._add_scope(scope, body, node)
            else:
                stack += [*ast.iter_child_nodes(node)][::-1]

    def _may_have_inline(self, node: ast.AST) -> bool:
        """Whether there may be a lambda or a generator expression in a node, by its text."""
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        if not (first and last):
            return True
        return any(word in line for line in self.lines[first - 1 : last] for word in _INLINE_WORDS)

    def _add_scope(self, scope: SourceScope, body: ScopeBody, node: ast.AST) -> None:
        name = getattr(node, "name", "<lambda>" if isinstance(node, ast.Lambda) else "<genexpr>")
        body.inner.append(SourceScope(self.lines, node, f"{_prefix(scope)}{name}", scope, self._body))


def _prefix(scope: SourceScope) -> str:
    """Return how the names of the scopes in one begin."""
    if scope.parent is None:
        return ""
    return f"{scope.name}." if isinstance(scope.node, ast.ClassDef) else f"{scope.name}.<locals>."


def _named(outer: SourceScope, name: str) -> Iterator[SourceScope]:
    """Yield the scopes in one that have a qualified name, the outer ones first."""
    for scope in outer.inner:
        if scope.name == name:
            yield scope
        elif name.startswith(_prefix(scope)):
            yield from _named(scope, name)


def lines_of(text: str) -> list[str]:
    """Return the lines of a source as Python counts them: a form feed or the like ends none."""
    lines = _LINE_ENDS.split(text)
    return lines if lines[-1] else lines[:-1]


def read_source(text: str) -> ScopedSource | None:
    """Return the statements of a source; None if this Python cannot read it."""
    try:
        return ScopedSource(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
