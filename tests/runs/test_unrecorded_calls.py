"""Values that come out of installed packages: which function made them, and what records it."""

from functools import cache
from pathlib import Path

import pytest

from tests.runs.recorded_programs import fresh_folder, given_of, python, run_recorded
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

FRUITS = """\
def price(name):
    return {"pear": 2, "plum": -1}[name]

class Basket:
    def __init__(self):
        self.names = []

    def put(self, name):
        self.names.append(name)

    def total(self):
        return sum(map(price, self.names))

def run(work):
    return work()
"""

PROGRAM = """\
import sys
sys.path.insert(0, PACKAGES)
import json, fruits
from fruits import Basket

def bill(names):
    basket = Basket()
    for name in names:
        basket.put(name)
    return basket.total()

def own(name):
    return len(name)

mark = fruits.price("plum")
later = fruits.price("pear")
bills = bill(["pear"])
second = Basket()
worth = second.total()
known = {"get": json.loads("3")}
count = own("plum") + known.get("get")
fruits.run(lambda: count)
total = mark + count
"""


@cache
def fruits(*include: str) -> ProcessRecord:
    folder = fresh_folder()
    given_of(folder)
    packages = folder / "lib" / "site-packages"
    packages.mkdir(parents=True)
    Path(packages / "fruits.py").write_text(FRUITS, encoding="utf-8")
    source = PROGRAM.replace("PACKAGES", repr(str(packages)))
    return run_recorded(source, python(3, 13), folder, include=list(include)).run.processes[0]


def asked(expression: str, *include: str) -> WhyAnswer:
    return why(fruits(*include), WhyQuestion(expression=expression))


def test_a_value_that_a_library_made_names_the_function_and_what_records_it() -> None:
    answer = asked("mark")
    row = next(line.at for line in answer.because if line.source.startswith("mark ="))
    assert answer.unrecorded.startswith(f"library code is not recorded: fruits.price (called at {row}). ")
    assert 'record={"include": ["fruits"]}' in answer.unrecorded
    assert asked("mark", "fruits").unrecorded == "", "it was recorded"
    assert any(line.source.startswith('return {"pear"') for line in asked("mark", "fruits").because)


def test_later_calls_of_the_same_function_are_known_by_their_words_and_by_the_class() -> None:
    assert "fruits.price (called at " in asked("later").unrecorded
    assert "fruits.Basket.total (called at " in asked("worth").unrecorded
    assert "fruits.Basket.__init__ (called at " in asked("second").unrecorded


def test_one_note_has_all_of_an_answer() -> None:
    said = asked("bills").unrecorded
    assert said.count("called at") <= 3
    assert said.count('"include"') == 1


def test_calls_of_the_program_of_the_standard_library_and_for_nothing_are_not_noted() -> None:
    assert asked("count").unrecorded == ""
    assert "fruits.run" not in asked("total").unrecorded
