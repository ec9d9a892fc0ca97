r"""`read_source`: a text of a program as scopes and their statements.

    source = read_source("def f(x):\n    return x\n")
    scope = source.scope("f", 1)
    scope.statement(2).text                 # "return x"
    scope.home("x")                         # the scope itself: a name of its own

A scope is found by the qualified name and the first line that its code object has.
"""

import ast
import re

from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement
from trio_debugmcp.runs.source.statement_trees import first_line, head_end, heads_of

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp)

_LINE_ENDS = re.compile(r"\r\n?|\n")

_INLINE = (ast.Lambda, ast.GeneratorExp)


class ScopedSource:
    """One text of a program, and its scopes. Made by `read_source`."""

    def __init__(self, text: str) -> None:
        self.lines = lines_of(text)
        self.module = SourceScope(self.lines, ast.parse(text), "<module>", None)
        self._fill(self.module)
        self.scopes = [self.module, *self.module.all_inner()]

    def scope(self, name: str, first: int) -> SourceScope | None:
        """Return the scope with a qualified name that begins at a line."""
        named = [scope for scope in self.scopes if scope.name == name]
        for scope in named:
            if scope.first == first:
                return scope
        return named[0] if len(named) == 1 else None

    def _fill(self, scope: SourceScope) -> None:
        node = scope.node
        if isinstance(node, ast.Lambda):
            self._add_inline(scope, node.body)
        elif isinstance(node, ast.GeneratorExp):
            self._add_inline(scope, node)
        else:
            self._add_block(scope, list(getattr(node, "body", [])), None, "body")

    def _add_inline(self, scope: SourceScope, expression: ast.expr) -> None:
        statement = Statement(expression, scope, None, "body", [])
        scope.statements.append(statement)
        scope.own.append(statement)
        inner = expression if isinstance(scope.node, ast.Lambda) else None
        self._add_scopes(scope, [inner] if inner is not None else list(ast.iter_child_nodes(expression)))

    def _add_block(self, scope: SourceScope, nodes: list[ast.stmt], parent: Statement | None, branch: str) -> None:
        siblings = scope.own if parent is None else parent.inner
        before: list[Statement] = []
        for node in nodes:
            if isinstance(node, ast.Global | ast.Nonlocal):
                scope.outside.update(node.names)
                continue
            if before and first_line(node) <= before[-1].last and not before[-1].inner:
                before[-1].nodes.append(node)  # on one line with the statement before
                before[-1].last = max(before[-1].last, head_end(node))
                self._add_scopes(scope, heads_of(node))
                continue
            statement = Statement(node, scope, parent, branch, list(before))
            before.append(statement)
            siblings.append(statement)
            scope.statements.append(statement)
            self._add_scopes(scope, statement.heads)
            self._add_inner(scope, statement, node)

    def _add_inner(self, scope: SourceScope, statement: Statement, node: ast.AST) -> None:
        if isinstance(node, _SCOPES):
            self._add_scope(scope, node)
            return
        for branch in ("body", "orelse", "handlers", "finalbody", "cases"):
            children = list(getattr(node, branch, []))
            while children and isinstance(children[0], ast.stmt) and first_line(children[0]) <= statement.last:
                child = children.pop(0)  # on the line of its head
                statement.nodes.append(child)
                statement.last = max(statement.last, head_end(child))
                self._add_scopes(scope, heads_of(child))
            if branch in ("handlers", "cases"):
                for child in children:
                    self._add_handler(scope, statement, child, branch)
            else:
                self._add_block(scope, children, statement, branch)

    def _add_handler(
        self, scope: SourceScope, parent: Statement, node: "ast.ExceptHandler | ast.match_case", branch: str
    ) -> None:
        handler = Statement(node, scope, parent, branch, [])
        parent.inner.append(handler)
        scope.statements.append(handler)
        self._add_inner(scope, handler, node)

    def _add_scopes(self, scope: SourceScope, nodes: list[ast.AST]) -> None:
        for node in nodes:
            if isinstance(node, _INLINE):
                self._add_scope(scope, node)
            else:
                self._add_scopes(scope, list(ast.iter_child_nodes(node)))

    def _add_scope(self, scope: SourceScope, node: ast.AST) -> None:
        name = getattr(node, "name", "<lambda>" if isinstance(node, ast.Lambda) else "<genexpr>")
        if scope.parent is not None:
            name = f"{scope.name}.{name}" if isinstance(scope.node, ast.ClassDef) else f"{scope.name}.<locals>.{name}"
        inner = SourceScope(self.lines, node, name, scope)
        scope.inner.append(inner)
        self._fill(inner)


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
