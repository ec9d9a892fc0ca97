"""Lines that raised instead of writing: an answer about what has stayed names them, and what kept the exception."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real


def notes(source: str, expression: str) -> list[str]:
    lines = why(record(source, python(3, 13)).processes[0], WhyQuestion(expression=expression, limit=30)).because
    return [f"{line.line}: {note}" for line in lines for note in line.notes]


KEPT = """\
import contextlib


class Book:
    def __init__(self):
        self.rate = 1

    def set(self, text):
        try:
            self.rate = float(text)
        except ValueError:
            text = ""


def parse(text):
    number = 0
    with contextlib.suppress(ValueError):
        number = int(text)
    return number


def load(texts):
    found = []
    for text in texts:
        try:
            found.append(int(text))
        except ValueError:
            pass
    return found


def late(text):
    try:
        number = int(text)
    except ValueError:
        number = 3
    return number


book = Book()
book.set("y")
rate = book.rate
number = parse("z")
found = load(["1", "x", "3"])
other = late("z")
end = rate, number, found, other
"""


def test_of_a_value_that_has_stayed_the_line_that_raised_instead_of_setting_it_is_named_and_what_kept_that() -> None:
    assert notes(KEPT, "rate") == ["10: so .rate is not set", "11: caught its exception"]
    assert notes(KEPT, "number") == ["18: so number is not set", "17: suppressed its exception"]
    assert notes(KEPT, "found") == ["26: so found is not changed", "27: caught its exception"]


def test_a_line_that_raised_before_another_one_set_the_value_is_not_said_to_have_left_it() -> None:
    assert notes(KEPT, "other") == []


STORED = """\
class Store:
    def __init__(self):
        self.items = {}

    def put(self, key, text):
        try:
            value = int(text)
        except ValueError:
            return
        self.items[key] = value

    def keep(self, key, value):
        if value < 0:
            return
        self.items[key] = value

store = Store()
for key, text in (("a", "1"), ("b", "2x"), ("c", "3")):
    store.put(key, text)
store.keep("d", 4)
store.keep("e", -5)
parsed = store.items.get("b")
wanted = "e"
kept = wanted in store.items
known = store.items.get("d")
"""


def test_an_item_that_is_not_there_leads_to_the_call_in_which_it_was_not_stored() -> None:
    def said(name: str) -> list[str]:
        answer = why(record(STORED, python(3, 13)).processes[0], WhyQuestion(expression=name))
        return [f"{line.line}: {note}" for line in answer.because for note in line.notes if "is not set" in note]

    assert said("parsed") == ["8: so self.items['b'] is not set at line 10"]
    assert said("kept") == ["13: so self.items['e'] is not set at line 15"]
    assert said("known") == [], "it is there"


LOCKED = """\
import threading

class Till:
    def __init__(self):
        self.total = 0
        self.lock = threading.Lock()

    def sell(self, prices, name):
        try:
            price = prices[name]
            with self.lock:
                self.total += price
        except KeyError:
            pass

till = Till()
for name in ("tea", "Cake"):
    till.sell({"tea": 3, "cake": 5}, name)
total = till.total
"""


def test_a_line_that_raised_before_a_block_is_named_for_what_the_block_did_not_set() -> None:
    assert notes(LOCKED, "total") == ["10: so .total is not set at line 12", "13: caught its exception"]
