"""What is left out of a value is counted, also where its adapter has cut it before."""

import pytest

from trio_debugmcp.server.answers.values import shortened_value


@pytest.mark.parametrize(
    ("value", "limit", "length", "unit", "shown"),
    [
        ("[1, 2]", 200, 2, "items", "[1, 2]"),
        ("[0, 1, 2, ...]", 200, 100, "items", "[0, 1, 2, ...] (100 items in all)"),
        ("frozenset({0, ...})", 200, 99, "items", "frozenset({0, ...}) (99 items in all)"),
        ("[0, 1, 2, ...]", 5, 100, "items", "[0, 1… (100 items in all)"),
        ("['long']", 4, 1, "items", "['lo… (1 item in all)"),
        ("'ab...yz'", 200, 26, "characters", "'ab...yz' (26 characters in all)"),
        ("'ab...yz'", 3, 26, "characters", "'ab… (+25 characters)"),
        ("b'ab...yz'", 3, 26, "bytes", "b'a… (+26 characters)"),
        ("'abc'", 200, 3, "characters", "'abc'"),
        ("b'abc'", 200, 3, "bytes", "b'abc'"),
        (r"'\n\n'", 3, 2, "characters", "'\\n… (+3 characters)"),
        ("Shop(1)", 4, None, "", "Shop… (+3 characters)"),
        ("x" * 2**16, 4, None, "", "xxxx… (and more)"),
        ("x" * (2**16 - 1), 4, None, "", f"xxxx… (+{2**16 - 5} characters)"),
    ],
)
def test_a_value_says_truly_what_is_left_out(value: str, limit: int, length: int | None, unit: str, shown: str) -> None:
    assert shortened_value(value, limit, length, unit) == shown
