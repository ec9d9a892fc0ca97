"""The first statement of a source file, for languages with comments, braces and declarations as most have them. Pure.

A breakpoint there is hit once, when the program begins. One on the first line is not: where a file begins with a
function, debuggers move it into that.
"""

import re

from trio_debugmcp.source_lines import source_lines

_STRINGS_AND_COMMENTS = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|^[ \t]*+\#[^\n]*|\\."""
    r"""|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`""",
    re.DOTALL | re.MULTILINE,
)
"""A backslash is taken with what is behind it: so of many quotes that nothing closes only the first is read on."""

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
    r"^[ \t]*+(?P<end>end)?(?P<kind>function|macro)[ \t]*+\((?:[^)\n]*+\))?", re.MULTILINE | re.IGNORECASE
)
"""Which end with a word instead of a brace."""


def first_statement(text: str) -> int | None:
    """Return the line of the first statement outside of all functions; None if there is none."""
    depth, declared = 0, False
    bare = _without_functions_of_cmake(_STRINGS_AND_COMMENTS.sub(_blanked, text))
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


def _without_functions_of_cmake(text: str) -> str:
    found = list(_FUNCTIONS_OF_CMAKE.finditer(text))
    last_end = {each["kind"].lower(): each.start() for each in found if each["end"]}
    kept, begin = list[str](), 0
    opened: re.Match[str] | None = None
    for each in found:
        kind = each["kind"].lower()
        if opened is None and not each["end"] and last_end.get(kind, 0) > each.start():
            opened = each
        elif opened is not None and each["end"] and kind == opened["kind"].lower():
            kept += text[begin : opened.start()], "\n" * text.count("\n", opened.start(), each.end())
            begin, opened = each.end(), None
    return "".join([*kept, text[begin:]])


def _blanked(found: re.Match[str]) -> str:
    """As many lines, and nothing else: so 'use strict' is a statement that runs nothing."""
    return "\n" * found[0].count("\n")
