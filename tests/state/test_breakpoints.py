"""Hit conditions: the count told from the stops that a condition lets through."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.state.breakpoints import hits_after_stop, is_hit_condition

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("text", ["3", "== 3", ">3", ">= 3", "< 3", "<=3", "% 2", "  %  10  "])
def test_the_forms_that_adapters_share_are_hit_conditions(text: str) -> None:
    assert is_hit_condition(text)


@pytest.mark.parametrize("text", ["", " ", "0", "== 0", "% 0", "-1", "3.5", "x > 3", "!= 3", "=3", "3 3", "> ", "٣x"])
def test_anything_else_is_none(text: str) -> None:
    assert not is_hit_condition(text)


@pytest.mark.parametrize(
    ("condition", "counts"),
    [
        (None, [1, 2, 3, 4]),
        ("5", [5, 6, 7]),
        ("== 5", [5, 6]),
        (">= 5", [5, 6, 7]),
        ("> 5", [6, 7, 8]),
        ("% 3", [3, 6, 9]),
        ("< 3", [1, 2]),
        ("<= 3", [1, 2, 3]),
        ("nonsense", [1, 2, 3]),
        ("% 0", [1, 2, 3]),
    ],
)
def test_the_counts_at_successive_stops(condition: str | None, counts: list[int]) -> None:
    hits, seen = 0, []
    for _ in counts:
        hits = hits_after_stop(condition, hits)
        seen.append(hits)
    assert seen == counts


@given(operator=st.sampled_from(["", "==", ">", ">=", "<", "<=", "%"]), number=st.integers(1, 50))
def test_the_count_at_each_stop_is_what_an_adapter_that_counts_has(operator: str, number: int) -> None:
    conditions: dict[str, Callable[[int], bool]] = {
        "": lambda n: n == number,
        "==": lambda n: n == number,
        ">": lambda n: n > number,
        ">=": lambda n: n >= number,
        "<": lambda n: n < number,
        "<=": lambda n: n <= number,
        "%": lambda n: n % number == 0,
    }
    hits = 0
    for passed in range(1, 160):
        if conditions[operator](passed):
            hits = hits_after_stop(f"{operator} {number}", hits)
            assert hits == passed
