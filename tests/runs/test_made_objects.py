"""An object that is made of the attributes of others leads on to what those were made of."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

MONEY = """\
from dataclasses import dataclass
from functools import reduce
from operator import add


class Money:
    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        return Money(self.amount + other.amount)

    def __mul__(self, factor):
        return Money(self.amount * factor)

    def __neg__(self):
        return Money(-self.amount)

    def __radd__(self, other):
        return Money(other + self.amount)


@dataclass(frozen=True)
class Length:
    metres: int

    def __add__(self, other):
        return Length(self.metres + other.metres)


def joined(left, right):
    return Money(left.amount + right.amount)


def totals(rows):
    found = {}
    for name, amount in rows:
        share = Length(amount * 19 // 10)
        found[name] = Length(amount) + share
    return found


price = 100
tax = Money(price * 19 // 10)
rate = price + 3
net = Money(price)
called = joined(net, tax)
added = Money(price) + tax
scaled = Money(price) * rate
negated = -tax
swapped = rate + tax
lengths = totals([("pen", 100), ("ink", 50)])
reduced = reduce(add, lengths.values())
summed = sum(lengths.values(), Length(0))
shown = called.amount, summed.metres
"""


@cache
def money() -> ProcessRecord:
    return record(MONEY, python(3, 13)).processes[0]


def texts(question: WhyQuestion) -> set[str]:
    return {line.source for line in why(money(), question).because}


def reached(expression: str) -> set[str]:
    return texts(WhyQuestion(expression=expression, limit=30))


TAX, RATE, PRICE = "tax = Money(price * 19 // 10)", "rate = price + 3", "price = 100"


def test_an_object_made_by_a_function_leads_to_what_its_arguments_were_made_of() -> None:
    assert {"return Money(left.amount + right.amount)", TAX, PRICE} <= reached("called.amount")


@pytest.mark.parametrize(
    ("expression", "operands"),
    [
        ("added.amount", {TAX, PRICE}),
        ("scaled.amount", {RATE, PRICE}),
        ("negated.amount", {TAX, PRICE}),
        ("swapped.amount", {RATE, TAX, PRICE}),
    ],
)
def test_an_operator_of_a_class_leads_to_its_operands(expression: str, operands: set[str]) -> None:
    assert operands <= reached(expression)


@pytest.mark.parametrize("expression", ["reduced.metres", "summed.metres"])
def test_objects_that_a_builtin_adds_up_lead_to_what_each_was_made_of(expression: str) -> None:
    lines = reached(expression)
    assert {"found[name] = Length(amount) + share", "share = Length(amount * 19 // 10)"} <= lines


@pytest.mark.parametrize("source", [TAX, "return Money(left.amount + right.amount)"])
def test_a_line_that_makes_an_object_leads_to_what_it_gave_its_maker(source: str) -> None:
    shown = why(money(), WhyQuestion(expression="called.amount", limit=30)).because
    at = next(int(line.at[1:]) for line in shown if line.source == source)
    assert PRICE in texts(WhyQuestion(at=at))
