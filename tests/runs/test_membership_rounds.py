"""What a condition looked for in a container: the round that has put that item there is shown, not the last one."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
def find(names):
    seen = set()
    twice = set()
    for name in names:
        key = name.strip().lower()
        if key in seen:
            twice.add(key)
        seen.add(key)
    return seen, twice


seen, twice = find(["Ada", "Bob", "ada ", "Eve", "Dan", "bob", "Zoe"])
is_there = "ada" in twice
is_else = "zed" not in twice
"""


@cache
def ran() -> ProcessRecord:
    return record(PROGRAM, python(3, 12)).processes[0]


def values_of(name: str) -> dict[int, list[str]]:
    return {line.line: line.values for line in why(ran(), WhyQuestion(expression=name)).because}


def test_an_item_that_is_looked_for_by_a_constant_has_the_round_that_has_put_it_there() -> None:
    lines = values_of("is_there")
    assert (lines[7], lines[6][:2], lines[5]) == (["['ada']='ada'"], ["true", "key='ada'"], ["key='ada'"])


def test_an_item_that_is_looked_for_by_a_variable_has_the_round_that_has_put_it_there() -> None:
    lines = values_of("twice")
    assert lines[7] == ["['bob']='bob'"]
    assert lines[8] == ["['bob']='bob'"], "not that of the last round"


def test_where_no_round_has_put_it_there_the_last_one_is_shown() -> None:
    assert values_of("is_else")[7] == ["['bob']='bob'"]
