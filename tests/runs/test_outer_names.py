"""Variables that several functions have in common: what decided that another function has not set one."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

COUNTED = """\
def counter(limit):
    over = 0

    def put(value):
        nonlocal over
        if value > limit:
            over += 1

    def count():
        return over

    return put, count


put, count = counter(10)
other, _ = counter(1)
other(5)
for value in (3, 10):
    put(value)
assert count() == 1
"""

OF_THE_MODULE = """\
level = 0


def raised(step):
    global level
    if step > 2:
        level = step


def shown():
    return f"level {level}"


raised(1)
raised(2)
assert shown() == "level 2"
"""

SET_AT_THE_TOP = """\
import sys

LIMIT = 5
if len(sys.argv) > 4:
    LIMIT = int(sys.argv[4])


def within(size):
    return size < LIMIT


assert within(7)
"""

SET_MEANWHILE = """\
level = 0


def raised(step):
    global level
    if step > 2:
        level = step


def shown():
    return f"level {level}"


raised(3)
raised(1)
assert shown() == "level 1"
"""


def said(source: str) -> str:
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion())
    return "\n".join(map(str, answer.because))


def test_what_decided_against_an_inner_function_s_assignment_is_named() -> None:
    assert "if value > limit: | false value=10 limit=10; so over is not set at line 7 (2 times in the last 3" in said(
        COUNTED
    )


def test_what_decided_against_a_function_s_assignment_to_a_global_is_named() -> None:
    assert "if step > 2: | false step=2; so level is not set at line 7 (2 times in the last 2 calls)" in said(
        OF_THE_MODULE
    )


def test_what_decided_against_another_value_of_a_constant_is_named() -> None:
    assert "so LIMIT is not set at line 5" in said(SET_AT_THE_TOP)


def test_a_variable_that_the_function_has_set_since_is_not_said_to_be_unset() -> None:
    assert "is not set" not in said(SET_MEANWHILE)
