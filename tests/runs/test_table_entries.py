"""Of a table that is written on several lines an answer shows the line of the entry that was read, if that is known."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

RATES = """\
RATES = {
    ("de", "toy"): 19,
    ("fr", "book"): 5,
    ("fr", "toy"): 21,
}


class Taxes:
    rates = RATES
    kind = "book"


def tax(country, kind):
    taxes = Taxes()
    return READ


assert tax("fr", "book") == 1000
"""

STEPS = """\
STEPS = [
    ("wash", 10, 2),
    ("fold", 5, 40),
    OTHER,
]


def find(steps, wanted):
    for name, minutes, people in steps:
        if name == wanted:
            return people
    return 0


assert READ == 4
"""


def shown(source: str) -> list[int]:
    """Return which lines of the table, which begins at line 1, an answer shows."""
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion(limit=30))
    return [line.line for line in answer.because if line.line <= 5]


@pytest.mark.parametrize(
    "read",
    [
        "RATES[country, kind]",
        "RATES[country, 'book']",
        "RATES.get((country, kind))",
        "RATES.get((country, kind), 0) * 10",
        "taxes.rates[country, kind]",
    ],
)
def test_an_entry_with_several_keys_is_the_one_that_was_read(read: str) -> None:
    assert shown(RATES.replace("READ", read)) == [3]


@pytest.mark.parametrize(
    "read", ["RATES[country, taxes.kind]", "RATES[max(country, 'a'), kind]", "RATES.get((country, kind[:4]))"]
)
def test_where_a_key_is_not_known_the_whole_table_is_shown(read: str) -> None:
    assert shown(RATES.replace("READ", read)) == [1]


@pytest.mark.parametrize(("read", "lines"), [("find(STEPS, 'fold')", [3]), ("STEPS[1][2]", [3])])
def test_an_entry_of_a_list_is_the_one_of_the_round(read: str, lines: list[int]) -> None:
    assert shown(STEPS.replace("OTHER", "('pack', 5, 1)").replace("READ", read)) == lines


def test_of_entries_that_are_alike_none_is_taken() -> None:
    assert shown(STEPS.replace("OTHER", "('fold', 5, 40)").replace("READ", "find(STEPS, 'fold')")) == [1]
