"""Calls on an object that a function had begun to use, and did not come to: the content of it is not recorded."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

TENANTS = """\
import contextvars

tenant = contextvars.ContextVar("tenant", default="public")
PRICES = {"public": {"tea": 5}, "acme": {"tea": 4}}


def price(name):
    return PRICES[tenant.get()][name]


def sell(owner, name):
    token = tenant.set(owner)
    found = price(name)
    tenant.reset(token)
    return found


def serve(owner, name):
    try:
        return sell(owner, name)
    except KeyError:
        return 0


first = serve("acme", "NAME")
second = price("tea")
assert second == OWED
"""


def notes(source: str) -> str:
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion(limit=30))
    return "\n".join(f"{line.line}: {note}" for line in answer.because for note in line.notes)


def test_what_kept_a_function_from_undoing_what_it_had_done_is_named() -> None:
    assert "13: so reset is not called at line 14" in notes(TENANTS.replace("NAME", "hat").replace("OWED", "5"))


def test_of_a_function_that_has_called_all_of_it_nothing_is_said() -> None:
    assert "not called" not in notes(TENANTS.replace("NAME", "tea").replace("OWED", "6"))


OF_ANOTHER = """\
import contextvars

one = contextvars.ContextVar("one", default=1)
other = contextvars.ContextVar("other", default=2)


def change(value, fails):
    token = value.set(7)
    if fails:
        raise KeyError(fails)
    value.reset(token)


def run(value, fails):
    try:
        change(value, fails)
    except KeyError:
        pass


run(other, True)
value = one
run(value, False)
got = value.get()
assert got == 7
"""


def test_a_call_that_another_object_was_owed_is_not_named() -> None:
    assert "not called" not in notes(OF_ANOTHER)


LISTENERS = """\
import weakref


class Bus:
    def __init__(self):
        self.listeners = []

    def add(self, method):
        self.listeners.append(weakref.WeakMethod(method))

    def send(self, text):
        for reference in self.listeners:
            method = reference()
            if method is not None:
                method(text)


class Log:
    def __init__(self, lines):
        self.lines = lines

    def note(self, text):
        self.lines.append(text)


def install(bus, lines):
    log = Log(lines)
    bus.add(log.note)
    KEPT.append(log)


KEPT = []
bus, lines = Bus(), []
install(bus, lines)
bus.send("login")
assert lines == EXPECTED
"""


def test_a_method_that_would_have_filled_a_container_of_its_object_and_was_not_called_is_named() -> None:
    source = LISTENERS.replace("    KEPT.append(log)\n", "").replace("EXPECTED", "['login']")
    assert "28: hands note over, which is not called" in notes(source)
    assert "not called" not in notes(LISTENERS.replace("EXPECTED", "['logout']"))


def test_a_method_that_is_called_after_what_is_asked_about_is_not_said_never_to_be() -> None:
    source = LISTENERS.replace("bus.send", "seen = list(lines)\nbus.send").replace(
        "lines == EXPECTED", "seen == ['login']"
    )
    found = notes(source)
    assert "28: hands note over, which is called later, at #" in found
    assert "not called" not in found
