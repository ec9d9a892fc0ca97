"""Keys that a `defaultdict` makes when they are read: the line that read one first has made it."""

import pytest

from tests.runs.recorded_programs import lines_of, python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

BEGINNING = """\
from collections import defaultdict

def made():
    return []

users = defaultdict(FACTORY)
users["a"].append("b")

def count(name):
    number = 0
    for user in users[name]:
        number += 1
    return number

def has(name, asks):
    return asks and bool(users[name])

"""


def asked(ending: str, minor: int, factory: str = "list") -> tuple[str, list[str]]:
    """Return which lines lead to `names`, and the gaps."""
    process = record(BEGINNING.replace("FACTORY", factory) + ending, python(3, minor)).processes[0]
    answer = why(process, WhyQuestion(expression="names"))
    return "\n".join(map(str, answer.because)), answer.gaps


@pytest.mark.parametrize("minor", [12, 13])
def test_the_line_that_reads_a_key_has_made_it(minor: int) -> None:
    """Not only the first time that it runs: it was quick until then, as it changes nothing."""
    ending = 'for name in ["a", "a", "a", "c", "a"]:\n    count(name)\nnames = sorted(users)\n'
    lines, gaps = asked(ending, minor)
    assert "for user in users[name]:" in lines
    assert not gaps


@pytest.mark.parametrize("minor", [12, 13])
def test_a_key_that_is_read_in_what_a_line_returns_is_made_by_it(minor: int) -> None:
    lines, gaps = asked('has("a", True)\nhas("c", True)\nnames = sorted(users)\n', minor)
    assert "return asks and bool(users[name])" in lines
    assert not gaps


def test_a_line_that_did_not_come_to_the_read_has_made_nothing() -> None:
    lines, gaps = asked('has("c", False)\nusers.get("c")\ncount("c")\nnames = sorted(users)\n', 13)
    assert "for user in users[name]:" in lines
    assert "return asks and bool(users[name])" not in lines
    assert not gaps


def test_a_key_whose_value_recorded_code_makes_is_of_the_line_that_reads_it() -> None:
    lines, gaps = asked('count("c")\nnames = sorted(users)\n', 13, "made")
    assert "for user in users[name]:" in lines
    assert "return []" in lines
    assert not gaps


def test_a_dict_that_makes_no_keys_is_as_it_was() -> None:
    source = 'ages = {"a": 1}\ntry:\n    ages["c"]\nexcept KeyError:\n    pass\nages["c"] = 2\n'
    rows = [line for line in lines_of(record(source, python(3, 13)).processes[0]) if "['c']" in line]
    assert len(rows) == 1
    assert "FIELD" in rows[0]
