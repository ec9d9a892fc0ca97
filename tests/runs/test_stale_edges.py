"""Answers that were kept and are out of date: the first answer names what has changed since they were computed."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

KEPT = """\
from functools import lru_cache

RATES = {"de": 19, "fr": 20}
_known = {}

class Order:
    _rate = None

    def __init__(self, land):
        self.land = land

    def rate(self):
        if self._rate is None:
            self._rate = RATES[self.land]
        return self._rate

@lru_cache
def cached(land):
    return RATES[land]

def absent(land):
    if land not in _known:
        _known[land] = RATES[land] * 2
    return _known[land]

def got(land):
    found = _known.get((land, "got"))
    if not found:
        found = _known[land, "got"] = RATES[land]
    return found

def tried(land):
    try:
        return _known[land, "tried"]
    except KeyError:
        _known[land, "tried"] = RATES[land]
        return _known[land, "tried"]

def left(land):
    if (land, "left") in _known:
        return _known[land, "left"]
    _known[land, "left"] = RATES[land]
    return _known[land, "left"]

def doubled(land):
    two = 2 * cached(land)
    return two

def number(text):
    try:
        return int(text)
    except KeyError:
        return 7
    except ValueError:
        return 0

order = Order("de")
cached("de"), absent("de"), got("de"), tried("de"), left("de"), order.rate()
RATES["fr"] = 21
RATES["de"] = 16
a = cached("de")
b = absent("de")
c = got("de")
d = tried("de")
e = left("de")
f = order.rate()
h = doubled("de")
g = number("12") + number("1O")
"""


@cache
def kept() -> ProcessRecord:
    return record(KEPT, python(3, 13)).processes[0]


def answer(expression: str) -> WhyAnswer:
    return why(kept(), WhyQuestion(expression=expression))


@pytest.mark.parametrize("name", ["a", "b", "c", "d", "e", "f", "h"])
def test_an_answer_from_a_cache_names_what_has_changed_since_it_was_computed(name: str) -> None:
    lines = {line.source: line for line in answer(name).because}
    assert any("changed since #" in note for note in lines['RATES["de"] = 16'].notes), answer(name)
    assert 'RATES["fr"] = 21' not in lines, "of the items that it has read"


def test_a_swallowed_exception_is_in_the_answer_where_it_was_raised_and_where_it_was_caught() -> None:
    lines = [(line.source, " ".join(line.values)) for line in answer("g").because]
    raising, caught = (next(text for source, text in lines if source == wanted and "ValueError" in text)
                       for wanted in ("return int(text)", "except ValueError:"))  # fmt: skip
    assert raising.startswith("raises ValueError(")
    assert raising.endswith("text='1O'")
    assert caught.startswith("catches ValueError(")
    assert ("return int(text)", "-> 12") in lines, "beside the call that did not raise"


METHODS = """\
from functools import lru_cache

class Prices:
    def __init__(self, rate):
        self.rate = rate

    @lru_cache(maxsize=None)
    def price(self, count):
        return count * self.rate

@lru_cache(maxsize=None)
def tax(count):
    return count + 5

class Free:
    def tax(self, count):
        return 7

cheap, dear, free = Prices(9), Prices(9), Free()
first = dear.price(2)
cheap.price(2)
dear.rate, cheap.rate = 10, 2
asked = dear.price(2)
tax(2)
none = free.tax(2)
"""


@cache
def of_methods() -> ProcessRecord:
    return record(METHODS, python(3, 13)).processes[0]


def test_a_method_that_keeps_its_results_is_that_of_the_same_object() -> None:
    computed, asked = (
        [line for line in why(of_methods(), WhyQuestion(expression=name, limit=20)).because if line.line == 9]
        for name in ("first", "asked")
    )
    assert "price is cached and did not run" in asked[0].notes[0]
    assert [line.at for line in computed] == [line.at for line in asked], "the other object's came later"


def test_a_method_with_the_name_of_a_cached_function_has_no_kept_result() -> None:
    found = why(of_methods(), WhyQuestion(expression="none", limit=20))
    assert not [line for line in found.because if any("is cached" in note for note in line.notes)]


MACHINE = """\
class Tariff:
    rate, seen = 2, 0

class Machine:
    def __init__(self):
        self.stack, self.seen = [], []
        self.steps, self.tariff, self.kept = 0, Tariff(), None

    def pop(self):
        return self.stack.pop()

    def add(self):
        self.stack.append(self.pop() + self.pop())

    def note(self):
        self.steps += 1
        self.seen.append("add")

    def double(self):
        return self.tariff.rate * 2

    def price(self):
        if self.kept is None:
            self.kept = self.double()
        return self.kept

machine = Machine()
machine.stack += [2, 3]
machine.add()
machine.price()
machine.note()
machine.tariff.seen = 1
machine.tariff.rate = 5
total = machine.stack[-1]
price = machine.price()
"""


@cache
def of_machine() -> ProcessRecord:
    return record(MACHINE, python(3, 13)).processes[0]


@pytest.mark.parametrize(("name", "changes"), [("total", []), ("price", ["machine.tariff.rate = 5"])])
def test_of_an_object_only_the_attributes_that_were_read_can_be_out_of_date(name: str, changes: list[str]) -> None:
    found = why(of_machine(), WhyQuestion(expression=name, limit=30)).because
    assert [line.source for line in found if any("changed since #" in note for note in line.notes)] == changes
