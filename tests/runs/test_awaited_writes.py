"""Changes of containers by lines that were left for a while: `got.append(await read())` has written what it added."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import FIELD, GAP, ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

AWAITED = """\
import asyncio


async def read(number):
    await asyncio.sleep(0)
    return number * 2


async def collect():
    got = []
    for number in range(3):
        got.append(await read(number))
    return got


async def beside():
    got = []
    asyncio.get_running_loop().call_soon(got.append, "from a library")
    got.append(await read(4))
    return got


def sent():
    got = []
    while len(got) < 2:
        got.append((yield))
    yield got


mixed = asyncio.run(beside())
parts = sent()
next(parts)
parts.send("a")
given = parts.send("b")
result = asyncio.run(collect())
assert result == [0, 2, 5]
"""

WATCHED_BY_ANOTHER_THREAD = """\
import threading

items = []
ready, go = threading.Event(), threading.Event()


def other():
    ready.set(), go.wait(), items.append("late")


threading.Thread(target=other, daemon=True).start()
ready.wait()
items.append("early")
assert len(items) == 2
"""


@pytest.fixture(scope="module", params=[(3, 12), (3, 13)], ids=["3.12", "3.13"])
def awaited(request: pytest.FixtureRequest) -> ProcessRecord:
    return record(AWAITED, python(*request.param)).processes[0]


def writes(process: ProcessRecord, text: str) -> list[tuple[int, str]]:
    """Return the kind of each row that gives an item a value, and that value, of the lines with a text."""
    lines = AWAITED.splitlines()
    found = []
    for row in map(process.row, range(process.first, process.last + 1)):
        if row.kind in (FIELD, GAP) and row.owner and process.label(row.key)[:1] == "[":
            line = process.site(process.row(row.owner).key).line
            found += [(row.kind, process.text(row))] if text in lines[line - 1] else []
    return found


def test_what_a_line_adds_after_it_has_awaited_is_its_own(awaited: ProcessRecord) -> None:
    assert writes(awaited, "got.append(await read(number))") == [(FIELD, "0"), (FIELD, "2"), (FIELD, "4")]
    assert writes(awaited, "got.append((yield))") == [(FIELD, "'a'"), (FIELD, "'b'")]


def test_what_came_while_it_waited_is_not(awaited: ProcessRecord) -> None:
    assert writes(awaited, "got.append(await read(4))") == [(GAP, "'from a library'"), (FIELD, "8")]


def test_a_line_that_awaits_is_not_said_to_have_changed_nothing(awaited: ProcessRecord) -> None:
    answer = why(awaited, WhyQuestion())
    line = next(line for line in answer.because if "append" in line.source)
    assert line.values == ["yields None", "then [2]=4"]
    assert "changed nothing" not in str(line)


def test_a_change_that_another_thread_may_have_made_is_not_said_to_be_none() -> None:
    answer = why(record(WATCHED_BY_ANOTHER_THREAD, python(3, 13)).processes[0], WhyQuestion())
    assert "changed nothing" not in "\n".join(map(str, answer.because))
