"""Statements of a source, and the calls that are written in them.

    statements = statements_at(source, 16)
    statements.first, statements.last           # their lines; of one with a block, those before the block
    statements.call(16, 12, 16, 20).label       # "scale(n)"

A block that begins on the line of its statement is a part of that.
"""

import _ast
from typing import Any, Iterator

_MOST_BYTES = 4_000_000

_MOST_LABEL = 80

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class NamedCall:
    """A call as it is written; `column` is 0 where it is not known."""

    __slots__ = ("column", "label", "line")

    def __init__(self, label: str, line: int, column: int) -> None:
        self.label = label
        self.line = line
        self.column = column


class SourceStatements:
    """The statements on one line, mostly one; without the blocks in them, if these have lines of their own.

    Attributes:
        first, last: their lines.
    """

    def __init__(self, lines: list[bytes], nodes: list[Any]) -> None:
        self._lines = lines
        self.first = min([_first(each) for each in nodes])
        self.last = max([_head_end(each) for each in nodes])
        self._calls: dict[tuple[int, int], tuple[NamedCall, int, int]] = {}
        self._others: set[tuple[int, int, int, int]] = set()
        for node in nodes:
            for decorator in getattr(node, "decorator_list", ()):
                self._calls[decorator.end_lineno, decorator.end_col_offset] = self._plain(decorator)
            self._walk(node, not _has_all(node))

    def call(self, line: int, column: int, end_line: int, end_column: int) -> NamedCall | None:
        """Return the call that an instruction with this position makes, or None if none is written there.

        Where the call of a method begins depends on its lines, so it is known by its end.
        """
        if (line, column, end_line, end_column) in self._others:
            return None
        known = self._calls.get((end_line, end_column))
        return None if known is None or (line, column) < known[1:] else known[0]

    def _walk(self, node: Any, is_head: bool = False) -> None:
        kind: Any = type(node)
        if kind is _ast.Call:
            self._calls[node.end_lineno, node.end_col_offset] = (self._named(node), *_begin(node))
        elif kind is _ast.GeneratorExp:  # the compiler calls it; where it is the only argument, it has its place
            self._others.add((*_begin(node), node.end_lineno, node.end_col_offset))
        for name in node._fields:
            if is_head and name in _BLOCKS:
                continue
            value = getattr(node, name, None)
            for each in value if type(value) is list else [value]:
                if isinstance(each, _ast.AST):
                    self._walk(each)

    # --- Labels -------------------------------------------------------------------------------------------------------

    def _plain(self, node: Any) -> tuple[NamedCall, int, int]:
        line, column = _begin(node)
        return NamedCall(_shortened(self._text(node)), line, self._column(line, column)), line, column

    def _named(self, node: Any) -> NamedCall:
        """Name a call by what is called, and the arguments: of `a.b(1).c(2)` this is `c(2)`."""
        called = node.func
        line, column = _begin(node)
        name = self._text(called)
        if "(" in name:  # what is called is the result of another call, mostly
            name = called.attr if type(called) is _ast.Attribute else ""
            line, column = called.end_lineno, called.end_col_offset - len(name.encode())
        arguments = self._between(called.end_lineno, called.end_col_offset, node.end_lineno, node.end_col_offset)
        return NamedCall(_shortened(name + arguments), line, self._column(line, column))

    def _column(self, line: int, column: int) -> int:
        return len(self._lines[line - 1][:column].decode("utf-8", "replace")) + 1

    def _text(self, node: Any) -> str:
        return self._between(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)

    def _between(self, line: int, column: int, end_line: int, end_column: int) -> str:
        lines = self._lines[line - 1 : end_line]
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        text = " ".join(b" ".join(lines).decode("utf-8", "replace").split())
        return text if len(lines) == 1 else text.replace("( ", "(").replace(" )", ")")


def statements_at(source: bytes, line: int) -> SourceStatements | None:
    """Return the statements on a line of a source, or None if there are none."""
    if len(source) > _MOST_BYTES:
        return None
    try:
        tree: Any = compile(source, "<unknown>", "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    try:
        nodes = list(_on_line(tree, line))
        return SourceStatements(source.splitlines(), nodes) if nodes else None
    except (IndexError, RecursionError):
        return None


def _on_line(node: Any, line: int) -> Iterator[Any]:
    for each in _inner(node):
        if _first(each) <= line <= _head_end(each):
            yield each
        elif line <= each.end_lineno:
            yield from _on_line(each, line)


def _head_end(node: Any) -> int:
    """Return the last line of a statement before its block, if that has lines of its own."""
    if _has_all(node):
        return int(node.end_lineno)
    return max(int(node.lineno), _block(node) - 1)


def _has_all(node: Any) -> bool:
    """Whether a statement has no block, or one that begins on its first line."""
    return _block(node) <= int(node.lineno)


def _block(node: Any) -> int:
    """Return the line on which the block of a statement begins, or 0."""
    return min([_first(each) for each in _inner(node)], default=0)


def _inner(node: Any) -> Iterator[Any]:
    """Yield the statements directly in a node."""
    for name in _BLOCKS:
        value = getattr(node, name, ())
        for each in value if type(value) is list else ():
            if isinstance(each, _ast.stmt):
                yield each
            elif isinstance(each, _ast.AST):  # a handler or a case
                yield from _inner(each)


def _first(node: Any) -> int:
    lines = [each.lineno for each in getattr(node, "decorator_list", ())]
    return int(min([node.lineno, *lines]))


def _begin(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_LABEL else f"{text[: _MOST_LABEL - 1]}…"
