"""A later call that would have written over an item, and has not, is named with what decided against it."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
class Cache:
    def __init__(self):
        self.held = {}

    def put(self, name, price):
        if self.held.get(name):
            self.known = name
        else:
            self.held[name] = price


def play(calls):
    cache, other = Cache(), Cache()
    for name, price in calls:
        (other if name == "fig" else cache).put(name.strip("!"), price)
    return cache.held["plum"]


assert play(CALLS) == 9
"""

DECISION = "if self.held.get(name): | true"


def because(calls: str) -> list[str]:
    source = PROGRAM.replace("CALLS", calls)
    return [str(line) for line in why(record(source, python(3, 13)).processes[0], WhyQuestion()).because]


def test_a_later_call_that_did_not_write_the_item_is_named() -> None:
    (line,) = [line for line in because('[("plum", 3), ("plum", 9)]') if DECISION in line]
    assert line.endswith("so ['plum'] is not set at line 9")


@pytest.mark.parametrize(
    "calls", ['[("plum", 3), ("pear", 4), ("pear", 9)]', '[("fig", 3), ("plum", 3), ("fig", 9)]', '[("plum", 3)]']
)
def test_a_call_for_another_item_or_another_object_is_not(calls: str) -> None:
    assert not any("['plum'] is not set" in line for line in because(calls))
