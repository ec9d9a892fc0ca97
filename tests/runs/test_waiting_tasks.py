"""A task of asyncio that should have ended, and has not: where it waits, and what would have woken it."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import asyncio


async def work(jobs):
    while True:
        job = await jobs.get()
        if job is None:
            return


async def main():
    jobs = asyncio.Queue()
    workers = [asyncio.create_task(work(jobs)) for _ in range(2)]
    await jobs.put(None)
    done, pending = await asyncio.wait(workers, timeout=0.2)
    assert not pending


asyncio.run(main())
"""


@cache
def answer() -> WhyAnswer:
    return why(record(PROGRAM, python(3, 13)).processes[0], WhyQuestion())


def notes(line: int) -> list[str]:
    return [note for cause in answer().because if cause.line == line for note in cause.notes]


def test_an_assertion_about_tasks_names_where_one_waits_and_what_wakes_it() -> None:
    assert [note for note in notes(6) if note.startswith("waited until it was cancelled")]
    assert "put was called" in " ".join(notes(14))


def test_what_ended_while_a_line_waited_until_it_was_cancelled_has_given_it_nothing() -> None:
    assert not [note for line in answer().because for note in line.notes if " during " in note]
