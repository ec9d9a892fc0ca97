"""More lists than the recorder knows at a time are not said to have changed when they are looked at again."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import GAP
from trio_debugmcp.runs.files.row_search import counts
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
class Order:
    def __init__(self, number):
        self.items = []
        self.items.append(number)


orders = [Order(number) for number in range(21_000)]
count = 0
for order in orders:
    count += len(order.items)
last = orders[3].items
last.append(5)
assert orders[3].items == [3]
"""


@pytest.mark.parametrize("minor", [12, 13])
def test_a_list_that_was_forgotten_for_want_of_room_is_the_same_one_when_it_is_seen_again(minor: int) -> None:
    process = record(PROGRAM, python(3, minor)).processes[0]
    assert counts(process, GAP) == {}
    answer = why(process, WhyQuestion())
    lines = [str(line) for line in answer.because]
    assert [line for line in lines if "last.append(5)" in line], lines
    past = PastProcess(process)
    numbers = {past.record.row(row).object for row in range(process.last, 0, -1) if _is_of_items(past, row)}
    assert len(numbers) == 21_000
    assert not answer.gaps


def _is_of_items(past: PastProcess, number: int) -> bool:
    row = past.record.row(number)
    return row.object > 0 and row.kind in FIELDS and past.record.label(row.key) == ".items"
