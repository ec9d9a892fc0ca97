"""Colours of tools are left out of what they say, however their output is divided."""

import pytest

from trio_debugmcp.session.output.terminal_sequences import PlainText, plain

SERVED = "\x1b[32m➜\x1b[39m  \x1b[1mLocal\x1b[22m: \x1b]8;;http://localhost/\x1b\\here\x1b]8;;\x07\x1b[2K\n"


@pytest.mark.parametrize("length", [1, 2, 3, 7, 1000])
def test_what_a_tool_says_has_no_colours_wherever_its_output_is_divided(length: int) -> None:
    text = PlainText()
    pieces = [SERVED[start : start + length] for start in range(0, len(SERVED), length)]
    assert "".join(map(text.feed, pieces)) == plain(SERVED) == "➜  Local: here\n"


def test_what_only_looks_like_a_sequence_is_text() -> None:
    text = PlainText()
    assert text.feed("a[1m \x1bq \x1b]\n") == "a[1m \x1bq \x1b]\n"
    endless = "\x1b]" + "x" * 5000
    assert text.feed(endless) == endless
