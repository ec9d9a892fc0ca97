"""Values are followed through threads, pools and tasks: into the function, and out of its result."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

class Job:
    def __init__(self, rate):
        self.rate = rate
        self.out = {}

    def run(self, name, amount, scale=1):
        value = amount * self.rate * scale
        self.out[name] = value

    async def load(self, amount):
        await asyncio.sleep(0)
        return amount * self.rate

def price(amount, *, scale):
    return amount * scale

def same(amount):
    return amount + 1

def in_threads():
    job = Job(2)
    for name, amount in (("a", 1), ("c", -3)):
        thread = threading.Thread(target=job.run, args=(name, amount), kwargs={"scale": 2})
        thread.start()
        thread.join()
    return job.out["c"]

def in_pool():
    low = -7
    with ThreadPoolExecutor(1) as pool:
        good = pool.submit(price, 5, scale=2)
        bad = pool.submit(price, low, scale=2)
        got = [good.result()]
        last = bad.result()
    return last

def of_two():
    one = 4
    two = 4
    gate = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(gate.wait)
        first = pool.submit(same, one)
        second = pool.submit(same, two)
        gate.set()
        got = first.result()
    return got

async def in_tasks():
    base = -1
    first = asyncio.create_task(Job(2).load(3))
    second = asyncio.create_task(Job(2).load(base))
    await first
    found = await second
    return found

threaded = in_threads()
pooled = in_pool()
twice = of_two()
tasked = asyncio.run(in_tasks())
"""


@cache
def recorded() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


def asked(name: str) -> WhyAnswer:
    return why(recorded(), WhyQuestion(expression=name))


def sources(answer: WhyAnswer) -> list[str]:
    return [line.source for line in answer.because]


def said_of(answer: WhyAnswer, source: str) -> str:
    return "; ".join(note for line in answer.because if line.source.startswith(source) for note in line.notes)


def test_the_argument_of_a_thread_is_followed_to_the_line_and_the_round_that_gave_it() -> None:
    answer = asked("threaded")
    assert "value = amount * self.rate * scale" in sources(answer)
    assert said_of(answer, "thread = threading.Thread(").startswith("hands run over, which is called at #")
    (loop,) = [line for line in answer.because if line.source.startswith("for name, amount in")]
    assert loop.values == ["name='c'", "amount=-3"]


def test_the_result_of_a_future_is_followed_to_its_return_and_to_what_was_submitted() -> None:
    answer = asked("pooled")
    assert {"low = -7", "return amount * scale"} <= set(sources(answer))
    assert said_of(answer, "bad = pool.submit(").startswith("hands price over, which is called at #")
    assert "good = pool.submit(price, 5, scale=2)" not in sources(answer)


def test_the_result_of_a_task_is_followed_to_its_return_and_to_what_it_was_made_with() -> None:
    answer = asked("tasked")
    assert {"base = -1", "return amount * self.rate"} <= set(sources(answer))
    assert said_of(answer, "second = asyncio.create_task(").startswith("hands load over, which is called at #")


def test_of_two_lines_that_may_have_handed_a_call_over_none_is_named() -> None:
    answer = asked("twice")
    assert "got = first.result()" in sources(answer)
    assert not any("hands same over" in note for line in answer.because for note in line.notes)
