"""A name without a value: the answer has the branch not taken, the exception, the end of a block, the later line."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import RAISE
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import contextlib, sys

limit = 10


def branches(kind):
    if kind == "gold":
        rate = 0
    return rate


def handled(text):
    try:
        number = int(text)
    except ValueError:
        pass
    return number


def suppressed(text):
    with contextlib.suppress(ValueError):
        number = int(text)
    return number


def after_the_handler(text):
    try:
        int(text)
    except ValueError as error:
        print("bad")
    return str(error)


def in_the_else(text):
    try:
        int(text)
    except ValueError:
        pass
    else:
        found = True
    return found


def no_round(items):
    for item in items:
        last = item
    return last


def later():
    print(limit)
    limit = 11


def deleted():
    number = 1
    del number
    return number


def free(flag):
    def show():
        return word
    if flag:
        word = "a"
    return show()


class Shop:
    RATE = 3

    def price(self):
        return RATE


def too_early():
    return helper()


CASES = [
    lambda: branches("bronze"),
    lambda: handled("q"),
    lambda: suppressed("q"),
    lambda: after_the_handler("q"),
    lambda: in_the_else("q"),
    lambda: no_round([]),
    later,
    deleted,
    lambda: [free(flag) for flag in (True, False)],
    lambda: Shop().price(),
    too_early,
]

failures = []
for case in CASES:
    try:
        case()
    except NameError as error:
        failures.append(error)


def helper():
    return 1
"""


@pytest.fixture(scope="module")
def answers() -> list[WhyAnswer]:
    """Ask why each of the names had no value, at the line that raised."""
    process = record(PROGRAM, python(3, 13)).processes[0]
    first: dict[int, int] = {}
    for number in range(process.first, process.last + 1):
        row = process.row(number)
        if row.kind == RAISE and process.text(row).startswith(("NameError", "UnboundLocalError")):
            first.setdefault(row.object, row.owner)
    return [why(process, WhyQuestion(at=line)) for line in first.values()]


def said(answers: list[WhyAnswer], end: str) -> str:
    """Return the answer about the failed statement with a text, as lines."""
    found = [
        answer for answer in answers if any(line.source == end and "raises" in str(line) for line in answer.because)
    ]
    return "\n".join(map(str, found[0].because))


@pytest.mark.parametrize(
    ("failed", "cause", "note"),
    [
        ("return rate", 'if kind == "gold":', "so rate is not set at line 8"),
        ("return str(error)", "except ValueError as error:", "error has no value after its block"),
        ("return found", "int(text)", "so found is not set at line 40"),
        ("return last", "for item in items:", "so last is not set at line 46"),
        (
            "print(limit)",
            "print(limit)",
            "line 52 sets limit, which makes it a name of later alone, and not that of line 3",
        ),
        ("return word", "if flag:", "so word is not set at line 65"),
        ("return RATE", "RATE = 3", "is RATE of the class Shop alone"),
        ("return helper()", "return helper()", "the module sets helper at line 102, not run yet"),
    ],
)
def test_a_name_without_a_value_is_explained(answers: list[WhyAnswer], failed: str, cause: str, note: str) -> None:
    lines = [line for line in said(answers, failed).splitlines() if cause in line and note in line]
    assert lines, said(answers, failed)


@pytest.mark.parametrize("function", ["handled", "suppressed"])
def test_a_name_that_an_exception_has_left_unset_leads_to_the_line_that_raised(
    answers: list[WhyAnswer], function: str
) -> None:
    found = ["\n".join(map(str, answer.because)) for answer in answers]
    assert any(f"{function} | number = int(text) | raises" in text and "so number is not set" in text for text in found)


def test_a_free_variable_without_a_value_is_not_shown_with_that_of_another_call(answers: list[WhyAnswer]) -> None:
    assert "word='a'" not in said(answers, "return word")
