"""Runs of lines: rounds of generator expressions, conditions, parts of statements, lines without code."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.histories.histories import HistoryPage, NoHistoryError, RunHistory
from trio_debugmcp.runs.histories.line_histories import line_counts, line_history
from trio_debugmcp.runs.histories.variable_histories import variable_history
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_conditions import RecordedCondition
from trio_debugmcp.runs.why import NoAnswerError, WhyQuestion, why

pytestmark = pytest.mark.real

ROUNDS = """\
def total(items):
    return sum(price * n for price, n in items)

def dear(items):
    return list(
        price * n
        for price, n in items
        if price > 1
    )

def doubled(items):
    for item in items: yield item * 2

def count(limit):
    '''Count.'''
    done: int
    done = 0
    # one more each round
    while done < limit:
        done += 1

items = [(1, 2), (3, 4), (1, 1), (5, 6)]
if not items:
    items = None
total(items)
dear(items)
list(doubled([4, 5]))
count(4)
"""


@cache
def past(*version: int) -> PastProcess:
    return PastProcess(record(ROUNDS, python(*(version or (3, 13))), name="rounds.py").processes[0])


def file() -> str:
    return next(code.file for code in past().record.codes)


def runs(line: int, where: str = "", of: PastProcess | None = None) -> RunHistory:
    found = of or past()
    path = next(code.file for code in found.record.codes)
    return line_history(found, path, line, HistoryPage(where=RecordedCondition(where) if where else None))


def inside(history: RunHistory) -> list[str]:
    return [" ".join(entry.values) for entry in history.entries if entry.function.endswith("<genexpr>")]


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_each_value_that_a_generator_expression_yields_is_a_run_of_its_line(version: tuple[int, int]) -> None:
    recorded = past(*version)
    rounds = ["price=1 n=2 yields 2", "price=3 n=4 yields 12", "price=1 n=1 yields 1", "price=5 n=6 yields 30", "ends"]
    assert inside(runs(2, of=recorded)) == rounds
    assert inside(runs(5, of=recorded)) == ["price=3 n=4 yields 12", "price=5 n=6 yields 30", "ends"]
    prices = variable_history(recorded, "price", HistoryPage(where=RecordedCondition("new > 1")))
    assert [entry.values[0] for entry in prices.entries] == [
        "price: 1 -> 3",
        "price: 1 -> 5",
        "price: 3",
        "price: 3 -> 5",
    ]
    items = variable_history(recorded, "item", HistoryPage())
    assert [entry.values[0] for entry in items.entries] == ["item: 4", "item: 4 -> 5"], "of a loop on one line"
    assert line_counts(recorded.record, next(code.file for code in recorded.record.codes))[2] == 1, "no statement"


def test_a_condition_on_the_runs_of_a_line_is_about_the_values_that_are_shown() -> None:
    assert [entry.values for entry in runs(20, "done > 2").entries] == [["done=3"], ["done=4"]]
    assert inside(runs(2, "price == 3")) == ["price=3 n=4 yields 12"]
    assert runs(19, "done == 4").total == 1, "a line that writes nothing"


def test_a_line_inside_of_a_statement_is_that_statement() -> None:
    assert [entry.at for entry in runs(8).entries] == [entry.at for entry in runs(5).entries]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (3, r"rounds\.py:3 has no code, so it never runs; the nearest line with code is 4"),
        (15, r"rounds\.py:15 has no code, .* is 17"),
        (16, r"rounds\.py:16 has no code, .* is 17"),
        (18, r"rounds\.py:18 has no code, .* is 19"),
        (99, r"rounds\.py had 28 lines when it ran, and no line 99"),
    ],
)
def test_a_line_without_code_is_said_to_have_none(line: int, said: str) -> None:
    with pytest.raises(NoHistoryError, match=said):
        runs(line)
    with pytest.raises(NoAnswerError, match=said):
        why(past().record, WhyQuestion(file=file(), line=line))


def test_a_line_that_did_not_run_leads_to_why() -> None:
    with pytest.raises(
        NoHistoryError, match=r"rounds\.py:24 did not run in this run: why\(file='rounds\.py', line=24\)"
    ):
        runs(24)


def test_a_form_feed_in_a_source_does_not_shift_its_lines() -> None:
    recorded = PastProcess(record("x = 1\n\x0c\ny = '\u2028'\nz = x + 1\n", python(3, 13)).processes[0])
    assert [(entry.line, entry.source) for entry in runs(4, of=recorded).entries] == [(4, "z = x + 1")]


RENAMED = """\
class K:
    pass

k = K()
first = k
K.__name__ = "Other"
second = k
try:
    raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
except* ValueError:
    second = first
"""


def test_an_object_is_shown_under_the_name_that_its_class_has_then() -> None:
    recorded = PastProcess(record(RENAMED, python(3, 13)).processes[0])
    assert [runs(line, of=recorded).entries[0].values for line in (5, 7)] == [["first=<K>"], ["second=<Other>"]]
    (caught,) = runs(10, of=recorded).entries
    assert caught.values == ["catches a part of ExceptionGroup('g', list of 2)"]


def test_a_key_error_says_its_key_whole() -> None:
    source = "slots = {}\ntry:\n    slots['a', 1]\nexcept KeyError:\n    pass\n"
    recorded = PastProcess(record(source, python(3, 13)).processes[0])
    assert runs(4, of=recorded).entries[0].values == ["catches KeyError(('a', 1))"]


AWAITS = """\
import asyncio

async def one():
    await asyncio.sleep(0)
    return 3

async def main():
    both = await asyncio.gather(one(), one())
    return both

def inner():
    yield 4
    return 5

def outer():
    got = yield from inner()
    yield got

asyncio.run(main())
list(outer())
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_the_end_of_what_is_awaited_is_a_value_and_no_exception(version: tuple[int, int]) -> None:
    recorded = PastProcess(record(AWAITS, python(*version)).processes[0])
    (gathered,) = runs(8, of=recorded).entries
    assert gathered.values == ["yields <_GatheringFuture>", "then both=[3, 3]"]
    (given,) = runs(16, of=recorded).entries
    assert given.values == ["yields 4", "then got=5"]


ROUNDS_ON_A_LINE = """\
def least(n):
    while n > 9: n -= 3
    for each in range(n): last = each
    while n > 5:
        n -= 1
    return n + last


assert least(30) == 9
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])
def test_a_loop_on_one_line_is_said_to_be_all_of_its_rounds(version: tuple[int, int]) -> None:
    past = PastProcess(record(ROUNDS_ON_A_LINE, python(*version)).processes[0])
    written = variable_history(past, "n", HistoryPage()).entries
    assert [(line.line, line.values, "all its rounds" in str(line)) for line in written[:3]] == [
        (1, ["n: 30"], False),
        (2, ["n: 30 -> 9"], True),
        (5, ["n: 9 -> 8"], False),
    ]
    lines = {line.line: str(line) for line in why(past.record, WhyQuestion(limit=20)).because}
    assert "all its rounds, with the values of the last" in lines[2]
    assert "all its rounds" in lines[3]
    assert "all its rounds" not in lines[5]
