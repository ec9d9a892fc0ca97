"""What an exception runs on its way out of a function: `finally` and `with` around a line."""

import ast
from collections.abc import Sequence

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def cleanups(text: str, line: int) -> Sequence[int]:
    """Return the lines where these begin, for an exception that leaves the function which a line is in.

    Of a text that is not Python there are none.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found: list[int] = []
    for node in ast.walk(tree):  # outer ones first
        if isinstance(node, _FUNCTIONS) and node.lineno < line <= (node.end_lineno or node.lineno):
            found.clear()  # what is around the function does not see its exceptions here
        elif isinstance(node, ast.With | ast.AsyncWith) and _has(node.body, line):
            found.append(node.lineno)
        elif (
            isinstance(node, ast.Try | ast.TryStar)
            and _has([*node.body, *node.handlers, *node.orelse], line)
            and node.finalbody
        ):
            found.append(node.finalbody[0].lineno)
    return sorted(found)


def _has(statements: Sequence[ast.stmt | ast.excepthandler], line: int) -> bool:
    return bool(statements) and statements[0].lineno <= line <= (statements[-1].end_lineno or line)
