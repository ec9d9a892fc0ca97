"""The first statement of a source file, for languages with comments, braces and declarations as most have them. Pure.

A breakpoint there is hit once, when the program begins. One on the first line is not: where a file begins with a
function, debuggers move it into that.
"""

import re

from trio_debugmcp.source_lines import source_lines

_STRINGS_AND_COMMENTS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|^[ \t]*\#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`""",
    re.DOTALL | re.MULTILINE,
)

_DECLARATION = re.compile(
    r"""\s*(?:
        (?:export\s+(?:default\s+)?)?(?:declare\s+|abstract\s+)?
        (?:(?:async\s+)?function\b|class\b|interface\b|type\s+\w+\s*[=<]|namespace\b|enum\b)
        |import\b(?!\s*\()|export\s*[{*]|package\b|use\b
        |(?:function\s+)?[\w:.-]+\s*\(\s*\)\s*\{?\s*$      # of a shell
        |[\]})];?,?\s*$|;?\s*$
    )""",
    re.VERBOSE,
)
"""Lines at the outermost level that run nothing where they stand."""


_FUNCTIONS_OF_CMAKE = re.compile(
    r"^[ \t]*(function|macro)[ \t]*\(.*?^[ \t]*end\1[ \t]*\([^)]*\)", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
"""Which end with a word instead of a brace."""


def first_statement(text: str) -> int | None:
    """Return the line of the first statement outside of all functions; None if there is none."""
    depth, declared = 0, False
    bare = _FUNCTIONS_OF_CMAKE.sub(_blanked, _STRINGS_AND_COMMENTS.sub(_blanked, text))
    for number, line in enumerate(source_lines(bare), 1):
        outermost = depth == 0
        if outermost:
            declared = _DECLARATION.match(line) is not None
        if outermost and not declared:
            return number
        depth = max(
            0, depth + sum(line.count(bracket) for bracket in "{([") - sum(line.count(bracket) for bracket in "})]")
        )
    return None


def _blanked(found: re.Match[str]) -> str:
    """As many lines, and nothing else: so 'use strict' is a statement that runs nothing."""
    return "\n" * found[0].count("\n")
