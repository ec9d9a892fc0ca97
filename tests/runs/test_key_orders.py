"""What has only put the items of a container into another order: the line that did it is named, and says so."""

import subprocess

import pytest

from tests.runs.recorded_programs import python, run_recorded
from trio_debugmcp.runs.histories.histories import HistoryPage
from trio_debugmcp.runs.histories.variable_histories import variable_history
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

RECENT = """\
from collections import OrderedDict

class Recent(OrderedDict):
    pass

def pin(names, name):
    names.move_to_end(name)

names = MADE
for name in NAMES:
    names[name] = True
pin(names, NAMES[0])
pin(names, NAMES[0])
oldest = next(iter(names))
assert oldest == NAMES[0]
"""

STOCK = """\
import random

class Item:
    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        return self.number % 7 < other.number % 7

def by_number(item):
    return -item.number

def order(items):
    WORK

items = [Item(number) for number in range(99)]
random.seed(4)
order(items)
first = items[0]
assert first.number == 0
"""


def asked(source: str, minor: int) -> WhyAnswer:
    return why(run_recorded(source, python(3, minor)).run.processes[0], WhyQuestion())


@pytest.mark.parametrize("minor", [12, 13])
@pytest.mark.parametrize("made", ["OrderedDict()", "Recent()"])
@pytest.mark.parametrize("names", ['["a", "b"]', "[3, 1, 2]", "[(1, 2), (1, 3)]"])
def test_the_line_that_has_moved_a_key_says_so(made: str, names: str, minor: int) -> None:
    """The second time it has moved nothing, and is not the one."""
    answer = asked(RECENT.replace("MADE", made).replace("NAMES", names), minor)
    moved = [line for line in answer.because if "names.move_to_end(name)" in line.source]
    assert [line.values[0] for line in moved] == ["names in another order"]
    assert moved[0].values[1].startswith("name=")
    assert any("pin(names" in line.source and line.line == 12 for line in answer.because)
    assert not answer.gaps


def test_a_key_that_is_moved_keeps_who_has_written_its_value() -> None:
    source = RECENT.replace("MADE", "OrderedDict()").replace("NAMES", '["a", "b"]')
    answer = why(run_recorded(source, python(3, 13)).run.processes[0], WhyQuestion(expression="names['a']"))
    assert any("names[name] = True" in line.source and "['a']=True" in line.values for line in answer.because)


def test_the_history_of_a_container_has_what_has_moved_its_keys() -> None:
    source = RECENT.replace("MADE", "OrderedDict()").replace("NAMES", '["a", "b"]')
    past = PastProcess(run_recorded(source, python(3, 13)).run.processes[0])
    values = [line.values for line in variable_history(past, "names", HistoryPage(count=20)).entries]
    assert ["names: in another order"] in values


def test_the_order_of_keys_with_code_of_the_program_is_not_looked_at() -> None:
    source = "from collections import OrderedDict\n\nclass Key:\n    def __hash__(self):\n        print('hash')\n"
    source += "        return 1\n\none, two = Key(), Key()\nnames = OrderedDict([(one, 1), (two, 2)])\n"
    source += "names.move_to_end(one)\nprint(len(names))\n"
    plain = subprocess.run([python(3, 13), "-c", source], capture_output=True, text=True, timeout=60, check=True)
    assert run_recorded(source, python(3, 13)).output == plain.stdout


@pytest.mark.parametrize("minor", [12, 13])
@pytest.mark.parametrize(
    "work", ["items.reverse()", "random.shuffle(items)", "items.sort()", "items.sort(key=by_number)",
             "items.sort(key=lambda item: -item.number)"]
)  # fmt: skip
def test_the_line_that_has_put_many_objects_into_another_order_has_written_the_first(work: str, minor: int) -> None:
    source = STOCK.replace("WORK", work).replace("% 7", "% 7 * -1") if work == "items.sort()" else STOCK
    answer = asked(source.replace("WORK", work), minor)
    ordered = [line for line in answer.because if line.source == work]
    assert [line.values[0][:4] for line in ordered] == ["[0]="], [str(line) for line in answer.because]
    assert not answer.gaps


def test_an_item_of_a_comprehension_has_what_put_its_source_there() -> None:
    source = """\
def best(rows):
    rows.sort(key=lambda row: -row["sum"])
    return rows[0]

def shown(rows):
    return [f"{number}. {row['name']}" for number, row in enumerate(rows, 1)]

rows = [{"name": f"n{number}", "sum": number * 7 % 9} for number in range(7)]
best(rows)
first = shown(rows)[0]
assert first == "1. n0"
"""
    assert any(line.source.startswith("rows.sort(") for line in asked(source, 13).because)


def test_what_sorts_by_the_result_of_a_call_is_not_said_to_have_made_what_that_call_has() -> None:
    source = STOCK.replace("WORK", "items.sort(key=kept(items))").replace(
        "def order", "def kept(items):\n    getattr(items, 'reverse')()\n    return lambda item: 0\n\ndef order"
    )
    lines = [line for line in asked(source, 13).because if "items.sort(" in line.source]
    assert not any(value.startswith("[0]=") for line in lines for value in line.values)
