"""Expressions as syntax trees, by the compiler alone: `ast` in Python may have been patched, or not be imported.

    parsed("a.b[0]")                    # its node, of a class of `_ast`
    segment("1 + f(x)", tree.right)     # "f(x)"

The nodes are of the C module: `ast` is slow to load, and programs patch it.
"""

import _ast
from typing import Any


def parsed(source: str) -> Any:
    """Return the node of an expression.

    Raises:
        SyntaxError: it is not one; also ValueError and others of the compiler.
    """
    return compile(source, "<unknown>", "eval", _ast.PyCF_ONLY_AST, dont_inherit=True).body  # type: ignore[attr-defined]


def segment(source: str, node: Any) -> str:
    """Return the part of a source that a node was made of, as far as that is known. Columns are counted in bytes."""
    if getattr(node, "end_lineno", None) is None:  # of a slice, before Python 3.9
        return ""
    lines = source.encode().splitlines(keepends=True)[node.lineno - 1 : node.end_lineno]
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset :]
    return b"".join(lines).decode()
