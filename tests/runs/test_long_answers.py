"""An answer has 2 KB at most: what tells least is left out, and counted, where lines are long."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.shown_moments import BecauseLine
from trio_debugmcp.runs.slicing.shown.because_lines import BYTES_A_LINE, fitting
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

LONG = "".join(
    f"def step_{number}(value, with_a_long_parameter={'x' * 60!r}):\n"
    f"    changed_in_a_variable_of_a_long_name_{number} = f'{{value}} {'y' * 40}' + with_a_long_parameter\n"
    f"    return changed_in_a_variable_of_a_long_name_{number}\n"
    for number in range(12)
)


def answer(limit: int = 12) -> WhyAnswer:
    calls = "\n".join(f"value = step_{number}(value)" for number in range(12))
    source = f"{LONG}value = 'plum'\n{calls}\nassert value == 'pear'\n"
    return why(record(source, python(3, 13)).processes[0], WhyQuestion(limit=limit))


@pytest.mark.real
def test_long_lines_leave_room_for_fewer() -> None:
    found = answer()
    assert sum(len(str(line).encode()) + 1 for line in found.because) <= 12 * BYTES_A_LINE
    more = answer(limit=24)
    assert len(found.because) < len(more.because)
    assert found.omitted >= len(more.because) - len(found.because), "what is left out is counted"


def lines(*sizes: int) -> list[tuple[float, BecauseLine]]:
    return [(float(size), BecauseLine(f"#{size}", "a.py", size, "f", "x" * size, [], [])) for size in sizes]


def test_what_tells_most_is_kept_in_the_order_that_was_there() -> None:
    given = lines(300, 20, 100, 50)
    assert [line.line for line in fitting(given, 300)] == [20, 100, 50]
    assert [line.line for line in fitting(given, 1)] == [20], "one is there anyway"
    assert [line.line for line in fitting(given, 10_000)] == [300, 20, 100, 50]
    assert fitting([], 10) == []


def test_files_are_as_long_as_they_are_shown() -> None:
    deep = [(0.0, BecauseLine("#1", "/src/shop/a/very/deep/folder/a.py", 1, "f", "x", [], []))] * 2
    size = len("#1 a.py:1 f | x\n")
    assert len(fitting(deep, 2 * size, "/src/shop/a/very/deep/folder")) == 2
    assert len(fitting(deep, 2 * size + 20, "/src/shop")) == 1
    assert len(fitting(deep, 2 * size + 40, "/src/shop/")) == 2
