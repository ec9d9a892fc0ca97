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


COMPUTED = """\
class Till:
    def __init__(self):
        self._total = 0

    @property
    def total(self):
        return self._total

    @total.setter
    def total(self, value):
        self._total = value


class Fields:
    def __setattr__(self, name, value):
        self.__dict__["_" + name] = value

    def __getattr__(self, name):
        return self.__dict__.get("_" + name)


class Positive:
    def __get__(self, instance, owner):
        return instance.__dict__.get("amount", 0)

    def __set__(self, instance, value):
        if value < 0:
            raise ValueError(value)
        instance.__dict__["amount"] = value


class Order:
    price = Positive()


class Table:
    def __init__(self):
        self.cells = {}

    def __setitem__(self, key, value):
        self.cells[key] = value

    def __getitem__(self, key):
        return self.cells.get(key)


def fill(till, fields, order, table, texts):
    for key, text in texts.items():
        try:
            till.total = int(text)
        except ValueError:
            pass
        try:
            fields.size = int(text)
        except ValueError:
            pass
        try:
            order.price = -1 if text == "y" else 2
        except ValueError:
            pass
        try:
            table[key] = int(text)
        except ValueError:
            pass


till, fields, order, table = Till(), Fields(), Order(), Table()
fill(till, fields, order, table, {"a": "1", "b": "y"})
later = Till()
for text in ("z", "5"):
    try:
        later.total = int(text)
    except ValueError:
        pass
sold = till.total
own = till._total
size = fields.size
price = order.price
cell = table["b"]
other = table["a"]
set_since = later.total
"""


def test_what_a_property_a_descriptor_or_a_method_would_have_set_leads_to_the_line_that_raised() -> None:
    recorded = record(COMPUTED, python(3, 12)).processes[0]

    def said(name: str) -> list[str]:
        lines = why(recorded, WhyQuestion(expression=name, limit=30)).because
        return [f"{line.line}: {note}" for line in lines for note in line.notes if "caught" in note or "so " in note]

    assert said("sold") == ["50: so .total is not set", "51: caught its exception"]
    assert said("own") == ["50: so .total is not set", "51: caught its exception"]
    assert said("size") == ["54: so .size is not set", "55: caught its exception"]
    assert said("price") == ["58: so .price is not set", "59: caught its exception"]
    assert said("cell") == ["62: so ['b'] is not set", "63: caught its exception"]
    assert said("other") == [], "it was set"
    assert said("set_since") == [], "it was set by a later round"


SWALLOWED = """class Desk:
    def __init__(self):
        self.seen = []

    def tell(self, event):
        self.seen.append(event["name"])


def announce(event, listeners):
    for listener in listeners:
        try:
            listener(event)
        except KeyError:
            continue


def attempts(count):
    for number in range(count):
        try:
            int("x")
        except ValueError:
            pass


desk = Desk()
attempts(3)
announce({"title": "late"}, [desk.tell])
{STATEMENT}
"""


def test_a_failure_whose_lines_have_no_exception_says_which_ones_were_caught_before_it() -> None:
    def caught(statement: str) -> str:
        source = SWALLOWED.replace("{STATEMENT}", statement)
        return why(record(source, python(3, 12)).processes[0], WhyQuestion()).caught

    said = "before it failed, 4 exceptions were raised and caught, in no line of this answer: KeyError('name') at prog"
    assert caught("count = 3\nassert count == 1").startswith(said)
    shown = "try:\n    size = int('z')\nexcept ValueError:\n    size = 0\nassert size"
    assert caught(shown) == "", "the answer has the line that raised"
    assert caught("int('y')").startswith("before it failed, 4"), "what failed itself is not among them"
