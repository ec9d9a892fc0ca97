"""Values that code gives which calls the program's: the interpreter's decorators, a data class's factories, `await`."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real


def answer(source: str, version: int = 13) -> WhyAnswer:
    return why(record(source, python(3, version)).processes[0], WhyQuestion())


# --- Awaited ----------------------------------------------------------------------------------------------------------

GATHERED = """\
import asyncio

PRICES = {"tea": 4, "cake": 6}


class Basket:
    def __init__(self):
        self.prices = {}

    async def add(self, name):
        await asyncio.sleep(0)
        self.prices[name] = PRICES[name]

    async def fill(self, names):
        await asyncio.gather(*[self.add(name) for name in names])
        return max(self.prices.values())


async def main():
    basket = Basket()
    total = await basket.fill(["tea", "cake"])
    assert total == 10


asyncio.run(main())
"""


@pytest.mark.parametrize("version", [12, 13])
def test_what_an_awaited_coroutine_waited_for_is_not_taken_for_its_result(version: int) -> None:
    lines = {line.line: line for line in answer(GATHERED, version).because}
    assert lines[16].values == ["-> 6"]
    assert 12 in lines


WAITED = """\
import asyncio


async def read(name):
    await asyncio.sleep(0)
    return len(name)


async def main():
    size = await read("tea")
    assert size == 4


asyncio.run(main())
"""


def test_the_line_at_which_a_coroutine_waited_is_not_shown_for_its_result() -> None:
    assert [line.line for line in answer(WAITED).because] == [10, 6, 11]


# --- Decorators -------------------------------------------------------------------------------------------------------

REGISTERED = """\
class Registry:
    def __init__(self):
        self.entries = {}

    def register(self, *names):
        def decorate(function):
            for name in names:
                self.entries[name] = function
            return function

        return decorate


writers = Registry()


@writers.register("csv")
def write_csv(row):
    return ",".join(row)


@writers.register("tsv", "csv")
def write_tsv(row):
    return "; ".join(row)


def write(row, kind):
    writer = writers.entries[kind]
    return writer(row)


assert write(["a", "b"], "csv") == "a,b"
"""


def test_what_a_decorator_was_given_is_shown_by_its_own_line() -> None:
    lines = {line.line: line.source for line in answer(REGISTERED).because}
    assert lines[22] == '@writers.register("tsv", "csv")'
    assert 17 not in lines


ONE_ARGUMENT = """\
kept = []


def named(name):
    def keep(function):
        kept.append(function)
        return function

    return keep


@named("first")
def one():
    return 1


taken = kept[0]
assert taken is None
"""


def test_the_function_that_is_decorated_is_not_said_to_be_what_the_decorator_was_given() -> None:
    process = record(ONE_ARGUMENT, python(3, 13)).processes[0]
    sources = [line.source for line in why(process, WhyQuestion()).because]
    assert "kept.append(function)" in sources
    assert '@named("first")' not in sources


# --- Factories --------------------------------------------------------------------------------------------------------

FACTORY = """\
from dataclasses import dataclass, field

LIMITS = {"tries": 3}


def limits():
    return LIMITS


@dataclass
class Job:
    name: str
    limits: dict = field(default_factory=limits)


def prepare():
    urgent = Job("urgent")
    urgent.limits.update(tries=9)
    return Job("usual")


job = prepare()
assert job.limits["tries"] == 3
"""


@pytest.mark.parametrize("version", [12, 13])
def test_what_the_factory_of_a_field_returned_is_followed_to_its_return(version: int) -> None:
    lines = {line.line: line.source for line in answer(FACTORY, version).because}
    assert lines[7] == "return LIMITS"
