"""An exception thrown into a coroutine or generator that waits for another one: as it was, and no line twice."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.frame_moments import stack_at
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import asyncio


async def inner():
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        return 5


async def outer():
    value = await inner()
    return value + 1


async def hopeless():
    await asyncio.sleep(60)


async def cancelled():
    task = asyncio.ensure_future(outer())
    for _ in range(3):
        await asyncio.sleep(0)
    task.cancel()
    got = await task
    try:
        await asyncio.wait_for(hopeless(), 0.01)
    except asyncio.TimeoutError:
        got = got + 1
    return got


def numbers():
    try:
        yield 1
    except ValueError:
        return 7


def passing():
    last = yield from numbers()
    yield last


drawn = passing()
first = next(drawn)
second = drawn.throw(ValueError())
got = asyncio.run(cancelled())
assert got == 8, got
"""

VERSIONS = pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])


@cache
def recorded(version: tuple[int, int]) -> ProcessRecord:
    return record(PROGRAM, python(*version)).processes[0]


def runs_of(past: ProcessRecord, line: int) -> list[int]:
    found = [past.row(number) for number in range(past.first, past.last + 1)]
    return [row.number for row in found if row.kind == rows.LINE and past.site(row.key).line == line]


@VERSIONS
@pytest.mark.parametrize("text", ["await asyncio.sleep(60)", "value = await inner()", "last = yield from numbers()"])
def test_a_line_into_which_an_exception_is_thrown_has_run_once(version: tuple[int, int], text: str) -> None:
    line = next(number for number, each in enumerate(PROGRAM.splitlines(), 1) if text in each)
    assert len(runs_of(recorded(version), line)) == 1


@VERSIONS
def test_the_end_of_what_a_line_waits_for_is_a_value_and_no_exception(version: tuple[int, int]) -> None:
    past = recorded(version)
    found = [past.row(number) for number in range(past.first, past.last + 1)]
    raised = [past.text(row) for row in found if row.kind == rows.RAISE]
    assert not [text for text in raised if text.startswith("StopIteration")], raised
    assert sum(text.startswith("CancelledError") for text in raised) >= 2, raised


@VERSIONS
def test_the_stack_into_which_an_exception_is_thrown_is_whole(version: tuple[int, int]) -> None:
    past = recorded(version)
    handled = PROGRAM.splitlines().index("        return 5") + 1
    stack = stack_at(past, runs_of(past, handled)[0])
    assert [past.code(frame.code).name for frame in stack] == ["inner", "outer", "<module>"]
    returned = PROGRAM.splitlines().index("        return 7") + 1
    stack = stack_at(past, runs_of(past, returned)[0])
    assert [past.code(frame.code).name for frame in stack] == ["numbers", "passing", "<module>"]


@VERSIONS
def test_what_was_cancelled_does_not_wait_still(version: tuple[int, int]) -> None:
    lines = [str(line) for line in why(recorded(version), WhyQuestion(limit=30)).because]
    assert [line for line in lines if "hopeless" in line and "waited until it was cancelled" in line], lines
    assert not [line for line in lines if "waits still" in line or "perhaps" in line], lines
