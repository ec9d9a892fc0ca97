"""The text of a container shows its type, which is all that is said of one that has changed since."""

import pytest

from trio_debugmcp.runs.past.recorded_values import container_word


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[1, 2]", "list"), ("list of 12", "list"), ("{}", "dict"), ("{'a': 1}", "dict"), ("{<date>: 1}", "dict"),
        ("{(1, 2): 3}", "dict"), ("{b'a': 2}", "dict"), ("{1: 2, … 5 more}", "dict"), ("dict of 1,200", "dict"),
        ("set()", "set"), ("{'a: b'}", "set"), ("{<date>, <date>}", "set"), ("{(1, 2), (3, 4)}", "set"),
        ("set of 3", "set"), ("deque of 3", "deque"), ("(1, 2)", ""), ("'sets'", ""), ("<Cart>", ""), ("42", ""),
        ("Counter({'a': 1})", "Counter"), ("{<date 2024-05-01>: 1}", "dict"),
    ],
)  # fmt: skip
def test_a_text_shows_which_container_it_is(text: str, word: str) -> None:
    assert container_word(text) == word
