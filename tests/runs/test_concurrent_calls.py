"""Lines of calls that ran at the same time say which call they are of."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import NoAnswerError, WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import asyncio

current = {}


async def lookup(name):
    await asyncio.sleep(0.01 if name == "ann" else 0)
    return len(name)


async def handle(name):
    current["name"] = name
    length = await lookup(name)
    return current["name"]


async def both():
    return await asyncio.gather(handle("ann"), handle("ben"))


def fact(number):
    if number < 2:
        return 1
    below = fact(number - 1)
    return number * below


def double(number):
    twice = number * 2
    return twice


def main():
    product = fact(3)
    total = double(1)
    total += double(total)
    assert asyncio.run(both()) == ["ann", "ben"]


main()
"""


@cache
def recorded() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


def calls(found: WhyAnswer) -> dict[str, str]:
    """Return for each source of an answer's lines which call it is said to be of, without the number."""
    notes = {
        line.source: [note.partition(" (")[2] for note in line.notes if "in call #" in note] for line in found.because
    }
    return {source: said[0] for source, said in notes.items() if said}


def test_lines_of_two_tasks_in_one_function_name_their_calls_by_what_differs() -> None:
    said = calls(why(recorded(), WhyQuestion()))
    assert said['current["name"] = name'] == "name='ben')"
    assert said['return current["name"]'] == "name='ann')"


@pytest.mark.parametrize("expression", ["product", "total"])
def test_calls_within_and_after_one_another_are_not_marked(expression: str) -> None:
    assert calls(why(recorded(), WhyQuestion(expression=expression, limit=30))) == {}


def test_an_item_that_was_set_while_the_line_ran_is_said_to_be_set_by_that_line() -> None:
    failed = next(line.at for line in why(recorded(), WhyQuestion()).because if line.source.startswith("assert"))
    with pytest.raises(NoAnswerError, match=r"#\d+ has set it to 'ben', after #\d+ had begun: why\(at='#\d+'\)"):
        why(recorded(), WhyQuestion(expression="current['name']", at=int(failed.removeprefix("#"))))
    assert why(recorded(), WhyQuestion(expression="current['name']")).value.startswith("current['name']='ben'")


BESIDE = """\
import asyncio

done = []


async def check(name):
    await asyncio.sleep(0)
    if name == "bad":
        said = name.upper()
        return said
    done.append(name)


async def main():
    await asyncio.gather(*(check(name) for name in ("a", "b", "bad", "c")))


asyncio.run(main())
count = len(done)
"""


def test_what_another_task_did_meanwhile_is_not_said_to_be_of_a_round() -> None:
    process = record(BESIDE, python(3, 12)).processes[0]
    text = "\n".join(map(str, why(process, WhyQuestion(expression="count", limit=30)).because))
    assert "rounds only that reach line" not in text, text
