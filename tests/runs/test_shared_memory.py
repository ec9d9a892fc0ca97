"""Views of the memory of arrays, classes derived from them, and arrays that are resized in place.

The programs have a numpy of their own, whose types look like numpy's: made in C, as far as a program can see.
"""

import subprocess
from functools import cache

import pytest

from tests.runs.recorded_programs import fresh_folder, python, record, run_recorded
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

NUMPY = """\
import array
import ctypes
import sys
import tempfile

FLAGS, IMMUTABLE = 168, 1 << 8
folder = tempfile.mkdtemp()
with open(folder + "/not_recorded.py", "w") as file:
    file.write("import sys, weakref\\ndef resize(self, n):\\n"
        "    print(weakref.getweakrefcount(self), sys.getrefcount(self))\\n"
        "    self.extend([0.5] * (n - len(self)))\\n")
sys.path.append(folder)
import not_recorded


def of_c(name, **more):
    cls = type(name, (array.array,), {"__slots__": (), "__module__": "numpy", **more})
    ctypes.c_ulong.from_address(id(cls) + FLAGS).value |= IMMUTABLE
    return cls


ndarray = of_c("ndarray", __slots__=("base",), resize=not_recorded.resize)


def made(cls, items):
    made = cls("d", items)
    made.base = None
    return made


"""

VIEWS = (
    NUMPY
    + """\
class Grid(ndarray):
    pass


class Shifted(ndarray):
    def __getitem__(self, place):
        return 1.5


data = bytearray(b"abcdefgh")
seen = memoryview(data)
part = seen[2:]
data[3] = 90
seen[3] = 5
seen[3] = 90
third = data[3]
data[4] = 91
part[2] = 6
part[2] = 91
fourth = data[4]
data[5] = 92
fifth = data[5]
grid = made(Grid, [0.0, 0.0])
grid[1] = 8.0
one = grid[1]
shifted = made(Shifted, [0.0, 0.0])
shifted[1] = 8.0
other = shifted[1]
print(third, fourth, fifth, one, other)
"""
)

RESIZED = (
    NUMPY
    + """\
class Box:
    def __init__(self):
        self.data = made(ndarray, [1.0])

    def grow(self):
        self.data.resize(4)
        return self.data[3]


def local():
    own = made(ndarray, [1.0, 2.0])
    length = len(own)
    own.resize(length + 1)
    return own


box = Box()
last = box.grow()
rows = [made(ndarray, [1.0]), made(ndarray, [2.0])]
rows[0].resize(3)
held = {"a": made(ndarray, [3.0])}
held["a"].resize(2)
top = made(ndarray, [4.0])
top.resize(5)
top[4] = 9.0
got = local()
print(last, rows, held, top, got)
"""
)

VERSIONS = pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])


@cache
def recorded(source: str, version: tuple[int, int]) -> ProcessRecord:
    return record(source, python(*version)).processes[0]


def answer_to(source: str, expression: str, version: tuple[int, int]) -> tuple[WhyAnswer, list[str]]:
    answer = why(recorded(source, version), WhyQuestion(expression=expression, limit=30))
    return answer, [str(line) for line in answer.because]


@VERSIONS
@pytest.mark.parametrize(
    ("expression", "line"),
    [
        ("third", "seen[3] = 90 | <bytearray>[3]=90 seen[3]=90"),
        ("fourth", "part[2] = 91 |"),
        ("fifth", "data[5] = 92 |"),
    ],
)
def test_what_a_view_writes_back_is_the_writer_in_the_bytes_it_shows(
    expression: str, line: str, version: tuple[int, int]
) -> None:
    answer, lines = answer_to(VIEWS, expression, version)
    assert [text for text in lines if line in text], lines
    assert not answer.gaps


@VERSIONS
def test_a_class_derived_from_an_array_has_its_numbers_as_long_as_it_gives_what_lies_in_memory(
    version: tuple[int, int],
) -> None:
    answer, lines = answer_to(VIEWS, "one", version)
    assert [text for text in lines if "grid[1] = 8.0 | [1]=8.0" in text], lines
    assert not answer.gaps
    answer, lines = answer_to(VIEWS, "other", version)
    assert ["what is in shifted (Shifted) is not recorded" in gap for gap in answer.gaps] == [True], answer.gaps


@VERSIONS
def test_an_array_is_resized_in_place_as_without_a_recorder(version: tuple[int, int]) -> None:
    folder = fresh_folder()
    (folder / "plain.py").write_text(RESIZED, encoding="utf-8")
    plain = subprocess.run([python(*version), str(folder / "plain.py")], capture_output=True, text=True, check=True)
    program = run_recorded(RESIZED, python(*version))
    assert program.output == plain.stdout
    assert plain.stdout.startswith("0 ")


@VERSIONS
@pytest.mark.parametrize(
    ("expression", "line"),
    [
        ("box.data[3]", "self.data.resize(4) | [1]=0.5"),
        ("rows[0][2]", "rows[0].resize(3) | [1]=0.5"),
        ("held['a'][1]", 'held["a"].resize(2) | [1]=0.5'),
        ("top[4]", "top[4] = 9.0 | [4]=9.0"),
        ("got[2]", "own.resize(length + 1) | [2]=0.5"),
    ],
)
def test_what_a_resized_array_has_got_was_written_by_that_line(
    expression: str, line: str, version: tuple[int, int]
) -> None:
    _, lines = answer_to(RESIZED, expression, version)
    assert [text for text in lines if line in text], lines
