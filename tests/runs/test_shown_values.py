"""The lines of an answer have in their values what it is about, and name the other runs that differ."""

import re

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import sched
from dataclasses import dataclass


@dataclass
class Order:
    number: int
    customer: str
    street: str
    city: str
    note: str
    paid: bool


class Event:
    def __init__(self, name, hour):
        self.name = name
        self.hour = hour


def load(number):
    order = Order(number, "somebody with a long name", "a long street, number 17", "a city far away", "ring", True)
    return order


def use(settings):
    if settings["limit"] < 10:
        return settings


def overlaps(events):
    found = []
    for before, after in zip(events, events[1:]):
        if after.hour < before.hour:
            found.append(after.name)
    return found


def parse(text):
    try:
        return int(text)
    except ValueError:
        return None


def parsed(texts):
    numbers = []
    for text in texts:
        number = parse(text)
        if number is not None:
            numbers.append(number)
    return numbers


def tenth(text):
    try:
        return 10 // int(text)
    except (ValueError, ZeroDivisionError):
        return None


def keep(depth, times=2):
    left.append(depth * times)


def cleaned(numbers):
    out = []
    for number in numbers:
        out.append(-number if number == 7 else number)
    return out


class Till:
    def __init__(self):
        self.rounds = 0
        self.entries = {}


def ring(till):
    for _ in range(1_100):
        till.rounds += 1


till = Till()
till.entries["tea"] = 3
ring(till)
same = till
order = load(3)
order.paid = order.number > 5
settings = {f"key {n}": f"value of number {n}" for n in range(30)}
settings["limit"] = 7
limited = use(settings)
late = overlaps([Event("tea", 9), Event("lunch", 12), Event("call", 11)])
count = len(parsed(["1", "b", "3", "d", "e", "6", "7"]))
total = sum(cleaned(range(1, 31)))
for text in ["x", "0"]:
    share = tenth(text)
left = []
scheduler = sched.scheduler()
scheduler.enter(0, 1, keep, (3, 4))
scheduler.run()
keep(5)
even = sum(cleaned([1, 2, 3, 4, 5, 6]))
words = ["one", "two", "three", "four"][count - 1]
text = f"{'a line of many words ' * 4}{words} of them"
assert text == "a line of many words a line of many words a line of many words a line of many words seven of them"
"""


@pytest.fixture(scope="module")
def process() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


def line(process: ProcessRecord, expression: str, source: str) -> str:
    """Return the line of an answer that has a source."""
    answer = why(process, WhyQuestion(expression=expression))
    return next((str(found) for found in answer.because if source in found.source), "\n".join(map(str, answer.because)))


def test_of_an_object_with_many_fields_that_one_is_shown_which_is_asked_about(process: ProcessRecord) -> None:
    assert line(process, "order.paid", "order = load(3)").endswith("| order=<Order paid=True, number=3, …>")
    assert line(process, "order.paid", "return order").endswith("| -> <Order paid=True, number=3, …>")


def test_of_a_long_dictionary_that_item_is_shown_which_is_asked_about(process: ProcessRecord) -> None:
    assert line(process, "limited['limit']", "limited = use").endswith("… with ['limit']=7")


def test_a_round_of_a_loop_says_which_objects_it_is_about(process: ProcessRecord) -> None:
    text = line(process, "late[0]", "for before, after")
    assert "before=<Event hour=12, name='lunch', …>" in text or "before=<Event name='lunch', hour=12, …>" in text


def test_a_long_text_is_shown_where_it_differs_from_what_was_expected(process: ProcessRecord) -> None:
    text = line(process, "", "text = f")
    assert "words four of them'" in text
    assert "text='…" in text


def test_a_swallowed_exception_says_how_often_its_line_has_raised(process: ProcessRecord) -> None:
    text = line(process, "count", "return int(text)")
    assert "raises ValueError(\"invalid literal for int() with base 10: 'e'\")" in text
    assert "raised in 3 of 7 runs (#" in text


def test_exceptions_of_other_types_are_not_counted_with_the_one_that_is_shown(process: ProcessRecord) -> None:
    text = line(process, "share", "return 10 // int(text)")
    assert "raises ZeroDivisionError" in text, text
    assert "raised in" not in text
    assert re.search(r"others of 2 runs raised: #\d+ ValueError$", text), text


def test_what_a_library_has_called_a_function_with_is_not_said_to_be_a_default(process: ProcessRecord) -> None:
    given = "\n".join(map(str, why(process, WhyQuestion(expression="left[0]")).because))
    assert "left.append(depth * times)" in given
    assert "its default" not in given, given
    default = "\n".join(map(str, why(process, WhyQuestion(expression="left[1]")).because))
    assert "keep | entered | depth=5 times=2; its default: times" in default


def test_of_many_items_that_a_line_has_put_the_few_that_differ_are_named(process: ProcessRecord) -> None:
    text = line(process, "total", "out.append")
    assert "1 of 30 items differs: [6]=-7 (#" in text
    assert "differ" not in line(process, "even", "out.append")


def test_what_is_in_an_object_is_found_behind_a_thousand_writes_of_its_other_attributes(process: ProcessRecord) -> None:
    assert line(process, "same", "till.entries[").endswith("| ['tea']=3")
