"""A line that adds up is shown once, and says what each of its rounds has added."""

from decimal import Decimal
from fractions import Fraction
from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.slicing.recorded_contents import object_number
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

SUMS = """\
from decimal import Decimal
from fractions import Fraction


class Cart:
    def __init__(self):
        self.price = 0

    def add(self, price):
        self.price += price


def summed(numbers):
    total = 0
    for number in numbers:
        if number > 5:
            total += 0.5
            if number % 2:
                continue
        total += number
    return total


def told(words):
    total = ""
    for word in words:
        total += word
    return total


cart = Cart()
for price in [3, -5, 4]:
    cart.add(price)
short = told(["tea", "cake"])
counts, left = {}, 100.0
for number in range(300):
    counts["all"] = counts.get("all", 0) + 1
    left -= 0.25 if number != 150 else 5
result = summed([1, 2, 7, 9, 6, 3])
short = told(["ham"])


def paid(bills):
    money, shares = Decimal(0), {}
    for who, amount in bills:
        money += Decimal(amount)
        shares[who] = shares.get(who, Fraction(0)) + Fraction(amount)
    return money, shares


bills = [("ada", "1.50"), ("bob", "3"), ("ada", "-0.25")]
paid_money, paid_shares = paid(bills)
"""


@cache
def sums() -> ProcessRecord:
    return record(SUMS, python(3, 13)).processes[0]


def answer(expression: str) -> WhyAnswer:
    return why(sums(), WhyQuestion(expression=expression))


def rounds(expression: str, line: int) -> str:
    """Return what is said of the rounds of a line, without the numbers of rows."""
    notes = next(found.notes for found in answer(expression).because if found.line == line)
    words = " ".join(notes).split()
    return " ".join(word for word in words if not word.startswith("(#")).replace(" ,", ",")


def test_each_round_of_a_short_sum_says_what_it_added_also_over_several_calls() -> None:
    assert rounds("cart.price", 10) == "3 writes from 0: +3 -5 +4"


def test_of_many_rounds_those_that_changed_most_are_shown_and_how_many_are_left_out() -> None:
    assert rounds("left", 38) == "300 writes from 100.0: -0.25 -0.25 -0.25 …, -5 …, -0.25 -0.25; 294 left out"


def test_rounds_that_all_add_the_same_are_one_word() -> None:
    assert rounds("counts", 37) == "300 writes: =1 +1 +1 +1 …, +1 +1; 294 left out"


def test_a_line_that_ran_in_rounds_that_went_another_way_is_not_said_to_have_run_once() -> None:
    notes = " ".join(note for line in answer("result").because for note in line.notes)
    assert "rounds only" not in notes or "but in one of the" in notes


def test_a_name_without_a_moment_says_whose_it_is_and_where_there_are_others() -> None:
    value = answer("total").value
    assert value.startswith("total='ham' (in told, the last of 2 calls; a variable total is also in summed (at=\"#")
    other = int(value.partition('at="#')[2].partition('"')[0])
    assert why(sums(), WhyQuestion(expression="total", at=other)).value == "total=13.5"


def test_a_name_of_which_there_is_one_says_no_more_than_its_value() -> None:
    assert answer("result").value == "result=13.5"


def test_sums_of_decimals_and_fractions_say_what_each_round_added() -> None:
    assert rounds("paid_money", 46) == "3 writes from Decimal('0'): +1.50 +3.00 -0.25"
    assert rounds("paid_shares", 47) == "2 writes: =Fraction(3, 2) -1/4"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Decimal('-1.20')", Decimal("-1.20")),
        ("Fraction(-1, 3)", Fraction(-1, 3)),
        ("np.float64(2.5)", 2.5),
        ("np.int32(-3)", -3),
        ("Fraction(1, 0)", None),
        ("np.float64(x)", None),
        ("<Euro>", None),
    ],
)
def test_a_number_that_is_an_object_is_known_by_its_text(text: str, number: object) -> None:
    assert object_number(text) == number
