"""What `why` says of calls that have left a value as it was, and of attributes whose names are not written."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

STRIPPED = """\
def clean(text):
    text.strip()
    text = text.replace("-", "")
    return text


names = {clean("Ann-Lee "): 1}
assert "AnnLee" in names
"""

NOT_STRIPPED = """\
def clean(text):
    bare = text.strip()
    text = text.replace("-", "")
    return text, bare


names = {clean("Ann-Lee "): 1}
assert "AnnLee" in names
"""

SET_BY_NAME = """\
class Config:
    def __init__(self, port):
        self.port = port

    def override(self, **given):
        for name, value in given.items():
            if hasattr(self, name.upper()):
                setattr(self, name, value)
        return self


config = Config(80).override(port=443)
assert config.port == 443
"""

PAGES = """\
def paged(items, size):
    pages = []
    for start in range(0, len(items) - size, size):
        pages.append(items[start : start + size])
    return pages


pages = paged([1, 2, 3, 4, 5], 2)
assert sum(len(page) for page in pages) == 5
"""

FILLED = """\
def fill(names):
    names.append("eve")


names = ["ann"]
fill(list(names))
assert "eve" in names
"""

COPIED_FILE = """\
import shutil, tempfile


def kept(path):
    shutil.copy(path, path + ".kept")
    return path


with tempfile.TemporaryDirectory() as folder:
    open(folder + "/a", "w").close()
    assert kept(folder + "/a") == "elsewhere"
"""

MOVED_FILE = """\
import os, tempfile


def moved(path):
    os.replace(path, path + ".kept")
    return path


with tempfile.TemporaryDirectory() as folder:
    open(folder + "/a", "w").close()
    assert moved(folder + "/a") == "elsewhere"
"""

OWN_FUNCTION = """\
class Box:
    pass


def replace(box):
    box.size = 5


def filled(box):
    replace(box)
    return box


assert filled(Box()) is None
"""

GRID = """\
grid = [[0] * 2] * 2
grid[0][0] = 1
assert sum(sum(row) for row in grid) == 1
"""

ROWS = """\
grid = [[0] * 2, [0] * 2]
grid[0][0] = 2
assert sum(sum(row) for row in grid) == 1
"""


REPLACED = """\
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Order:
    state: str = "new"


def ship(order):
    replace(order, state="shipped")
    return order


orders = [ship(Order())]
assert all(order.state == "shipped" for order in orders)
"""

PRODUCT = """\
class Matrix:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]


def product(a, b):
    out = [[0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            for k in range(len(b) - 1):
                out[i][j] += a[i][k] * b[k][j]
    return Matrix(out)


c = product([[1, 2], [3, 4]], [[5, 6], [7, 8]])
assert c.rows[1][0] == 43
"""


def lines_of(program: str) -> list[str]:
    return [str(line) for line in why(record(program, python(3, 13)).processes[0], WhyQuestion()).because]


def test_a_method_of_a_text_whose_result_is_dropped_is_named() -> None:
    lines = lines_of(STRIPPED)
    assert [line for line in lines if "text.strip()" in line and "its result is dropped: text is as it was" in line]


def test_a_method_whose_result_is_used_is_not_said_to_be_dropped() -> None:
    assert not [line for line in lines_of(NOT_STRIPPED) if "dropped" in line]


def test_the_condition_that_kept_setattr_from_running_is_named() -> None:
    lines = lines_of(SET_BY_NAME)
    assert [line for line in lines if "hasattr" in line and "so line 8 sets nothing of self" in line], lines


def test_what_is_put_into_a_list_is_not_said_to_be_a_copy_that_was_given() -> None:
    assert not [line for line in lines_of(PAGES) if "a copy of" in line]


def test_a_function_that_was_given_a_copy_is_named() -> None:
    assert [line for line in lines_of(FILLED) if "fill(list(names))" in line and "was given a copy of names" in line]


def test_rows_that_are_one_list_are_said_to_be() -> None:
    (made,) = [line for line in lines_of(GRID) if "[[0] * 2] * 2" in line]
    assert made.endswith("grid[0] and grid[1] are one object")
    assert not [line for line in lines_of(ROWS) if "one object" in line]


def test_a_function_that_makes_another_object_and_whose_result_is_dropped_is_named() -> None:
    lines = lines_of(REPLACED)
    assert [line for line in lines if "replace(order" in line and "order is as it was" in line], lines


def test_an_item_of_a_row_that_was_copied_leads_to_the_line_that_has_set_it_in_the_copied_one() -> None:
    lines = lines_of(PRODUCT)
    assert [line for line in lines if "out[i][j] +=" in line and "[0]=15" in line], lines


@pytest.mark.parametrize("program", [COPIED_FILE, MOVED_FILE, OWN_FUNCTION])
def test_a_call_that_does_something_is_not_said_to_have_no_effect(program: str) -> None:
    assert not [line for line in lines_of(program) if "dropped" in line]


def test_what_a_sort_with_an_order_of_its_own_has_given_is_not_compared_as_if_it_had_none() -> None:
    program = "numbers = [10, 30, 20]\nassert sorted(numbers, reverse=True) == [30, 20, 11]"
    answer = why(record(program, python(3, 13)).processes[0], WhyQuestion())
    assert "[0] is 10" not in answer.value


BARE = """\
class Door:
    def __init__(self):
        self.state = "open"
        self.log = []

    def close(self):
        STATEMENT
        self.log.append("closed")
        return self.state


def shut(door):
    return door.close()


assert shut(Door()) == "shut"
"""


@pytest.mark.parametrize("statement", ['self.state == "shut"', "self.shut"])
def test_a_statement_that_only_compares_or_names_is_named(statement: str) -> None:
    program = BARE.replace("STATEMENT", statement).replace('"open"\n', '"open"\n        self.shut = len\n')
    (line,) = [line for line in lines_of(program) if f"| {statement} | " in line]
    assert line.endswith("its result is dropped")
