"""Arrays in recorded runs: what is in them, what has changed them, and that what is not known of one is said.

The programs have a numpy of their own, whose types look like numpy's: made in C, as far as a program can see.
"""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import array
import ctypes

FLAGS, IMMUTABLE = 168, 1 << 8


def of_c(name, **more):
    cls = type(name, (array.array,), {"__slots__": (), "__module__": "numpy", **more})
    ctypes.c_ulong.from_address(id(cls) + FLAGS).value |= IMMUTABLE
    return cls


ndarray = of_c("ndarray", __slots__=("base",))
int64, datetime64 = of_c("int64"), of_c("datetime64")


def made(letter, items):
    made = ndarray(letter, items)
    made.base = None
    return made


def spoil(numbers):
    numbers[1] = 7.5


def weights():
    small = made("d", [1.0, 2.0, 4.0])
    spoil(small)
    total = sum(small)
    return total


def untouched():
    nan = made("d", [float("nan"), 1.0])
    len(nan)
    nan[1] = 2.0
    return nan


def large():
    big = made("d", [0.0] * 5000)
    spoil(big)
    highest = max(big)
    return highest


def packet():
    data = bytearray(b"abc")
    data[0] = 7
    data.append(9)
    del data[1]
    kept = data
    first = kept[0]
    return first


def shared():
    base = made("d", [0.0, 0.0, 0.0])
    shown = made("d", [0.0, 0.0])
    shown.base = base
    shown[0] = 5.0
    base[1] = 7.0
    base[1] = 0.0
    seen = shown[0]
    return seen


def texts():
    flags = made("b", [1, 0])
    many = made("i", range(30))
    count = int64("q", [41])
    day = datetime64("q", [41])
    letters = ndarray("u", "ab")
    return many


def steps():
    both = made("d", [0.0, 0.0])
    for _ in range(3):
        both[0], both[1] = both[0] - 1, both[1] + 2
    second = both[1]
    return second


seen = shared()
total = weights()
second = steps()
nothing = untouched()
highest = large()
first = packet()
texts()
"""


@cache
def recorded(version: tuple[int, int] = (3, 13)) -> ProcessRecord:
    return record(PROGRAM, python(*version)).processes[0]


def answer(expression: str) -> WhyAnswer:
    return why(recorded(), WhyQuestion(expression=expression, limit=30))


def said(found: WhyAnswer, source: str) -> str:
    """Return what an answer says beside the line with this source."""
    number = next(place for place, line in enumerate(PROGRAM.splitlines(), 1) if line.strip() == source)
    return "; ".join(" ".join([*line.values, *line.notes]) for line in found.because if line.line == number)


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_an_array_has_its_numbers_or_its_shape_and_a_number_of_numpy_its_type(version: tuple[int, int]) -> None:
    record = recorded(version)
    written = [record.row(number) for number in range(record.first, record.last + 1)]
    texts = {record.label(row.key): record.text(row) for row in written if row.kind == rows.WRITE}
    expected = {
        "small": "ndarray([1.0, 2.0, 4.0], dtype=float64)",
        "flags": "ndarray([1, 0], dtype=int8)",
        "many": "ndarray(shape=(30,), dtype=int32)",
        "count": "np.int64(41)",
        "day": "<datetime64>",
        "letters": "ndarray(shape=(2,))",
        "big": "ndarray(shape=(5000,), dtype=float64)",
    }
    assert {name: texts.get(name) for name in expected} == expected


def test_a_number_that_a_function_has_written_into_an_array_is_its_lines() -> None:
    found = answer("total")
    assert said(found, "numbers[1] = 7.5") == "[1]=7.5"
    assert not found.gaps


def test_a_nan_that_stays_has_not_changed() -> None:
    found = answer("nothing")
    assert said(found, "nan[1] = 2.0") == "[1]=2.0"
    assert not said(found, "len(nan)")


def test_of_a_large_array_it_is_said_that_its_numbers_are_not_recorded() -> None:
    found = answer("highest")
    assert "changed it; its content is not recorded" in said(found, "numbers[1] = 7.5")
    assert [gap.partition(":")[0] for gap in found.gaps] == ["what is in big (ndarray) is not recorded"]


def test_bytes_that_are_set_added_and_taken_out_are_those_of_their_lines() -> None:
    found = answer("first")
    assert said(found, "data[0] = 7") == "[0]=7"
    assert not found.gaps


def test_a_line_that_adds_to_several_items_says_the_sums_of_none() -> None:
    notes = [note for line in answer("second").because for note in line.notes]
    assert not any("writes" in note for note in notes)


def test_an_array_that_is_as_it_was_may_have_been_written_through_another_one_of_its_memory() -> None:
    found = answer("seen")
    assert [gap.partition(", ")[2] for gap in found.gaps] == [
        "through another view of its memory, or by something that was not recorded"
    ]
    assert "shown was found changed" in found.gaps[0]
