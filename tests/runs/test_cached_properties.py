"""What a property has computed once is that of its object, and is followed to its items and later changes."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
from functools import cached_property


class Basket:
    def __init__(self, lines):
        self.lines = lines

    @cached_property
    def total(self):
        return sum(amount for name, amount in self.lines)

    @cached_property
    def sums(self):
        result = {}
        for name, amount in self.lines:
            result[name] = result.get(name, 0) + amount
        return result

    def add(self, name, amount):
        self.lines.append((name, amount))


one = Basket([("tea", 4), ("jam", 7)])
two = Basket([("tea", 30), ("jam", 40)])
print(one.total, one.sums, two.total, two.sums)
one.add("tea", 5)
double = 2 * one.total
tea = one.sums["tea"]
end = (double, tea)
"""


@cache
def recorded() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


def lines_of(expression: str) -> list[str]:
    return [str(line) for line in why(recorded(), WhyQuestion(expression=expression, limit=30)).because]


def test_a_kept_value_is_not_that_of_another_object() -> None:
    (returned,) = [line for line in lines_of("double") if "return sum(" in line]
    assert "-> 11; total is cached and did not run for" in returned


@pytest.mark.parametrize("expression", ["tea", "one.sums['tea']"])
def test_an_item_of_a_kept_value_is_the_one_that_is_asked_about(expression: str) -> None:
    lines = lines_of(expression)
    assert [line for line in lines if "result[name] = " in line and line.endswith("['tea']=4")], lines
    assert not [line for line in lines if "['jam']=" in line or "=30" in line], lines


@pytest.mark.parametrize("expression", ["double", "tea"])
def test_what_has_changed_since_is_named(expression: str) -> None:
    (changed,) = [line for line in lines_of(expression) if "self.lines.append" in line]
    assert "changed since #" in changed
