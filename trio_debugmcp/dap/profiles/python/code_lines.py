"""Python source without running it: which lines have code, and where a function begins. Pure.

    line_with_code(source, 3)                       # 5, if lines 3 and 4 are comments
    function_line(source, ["Basket", "total"])      # the line of its first statement

None of the names is looked up in a running program.
"""

import ast
import dis
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

from trio_debugmcp.source_lines import source_lines

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_OTHER_DEFINITIONS = frozenset({"overload", "setter", "deleter"})
"""Decorators of definitions that are not what people mean by a function's name."""


class _Parsed(NamedTuple):
    tree: ast.Module
    text: list[str]
    code_lines: frozenset[int]
    functions: list[Function]


class ComprehensionLoop(NamedTuple):
    """A `for` of a comprehension.

    Attributes:
        own: the variables that it binds.
        rounds: those of them that each round begins with.
        known: the variables that have values in it, also those of what it is in.
        is_generator: it has a frame of its own on every version.
        lines: where its comprehension begins, and where its variables are bound.
    """

    own: frozenset[str]
    rounds: frozenset[str]
    known: frozenset[str]
    is_generator: bool
    lines: frozenset[int]


def line_with_code(source: bytes, line: int) -> int | None:
    """Return where a breakpoint on a line belongs: that line, or the next one with code in the same function.

    In the middle of a statement that is the statement's own line. Outside of functions it is the next line of the
    module's level. None if no code follows; a source that another Python wrote keeps the line.
    """
    parsed = _parse(source)
    if parsed is None or line in parsed.code_lines:
        return line
    statement = _statement_at(parsed, line)
    if statement is not None:
        inside = [code_line for code_line in parsed.code_lines if statement.lineno <= code_line <= line]
        if inside:
            return max(inside)
    scope = _function_at(parsed, line)
    scope_lines = [code_line for code_line in parsed.code_lines if _body_at(parsed, code_line) is scope]
    after = [code_line for code_line in scope_lines if code_line > line]
    if after:
        return min(after)
    # After the last statement of a function nothing of it follows; the last statement is still inside.
    return max(scope_lines) if scope is not None and scope_lines else None


def function_line(source: bytes, names: Sequence[str]) -> int | None:
    """Return the line of the first statement of a function, by its name within the file; None if it has none there.

    A function in one line has no line of its own.
    """
    parsed = _parse(source)
    found = None if parsed is None else _find(parsed.tree.body, list(names), parsed.tree)
    if parsed is None or found is None:
        return None
    lines = [
        code_line
        for code_line in parsed.code_lines
        if _body_at(parsed, code_line) is found and code_line > found.lineno
    ]
    return min(lines, default=None)


def defines(source: bytes, names: Sequence[str]) -> bool:
    """Whether a file has a function of that name; a single name may be anywhere in it."""
    parsed = _parse(source)
    if parsed is None:
        return False
    if len(names) == 1:
        return any(function.name == names[0] for function in parsed.functions)
    return _find(parsed.tree.body, list(names), parsed.tree) is not None


def comprehension_at(source: bytes, line: int) -> list[ComprehensionLoop] | None:
    """Return the loops of the comprehensions on a line, and of those in them.

    None if there is none, or if the line is only executed inside of it, where its variables have values.
    """
    parsed = _parse(source)
    if parsed is None:
        return None
    here = [
        node
        for node in ast.walk(parsed.tree)
        if isinstance(node, _Comprehension) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    begins = {node.lineno for node in here}
    begins |= {generator.target.lineno for node in here for generator in node.generators}
    if line not in begins:
        return None
    inner = {id(node) for outer in here for node in ast.walk(outer) if node is not outer}
    return [loop for node in here if id(node) not in inner for loop in _loops(node, frozenset())]


def _loops(node: ast.AST, around: frozenset[str]) -> Iterator[ComprehensionLoop]:
    """Yield the loops of the comprehensions in an expression; `around`: variables of those that it is in."""
    if not isinstance(node, _Comprehension):
        for child in ast.iter_child_nodes(node):
            yield from _loops(child, around)
        return
    known, rounds, lines = around, frozenset[str](), frozenset[int]()
    for generator in node.generators:
        yield from _loops(generator.iter, known)
        own = frozenset(name.id for name in ast.walk(generator.target) if isinstance(name, ast.Name))
        known |= own
        if not rounds or not _is_assignment(generator):
            rounds, lines = own, frozenset([node.lineno, generator.target.lineno])
        yield ComprehensionLoop(own, rounds, known, isinstance(node, ast.GeneratorExp), lines)
        for test in generator.ifs:
            yield from _loops(test, known)
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for part in parts:
        yield from _loops(part, known)


def _is_assignment(generator: ast.comprehension) -> bool:
    """Whether an inner `for` goes through one item that stands there: CPython makes no loop of `for y in [f(x)]`."""
    items = generator.iter.elts if isinstance(generator.iter, ast.List | ast.Tuple) else []
    return len(items) == 1 and not isinstance(items[0], ast.Starred) and not generator.is_async


def names_in(expression: str) -> frozenset[str]:
    """Return the names that an expression reads of what is around it; none if it is not valid."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    nodes = list(ast.walk(tree))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}  # of a lambda in it; else of a comprehension in it
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name)) - own


@lru_cache(maxsize=4)
def lines_in_texts(text: str) -> frozenset[int]:
    """Return the lines that begin inside of a literal of several lines, a docstring for instance."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.Constant))
    return frozenset(line for node in texts for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))


@lru_cache(maxsize=8)
def _parse(source: bytes) -> _Parsed | None:
    try:
        tree = ast.parse(source)
        code = compile(source, "source", "exec", dont_inherit=True)
        text = ["", *source_lines(_decoded(source))]
    except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError):
        return None
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    return _Parsed(tree, text, frozenset(_lines(code)), functions)


def _decoded(source: bytes) -> str:
    return source.decode("utf-8-sig", errors="replace")


def _lines(code: CodeType) -> Iterator[int]:
    """Yield the lines at which a debugger can stop. Line 0 is where a module is about to start."""
    yield from (line for _, line in dis.findlinestarts(code) if line)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant)


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, _Definition) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _innermost(functions: Iterator[Function]) -> Function | None:
    return max(functions, key=lambda function: function.lineno, default=None)


def _body_at(parsed: _Parsed, line: int) -> Function | None:
    """The innermost function in whose body a line is; a `def` line belongs to what is around it."""
    return _innermost(
        function
        for function in parsed.functions
        if _first_line(function.body[0]) <= line <= (function.end_lineno or line) and line > function.lineno
    )


def _function_at(parsed: _Parsed, line: int) -> Function | None:
    """The innermost function that a line without code is in: in its head, its body, or a comment at its end."""
    return _innermost(
        function for function in parsed.functions if function.lineno < line <= _end_with_comments(parsed, function)
    )


def _end_with_comments(parsed: _Parsed, function: Function) -> int:
    """The last line of a function, with the comments that follow at its indentation."""
    end = number = function.end_lineno or function.lineno
    for text in parsed.text[number + 1 :]:
        number += 1
        stripped = text.strip()
        if stripped and not stripped.startswith("#"):
            break
        if stripped:
            if len(text) - len(text.lstrip()) <= function.col_offset:
                break
            end = number
    return end


def _statement_at(parsed: _Parsed, line: int) -> ast.stmt | None:
    """The statement in whose middle a line is; None for comments, blank lines, docstrings and `def`s."""
    around = [
        node
        for node in ast.walk(parsed.tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not around:
        return None
    node = max(around, key=lambda statement: (statement.lineno, -(statement.end_lineno or 0)))
    if isinstance(node, _Definition):
        return None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return None
    body = getattr(node, "body", None)
    if body is not None:
        text = parsed.text[line].strip() if line < len(parsed.text) else ""
        if not text or text.startswith("#") or line >= _first_line(body[0]):
            return None
    return node


def _find(body: Sequence[ast.stmt], names: list[str], tree: ast.Module) -> Function | None:
    """Find a definition by its names from the outside in: classes and functions, and last a function."""
    name, rest = names[0], names[1:]
    found: Function | None = None
    for node in _definitions(body):
        if node.name != name or (isinstance(node, Function) and _is_other(node)):
            continue
        if rest:
            found = _find(node.body, rest, tree) or _inherited(node, rest, tree) or found
        elif isinstance(node, Function):
            found = node  # the last definition is the one that is left
    return found


def _inherited(node: _Definition, rest: list[str], tree: ast.Module) -> Function | None:
    """Find a method in the base classes that the same file has."""
    if not isinstance(node, ast.ClassDef) or len(rest) != 1:
        return None
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id != node.name:
            found = _find(tree.body, [base.id, *rest], tree)
            if found is not None:
                return found
    return None


def _definitions(body: Sequence[ast.stmt]) -> Iterator[_Definition]:
    """Yield what a body defines, also below `if`, `try` and `with`."""
    for node in body:
        if isinstance(node, _Definition):
            yield node
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from _definitions(
                [statement for statement in getattr(node, field, []) if isinstance(statement, ast.stmt)]
            )
        for handler in getattr(node, "handlers", []):
            yield from _definitions(handler.body)


def _is_other(function: Function) -> bool:
    names = {
        node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in function.decorator_list
    }
    return bool(names & _OTHER_DEFINITIONS)
