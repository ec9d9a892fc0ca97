"""Conditions of breakpoints, judged in a frame as the engine does it; simple ones in a quicker way."""

import sys
from typing import Any

import pytest

from trio_debugmcp.engine.inside import quick_conditions
from trio_debugmcp.engine.inside.judged_breakpoints import JudgedBreakpoint

READING = (
    "total > 3",
    "total > 3 and not paid",
    "names[0] == 'Ada' or total < 0",
    "total if paid else names",
    "-total % 2 == 1 and total is not None",
    "'Ada' in names and (total, paid) != (5, True)",
    "total > 3  # a comment",
    "names\n",
    "variables == other",
    "cell[1:2]",
    "[total, paid]",
)

OF_OTHERS = ("total > LIMIT", "late == 7", "len(names) > 1", "[x for x in names]", "(y := total)", "'paid' in locals()")


OF_A_FUNCTION = """
def frame_of_a_function():
    total, paid, names, cell, variables, other = 5, False, ["Ada", "Bob"], [1, 2, 3], 1, 1
    if not total:
        late = total
    return (lambda: (cell, late)) and sys._getframe()
"""
names: dict[str, Any] = {"sys": sys, "LIMIT": 3, "late": 7}
exec(OF_A_FUNCTION, names)


def frame_of_a_function() -> Any:
    return names["frame_of_a_function"]()


def judged(condition: str, frame: Any) -> tuple[bool, list[str]]:
    said: list[str] = []
    breakpoint = JudgedBreakpoint(1, {"line": 1, "condition": condition}, said.append)
    assert not breakpoint.problem
    return breakpoint.holds(frame), said


@pytest.mark.parametrize("condition", READING)
def test_a_condition_that_reads_and_compares_has_the_result_that_it_has_in_the_frame(condition: str) -> None:
    frame = frame_of_a_function()
    quick = quick_conditions.made(condition)
    assert quick is not None
    assert quick(frame.f_locals) == eval(condition, frame.f_globals, frame.f_locals)
    assert judged(condition, frame) == (bool(eval(condition, frame.f_globals, frame.f_locals)), [])


@pytest.mark.parametrize("condition", OF_OTHERS)
def test_a_condition_about_other_names_or_with_a_call_is_judged_in_the_frame(condition: str) -> None:
    frame = frame_of_a_function()
    quick = quick_conditions.made(condition)
    assert quick is None or quick(frame.f_locals) is quick_conditions.NOT_QUICK
    assert judged(condition, frame) == (bool(eval(condition, frame.f_globals, frame.f_locals)), [])


def test_a_condition_that_raises_stops_and_says_what_it_raised() -> None:
    holds, said = judged("names['Ada'] > 1", frame_of_a_function())
    assert holds
    (line,) = said
    assert "conditional breakpoint: names['Ada'] > 1\nTypeError: list indices must be integers" in line


def test_a_condition_of_a_global_is_judged_again_and_again() -> None:
    frame = frame_of_a_function()
    said: list[str] = []
    breakpoint = JudgedBreakpoint(1, {"line": 1, "condition": "total < LIMIT"}, said.append)
    assert [breakpoint.holds(frame) for _ in range(3)] == [False] * 3


def frame_of(n: int, items: list[int]) -> Any:
    limit = n + 1
    assert limit
    return sys._getframe()


def test_a_comprehension_in_a_condition_sees_the_locals_of_the_frame() -> None:
    frame = frame_of(2, [1, 5])
    assert judged("any(item > limit for item in items)", frame) == (True, [])
    assert judged("[item for item in items if item > limit + n] != []", frame) == (False, [])
    assert judged("(lambda x: x > limit)(n)", frame) == (False, [])


def test_what_a_condition_names_is_there_for_its_rest_and_nowhere_afterwards() -> None:
    frame, module = frame_of(2, [1, 5]), set(globals())
    assert judged("(twice := n * 2) > 3 and any(item > twice for item in items)", frame) == (True, [])
    assert judged("any((last := item) > 4 for item in items) and last == 5", frame) == (True, [])
    assert (set(frame.f_locals), set(globals())) == ({"n", "items", "limit"}, module)


def test_a_condition_that_fails_stops_and_says_why() -> None:
    stopped, printed = judged("any(item > nope for item in items)", frame_of(2, [1, 5]))
    assert stopped
    assert "NameError: name 'nope' is not defined" in printed[0]
