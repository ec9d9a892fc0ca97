"""The functions of a Python file, its branches, and what cleans up in it, from its source alone. Pure.

    functions(source)[0].first          # the line that a call of the first function runs first
    branches(source)[27].outcome(28)    # "true": line 28 is in the body of the `if` in line 27

What a file that is not valid has is nothing.
"""

import ast
import dis
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType, MappingProxyType

from trio_debugmcp.dap.profiles.function_code import Branch, FunctionCode

_OPTIMIZED = 1
"""The flag of a code object that is a function's, and not a module's or a class's."""

_FAILURES = (SyntaxError, ValueError, RecursionError, MemoryError)


@lru_cache(maxsize=8)
def functions(source: bytes) -> tuple[FunctionCode, ...]:
    """Return the functions of a file that have a name, in the order of the file; none if it is invalid."""
    try:
        code = compile(source, "source", "exec", dont_inherit=True)
    except _FAILURES:
        return ()
    found = [
        function for function in (_function(code, name) for code, name in _codes(code, "")) if function is not None
    ]
    return tuple(sorted(found, key=lambda function: function.line))


def _codes(code: CodeType, above: str) -> Iterator[tuple[CodeType, str]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            name = f"{above}{constant.co_name}"
            yield constant, name
            yield from _codes(constant, f"{name}.")


def _function(code: CodeType, name: str) -> FunctionCode | None:
    """Return what is known of a function; None for other code. One on a single line runs that line first."""
    if not code.co_flags & _OPTIMIZED or code.co_name.startswith("<"):
        return None
    begin = code.co_firstlineno
    lines = [line for _, line in dis.findlinestarts(code) if line is not None and line > begin] or [begin]
    return FunctionCode(code.co_name, name, begin, lines[0], max(lines))


@lru_cache(maxsize=8)
def branches(source: bytes) -> Mapping[int, Branch]:
    """Return what the next line says of the lines of `if`, `elif`, `while` and `for`, by their numbers."""
    try:
        tree = ast.parse(source)
    except _FAILURES:
        return MappingProxyType({})
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While | ast.For | ast.AsyncFor):
            head = node.test if isinstance(node, ast.If | ast.While) else node.iter
            end = head.end_lineno or node.lineno
            first, last = node.body[0].lineno, node.body[-1].end_lineno or node.lineno
            if first > end:
                words = ("true", "false") if isinstance(node, ast.If | ast.While) else ("", "done")
                found[node.lineno] = Branch(range(node.lineno, end + 1), range(first, last + 1), *words)
    return MappingProxyType(found)


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
