"""What one line changes in many items of a container is known of each of them afterwards."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import collections


def change(held):
    CHANGE


held = MAKE
first = held[4]
change(held)
done = 1
assert not done
"""

CHANGES = {
    "a list that is turned round": ("[str(n) for n in range(40)]", "held.reverse()", "'35'"),
    "a list whose first item is taken out": ("[str(n) for n in range(60)]", "held.pop(0)", "'5'"),
    "a list that is emptied but for a few": ("[str(n) for n in range(40)]", "del held[:30]", "'34'"),
    "a list that is replaced": ("[str(n) for n in range(40)]", "held[:] = 'abcdef'", "'e'"),
    "a dict of other values": (
        "dict.fromkeys(range(50), 'old')",
        "held.update(dict.fromkeys(range(50), 'new'))",
        "'new'",
    ),
    "a deque that is rotated": ("collections.deque('abcdefghijklmnopqrstuvwxyz')", "held.rotate(1)", "'d'"),
}


def value(make: str, change: str, version: tuple[int, int]) -> str:
    source = PROGRAM.replace("MAKE", make).replace("CHANGE", change)
    return why(record(source, python(*version)).processes[0], WhyQuestion(expression="held[4]")).value


@pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])
@pytest.mark.parametrize(("make", "change", "after"), CHANGES.values(), ids=CHANGES)
def test_an_item_is_what_the_line_made_it(make: str, change: str, after: str, version: tuple[int, int]) -> None:
    assert value(make, change, version) == f"held[4]={after}"
