"""An attribute that a descriptor gives is what the descriptor has, neither deleted nor what it hides."""

import pytest

from tests.runs.recorded_programs import lines_of, python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = '''\
FIELDS = """
class Column:
    def __init__(self, name):
        self.name = name
    def __get__(self, row, cls):
        if row is None:
            return self
        return row.__dict__.setdefault(self.name, 7)
    def __set__(self, row, value):
        row.__dict__[self.name] = value
def expire(row):
    row.__dict__.clear()
"""
exec(compile(FIELDS, "/usr/lib/python3/columns.py", "exec"))
Column.__module__ = "sqlalchemy.orm.attributes"


class Row:
    stock = Column("stock")


class Kept:
    def __get__(self, row, cls):
        return row.__dict__["price"] / 100

    def __set__(self, row, value):
        row.__dict__["price"] = value


class Item:
    price = Kept()

    @property
    def weight(self):
        return 10


row, item = Row(), Item()
row.stock = 3
row.stock -= 2
left = row.stock
expire(row)
again = row.stock
item.price = 40
item.price += 2
item.__dict__["weight"] = 4
heavy = item.weight
item.__dict__["weight"] = 6
end = item.weight, item.price, row
'''


@pytest.fixture(scope="module")
def process() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


def values_of(process: ProcessRecord, label: str) -> list[str]:
    """Return what the rows of a field say, in order: `FIELD 3`."""
    said = [line.split(" <- ")[0].split() for line in lines_of(process) if f" {label} = " in line]
    return [f"{words[1]} {words[words.index('=') + 1]}" for words in said]


def line_row(process: ProcessRecord, name: str) -> int:
    """Return the row of the line that writes a global."""
    said = next(line for line in lines_of(process) if f" .{name} = " in line)
    return int(said.rpartition("#")[2])


def test_what_a_library_keeps_under_the_name_of_its_descriptor_is_the_value(process: ProcessRecord) -> None:
    assert values_of(process, ".stock")[:2] == ["FIELD 3", "FIELD 1"]


def test_what_it_keeps_no_more_is_not_known_and_not_deleted(process: ProcessRecord) -> None:
    assert "deleted" not in "".join(values_of(process, ".stock"))
    assert values_of(process, ".stock")[2:] == ["FIELD ?"]
    assert ".stock=?" in str(why(process, WhyQuestion(expression="row.stock", at=line_row(process, "again"))).because)


def test_what_another_descriptor_keeps_is_not_taken_for_what_it_gives(process: ProcessRecord) -> None:
    assert values_of(process, ".price") == []


def test_what_a_property_hides_is_not_taken_for_its_value(process: ProcessRecord) -> None:
    assert values_of(process, ".weight") == []
    assert why(process, WhyQuestion(expression="item.weight")).value.startswith("item.weight=10")
