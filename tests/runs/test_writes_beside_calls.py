"""A line that changes a container, and calls recorded code for it, is what has written it."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.histories.histories import HistoryPage
from trio_debugmcp.runs.histories.variable_histories import variable_history
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
from collections import defaultdict

def price(what):
    return 21 if what == "b" else 10

def first(items):
    return items[0] if items else 0

def bill(items):
    total = defaultdict(int)
    for who, what in items:
        total[who] += price(what)
    return total

def of_another_name():
    kept = other = [1, 2]
    kept[0] = 3 + first(other)
    return kept

def set_by_what_is_called(row):
    def put():
        row.extend([7])
        return 1
    row[0] = put()
    return row

def in_grid(grid):
    grid[1, 0] += price("a")
    return grid[1, 0]

total = bill([("x", "a"), ("x", "b"), ("x", "a")])
total_x = total["x"]
kept = of_another_name()
row = set_by_what_is_called([5])
cell = in_grid({(0, 0): 1, (1, 0): 2})
"""


@cache
def past() -> PastProcess:
    return PastProcess(record(PROGRAM, python(3, 13)).processes[0])


def history(expression: str) -> list[str]:
    entries = variable_history(past(), expression, HistoryPage()).entries
    return [" ".join([*entry.values, *entry.notes]) for entry in entries]


def test_a_sum_in_a_dictionary_is_of_the_line_that_adds_what_a_call_returns() -> None:
    found = why(past().record, WhyQuestion(expression="total_x"))
    assert any("3 writes: =10" in value for line in found.because for value in [*line.values, *line.notes])
    assert not found.gaps
    assert not any("not recorded" in text for text in history("total['x']"))


@pytest.mark.parametrize("expression", ["kept[0]", "row[0]", "grid[1, 0]"])
def test_an_item_that_a_line_sets_beside_a_call_is_of_that_line(expression: str) -> None:
    assert history(expression)
    assert not any("not recorded" in text for text in history(expression))
