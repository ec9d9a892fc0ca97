"""Lines of source are numbered as its compiler numbers them."""

import ast

import pytest

from trio_debugmcp.source_lines import source_lines

ODD = "\x0c\x0b\x1c\x1d\x1e"
"""Where `str.splitlines` ends a line, and Python does not."""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_a_line_has_the_number_that_the_compiler_gives_it(end: str, last: str) -> None:
    text = end.join(["a = 1", "", "\x0c", f"b = '{ODD}\x85\u2028\u2029'", "c = 3"]) + last
    lines = source_lines(text)
    numbers = {ast.unparse(node)[0]: node.lineno for node in ast.parse(text).body}
    assert {lines[number - 1][0]: number for number in numbers.values()} == numbers
    assert [len(lines), lines[0], lines[4]] == [5, "a = 1", "c = 3"]


def test_no_text_has_no_lines_and_an_empty_line_is_one() -> None:
    assert source_lines("") == []
    assert source_lines("\n") == [""]
    assert source_lines("a\n\n") == ["a", ""]
