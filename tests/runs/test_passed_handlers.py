"""Handlers that have looked at an exception and have not caught it are shown where that has ended the program."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
def number(text):
    return [4, 5][int(text)]


def first(texts):
    for text in texts:
        try:
            return number(text)
        except ValueError or IndexError:
            continue


def run(texts):
    try:
        found = first(texts)
    except KeyError:
        found = None
    except (OSError, MemoryError):
        found = 0
    return found


run(["x", "7"])
"""


@pytest.mark.parametrize("version", [12, 13])
def test_the_handlers_that_an_exception_has_passed_first_are_named(version: int) -> None:
    answer = why(record(PROGRAM, python(3, version)).processes[0], WhyQuestion())
    said = {line.line: line.values[0] for line in answer.because if line.source.startswith("except")}
    assert said == {
        9: "does not catch IndexError('list index out of range')",
        16: "does not catch IndexError('list index out of range')",
    }


def test_a_handler_that_has_caught_another_exception_is_not_said_to_have_passed_it() -> None:
    source = PROGRAM.replace("ValueError or IndexError", "(ValueError, IndexError)") + "assert run(['0']) == 5\n"
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion())
    assert "does not catch" not in str(answer.because)
