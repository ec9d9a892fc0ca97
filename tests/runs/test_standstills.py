"""Programs that stand still: the answer says who waits for what, and which line holds it."""

import re
from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.overlaps.standstills import standstill
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

LOCKS = """\
import itertools
import os
import threading

accounts, journal, free = threading.Lock(), threading.Lock(), threading.Lock()
both = threading.Barrier(2)
arrivals = itertools.chain([-1], map(os._exit, [0]))  # the second that has come to its lock ends it all


def transfer():
    with accounts:
        with free: pass
        both.wait()
        journal.acquire(timeout=next(arrivals))


def report():
    free.acquire()
    free.release()
    journal.acquire()
    both.wait()
    accounts.acquire(timeout=next(arrivals))


one = threading.Thread(target=transfer)
one.start()
report()
"""

RING = """\
import itertools
import os
import threading

locks = [threading.Lock() for _ in range(3)]
all_there = threading.Barrier(3)
arrivals = itertools.chain([-1, -1], map(os._exit, [0]))  # the third that has come to its lock ends it all


def eat(seat):
    own, other = locks[seat], locks[(seat + 1) % 3]
    with own:
        all_there.wait()
        other.acquire(timeout=next(arrivals))


threads = [threading.Thread(target=eat, args=(seat,)) for seat in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

TWICE = """\
import os
import threading

lock = threading.Lock()
with lock:
    lock.acquire(timeout=os._exit(0))
"""

CACHE = """\
from collections import OrderedDict


def walk(items, keys):
    for key in keys:
        if key in items and key > "y":
            items.move_to_end(key)
        yield items.get(key)


got = list(walk(OrderedDict(b=2), "a"))
assert got == [1], got
"""

TASKS = """\
import asyncio
import os


async def produce(ready, word):
    if word == "go":
        ready.set()


async def consume(ready):
    await ready.wait()


async def leave():
    for _ in range(9):
        await asyncio.sleep(0)
    asyncio.get_running_loop().call_soon(os._exit, 0)
    await asyncio.Event().wait()


async def main():
    ready = asyncio.Event()
    await asyncio.gather(produce(ready, "stop"), consume(ready), leave())


asyncio.run(main())
"""


@cache
def ran(source: str) -> ProcessRecord:
    return record(source, python(3, 12)).processes[0]


def at(source: str, text: str) -> int:
    """Return the row of the last run of a line."""
    past = PastProcess(ran(source))
    numbers = range(past.record.first, past.record.last + 1)
    runs = [past.executions.at(number) for number in numbers]
    return next(run.row for run in reversed(runs) if run is not None and text in run.statement.text)


def answer(source: str, text: str) -> WhyAnswer:
    return why(ran(source), WhyQuestion(at=at(source, text)))


def without_numbers(text: str) -> str:
    return re.sub(r"#\d+", "#", text)


def test_of_a_deadlock_each_wait_is_named_with_the_line_that_holds_the_lock() -> None:
    said = without_numbers(answer(LOCKS, "accounts.acquire").value)
    assert said.endswith(
        "; report waits at # (line 22) for accounts, which transfer holds since # (line 11); "
        "transfer waits at # (line 14) for journal, which report holds since # (line 20): "
        "each waits for the other, a deadlock"
    )


def test_calls_of_one_function_that_wait_for_each_other_are_named_each() -> None:
    said = answer(RING, "other.acquire").value
    waits = re.findall(r"eat (in call #\d+ \(seat=\d\)) waits at #\d+ \(line 14\) for other", said)
    holds = re.findall(r"which eat (in call #\d+ \(seat=\d\)) holds since", said)
    assert len(set(waits)) == 3
    assert holds == [*waits[1:], waits[0]]
    assert said.endswith(": each waits for the next one, a deadlock")


def test_a_line_that_wants_what_its_own_frame_holds_is_a_deadlock_of_its_own() -> None:
    said = without_numbers(answer(TWICE, "lock.acquire").value)
    assert said.endswith("holds since # (line 5): it waits for what it holds itself, a deadlock"), said


def test_the_lines_that_hold_the_locks_are_in_the_answer() -> None:
    notes = {line.line: line.notes for line in answer(LOCKS, "accounts.acquire").because}
    assert "holds accounts" in notes[11]
    assert "holds journal" in notes[20]
    assert "waits still" in notes[14]


def test_a_lock_that_was_given_back_is_held_by_no_line() -> None:
    past = PastProcess(ran(LOCKS))
    free = past.executions.at(at(LOCKS, "with free:"))
    assert free is not None
    assert standstill(past, free) == ""
    assert "free" not in answer(LOCKS, "accounts.acquire").value


def test_of_a_loop_whose_tasks_all_wait_each_is_named_with_what_it_awaits() -> None:
    found = answer(TASKS, "asyncio.run")
    assert "consume awaits at # (line 11): await ready.wait()" in without_numbers(found.value)
    assert "main awaits at # (line 23): await asyncio.gather(" in without_numbers(found.value)
    assert any("does not wake it" in note for line in found.because for note in line.notes)


def test_a_line_that_is_over_waits_for_nothing() -> None:
    assert "waits" not in answer(LOCKS, "one.start()").value


def test_a_value_that_a_generator_yields_is_not_waited_for() -> None:
    notes = [note for line in answer(CACHE, "assert got").because for note in line.notes]
    assert not [note for note in notes if "does not wake" in note]
