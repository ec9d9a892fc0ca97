"""What a comprehension gave to a call is followed to the item of the round in which the call was made."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
def read(text):
    return int(text) * 2


def mean(numbers):
    return sum(numbers) / len(numbers)


def least(pair_name, numbers):
    return min(numbers)


groups = {}
for name, text in [("a", "1"), ("b", "20"), ("c", "300")]:
    groups[name] = [read(text)]
rows = []
for name in groups:
    rows.append((name, groups[name]))
means = {key: mean(numbers) for key, numbers in groups.items()}
means_of_values = [mean(numbers) for numbers in groups.values()]
leasts = {key: least(key, numbers) for key, numbers in rows}
print(means, means_of_values, leasts)
"""


@cache
def recorded() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


@pytest.mark.parametrize(
    ("expression", "item"),
    [
        ('means["a"]', "['a']=[2]"),
        ('means["b"]', "['b']=[40]"),
        ('means["c"]', "['c']=[600]"),
        ("means_of_values[0]", "['a']=[2]"),
        ("means_of_values[1]", "['b']=[40]"),
        ('leasts["a"]', "['a']=[2]"),
        ('leasts["b"]', "['b']=[40]"),
    ],
)
def test_an_item_of_a_comprehension_is_followed_to_what_was_put_into_its_source_for_it(
    expression: str, item: str
) -> None:
    because = why(recorded(), WhyQuestion(expression=expression, limit=30)).because
    put = [str(line) for line in because if "groups[name] = [read(text)]" in str(line)]
    assert len(put) == 1
    assert item in put[0]


FAILING = """\
def check(numbers):
    if numbers == [40]:
        raise ValueError(numbers)


groups = {}
for name in ("a", "b", "c"):
    groups[name] = [20 * len(groups) or 1]
groups["b"] = groups["b"] * 1
for name in ("b", "c"):
    groups[name] = [40] if name == "b" else [60]
try:
    checked = {key: check(numbers) for key, numbers in groups.items()}
except ValueError as error:
    print(error)
"""


def test_what_a_call_in_a_comprehension_that_ended_early_was_given_is_the_item_of_its_round() -> None:
    failing = record(FAILING, python(3, 13)).processes[0]
    because = [str(line) for line in why(failing, WhyQuestion(expression="numbers", limit=30)).because]
    assert [line.rpartition("| ")[2] for line in because if "groups[name] = [40]" in line] == ["['b']=[40]"]


FILTERED = """\
def overlaps(one, other):
    return one[0] <= other[1] and other[0] <= one[1]


spans = [(1, 4), (4, 6), (10, 11)]
clashes = [(one, other) for place, one in enumerate(spans) for other in spans[place + 1 :] if overlaps(one, other)]
assert not clashes
"""


def test_of_a_filter_the_call_that_let_an_item_in_is_shown() -> None:
    lines = [str(line) for line in why(record(FILTERED, python(3, 13)).processes[0], WhyQuestion()).because]
    (judged,) = [line for line in lines if "return one[0]" in line]
    assert "-> True" in judged
