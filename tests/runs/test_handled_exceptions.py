"""An exception that is raised while another one is handled leads to why that one was raised."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
class ParseError(Exception):
    def __init__(self, text, line, column):
        super().__init__(text, line, column)


class Table:
    def __init__(self, limit):
        self.limit = limit
        self.rows = []

    def add(self, row):
        if len(self.rows) >= self.limit:
            raise OverflowError(row)
        self.rows.append(row)


def place(text, at):
    line = 1
    column = 0
    for sign in text[:at]:
        column += 1
        if sign == ",":
            line += 1
            column = 0
    return line, column


def parse(text):
    table, at = Table(2), 0
    try:
        for row in text.split(","):
            table.add(row)
            at += len(row) + 1
    except OverflowError as error:
        line, column = place(text, at)
        RAISE
    return table


parse("a,b,c,d")
"""


@pytest.mark.parametrize(
    "statement",
    [
        "raise ParseError(str(error), line, column) from error",
        "raise ParseError('too many', line, column)",
        "raise ParseError('too many', line, column) from None",
    ],
)
def test_what_was_handled_is_nearer_than_what_the_exception_was_made_of(statement: str) -> None:
    source = PROGRAM.replace("RAISE", statement)
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion(limit=9))
    lines = "\n".join(map(str, answer.because))
    assert "if len(self.rows) >= self.limit: | true" in lines
    assert "raise OverflowError(row)" in lines
