"""Methods of a program that return another object and leave theirs as it is: a call that drops the result is named."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

MOVED = """\
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Robot:
    x: int = 0

    def moved(self, count):
        return replace(self, x=self.x + count)


def run(robot, steps):
    for step in steps:
        if step > 0:
            robot = robot.moved(step)
        else:
            CALL
    return robot


robot = run(Robot(), [3, -1])
assert robot.x == 2
"""

INSERTED = """\
class Node:
    def __init__(self, key):
        self.key = key
        self.left = self.right = None

    def insert(self, key):
        side = "left" if key < self.key else "right"
        child = getattr(self, side)
        if child is None:
            child = Node(key)
            setattr(self, side, child)
            return child
        return child.insert(key)

    def depth(self):
        return 1 + max([child.depth() for child in (self.left, self.right) if child] or [0])


def filled(root):
    root.insert(5)
    root.insert(3)
    root.insert(1)
    return root


assert filled(Node(8)).depth() == 3
"""


def said(source: str) -> str:
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion(limit=30))
    return "\n".join(map(str, answer.because))


def test_a_method_that_returns_another_object_which_is_dropped_is_named() -> None:
    text = said(MOVED.replace("CALL", "robot.moved(step)"))
    assert "robot.moved(step) | moved -> <Robot x=2> robot=<Robot x=3> step=-1; its result is dropped: robot" in text


def test_one_whose_result_is_kept_is_not() -> None:
    assert "dropped" not in said(MOVED.replace("CALL", "other = robot.moved(step)"))


def test_one_that_has_changed_something_deep_in_its_object_is_not_said_to_have_left_it() -> None:
    assert "as it was" not in said(INSERTED)
