"""What shows the operands of an assertion runs after it has failed, and has not led to that."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import reprlib


class Page:
    def __init__(self, title):
        self.title = title

    def text(self):
        return self.title.upper()

    def shown(self):
        return f"page of {self.title}"

    def __repr__(self):
        return self.shown()


page = Page("plum")
assert TEST, reprlib.repr(page)  # as pytest does, in the same line
"""


def because(test: str) -> str:
    answer = why(record(PROGRAM.replace("TEST", test), python(3, 13)).processes[0], WhyQuestion())
    return "\n".join(map(str, answer.because))


@pytest.mark.parametrize("test", ['page.text() == "PEAR"', "len(page.text()) == 3"])
def test_a_representation_for_the_message_is_left_out(test: str) -> None:
    lines = because(test)
    assert "Page.text | return self.title.upper()" in lines
    assert "__repr__" not in lines
    assert "Page.shown" not in lines


@pytest.mark.parametrize("test", ['repr(page) == "plum"', "f'{page!r}' == 'plum'", "'%r' % page == 'plum'"])
def test_a_representation_that_is_tested_is_followed(test: str) -> None:
    assert "Page.shown | return f" in because(test)
