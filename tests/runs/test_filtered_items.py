"""Of a comprehension with a condition the answer has which items it left out, and the values that decided it."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
class Item:
    def __init__(self, sku, stock, least):
        self.sku = sku
        self.stock = stock
        self.least = least

    @property
    def is_low(self):
        return self.stock < self.least


def low(items):
    return [item for item in items.values() if item.stock < item.least]


def value(items, least):
    return sum(item.stock * 2 for item in items.values() if item.stock * 2 > least and item.sku.startswith("b"))


def flagged(items):
    return [item.sku for item in items.values() if item.is_low]


def first(items):
    return next(item.sku for item in items.values() if item.stock > 3)


def many(numbers):
    return [number for number in numbers if number % 7 == 0]


def words(pairs):
    return {name: size for name, size in pairs if size != 3}


items = {sku: Item(sku, stock, least) for sku, stock, least in [("b1", 2, 5), ("b2", 5, 5), ("b3", 9, 4)]}
items["b1"].stock = 3
lows = low(items)
total = value(items, 10)
flags = flagged(items)
one = first(items)
sevens = many(range(22))
listed = many(list(range(22)))
sizes = words([("pen", 3), ("ink", 4)])
"""

FAILING = """\
def paid(bills, least):
    return [bill["name"] for bill in bills if bill["sum"] > least]


bills = [{"name": name, "sum": size} for name, size in [("ada", 40), ("bob", 7), ("cyd", 8), ("dan", 9), ("eve", 1)]]
bills[3]["sum"] -= 5
assert paid(bills, 10) == ["ada", "dan"]
"""


@cache
def recorded(source: str, version: tuple[int, int]) -> ProcessRecord:
    return record(source, python(*version)).processes[0]


def answer(expression: str, version: tuple[int, int] = (3, 13), source: str = PROGRAM) -> str:
    return "\n".join(map(str, why(recorded(source, version), WhyQuestion(expression=expression)).because))


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_an_item_whose_values_are_just_at_the_bound_is_named_first(version: tuple[int, int]) -> None:
    assert "leaves out 2 of 3: <Item sku='b2'> (item.stock=5 item.least=5), 1 more" in answer("lows", version)


def test_numbers_and_texts_are_computed_as_the_condition_does() -> None:
    assert "leaves out 2 of 3: <Item sku='b2'> (item.stock=5 least=10 item.sku='b2'), 1 more" in answer("total")


@pytest.mark.parametrize("name", ["flags", "one"])
def test_nothing_is_said_where_code_has_decided_or_the_rest_was_not_looked_at(name: str) -> None:
    assert "leaves out" not in answer(name)


def test_of_many_items_that_are_nowhere_near_nothing_is_said() -> None:
    assert "leaves out" not in answer("sevens") + answer("listed")


def test_the_variables_of_a_pair_are_known() -> None:
    assert "leaves out 1 of 2: ('pen', 3) (size=3)" in answer("sizes")


def test_a_missing_item_is_named_and_followed_to_what_gave_it_its_value() -> None:
    text = answer("", source=FAILING)
    assert "leaves out 4 of 5: {'name': 'dan', 'sum': 4} (bill['sum']=4 least=10), 3 more" in text
    assert 'bills[3]["sum"] -= 5' in text
