"""Conditions of Java are judged part by part: after a call the adapter reads no variables in the same expression."""

import pytest

from trio_debugmcp.dap.profiles.java.java_expressions import JavaExpressions


@pytest.mark.parametrize(
    ("condition", "alternatives"),
    [
        ("a > 1", [["a > 1"]]),
        ('a.equals("x && y") && b != null', [['a.equals("x && y")', "b != null"]]),
        ("a() || b && c(d || e)", [["a()"], ["b", "c(d || e)"]]),
        ("(a && b) || c == '|'", [["(a && b)"], ["c == '|'"]]),
        ("a ? b && c : d || e", [["a ? b && c : d || e"]]),
    ],
)
def test_a_condition_is_parted_where_it_is_decided(condition: str, alternatives: list[list[str]]) -> None:
    assert [list(parts) for parts in JavaExpressions().alternatives(condition)] == alternatives
