"""A function with several decorators: its definition has their order, which may be what is wrong."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

SOURCE = """\
def percent(function):
    def wrapper(*args):
        return function(*args) * 100
    return wrapper

def rounded(function):
    def wrapper(*args):
        return round(function(*args))
    return wrapper

@percent
@rounded
def share(part, whole):
    return part / whole

@percent
def half(part):
    return part / 2

def report(parts):
    return [share(part, sum(parts)) for part in parts]

lines = report([1, 3, 4])
halves = half(3)
"""


def lines_of(expression: str) -> list[str]:
    answer = why(record(SOURCE, python(3, 13)).processes[0], WhyQuestion(expression=expression))
    return [str(line) for line in answer.because]


def test_the_order_of_the_decorators_is_beside_the_definition() -> None:
    (line,) = [line for line in lines_of("lines[0]") if "def share" in line]
    assert line.endswith("decorated by @percent @rounded (lines 11 to 12), the last one first")


def test_one_decorator_has_no_order() -> None:
    assert not any("decorated by" in line for line in lines_of("halves"))
