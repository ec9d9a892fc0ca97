"""Containers of many items in a record: what a line itself changes in one is said, at a bounded cost."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import FIELD, GAP, SIZE, ProcessRecord

pytestmark = pytest.mark.real

BOTH = pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])

LONG = """\
data = list(range(100, 0, -1))
data.append(7)
data[3] = 9
data[40:42] = [-1, -2]
prices = {str(i): i for i in range(80)}
prices.update({"5": 6, "new": 1})
del prices["7"]
data.sort()
def more(items):
    items[-1] = 8
    return 5
data.append(more(data))
"""

MANY = """\
data = list(range(4000))
for number in range(300):
    data.append(number)
"""


def written(process: ProcessRecord, line: int) -> list[str]:
    """Return what a line wrote into containers: a key and a value each, a question mark for a key that is not known."""
    shown = []
    for number in range(process.first, process.last + 1):
        row = process.row(number)
        if row.kind == FIELD and process.site(process.row(row.owner).key).line == line:
            label = process.label(row.key) if row.key else "?"
            shown += [] if label.startswith(".") else [f"{label} {process.text(row)}".strip()]
    return shown


@BOTH
def test_a_line_that_changes_a_long_container_says_which_items(version: tuple[int, int]) -> None:
    (process,) = record(LONG, python(*version)).processes
    assert written(process, 2) == ["[100] 7"]
    assert written(process, 3) == ["[3] 9"]
    assert written(process, 4) == ["[40] -1", "[41] -2"]
    assert written(process, 6) == ["['5'] 6", "['new'] 1"]
    assert written(process, 7) == ["['7'] deleted"]
    assert len(written(process, 8)) == 21, "twenty items, and one row for the others"
    assert written(process, 10) == ["[-1] 8"] or written(process, 10) == ["[100] 8"]
    assert "[100] 8" not in written(process, 12), "that was done by the function which the line calls"
    assert process.facts.faults == 0


@BOTH
def test_a_loop_over_a_very_long_list_has_its_share_of_comparing(version: tuple[int, int]) -> None:
    (process,) = record(MANY, python(*version)).processes
    rows = [process.row(number) for number in range(process.first, process.last + 1)]
    assert "[4000] 0" in written(process, 3)
    assert "?" in written(process, 3), "later rounds only say that something changed"
    assert len([row for row in rows if row.kind == SIZE and row.key == 1]) == 300
    assert not [row for row in rows if row.kind == GAP]
