"""A name that the last line of a long run has set is found, however much that line has called."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.naming_lines import MOST_NEAR
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
class Job:
    pass


def steps(count):
    for number in range(count):
        last = number
    return last


def main():
    total = steps(6000)
    return total


job = Job()
job.state = "new"
result = main()
"""


@pytest.fixture(scope="module")
def process() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


@pytest.mark.parametrize(("expression", "line"), [("result", 18), ("total", 12), ("job.state", 17)])
def test_a_name_is_found_before_all_that_its_line_has_called(
    process: ProcessRecord, expression: str, line: int
) -> None:
    assert process.last > MOST_NEAR
    assert line in [found.line for found in why(process, WhyQuestion(expression=expression)).because]


FAILING = """\
def total(prices):
    amount = 0
    for price in prices:
        amount += price
    return amount


def doubled(amount):
    return total([amount]) * 2


def test_total():
    CHECK


test_total()
"""


@pytest.mark.parametrize(
    ("check", "expression", "value"),
    [
        ("assert total([1, 2]) == 4", "amount", "amount=3"),
        ("assert total([1, 2]) == 4", "amount + 1", "amount + 1: amount=3"),
        ("assert doubled(4) == 4", "total([amount])", "total([amount]) -> 4"),
        ("prices = [5]; assert total([1, 2]) == len(prices)", "prices", "prices=[5]"),
    ],
)
def test_a_name_is_found_in_what_the_line_that_failed_has_called_and_before_that_in_the_line(
    check: str, expression: str, value: str
) -> None:
    process = record(FAILING.replace("CHECK", check), python(3, 13)).processes[0]
    assert why(process, WhyQuestion(expression=expression)).value.startswith(value)
