"""Which call's variable an inner function has: of several calls of the outer one, each has its own."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import LINE, START, ProcessRecord
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import RecordedValue
from trio_debugmcp.runs.source.read_paths import ValuePath
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

SEVERAL = """\
def counter(limit):
    over = 0

    def put(value):
        nonlocal over
        if value > limit:
            over += 1

    def count():
        return over

    return put, count


put, count = counter(10)
other, count_others = counter(10)
count()
count_others()
put(20)
other(30)
count()
list(map(lambda call: call(), [count]))


def summed(depth):
    total = 0

    def add(number):
        nonlocal total
        total += number

    add(2)
    if depth:
        summed(depth - 1)
    return total


summed(1)
"""

NOT_KNOWN = """\
import threading


def watched(limit):
    above = 0
    above = above + 1

    def put(value):
        if value > limit + above:
            raise ValueError(value)

    return put


puts = {"a": watched(10), "b": watched(10)}
thread = threading.Thread(target=puts.get("a"), args=[30])
thread.start()
thread.join()
"""


@pytest.fixture(scope="module")
def several() -> ProcessRecord:
    return record(SEVERAL, python(3, 13)).processes[0]


def value_in(process: ProcessRecord, line: int, name: str, turn: int) -> RecordedValue:
    """Return what a name was in a run of a line."""
    found = [row.number for row in map(process.row, range(process.first, process.last + 1)) if row.kind == LINE]
    past = PastProcess(process)
    execution = past.executions.at([row for row in found if line_of(process, row) == line][turn])
    assert execution is not None
    value = past.values.value(execution, ValuePath(name))
    assert value is not None
    return value


def line_of(process: ProcessRecord, row: int) -> int:
    return process.site(process.row(row).key).line


def called_at(process: ProcessRecord, row: int) -> int:
    """Return the line that called the function of a row's frame."""
    start = process.row(process.frame(process.row(row).subject).start)
    assert start.kind == START
    return line_of(process, start.owner)


@pytest.mark.parametrize(("turn", "caller"), [(0, 15), (1, 16)], ids=["the first", "the second"])
def test_of_two_calls_that_set_the_same_value_the_writer_is_that_of_the_function_asked(
    several: ProcessRecord, turn: int, caller: int
) -> None:
    value = value_in(several, 10, "over", turn)
    assert (value.text, called_at(several, value.owner)) == ("0", caller)


def test_another_call_s_function_that_has_written_the_same_is_not_the_writer(several: ProcessRecord) -> None:
    value = value_in(several, 10, "over", 2)
    assert (value.text, called_at(several, value.owner)) == ("1", 19)


def test_a_function_s_own_variable_is_not_taken_to_be_set_by_an_inner_one_of_another_call(
    several: ProcessRecord,
) -> None:
    inner, outer = value_in(several, 35, "total", 0), value_in(several, 35, "total", 1)
    assert inner.text == outer.text == "2"
    assert outer.row < inner.row


def test_where_the_call_is_not_known_that_is_said_and_no_gap() -> None:
    answer: WhyAnswer = why(record(NOT_KNOWN, python(3, 13)).processes[0], WhyQuestion())
    text = "\n".join(map(str, answer.because))
    assert "above = above + 1 | above=1; in one of several calls of watched: which of them is not known" in text
    assert "watched | entered | limit=10; in one of several calls of watched" in text
    assert not answer.gaps
