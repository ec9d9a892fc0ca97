"""What a thread or task writes over another's write is said, where its read was certainly before that."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

THREADS = """\
import threading

barrier = threading.Barrier(2)
lock = threading.Lock()
second = threading.Event()


class Account:
    def __init__(self):
        self.lost = self.kept = self.plain = 0

    def lose(self, amount):
        current = self.lost
        barrier.wait()
        if amount == 20:
            second.wait()
        changed = current + amount
        self.lost = changed
        second.set()

    def keep(self, amount):
        barrier.wait()
        with lock:
            current = self.kept
            self.kept = current + amount

    def put(self, amount):
        print(self.plain)
        barrier.wait()
        with lock:
            self.plain = amount


def counted():
    count = 0
    other = threading.Event()

    def add(number):
        nonlocal count
        seen = count
        barrier.wait()
        if number == 2:
            other.wait()
        count = seen + number
        other.set()

    adding = [threading.Thread(target=add, args=(number,)) for number in (1, 2)]
    for thread in adding:
        thread.start()
    for thread in adding:
        thread.join()
    return count


account = Account()
for method in (account.lose, account.keep, account.put):
    threads = [threading.Thread(target=method, args=(amount,)) for amount in (10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(account.lost, account.kept, account.plain)
result = counted()
"""

TASKS = """\
import asyncio

total = 0
stock = {"pen": 10}


class Pool:
    def __init__(self):
        self.connection = None

    async def get(self):
        if self.connection is None:
            self.connection = await self.connect()
        return self.connection

    async def connect(self):
        await asyncio.sleep(0)
        return object()


async def number(n):
    await asyncio.sleep(0)
    return n


async def add(n):
    global total
    total = total + await number(n)


async def add_later(n):
    stock["pen"] = await number(n) + stock["pen"]


async def main():
    pool = Pool()
    await asyncio.gather(add(1), add(2))
    await asyncio.gather(add_later(1), add_later(2))
    await asyncio.gather(pool.get(), pool.get())
    print(total, stock["pen"], pool.connection)


asyncio.run(main())
"""


@pytest.fixture(scope="module")
def threads() -> ProcessRecord:
    return record(THREADS, python(3, 13)).processes[0]


@pytest.fixture(scope="module")
def tasks() -> ProcessRecord:
    return record(TASKS, python(3, 12)).processes[0]


def said(process: ProcessRecord, expression: str) -> str:
    return "\n".join(map(str, why(process, WhyQuestion(expression=expression)).because))


def test_a_write_that_does_not_know_of_another_thread_says_so(threads: ProcessRecord) -> None:
    text = said(threads, "account.lost")
    assert "self.lost = changed | .lost=20; writes over #" in text
    assert "(another thread: .lost=10), later than #" in text
    assert "current = self.lost | current=0; before #" in text


def test_so_does_one_of_a_variable_that_inner_functions_share(threads: ProcessRecord) -> None:
    answer = why(threads, WhyQuestion(expression="result"))
    text = "\n".join(map(str, answer.because))
    assert "count = seen + number | count=2; writes over #" in text
    assert "(another thread: count=1), later than #" in text
    assert answer.gaps == []


@pytest.mark.parametrize("expression", ["account.kept", "account.plain"])
def test_a_write_after_its_read_under_a_lock_or_of_a_value_of_its_own_has_lost_nothing(
    threads: ProcessRecord, expression: str
) -> None:
    assert "writes over" not in said(threads, expression)


def test_a_read_before_an_await_of_the_same_line_is_overtaken(tasks: ProcessRecord) -> None:
    lines = [line for line in said(tasks, "total").splitlines() if "total = total" in line]
    assert "writes over #" in lines[0]
    assert "(another task: .total=1)" in lines[0]
    assert "writes from" not in lines[0]  # it has not added that to the value before


def test_a_read_after_an_await_of_the_same_line_is_not(tasks: ProcessRecord) -> None:
    lines = [line for line in said(tasks, "stock['pen']").splitlines() if "await number(n) + stock" in line]
    assert "writes over" not in lines[0]
    assert "2 writes from 10: +1" in lines[0]


def test_what_is_made_twice_since_each_task_has_looked_first_says_so(tasks: ProcessRecord) -> None:
    text = said(tasks, "pool.connection")
    assert "if self.connection is None: | true self.connection=None; before #" in text
    assert "writes over #" in text
