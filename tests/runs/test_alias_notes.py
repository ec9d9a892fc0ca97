"""A value that was changed by another name of the same object: the line that did it says which names are one."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
class Cart:
    def __init__(self, items):
        self.items = items

    def put(self, item):
        self.items.append(item)


def split(rows):
    low = []
    high = low
    for row in rows:
        high.append(row)
    return low


def add(items, item):
    items.append(item)


rows = split([1, 2])
shared = ["bag"]
ada, bob = Cart(shared), Cart(shared)
bob.put("tea")
grid = [[0] * 3] * 2
grid[0][1] = 5
own = []
own.append(1)
was = own
own = ["other"]
own.append(2)
given = []
add(given, 3)
end = rows, ada.items, grid[1][1], own, given
"""


@cache
def ran() -> ProcessRecord:
    return record(PROGRAM, python(3, 12)).processes[0]


def said(expression: str) -> list[str]:
    lines = why(ran(), WhyQuestion(expression=expression, limit=20)).because
    return [f"{line.line}: {note}" for line in lines for note in line.notes if "one object" in note]


def test_a_line_that_changes_what_is_asked_about_by_another_name_says_that_both_are_one_object() -> None:
    assert said("rows") == ["13: high and low are one object"]
    assert said("ada.items") == ["6: self.items, shared and .items of another <Cart> are one object"]


def test_rows_of_a_list_that_are_one_list_are_said_to_be() -> None:
    of_both = [f"{line}: grid[0] and grid[1] are one object" for line in (25, 26)]
    assert said("grid[1][1]") == of_both


def test_a_name_that_means_another_object_by_now_is_not_named() -> None:
    assert said("own") == []


def test_of_a_parameter_and_its_argument_nothing_is_said() -> None:
    assert not [note for note in said("given") if "items" in note.partition(" and ")[2]]
