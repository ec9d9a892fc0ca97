"""Attributes of `threading.local()`: `why` has the line that set one in the same thread, and does not guess at it."""

import re

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.shown_moments import BecauseLine
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

BEGINNING = """\
import threading

class Context(threading.local):
    pass

state = MADE

def begin(name):
    state.name = name

def current():
    return getattr(state, "name", "none")

def ask(out):
    out.append(current())

def work(out):
    begin("side")
    out.append(state.name)

def in_thread(target, *args):
    thread = threading.Thread(target=target, args=args)
    thread.start()
    thread.join()

out = []
"""


def asked(ending: str, made: str = "threading.local()") -> list[BecauseLine]:
    source = BEGINNING.replace("MADE", made) + ending
    return why(record(source, python(3, 12)).processes[0], WhyQuestion(expression="asked")).because


def said(ending: str, made: str = "threading.local()") -> list[str]:
    return [f"{line.line} {note}" for line in asked(ending, made) for note in line.notes]


@pytest.mark.parametrize("made", ["threading.local()", "Context()"])
def test_the_line_that_set_an_attribute_in_the_same_thread_is_named(made: str) -> None:
    notes = said('begin("main")\nin_thread(work, out)\nasked = state.name\n', made=made)
    (note,) = notes
    assert re.fullmatch(r"9 sets \.name, which #\d+ reads in the same thread", note)


def test_where_only_another_thread_has_set_it_that_is_said_of_its_line() -> None:
    (note,) = said('begin("main")\nin_thread(ask, out)\nasked = out[0]\n')
    assert re.fullmatch(r"9 sets \.name, but not in the thread of #\d+", note)


def test_a_thread_that_may_have_the_number_of_one_that_has_ended_is_not_taken_for_it() -> None:
    because = asked('begin("main")\nin_thread(work, out)\nin_thread(ask, out)\nasked = out[1]\n')
    (reader,) = [line.at for line in because if line.line == 12]
    notes = [note for line in because for note in line.notes if reader in note]
    assert notes
    assert not any(f"which {reader} reads in the same thread" in note for note in notes)
