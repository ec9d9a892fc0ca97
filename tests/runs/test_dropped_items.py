"""An item that never came to a container: the last lines that ran for what had its key say where it was dropped."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
def cleaned(row):
    name, amount = row
    if amount is None:
        return None
    return name.lower(), amount


def load(rows):
    kept = {}
    for row in rows:
        found = cleaned(row)
        if found is None:
            continue
        kept.update([found])
    return kept


def words(text, minimum):
    counts = {}
    for word in text.split():
        if len(word) < minimum:
            continue
        counts.update({word: 1})
    return counts


def sold(name, taken):
    label = name + "s"
    return label in taken


class Names:
    def __init__(self, names):
        self.names = names

    def __getitem__(self, name):
        return self.names.index(name)


def place(names, name):
    return names[name]


kept = load([("Ann", 2), ("bob", None), ("Cid", 5)])
counts = words("to be or not to be there", 3)
notes = {"seven": 1}
event = "seven or eleven events"
of_bob = kept.get("bob")
of_be = "be" in counts
of_even = "even" in notes
of_shoes = sold("shoe", notes)
of_place = place(Names(["to", "there"]), "there")
"""


@cache
def ran() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


def lines(expression: str) -> dict[int, list[str]]:
    found = why(ran(), WhyQuestion(expression=expression, limit=30))
    return {line.line: line.notes for line in found.because}


def test_a_row_that_has_the_key_is_followed_to_where_its_call_and_its_round_ended() -> None:
    found = lines("of_bob")
    assert "the last line that ran for name='bob'" in found[4]
    assert "the last line that ran for row=('bob', None)" in found[13]
    assert 3 in found


def test_a_word_that_was_passed_over_is_followed_to_what_decided_that() -> None:
    found = lines("of_be")
    assert "the last line that ran for word='be'" in found[22]
    assert 21 in found


@pytest.mark.parametrize("expression", ["of_even", "of_shoes", "of_place"])
def test_parts_of_words_values_of_the_asking_frame_and_what_a_class_may_have_are_not_missed(
    expression: str,
) -> None:
    assert not [note for notes in lines(expression).values() for note in notes if "the last line that ran" in note]


UNDER_WAY = """\
def add(words, word):
    entries = words.get(word[0], [])
    if word not in entries:
        entries.append(word)


def build(words):
    for word in ["cat", "cats", "dog"]:
        add(words, word)
    return words


got = build({"c": []})["c"]
assert got == ["cat"]
"""


def test_a_line_that_is_not_over_is_not_said_to_be_the_last() -> None:
    because = why(record(UNDER_WAY, python(3, 13)).processes[0], WhyQuestion()).because
    assert {line.line: line.notes for line in because}[9] == []
