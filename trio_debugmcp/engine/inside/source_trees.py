"""Syntax trees of sources, read in the debugged program.

    tree = source_tree(text)                # None: it cannot be read
    first_line(tree.body[0])                # of a function with decorators, that of the first of these

What is written in them is for the readers to say: `source_statements`, and the recorder's `statement_reader`.
"""

import _ast
from typing import Any

from trio_debugmcp.engine.inside.quiet_warnings import without_warnings

_MOST_BYTES = 4_000_000

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a statement that hold its blocks, or what has one."""


def source_tree(source: bytes | str) -> Any:
    """Return the syntax tree of a source, or None. The parser warns of escape sequences that mean nothing."""
    if len(source) > _MOST_BYTES:
        return None
    try:
        return without_warnings(
            Warning, lambda: compile(source, "<unknown>", "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def first_line(node: Any) -> int:
    """Return the line on which a statement begins, its decorators included."""
    lines = [each.lineno for each in getattr(node, "decorator_list", ())]
    return int(min([node.lineno, *lines]))
