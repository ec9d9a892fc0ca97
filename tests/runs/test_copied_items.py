"""A field of one item leads to what has given that item its value, where the same lines have filled others, too."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

ITEM = """\
import copy


class Item:
    def __init__(self, qty):
        self.qty = qty


"""

IN_A_LOOP = """\
basket = []
for qty in [6, 4, 2, 8, 3]:
    item = Item(qty)
    if qty == 8:
        item = copy.copy(item)
    basket.append(item)
found = basket[3].qty
"""

BY_A_FUNCTION = """\
def picked(qty):
    item = Item(qty)
    if qty == 8:
        item = copy.copy(item)
    return item


basket = []
for qty in [6, 8, 4, 2]:
    basket.append(picked(qty))
found = basket[1].qty
"""

FROM_THE_END = """\
def parsed(rows):
    for qty in rows:
        yield Item(qty)


def copied(items):
    for item in items:
        if item.qty == 8:
            item = copy.copy(item)
        yield item


basket = list(copied(parsed([6, 4, 2, 8])))
found = basket[-1].qty
"""

UNDER_A_NEGATIVE_KEY = """\
basket = {}
for place, qty in [(0, 6), (1, 4), (-1, 8), (3, 3)]:
    basket[place] = Item(qty)
found = basket[-1].qty
"""


def lines_of(program: str) -> list[str]:
    return [str(line) for line in why(record(program, python(3, 13)).processes[0], WhyQuestion(limit=30)).because]


@pytest.mark.parametrize("source", [IN_A_LOOP, BY_A_FUNCTION, FROM_THE_END, UNDER_A_NEGATIVE_KEY])
def test_a_field_of_an_item_leads_to_the_call_that_made_that_item(source: str) -> None:
    lines = lines_of(f"{ITEM}{source}assert found == 6, found\n")
    assert [line.rpartition("| ")[2] for line in lines if "self.qty = qty" in line] == [".qty=8"], lines


def test_what_is_in_the_items_beside_counts_where_the_line_reads_them_too() -> None:
    source = "rows = [[1], [2]]\nrows[0].append(5)\nrows.append(sum(rows, []))\nassert rows[2] == [1, 2], rows[2]\n"
    assert [line for line in lines_of(source) if "rows[0].append(5)" in line]
