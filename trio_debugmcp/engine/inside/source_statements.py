"""Statements of a source, and the calls that are written in them.

    statements = statements_at(source, 16)
    statements.first, statements.last           # their lines; of one with a block, those before the block
    statements.call(16, 12, 16, 20).label       # "scale(n)"
    spans_of(source)[0].first                   # of all statements: their lines only

A block that begins on the line of its statement is a part of that.
"""

import _ast
from typing import Any, Iterator

from trio_debugmcp.engine.inside.source_trees import BLOCKS, first_line, source_tree

_MOST_LABEL = 80

_LOOPS: Any = (_ast.For, _ast.AsyncFor, _ast.While)


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
        self.first = min([first_line(each) for each in nodes])
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
            if is_head and name in BLOCKS:
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
    tree = source_tree(source)
    if tree is None:
        return None
    try:
        nodes = list(_on_line(tree, line))
        return SourceStatements(source.splitlines(), nodes) if nodes else None
    except (IndexError, RecursionError):
        return None


class StatementSpan:
    """The lines of one statement, of a handler or of a case.

    Attributes:
        first, head: first and last line of what is executed when it begins: without a block on lines of its own.
        last: the last one of all.
        is_loop: whether it begins again when its block has run.
    """

    __slots__ = ("first", "head", "is_loop", "last")

    def __init__(self, first: int, head: int, last: int, is_loop: bool) -> None:
        self.first = first
        self.head = head
        self.last = last
        self.is_loop = is_loop

    def has(self, line: int) -> bool:
        """Whether a line is one of those that are executed when it begins."""
        return self.first <= line <= self.head

    def covers(self, line: int) -> bool:
        """Whether control that comes from a line has been in the statement all the time."""
        return self.has(line) or (self.first <= line <= self.last and not self.is_loop)


def spans_of(source: bytes) -> list[StatementSpan] | None:
    """Return the spans of all statements of a source, or None if it cannot be read."""
    tree = source_tree(source)
    if tree is None:
        return None
    spans: list[StatementSpan] = []
    try:
        _add_spans(spans, tree)
    except RecursionError:
        return None
    return spans


def _add_spans(spans: list[StatementSpan], node: Any, after: int = 0) -> None:
    """Add the spans of what is in the blocks of a node, if it begins after a line."""
    for name in BLOCKS:
        value = getattr(node, name, ())
        for each in value if type(value) is list else ():
            if isinstance(each, (_ast.stmt, _ast.ExceptHandler, _ast.match_case)):
                span = _span(each)
                if span.first > after:  # else it is a part of the node: on its last line
                    spans.append(span)
                    _add_spans(spans, each, span.head)


def _span(node: Any) -> StatementSpan:
    first = first_line(node) if hasattr(node, "lineno") else int(node.pattern.lineno)
    head = max(first, _last_of_head(node))
    block = getattr(node, "body", None)
    if block and first_line(block[0]) <= head:  # on its last line
        head = max([int(each.end_lineno) for each in block])
    last = node.end_lineno if hasattr(node, "end_lineno") else node.body[-1].end_lineno
    return StatementSpan(first, head, int(last), isinstance(node, _LOOPS))


def _last_of_head(node: Any) -> int:
    """Return the last line of a node, or of what is before its block."""
    if isinstance(node, (_ast.expr, _ast.pattern, _ast.arg)):
        return int(node.end_lineno or 0)
    line = int(getattr(node, "lineno", 0))
    for name in node._fields:
        if name in BLOCKS:
            continue
        value = getattr(node, name, None)
        for each in value if type(value) is list else [value]:
            if isinstance(each, _ast.AST):
                line = max(line, _last_of_head(each))
    return line


def _on_line(node: Any, line: int) -> Iterator[Any]:
    for each in _inner(node):
        if first_line(each) <= line <= _head_end(each):
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
    return min([first_line(each) for each in _inner(node)], default=0)


def _inner(node: Any) -> Iterator[Any]:
    """Yield the statements directly in a node."""
    for name in BLOCKS:
        value = getattr(node, name, ())
        for each in value if type(value) is list else ():
            if isinstance(each, _ast.stmt):
                yield each
            elif isinstance(each, _ast.AST):  # a handler or a case
                yield from _inner(each)


def _begin(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_LABEL else f"{text[: _MOST_LABEL - 1]}…"
