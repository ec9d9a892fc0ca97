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
