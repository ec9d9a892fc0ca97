"""Items that a loop stores twice: the later round is said to write over what the earlier one has stored."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

GROUPED = """\
from itertools import groupby


def totals(sales):
    found = {}
    for name, group in groupby(sales, key=lambda sale: sale[0]):
        found[name] = sum(count for _, count in group)
    return found


result = totals([("ada", 3), ("bob", 4), ("ada", 5)])
assert result["ada"] == 8
"""

ADDED = """\
def totals(sales):
    found = {}
    for name, count in sales:
        found[name] = found.get(name, 0) + count
    return found


result = totals([("ada", 3), ("bob", 4), ("ada", 5)])
assert result["ada"] == 9
"""

OF_ANOTHER_CALL = """\
def keep(found, sales):
    for name, count in sales:
        found[name] = count
    return found


found = keep({}, [("ada", 3)])
result = keep(found, [("ada", 5)])
assert result["ada"] == 9
"""


def said(source: str) -> str:
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion())
    return "\n".join(map(str, answer.because))


def test_a_round_that_writes_over_what_an_earlier_one_stored_says_so() -> None:
    assert "['ada']=5; writes over ['ada']=3 of an earlier round (#" in said(GROUPED)


@pytest.mark.parametrize("source", [ADDED, OF_ANOTHER_CALL], ids=["it adds to it", "of another call"])
def test_one_that_has_read_it_or_is_of_another_call_does_not(source: str) -> None:
    text = said(source)
    assert "['ada']=" in text
    assert "earlier round" not in text
