"""A value out of a queue or pipe of `multiprocessing`: the answer has the line of the other process that put it in."""

import re

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.sent_values import sent_values
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

QUEUES = """\
import multiprocessing
MORE

def worker(jobs, results):
    while (job := jobs.get()) is not None:
        number, price = job
        total = price * 2 + 1
        results.put((number, total))

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    jobs, results = MAKE, MAKE
    workers = [context.Process(target=worker, args=(jobs, results)) for _ in range(WORKERS)]
    for process in workers:
        process.start()
    for number in range(3):
        jobs.put((number % NUMBERS, number % NUMBERS * 10))
    for _ in workers:
        jobs.put(None)
    totals = {}
    for _ in range(3):
        number, total = results.get()
        totals[number] = total
    for process in workers:
        process.join()
    asked = totals[0]
"""

PIPES = """\
import multiprocessing

def serve(end):
    while (word := end.recv()) != "stop":
        end.send(len(word) - 1)

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    server = context.Process(target=serve, args=(there,))
    server.start()
    sizes = []
    for word in ("one", "three", "seven"):
        here.send(word)
        sizes.append(here.recv())
    here.send("stop")
    server.join()
    asked = sizes[1]
"""


def said(source: str, expression: str = "asked") -> list[str]:
    first, *others = record(source, python(3, 13)).processes
    return sent_values(first, others, why(first, WhyQuestion(expression=expression)))


def queues(workers: int = 1, numbers: int = 3, make: str = "context.Queue()", more: str = "") -> list[str]:
    texts = {"WORKERS": str(workers), "NUMBERS": str(numbers), "MAKE": make, "MORE": more}
    return said(re.sub("|".join(texts), lambda found: texts[found[0]], QUEUES))


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    ("make", "more"),
    [
        ("context.Queue()", ""),
        ("Queue()", "from multiprocessing import Queue"),
        ("context.SimpleQueue()", ""),
        ("multiprocessing.JoinableQueue()", ""),
    ],
)
def test_a_message_that_no_other_can_be_is_followed_to_the_line_that_put_it_in(
    workers: int, make: str, more: str
) -> None:
    first, *lines = queues(workers, make=make, more=more)
    found = re.fullmatch(r'results.get\(\) \(#\d+\) took out what process (\d+) put in: why\(at="(#\d+)", .*', first)
    assert found is not None
    assert lines[-1].startswith(f"in process {found[1]}: {found[2]} program.py:8 worker | results.put((number, total))")
    assert lines[-1].endswith("number=0 total=1")


def test_of_equal_messages_of_several_processes_none_is_named() -> None:
    (gap,) = queues(workers=2, numbers=1)
    assert "took out what may be from another process; which line put it in is not known: process " in gap
    assert gap.count(" line 8 (0, 1)") == 3


def test_a_message_of_which_the_text_is_not_known_is_found_by_its_place_in_the_order() -> None:
    first, *lines = said(PIPES)
    assert first.startswith("here.recv() (#")
    assert any("word='three'" in line for line in lines)
    assert "end.send(len(word) - 1)" in lines[-1]


def test_that_a_process_which_put_something_in_was_not_recorded_is_said() -> None:
    source = PIPES.replace("target=serve", "target=exec").replace(
        "args=(there,)", "args=('for n in (1, 2, 3): end.send(n)', {'end': there})"
    )
    (gap,) = said(source.replace('    here.send("stop")\n', ""))
    assert gap.endswith("took out what another process put in, which was not recorded")


TWICE = """\
import multiprocessing

def worker(results):
    results.put((7, "paid"))

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    writers = [
        context.Process(target=worker, args=(results,)),
        context.Process(target=exec, args=("results.put((7, 'paid'))", {"results": results})),
    ]
    for process in writers:
        process.start()
    first = results.get()
    asked = results.get()
"""


def test_of_a_message_that_was_taken_out_more_often_than_recorded_code_put_it_in_no_line_is_named() -> None:
    (gap,) = said(TWICE)
    assert "which line put it in is not known: process " in gap


@pytest.mark.parametrize("looked_at", [0, 1])  # which of the workers has put something in is up to the machine
def test_of_more_processes_than_are_looked_at_no_line_is_named(looked_at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trio_debugmcp.runs.sent_values._MOST_PROCESSES", looked_at)
    (gap,) = queues(workers=2)
    assert "which line put it in is not known: " in gap
    assert f"of the first {looked_at} of 2 processes" in gap


def test_of_a_queue_within_the_process_nothing_is_said() -> None:
    source = """\
import multiprocessing, queue

def worker(results):
    results.put(3)

if __name__ == "__main__":
    jobs = queue.Queue()
    results = multiprocessing.get_context("fork").Queue()
    process = multiprocessing.get_context("fork").Process(target=worker, args=(results,))
    process.start()
    process.join()
    getattr(jobs, "put")(3)
    asked = jobs.get()
"""
    assert said(source) == []
