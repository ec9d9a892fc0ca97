"""Rows found by what they are: the quick ways find what looking at each row does."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import RAISE, START, UNWIND, ProcessRecord
from trio_debugmcp.runs.files.row_search import each_of_code_back
from trio_debugmcp.runs.past.past_process import PastProcess

pytestmark = pytest.mark.real

ROUNDS = """\
class Meter:
    def __init__(self, **fields):
        for name, value in fields.items():
            setattr(self, name, value)


def read(meter, number):
    if number % 1000 == 0:
        raise ValueError(number)
    return meter.base + number


meter, total = Meter(base=1), 0
for number in range(1, 9001):
    try:
        total += read(meter, number)
    except ValueError:
        meter.base = 2
"""


def recorded_rounds() -> ProcessRecord:
    return record(ROUNDS, python(3, 13)).processes[0]


def test_raises_are_found_backwards_through_all_blocks() -> None:
    process = recorded_rounds()
    rows = [process.row(number) for number in range(process.last, process.first - 1, -1)]
    ends = [row.number for row in rows if row.kind in (RAISE, UNWIND)]
    assert len(ends) == 27  # in `read`, of its frame, where it is caught
    assert list(each_of_code_back(process, (UNWIND, RAISE), process.last + 1)) == ends
    assert list(each_of_code_back(process, (UNWIND, RAISE), ends[4])) == ends[5:]


def test_the_frames_of_each_code_are_those_that_began_with_it() -> None:
    process = recorded_rounds()
    for code in process.codes:
        starts = [number for number in range(process.first, process.last + 1) if process.row(number).kind == START]
        frames = [process.row(start).subject for start in starts if process.row(start).key == code.number]
        assert process.frames_of(code.number) == frames


def test_statements_that_set_attributes_are_found_in_the_files_that_can_have_them() -> None:
    past = PastProcess(recorded_rounds())
    assert [statement.first for statement in past.scopes.storing(".base")] == [18]
    assert [statement.first for statement, _, _ in past.scopes.attribute_updates()] == [4]
    assert past.scopes.storing(".number") == []
