"""Histories of many objects: which one a row is about, and conditions on the attributes of what calls were given."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.histories.call_histories import call_history
from trio_debugmcp.runs.histories.histories import HistoryPage
from trio_debugmcp.runs.histories.variable_histories import variable_history
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_conditions import RecordedCondition
from trio_debugmcp.runs.past.shown_fields import shown_field

PROGRAM = """\
from dataclasses import dataclass
from decimal import Decimal
from json import loads
from types import SimpleNamespace


@dataclass
class Order:
    total: Decimal
    kind: str


class Job:
    def __init__(self, name):
        self.name = name
        self.attempts = 0
        self.done = []


def fee(order, job):
    return order.total * 2


def run(job):
    job.attempts += 1
    job.done.append(job.attempts)


FACTOR = 2


def speed(setting):
    return setting.fast * FACTOR


jobs = [Job(name) for name in ("ann", "bob")]
for number in range(3):
    run(jobs[number % 2])
orders = [Order(Decimal("10.00"), "x"), Order(Decimal("99.50"), "y, total=3")]
fees = [fee(order, job) for order, job in zip(orders, jobs)]
settings = loads('[{"fast": 1}, {"fast": 7}]', object_hook=lambda found: SimpleNamespace(**found))
for setting in settings:
    speed(setting)
alone = Job("cleo")
alone.only = 1
alone.only = 2
"""


@cache
def recorded() -> PastProcess:
    return PastProcess(record(PROGRAM, python(3, 13)).processes[0])


def matching(function: str, where: str) -> tuple[int, int]:
    found = call_history(recorded(), function, HistoryPage(where=RecordedCondition(where)))
    return found.total, found.undecided


@pytest.mark.real
@pytest.mark.parametrize(
    ("function", "where", "total"),
    [
        ("fee", "order.total > 50", 1),
        ("fee", "order.total == Decimal('99.50')", 1),
        ("fee", "order.total in (Decimal(10), Decimal('1'))", 1),
        ("fee", "order.kind == 'y, total=3'", 1),
        ("fee", "job.attempts == 2", 1),
        ("fee", "job.name == 'bob' and order.total < 9", 0),
        ("speed", "setting.fast == 7", 1),
        ("speed", "FACTOR == 2", 2),
    ],
)
def test_a_condition_on_an_attribute_of_an_argument_is_decided(function: str, where: str, total: int) -> None:
    assert matching(function, where) == (total, 0)


@pytest.mark.real
def test_a_condition_on_what_no_line_has_looked_at_is_undecided() -> None:
    assert matching("fee", "order.nothing == 1") == (0, 2)


@pytest.mark.real
def test_rows_about_several_objects_say_which_one() -> None:
    entries = variable_history(recorded(), "Job.attempts", HistoryPage(count=50)).entries
    marks = [(line.values[0], line.notes[-1].partition("(")[2]) for line in entries if "Job.attempts: " in str(line)]
    assert [mark for value, mark in marks if "->" in value] == ["name='ann')", "name='bob')", "name='ann')"]
    made = {line.notes[-1].rpartition(" (")[0] for line in entries}
    assert len(made) == 3
    assert all(mark.startswith("the one made at #") for mark in made)
    named = variable_history(recorded(), "Job.name", HistoryPage(count=50)).entries
    assert {line.notes[-1].partition(" (")[2] for line in named} == {"attempts=0)"}
    done = variable_history(recorded(), "Job.done", HistoryPage(count=50)).entries
    appended = [line for line in done if "append" in line.source]
    assert len({line.notes[-1] for line in appended}) == 2


@pytest.mark.real
def test_rows_about_one_object_do_not_say_which() -> None:
    entries = variable_history(recorded(), "alone.only", HistoryPage()).entries
    assert [line.notes for line in entries] == [[], []]


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("<Order id=3, name='a, id=4'>", "id", "3"),
        ("<Order id=3, name='a, id=4'>", "name", "'a, id=4'"),
        ("<Order at=(1, 2), total=Decimal('1.20')>", "total", "Decimal('1.20')"),
        ("<Order at=(1, 2), total=Decimal('1.20')>", "at", "(1, 2)"),
        ("Point(x=1, y=2)", "y", "2"),
        ("<Order id=3, name=…>", "id", None),
        ("<Order>", "id", None),
        ("Decimal('3')", "id", None),
    ],
)
def test_the_text_of_an_object_shows_its_attributes(text: str, name: str, value: str | None) -> None:
    assert shown_field(text, name) == value
