"""Conditions of breakpoints, judged in a frame as the engine does it."""

import sys
from typing import Any

from trio_debugmcp.engine.inside.judged_breakpoints import JudgedBreakpoint


def stops(condition: str, frame: Any) -> tuple[bool, list[str]]:
    """Whether a breakpoint with that condition stops in a frame, and what it has printed."""
    printed: list[str] = []
    return JudgedBreakpoint(1, {"line": 3, "condition": condition}, printed.append).holds(frame), printed


def frame_of(n: int, items: list[int]) -> Any:
    limit = n + 1
    assert limit
    return sys._getframe()


def test_a_comprehension_in_a_condition_sees_the_locals_of_the_frame() -> None:
    frame = frame_of(2, [1, 5])
    assert stops("any(item > limit for item in items)", frame) == (True, [])
    assert stops("[item for item in items if item > limit + n] != []", frame) == (False, [])
    assert stops("(lambda x: x > limit)(n)", frame) == (False, [])


def test_what_a_condition_names_is_there_for_its_rest_and_nowhere_afterwards() -> None:
    frame, module = frame_of(2, [1, 5]), set(globals())
    assert stops("(twice := n * 2) > 3 and any(item > twice for item in items)", frame) == (True, [])
    assert stops("any((last := item) > 4 for item in items) and last == 5", frame) == (True, [])
    assert (set(frame.f_locals), set(globals())) == ({"n", "items", "limit"}, module)


def test_a_condition_that_fails_stops_and_says_why() -> None:
    stopped, printed = stops("any(item > nope for item in items)", frame_of(2, [1, 5]))
    assert stopped
    assert "NameError: name 'nope' is not defined" in printed[0]
