"""Iterators that take other items than they give out: an answer has the item that was given, or that none is known."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import heapq
from itertools import groupby, islice, pairwise, tee


def rows(*lines):
    for line in lines:
        kind, price = line.split()
        yield {"kind": kind, "price": int(price)}


def numbers(*values):
    for value in values:
        yield value


def summed(given):
    sums = {}
    for kind, group in groupby(given, key=lambda row: row["kind"]):
        sums[kind] = sum(row["price"] for row in group)
    return sums


def listed(given):
    kinds = {}
    for kind, group in groupby(given, key=lambda row: row["kind"]):
        kinds[kind] = list(group)
    return kinds


def grown(given):
    steps = {}
    for one, other in pairwise(given):
        steps[one] = other - one
    return steps


def merged(one, other):
    doubled = {}
    for number in heapq.merge(one, other):
        doubled[number] = number * 2
    return doubled


def behind(given):
    left, right = tee(given)
    last = {}
    next(left)
    for number in right:
        last[number] = next(left, None)
    return last


def rest(given):
    first = list(islice(given, 2))
    others = list(given)
    return others


sums = summed(rows("tea 4", "tea 5", "cake 6", "pie 3"))
kinds = listed(rows("tea 4", "cake 7", "pie 3"))
steps = grown(numbers(1, 4, 9, 11))
doubled = merged(numbers(10, 50, 90), numbers(20, 40))
last = behind(numbers(71, 72, 73))
others = rest(numbers(61, 62, 63, 64, 63))
"""


@cache
def ran() -> ProcessRecord:
    return record(PROGRAM, python(3, 12)).processes[0]


def given(expression: str) -> list[str]:
    """Return what the answer says that generators gave."""
    answer = why(ran(), WhyQuestion(expression=expression, limit=20))
    said = [str(line).rpartition(" | ")[2] for line in answer.because]
    return [text for text in said if text.startswith("yields ")]


def test_a_group_has_the_item_that_was_read_before_it() -> None:
    assert given("sums['cake']") == ["yields {'kind': 'cake', 'price': 6}; groupby has read it ahead"]


def test_a_pair_has_the_item_of_the_pair_before() -> None:
    assert given("steps[4]") == ["yields 4; pairwise has read it ahead"]


def test_a_merge_has_the_item_that_it_gave_out() -> None:
    assert given("doubled[40]") == ["yields 40"]
    assert given("doubled[50]") == ["yields 50; merge has read it ahead"]


def test_where_it_is_not_known_which_item_it_was_the_answer_says_so() -> None:
    assert given("kinds['cake']") == [
        "yields {'kind': 'pie', 'price': 3}; groupby reads ahead: perhaps not of what line 26 was given"
    ]


def test_the_key_of_the_next_group_is_not_shown_for_a_group() -> None:
    answer = why(ran(), WhyQuestion(expression="kinds['cake']", limit=20))
    assert not [line for line in answer.because if "'pie'" in line.values]


def test_an_item_of_a_list_is_the_one_that_its_own_line_drew() -> None:
    rounds = []
    for expression in ("others[0]", "others[1]", "others[2]"):
        answer = why(ran(), WhyQuestion(expression=expression, limit=20))
        rounds += [line.at for line in answer.because if "yields " in str(line)]
    assert [given(f"others[{place}]") for place in range(3)] == [["yields 63"], ["yields 64"], ["yields 63"]]
    assert rounds == sorted(set(rounds))  # equal items, and each is its own


def test_two_that_share_a_generator_have_the_item_that_each_was_given() -> None:
    assert given("last[71]") == ["yields 72"]
    assert given("last[72]") == ["yields 73"]
