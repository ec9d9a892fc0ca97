"""What changes a value without naming it: it is shown, or said not to be known; the writer before is not blamed."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

OUTSIDE = """\
import datetime
import struct
import sys


def poke():
    sys._getframe(1).f_locals["total"] = 99


def poked():
    total = 1
    poke()
    result_of_frame = total + 1
    return result_of_frame


def maker():
    count = 0

    def inner():
        return count + 1

    inner.__closure__[0].cell_contents = 41
    return inner


def hidden(cell):
    setattr(cell, "cell_" + "contents", 7)


def filled():
    data = bytearray(20_000)
    struct.pack_into("<I", data, 0, 77)
    number = struct.unpack_from("<I", data, 0)[0]
    return number


def last_id(rows):
    last = None
    try:
        for row in rows:
            last = row["id"]
    except KeyError: pass
    return last


def is_open(day):
    closed, fees = set(), {}
    closed.add(day)
    fees[day] = 3
    if day in closed or day in fees:
        return False
    return True


def highest():
    best = None
    while True:
        value = yield best
        if best is None or value > best:
            best = value


by_frame = poked()
increase = maker()
by_cell = increase()
hidden(increase.__closure__[0])
by_hand = increase()
by_buffer = filled()
by_loop = last_id([{"id": 1}, {"id": 2}, {}])
by_day = is_open(datetime.date(2024, 1, 1))
best_of = highest()
next(best_of)
first = best_of.send(5)
by_sending = best_of.send(3)
third = best_of.send(9)
"""


@cache
def outside() -> ProcessRecord:
    return record(OUTSIDE, python(3, 13)).processes[0]


def answer(expression: str) -> WhyAnswer:
    return why(outside(), WhyQuestion(expression=expression, limit=30))


def said(found: WhyAnswer, line: int) -> str:
    return "; ".join(" ".join([*each.values, *each.notes]) for each in found.because if each.line == line)


def test_a_variable_that_another_function_set_through_the_frame_names_that_line() -> None:
    found = answer("by_frame")
    assert "set total through its frame or cell" in said(found, 7)
    assert not said(found, 11), "what it was before is not the value"


def test_a_variable_that_was_set_through_its_cell_names_that_line() -> None:
    assert "set count through its frame or cell" in said(answer("by_cell"), 23)


def test_a_variable_that_was_changed_by_what_is_not_known_is_a_gap() -> None:
    found = answer("by_hand")
    assert [gap.partition(" at #")[0] for gap in found.gaps] == ["count was found changed"]
    assert "since #" in found.gaps[0]
    assert not said(found, 18)


def test_what_a_buffer_was_given_to_is_shown_and_that_its_content_is_not_recorded() -> None:
    found = answer("by_buffer")
    assert "pack_into was given it" in said(found, 33)
    assert found.gaps == [gap for gap in found.gaps if gap.startswith("what is in data (bytearray) is not recorded")]
    assert len(found.gaps) == 1


def test_a_loop_that_an_exception_has_left_names_the_line_that_raised_it() -> None:
    assert "raises KeyError('id')" in said(answer("by_loop"), 42)
    assert "its exception left the loop" in said(answer("by_loop"), 42)


def test_a_set_and_a_dictionary_of_objects_are_what_they_have_become() -> None:
    condition = next(line for line in answer("by_day").because if line.source.startswith("if day in"))
    assert condition.values == ["true", "day=<date 2024-01-01>", "closed={<date 2024-01-01>}", "fees=dict of 1"]


def test_what_a_generator_was_sent_comes_behind_what_it_has_yielded() -> None:
    (line,) = (line for line in answer("by_sending").because if line.source == "value = yield best")
    assert line.values == ["yields 5", "then value=9"]


CURSOR = """\
import sqlite3
from contextlib import contextmanager


@contextmanager
def writing(db):
    yield db.cursor()
    db.commit()


def parsed(text):
    return int(text.replace(".", ""))


def add(db, text):
    cents = parsed(text)
    with writing(db) as cursor:
        cursor.execute("insert into entries values (?)", (cents,))


def looked_up(db):
    cursor = db.cursor()
    found = cursor.execute("select 1").fetchone()
    return found


def balance(db):
    return db.execute("select sum(cents) from entries").fetchone()[0]


db = sqlite3.connect(":memory:")
db.execute("create table entries (cents integer)")
add(db, "0.5")
looked_up(db)
total = balance(db)
"""


def test_what_a_cursor_was_given_is_a_cause_of_what_its_connection_has() -> None:
    process = record(CURSOR, python(3, 12)).processes[0]
    found = why(process, WhyQuestion(expression="total", limit=30))
    lines = {line.line: line for line in found.because}
    assert "execute was called on what cursor of it gave; its content is not recorded" in lines[18].notes
    assert lines[16].source.startswith("cents = parsed(text)")
    assert 24 not in lines  # what it has read changes nothing
