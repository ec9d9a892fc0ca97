r"""The operands of an assertion in a Python file, from its source alone. Pure.

    operands("assert total == order.lines[0].price\n", 1)
    # [("total", []), ("order.lines[0].price", [("order.lines[0]", [("order.lines", [("order", [])])])])]

Whether an operand can be read without running the program is seen there: of one that cannot, its parts may be. So each
operand has its parts with it.
"""

import ast
from collections.abc import Iterator, Sequence

from trio_debugmcp.dap.profiles.function_code import Operand

_MOST_BYTES = 1024 * 1024
"""Larger files of Python are data."""

_MOST_CHARACTERS = 80
"""An operand with a longer text is shown by its parts."""

_PATHS = (ast.Name, ast.Attribute, ast.Subscript)
_WHOLE = (*_PATHS, ast.Call, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.GeneratorExp, ast.ListComp)
_LOOPS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_MESSAGES = frozenset({"msg", "message"})


def operands(source: str, line: int) -> Sequence[Operand]:
    """Return the operands of the `assert`, or of the call of a method like `assertEqual`, that a line is part of."""
    if len(source) > _MOST_BYTES:
        return ()
    try:
        tree = ast.parse(source)
        statement = _statement(tree, line)
        return [] if statement is None else list(_distinct(_asserted(statement), set()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _statement(tree: ast.AST, line: int) -> ast.stmt | None:
    """Return the innermost statement that a line is part of."""
    found = None
    for node in ast.walk(tree):  # outer ones first
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            found = node
    return found


def _asserted(statement: ast.stmt) -> Iterator[Operand]:
    match statement:
        case ast.Assert(test=test):
            yield from _of_test(test)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name)) as call) if name.startswith(("assert", "fail")):
            for argument in call.args:
                yield from _of(argument)
            for keyword in call.keywords:
                if keyword.arg not in _MESSAGES:
                    yield from _of(keyword.value)


def _of_test(node: ast.expr) -> Iterator[Operand]:
    """Yield the operands of what is known to be false: its own value says nothing, but that of a path."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _of(operand)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _of_test(value)
        case _ if isinstance(node, _PATHS):
            yield from _of(node)
        case _:
            yield from _parts(node)


def _of(node: ast.expr) -> Iterator[Operand]:
    inner = list(_parts(node))
    if isinstance(node, _WHOLE):
        text = ast.unparse(node)
        if len(text) <= _MOST_CHARACTERS:
            yield text, inner
            return
    yield from inner


def _parts(node: ast.expr) -> Iterator[Operand]:
    if isinstance(node, _LOOPS):  # the names that it binds mean nothing outside
        yield from _of(node.generators[0].iter)
        return
    if isinstance(node, ast.Lambda | ast.JoinedStr):
        return
    for part in ast.iter_child_nodes(node):
        if isinstance(node, ast.Call) and part is node.func:
            if isinstance(part, ast.Attribute):
                yield from _of(part.value)
        elif isinstance(part, ast.keyword):
            yield from _of(part.value)
        elif isinstance(part, ast.expr):
            yield from _of(part)


def _distinct(found: Iterator[Operand] | Sequence[Operand], seen: set[str]) -> Iterator[Operand]:
    for text, inner in found:
        if text not in seen:
            seen.add(text)
            yield text, list(_distinct(inner, seen))
