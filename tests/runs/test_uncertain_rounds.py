"""Of an item that a line has made in one of many rounds the answer shows that round, or says that it may be another."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
def count(text):
    digits = int(text)
    return digits


def read(lines):
    rows = []
    for line in lines:
        name, packets, note = line.split(";")
        rows.append({"name": name, "packets": packets, "note": note})
    return rows


LINES = ["pea;12;early", "bean;43;tall", "beet;77;red"]
of_dicts = {row["name"]: (count(row["packets"]), row["note"]) for row in read(LINES)}
rows = read(LINES)
by_name = {row["name"]: (count(row["packets"]), row["note"]) for row in rows}
filtered = {row["name"]: (count(row["packets"]), 5) for row in rows if row["note"] != "early"}
pairs = dict((row["name"], count(row["packets"])) for row in rows)
flat = [count(text) for group in [["12", "43"], ["77"]] for text in group]
literal = {name: count(text) for name, text in [("pea", "12"), ("bean", "43"), ("beet", "77")]}
bean = by_name["bean"]
note = bean[1]
print(of_dicts, by_name, filtered, pairs, flat)
"""

PERHAPS = "perhaps in another round than the one asked about"


@cache
def recorded() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


def lines_of(expression: str) -> list[str]:
    return [str(line) for line in why(recorded(), WhyQuestion(expression=expression, limit=30)).because]


@pytest.mark.parametrize("expression", ["of_dicts['bean']", "by_name['bean']", "by_name['bean'][0]", "literal['bean']"])
def test_the_round_that_made_an_item_is_the_one_that_is_shown(expression: str) -> None:
    lines = lines_of(expression)
    assert [line for line in lines if "digits=" in line and line.endswith("digits=43")], lines
    assert not [line for line in lines if "77" in line.rpartition(" | ")[2] and "bean" not in line], lines


@pytest.mark.parametrize("expression", ["by_name['bean'][1]", "note"])
def test_an_item_of_a_tuple_in_a_dict_leads_to_the_round_that_put_its_part_there(expression: str) -> None:
    lines = lines_of(expression)
    assert [line for line in lines if "rows.append" in line and "[1]={'name': 'bean'" in line], lines
    assert not [line for line in lines if "digits=" in line], lines


@pytest.mark.parametrize("expression", ["filtered['bean']", "pairs['bean']", "flat[1]"])
def test_where_the_round_is_not_known_it_is_said_that_it_may_be_another(expression: str) -> None:
    lines = lines_of(expression)
    shown = [line for line in lines if "digits=" in line]
    assert shown, lines
    assert all(PERHAPS in line for line in shown), lines
