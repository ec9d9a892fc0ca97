"""Runners of the standard library: in each a breakpoint is hit and an exception stops, in whichever process it is.

Those that are to be installed are tried by `scripts/real-programs`.
"""

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio

from tests.pythons import Interpreter
from tests.real.conftest import Connect, where
from tests.real.interpreters import oldest_first
from tests.real.test_engine import NEW, launched

pytestmark = pytest.mark.parametrize("python", oldest_first(NEW))

WORK = """\
def work(number):
    doubled = number * 2
    return doubled

def fail(number):
    return number // 0

"""

UNITTEST = """\
import unittest

class Test(unittest.TestCase):
    def test_fail(self):
        fail(3)

    def test_work(self):
        self.assertEqual(work(3), 6)

if __name__ == "__main__":
    unittest.main()
"""

PROCESSES = """\
import multiprocessing, sys

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    for target in (work, fail):
        process = context.Process(target=target, args=(3,))
        process.start()
        process.join()
        print(process.exitcode)
"""

ASYNCIO = """\
import asyncio

async def later(function):
    await asyncio.sleep(0)
    return function(3)

async def main():
    print(await asyncio.create_task(later(work)))
    async with asyncio.TaskGroup() as group:
        group.create_task(later(fail))

asyncio.run(main())
"""

EXECUTOR = """\
import sys
from concurrent import futures

if __name__ == "__main__":
    with getattr(futures, sys.argv[1])(1) as executor:
        print(executor.submit(work, 3).result())
        print(executor.submit(fail, 3).result())
"""


class Light(NamedTuple):
    """A program, its words, its exit code, what it prints, and where the exception is raised again, which ends it."""

    text: str
    words: Sequence[str] = ()
    code: int = 0
    printed: str = ""
    again: int = 0


PROGRAMS = {
    "unittest": Light(UNITTEST, code=1),
    "fork": Light(PROCESSES, ["fork"], printed="0\n1\n"),
    "spawn": Light(PROCESSES, ["spawn"], printed="0\n1\n"),
    "forkserver": Light(PROCESSES, ["forkserver"], printed="0\n1\n"),
    "asyncio": Light(ASYNCIO, code=1, printed="6\n"),
    "threads of an executor": Light(EXECUTOR, ["ThreadPoolExecutor"], 1, "6\n", again=14),
    "processes of an executor": Light(EXECUTOR, ["ProcessPoolExecutor"], 1, "6\n", again=14),
}

LINES = {"Breakpoint": 3, "Exception": 6}


def left_over(mark: str) -> list[str]:
    """The processes that have a mark in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in place.read_bytes():
                found.append(place.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_breakpoint_and_an_exception_stop_wherever_they_are_and_nothing_is_left_at_the_end(
    name: str, python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    program, mark = PROGRAMS[name], uuid.uuid4().hex
    async with debugging() as client:
        file = tmp_path / "job.py"
        await client.call(
            "breakpoint_set_exception",
            exception_type="ZeroDivisionError",
            break_on_first_chance=False,
            break_on_second_chance=True,
            break_on_user_unhandled=True,
        )
        places = [{"file": str(file), "line": LINES["Breakpoint"]}]
        stop: dict[str, Any] = await launched(
            client,
            python,
            file,
            WORK + program.text,
            args=[*program.words],
            env={"LIGHT_PROGRAM": mark},
            breakpoints=places,
            stop_at_entry=False,
        )
        reasons, printed = [], ""
        while True:
            printed += stop.get("stdout", "")
            if stop["state"] != "Paused":
                break
            reasons.append((stop["reason"], where(stop).line, stop["locals"].get("number")))
            stop = await client.call("debug_continue")
        again = [("Exception", program.again, None)] if program.again else []
        assert sorted(reasons, key=str) == sorted([*((why, line, "3") for why, line in LINES.items()), *again], key=str)
        assert (stop["exitCode"], printed) == (program.code, program.printed)
        while left_over(mark):
            await trio.sleep(0.05)
