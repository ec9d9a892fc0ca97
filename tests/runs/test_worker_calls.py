"""A value that a pool's worker has made: the answer of the process that got it has the call in that of the worker."""

import re
from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import START, RecordedRun
from trio_debugmcp.runs.why import WhyQuestion, why
from trio_debugmcp.runs.worker_calls import worker_calls

pytestmark = pytest.mark.real

PROGRAM = """\
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

RATES = {"tea": 2, "cake": 3}


def work(name):
    rate = RATES.get(name, 0)
    return rate * 10


def same(name):
    return len(name)


def here(name):
    return name.upper()


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        mapped = list(pool.map(work, ["tea", "pie", "cake"]))
        future = pool.submit(same, "milk")
        size = future.result()
        other = pool.submit(same, "bean").result()
        upper = pool.submit(here, "a").result()
    both = here("a")
"""


@cache
def ran() -> RecordedRun:
    return record(PROGRAM, python(3, 12))


def said(expression: str) -> list[str]:
    first, *others = ran().processes
    return worker_calls(first, others, why(first, WhyQuestion(expression=expression)))


def test_the_call_whose_result_is_asked_about_is_followed_into_its_process() -> None:
    pid = ran().processes[1].facts.pid
    call, *lines = said("mapped[1]")
    assert call.startswith("work(name='pie') -> 0 ran in process ")
    assert call.endswith(f", process={pid}) leads on from there")
    assert [line.partition(" | ")[2] for line in lines] == [
        "rate = RATES.get(name, 0) | rate=0",
        "return rate * 10 | -> 0",
    ]


def test_of_several_calls_with_the_same_result_none_is_said_to_be_the_one() -> None:
    (several,) = said("size")
    assert several.startswith("2 calls of same returned 4, and which of them it was is not known: process ")
    assert "same(name='milk') -> 4 (#" in several
    assert "same(name='bean') -> 4 (#" in several


def test_what_is_advised_where_several_fit_has_an_answer() -> None:
    (several,) = said("size")
    advised = re.search(r'why\(at="#(\d+)", process=(\d+)\) asks about the first$', several)
    assert advised is not None
    worker = next(each for each in ran().processes if each.facts.pid == int(advised[2]))
    (line,) = why(worker, WhyQuestion(at=int(advised[1]))).because
    assert str(line).endswith("return len(name) | -> 4")


def test_of_a_call_by_code_that_is_not_recorded_that_is_said() -> None:
    worker = ran().processes[1]
    start = next(number for number in range(1, worker.last) if worker.row(number).kind == START)
    (line,) = why(worker, WhyQuestion(at=start)).because
    assert "called where nothing is recorded" in str(line)


def test_where_no_result_is_that_value_the_calls_are_named() -> None:
    (named,) = said("mapped")
    assert named.startswith("work ran in other processes, and which of them it was is not known: process ")
    assert named.count("work(name=") == 3


def test_a_function_that_was_called_in_both_processes_is_not_taken_for_that_of_the_other_one() -> None:
    assert said("upper") == []


BROKEN = """\
import multiprocessing, os, signal
from concurrent.futures import ProcessPoolExecutor


def work(number, data):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return len(data)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        futures = [pool.submit(work, number, bytes(200)) for number in range(4)]
        total = sum(future.result() for future in futures)
"""


def test_of_a_pool_that_broke_the_call_during_which_its_worker_ended_is_named_alone_and_in_short() -> None:
    first, worker = record(BROKEN, python(3, 12)).processes
    answer, pid = why(first, WhyQuestion()), worker.facts.pid
    assert answer.failed.startswith("BrokenProcessPool")
    (named,) = worker_calls(first, [worker], answer, {pid})
    assert named.startswith(f"process {pid} ended during work(number=2, data=b'")
    assert named.endswith(f"…): why(process={pid}) says what led to it")
    assert len(named) < 150
    (not_known,) = worker_calls(first, [worker], answer)  # a call that has not ended may be under way
    assert not_known.startswith("work ran in other processes")
    assert len(not_known) < 500
