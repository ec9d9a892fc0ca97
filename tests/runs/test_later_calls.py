"""What a task does later than it is asked for is named: the line that handed the call over, and where it waits."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import asyncio


class Store:
    def __init__(self):
        self.saved = []

    async def save(self, item):
        await asyncio.sleep(TIME)
        self.saved.append(item)


async def handle(store, items):
    tasks = []
    for item in items:
        if item.startswith("!"):
            tasks.append(asyncio.create_task(store.save(item[1:])))
        else:
            await store.save(item)
    PAUSE
    return tasks


async def main():
    store, other = Store(), Store()
    tasks = await handle(store, ["a", "!b"])
    WAIT
    assert len(store.saved) == 3, tasks


asyncio.run(main())
"""


def because(time: str = "0", pause: str = "pass", wait: str = "pass") -> list[str]:
    source = PROGRAM.replace("TIME", time).replace("PAUSE", pause).replace("WAIT", wait)
    return [str(line) for line in why(record(source, python(3, 13)).processes[0], WhyQuestion(limit=30)).because]


def test_the_line_that_hands_over_a_call_that_begins_later_is_named() -> None:
    (line,) = [line for line in because() if "create_task" in line]
    assert "hands save over, which is called later, at #" in line


def test_where_a_call_waits_that_has_begun_and_not_ended_is_named() -> None:
    lines = because("30 if item == 'b' else 0", "await asyncio.sleep(0)")
    (line,) = [line for line in lines if "await asyncio.sleep(30 if" in line]
    assert "waits there since #" in line
    assert "save has not ended at #" in line


@pytest.mark.parametrize("wait", ["await asyncio.gather(*tasks)", "await other.save(1); await asyncio.gather(*tasks)"])
def test_of_calls_that_have_ended_and_of_those_for_another_object_nothing_is_said(wait: str) -> None:
    assert not [line for line in because(wait=wait) if "later" in line or "waits there" in line]
