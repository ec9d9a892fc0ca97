"""What a round of a generator expression reads is the item that it has taken, not the one before; so with what a line
has itself given a value before it reads it."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.source.read_paths import PathRead
from trio_debugmcp.runs.source.source_reader import read_source
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

ITEMS = """\
class Item:
    def __init__(self, price):
        self.price = price


items = [Item(3), Item(4), Item(5), Item(6)]
items[1].price = 40
items[2].price = -50
items[3].price = 60
"""

DEEP = """\
class Box:
    def __init__(self, name):
        self.name = name
        self.weights = []


boxes = [Box("a"), Box("b"), Box("c")]
for box in boxes:
    for weight in (1, 2, 3):
        if box.name == "b" and weight == 2:
            weight = -weight
        box.weights.append([weight])
assert all(weight[0] > 0 for box in boxes for weight in box.weights)
"""

MANY = """\
class Item:
    def __init__(self, price):
        self.price = price


def filled():
    items = []
    for number in range(3000):
        items.append(Item(number % 7))
    return items


items = filled()
items[2900].price = -1
assert all(item.price >= 0 for item in items)
"""


def asked(program: str) -> WhyAnswer:
    return why(record(program, python(3, 13)).processes[0], WhyQuestion())


def lines_of(program: str) -> list[str]:
    return [str(line) for line in asked(program).because]


@pytest.mark.parametrize(
    "line",
    [
        "assert all(item.price >= 0 for item in items)",
        "assert not any(item.price < 0 for item in items)",
        "assert all(item.price >= 0 for _, item in enumerate(items))",
        "found = next(item for item in items if item.price < 0)\nassert found is None",
    ],
)
def test_a_generator_expression_leads_to_the_item_that_decided(line: str) -> None:
    lines = lines_of(ITEMS + line)
    assert [shown for shown in lines if "items[2].price = -50" in shown], lines
    assert not [shown for shown in lines if "= 40" in shown or "= 60" in shown], lines


def test_an_item_of_an_inner_loop_leads_to_the_round_that_put_it_there() -> None:
    lines = lines_of(DEEP)
    assert [shown for shown in lines if "weight = -weight" in shown], lines
    appended = [shown for shown in lines if ".append(" in shown]
    assert [shown.rpartition(" | ")[2] for shown in appended] == ["[1]=[-2]"], lines
    assert not [shown for shown in lines if "weight=3" in shown], lines


def test_one_item_of_thousands_is_named_and_no_other_call_of_the_line_is_gone_through() -> None:
    process = record(MANY, python(3, 13)).processes[0]
    lines = [str(line) for line in why(process, WhyQuestion()).because]
    assert [shown for shown in lines if "items[2900].price = -1" in shown], lines
    past = PastProcess(process)
    line = next(row for row in range(process.last, 0, -1) if past.executions.has_more_calls(row))
    assert len(past.executions.calls(line)) == 2_000
    assert past.executions.calls(line) == sorted(past.executions.calls(line))


def test_a_condition_shows_what_it_has_bound_itself() -> None:
    lines = lines_of(ITEMS + "while (item := items.pop(0)) and item.price > 0:\n    pass\nassert item.price > 0")
    (condition,) = [line for line in lines if ":10 " in line]
    assert condition.endswith("item.price=-50")


def test_a_line_of_several_statements_reads_what_the_first_of_them_has_set() -> None:
    program = """\
class Part:
    def __init__(self, size): self.size = size
parts = [Part(3), Part(4), Part(-2)]
for n in range(3):
    part = parts[n]; size = part.size; double = size * 2
    assert double > 0
"""
    (made,) = [line for line in lines_of(program) if "__init__" in line]
    assert made.endswith(".size=-2")


def reads(source: str) -> list[PathRead]:
    source_of_module = read_source(source)
    assert source_of_module is not None
    statement = source_of_module.module.statement(1)
    assert statement is not None
    return statement.reads


def test_of_statements_on_one_line_a_later_one_reads_what_an_earlier_one_has_left() -> None:
    assert [(str(read.path), read.is_rebound) for read in reads("x = a; y = x.b; z = a")] == [
        ("a", False),
        ("x.b", True),
        ("a", False),
    ]


def test_what_a_line_gives_two_values_is_not_known_between_them() -> None:
    assert [str(read.path) for read in reads("x = a; y = x; x = b")] == ["a", "b"]


@pytest.mark.parametrize(
    ("source", "rebound"),
    [
        ("if (m := f(t)) and m.group: pass", ["m.group"]),
        ("with f(n) as a, g(a) as b: pass", ["a"]),
        ("x += 1; y = x", ["x"]),
        ("p.n = 1; q = p.n", ["p.n"]),
    ],
)
def test_a_name_that_the_same_line_has_bound_is_read_after_that(source: str, rebound: list[str]) -> None:
    assert [str(read.path) for read in reads(source) if read.is_rebound] == rebound


SHELVES = """\
shelves = []
shelves.append([1])
shelves.append([5])
shelves[0].append(2)
shelves[1].append(7)
found = next(number for number, row in enumerate(shelves) if 7 in row)
assert found == 0
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_what_has_come_into_the_item_that_a_search_ended_with_is_named(version: tuple[int, int]) -> None:
    because = why(record(SHELVES, python(*version)).processes[0], WhyQuestion()).because
    assert {3, 5} <= {line.line for line in because}
    assert "GeneratorExit" not in str(because), "it was closed, and that is no outcome of a line"


ORDERS = """\
def fits(sizes, box):
    rest = iter(sizes)
    if any(size > box for size in rest):
        return False
    return sum(rest) <= 3 * box


left = []
for number, sizes in ((1, (2, 5)), (2, (9,)), (3, (5, 5, 4, 5))):
    if not fits(sizes, 5):
        left.append(number)
assert left == [2, 3]
"""


def test_of_what_is_missing_it_is_not_said_that_a_round_is_another_one() -> None:
    because = why(record(ORDERS, python(3, 13)).processes[0], WhyQuestion()).because
    notes = [note for line in because for note in line.notes if "another round than the one asked about" in note]
    assert all(note.startswith("perhaps") for note in notes), notes


PARCELS = """\
class Parcel:
    def __init__(self, zone, weight):
        self.zone = zone
        self.weight = weight


PRICES = {
    ("near", 1): 3,
    ("far", 1): 7,
    ("far", 2): 11,
}


def price(parcel):
    key = parcel.zone, parcel.weight
    return PRICES[key]


def sum_of(parcels):
    total = 0
    for parcel in parcels:
        total += price(parcel)
        if parcel.zone == "far":
            break
    return total


parcels = [Parcel("near", 1), Parcel("far", 1), Parcel("far", 2)]
assert sum_of(parcels) == 14
"""


def test_of_the_objects_of_a_loop_only_the_one_of_its_round_is_shown() -> None:
    because = why(record(PARCELS, python(3, 13)).processes[0], WhyQuestion()).because
    assert [line.values for line in because if line.line in (3, 4)] == [[".zone='far'"], [".weight=1"]]


def test_of_a_table_whose_keys_are_tuples_the_entry_is_shown() -> None:
    because = why(record(PARCELS, python(3, 13)).processes[0], WhyQuestion()).because
    assert [line.source for line in because if 7 <= line.line <= 11] == ['("far", 1): 7,']
