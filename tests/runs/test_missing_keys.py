"""Of a missing key the answer has the call that had it, and of a cleared list what has not filled it again."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real


def texts(program: str) -> str:
    return "\n".join(map(str, why(record(program, python(3, 13)).processes[0], WhyQuestion()).because))


METER = """\
from collections import deque


class Event:
    def __init__(self, at, room, on):
        self.values = at, room, on

    def to(self, meter):
        meter.switched(*self.values)


class Meter:
    def __init__(self):
        self.since = {}
        self.minutes = {}

    def switched(self, at, room, on):
        if on:
            self.since[room] = at
        elif room in self.since:
            self.minutes[room] = at - self.since.pop(room)


events = [(0, "hall", True), (2, "bath", False), (5, "hall", False), (7, "attic", True), (9, "attic", False)]
meter = Meter()
waiting = deque(Event(*event) for event in events)
while waiting:
    waiting.popleft().to(meter)
assert meter.minutes == {"hall": 5, "bath": 7, "attic": 2}
"""


def test_a_missing_key_leads_to_what_decided_in_the_call_that_had_it_and_not_in_that_of_another_key() -> None:
    shown = texts(METER)
    assert "false room='bath' self.since={'hall': 0}; so line 21 does not run for 'bath'" in shown


CLEARED = """\
class Builder:
    def __init__(self):
        self.log = []
        self.known = {}

    def build(self, name):
        if name in self.known:
            return
        self.known[name] = True
        self.log.append(name)


def begin(builder):
    builder.build("base")
    builder.build("core")
    builder.log.clear()


builder = Builder()
begin(builder)
builder.build("core")
assert builder.log == ["core"]
"""


def test_what_has_not_filled_a_list_again_since_it_was_cleared_is_named() -> None:
    shown = texts(CLEARED)
    assert "if name in self.known: | true name='core'" in shown
    assert "so self.log is not changed at line 10" in shown
