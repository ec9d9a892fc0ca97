"""Folding the lines of a call: nothing is lost in the counts, and what is short stays as it is."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from trio_debugmcp.server.answers.folding import Cut, Fold, Gap, cut, folded


class Step(Struct, frozen=True):
    number: int


def steps(*numbers: int) -> list[Step | Gap]:
    return [Step(each) for each in numbers]


def shown(found: list[Any]) -> list[Any]:
    return [each.number if isinstance(each, Step) else each for each in found]


def test_a_loop_keeps_its_first_turns_its_last_one_and_where_it_ends() -> None:
    loop = steps(1, *[2, 3] * 6, 2, 9)
    assert shown(folded(loop, 2)) == [1, 2, 3, 2, 3, Fold(3, 6, 2, 3), 2, 3, 2, 9]
    assert shown(folded(loop, 1)) == [1, 2, 3, Fold(4, 8, 2, 3), 2, 3, 2, 9]


def test_few_turns_are_shown_as_they_are() -> None:
    few = steps(1, *[2, 3] * 4, 2, 9)
    assert folded(few, 2) == few
    assert shown(folded(few, 1)) == [1, 2, 3, Fold(2, 4, 2, 3), 2, 3, 2, 9]
    assert folded(steps(4, 5, 4, 7, 5, 8), 1) == steps(4, 5, 4, 7, 5, 8)  # a `with`, a call over several lines


def test_a_loop_that_is_left_shows_its_last_turn_up_to_there() -> None:
    assert shown(folded(steps(*[2, 3, 4] * 5, 2, 3, 9), 1)) == [2, 3, 4, Fold(3, 9, 2, 4), 2, 3, 4, 2, 3, 9]


def test_loops_in_loops_are_folded_in_the_turns_that_are_kept() -> None:
    inner = [3, *[4, 5] * 5, 4, 6]
    found = shown(folded(steps(1, *[2, *inner] * 5, 2), 1))
    kept = [2, 3, 4, 5, Fold(3, 6, 4, 5), 4, 5, 4, 6]
    assert found == [1, *kept, Fold(3, 3 * 14, 2, 6), *kept, 2]


def test_a_gap_in_a_loop_is_counted_with_its_turns() -> None:
    gap = Gap({2: 100, 3: 100, 4: 7})
    assert shown(folded([*steps(1, *[2, 3] * 3, 2), gap, *steps(3, *[2, 3] * 3, 2, 5)], 1)) == [
        *[1, 2, 3, Fold(105, 217, 2, 4), 2, 3, 2, 5],
    ]


def test_a_gap_that_is_in_no_loop_stays() -> None:
    gap = Gap({7: 2})
    assert folded([*steps(1, 2, 3), gap, *steps(8, 9)], 1) == [*steps(1, 2, 3), gap, *steps(8, 9)]
    assert gap.lines == 2


def test_what_is_still_too_long_lacks_its_middle() -> None:
    assert shown(cut(steps(*range(10)), 10)) == [*range(10)]
    assert shown(cut(steps(*range(10)), 6)) == [0, 1, 2, 3, Cut(4), 8, 9]
    assert shown(cut([*steps(1, 2), Fold(5, 15, 2, 4), Gap({7: 3}), *steps(5, 6)], 3)) == [1, 2, Cut(18 + 1), 6]


def lines(found: list[Any]) -> int:
    return sum(1 if isinstance(each, Step) else each.lines for each in found)


@given(st.lists(st.integers(1, 6), max_size=60), st.integers(1, 3), st.integers(3, 20))
def test_no_line_is_lost_in_the_counts(numbers: list[int], keep: int, most: int) -> None:
    found = folded(steps(*numbers), keep)
    assert lines(found) == len(numbers)
    short = cut(found, most)
    assert lines(short) == len(numbers)
    assert len(short) <= most + 1
