"""Of calls that a comprehension makes as values say, or more than once in a round, none is taken for another."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

CALLS = """\
def half(x):
    return x // 2


def double(x):
    return x * 2


xs = [1, 20, 31, 40, 51, 60]
made = [ELEMENT for x in xs]
assert made[2] == 1000
"""

GENERATOR = """\
def numbers():
    for text in ["4", "5", "6", "7"]:
        number = int(text)
        yield number


def names():
    for name in ["a", "b", "c", "d"]:
        yield name.upper()


def again(numbers):
    for number in numbers:
        number = number + 0
        yield number


gone = numbers()
made = [COMPREHENSION]
assert made[1] == 1000
"""

PERHAPS = "perhaps in another round"


def because(source: str) -> list[str]:
    return [str(line) for line in why(record(source, python(3, 13)).processes[0], WhyQuestion(limit=30)).because]


@pytest.mark.parametrize(
    ("element", "said"),
    [
        ("half(x) if x > 10 else 0", "-> 15; perhaps"),
        ("x == 20 or half(x)", "-> 15; perhaps"),
        ("[half(y) for y in (x, 1)][0]", "perhaps"),
        ("half(x) + half(x + 1)", "perhaps"),
        ("half(x)", "-> 15"),
        ("half(x) or 0", "-> 15"),
        ("half(x) if double(x) else 0", "-> 15; perhaps"),
    ],
)
def test_the_call_of_another_round_is_not_shown_as_that_of_the_item(element: str, said: str) -> None:
    (shown,) = [line for line in because(CALLS.replace("ELEMENT", element)) if "return x // 2" in line]
    assert said in shown
    assert ("perhaps" in shown) is ("perhaps" in said)


@pytest.mark.parametrize(
    "comprehension",
    [
        "n * 10 for n in numbers()",
        "n * 10 for n in gone",
        "n * 10 for i, n in enumerate(numbers())",
        "n * 10 for name, n in zip(names(), numbers())",
        "n * 10 for n in again(numbers())",
    ],
)
def test_what_a_round_drew_of_a_generator_is_that_of_its_item(comprehension: str) -> None:
    lines = because(GENERATOR.replace("COMPREHENSION", comprehension))
    assert [line for line in lines if line.endswith("number=5")], lines
    assert not [line for line in lines if "number = int" in line and not line.endswith("number=5")], lines
    assert not [line for line in lines if "yields 'A'" in line or "yields 'C'" in line or "yields 'D'" in line], lines


@pytest.mark.parametrize(
    "comprehension",
    ["n * 10 for n in sorted(numbers(), reverse=True)", "n * 10 for n in filter(None, numbers())"],
)
def test_where_a_library_is_between_it_is_said_that_it_may_be_another(comprehension: str) -> None:
    lines = because(GENERATOR.replace("COMPREHENSION", comprehension))
    assert all(PERHAPS in line for line in lines if "number = int" in line), lines
