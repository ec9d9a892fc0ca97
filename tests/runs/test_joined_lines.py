"""A line whose ways part and meet again, with a call in one of them, is one run of it, on each version."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import FIELD, LINE, SEEN, WRITE, ProcessRecord
from trio_debugmcp.runs.histories.histories import HistoryPage
from trio_debugmcp.runs.histories.variable_histories import variable_history
from trio_debugmcp.runs.past.past_process import PastProcess

pytestmark = pytest.mark.real

PROGRAM = """\
def ten(x):
    return x * 10


def joined(a, m):
    total = 1
    total += a if m else ten(a)
    either = (a and ten(a)) or 4
    if ten(a) and ten(either) or ten(m):
        total = total if m else ten(total)
    for i in range(2): total = ten(i) if i else ten(total)
    try:
        return total if m else ten(total)
    finally:
        last = a if m else ten(a)


joined(1, False)
joined(1, True)
"""


def runs_of(process: ProcessRecord) -> dict[int, int]:
    executions = PastProcess(process).executions
    found: dict[int, int] = {}
    for number in range(process.first, process.last + 1):
        if (
            process.row(number).kind == LINE
            and (run := executions.at(number)) is not None
            and run.scope.name == "joined"
        ):
            found[run.statement.first] = found.get(run.statement.first, 0) + 1
    return found


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_a_line_with_a_call_in_one_of_its_ways_runs_once(version: tuple[int, int]) -> None:
    process = record(PROGRAM, python(*version)).processes[0]
    runs = runs_of(process)
    assert {line: runs[line] for line in (6, 7, 8, 9, 10, 13, 15)} == dict.fromkeys((6, 7, 8, 9, 10, 13, 15), 2)
    key = process.key_of("total")
    written = [process.text(row) for row in map(process.row, range(process.first, process.last + 1))
               if row.kind == WRITE and row.key == key]  # fmt: skip
    assert written[:3] == ["1", "11", "110"], "not what was there before"


ON_NEW_OBJECTS = """\
class Part:
    pass
part = Part(); part.size = 7
part.size += 1
other = Part(); other.size = 1; other.size = 2
def make():
    global made
    made = Part()
make(); made.size = 3
first = Part(); first.sub = Part(); first.sub.size = 4
import types
first.size = 5; first = types.SimpleNamespace(size=6)
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_an_attribute_of_an_object_that_its_line_has_made_is_written(version: tuple[int, int]) -> None:
    process = record(ON_NEW_OBJECTS, python(*version)).processes[0]
    size = process.key_of(".size")
    rows = [row for row in map(process.row, range(process.first, process.last + 1)) if row.key == size]
    sites = [process.site(process.row(row.owner).key).line for row in rows]
    found = [(line, process.text(row)) for line, row in zip(sites, rows, strict=True) if row.kind == FIELD]
    assert found == [(3, "7"), (4, "8"), (5, "2"), (9, "3"), (10, "4"), (12, "5")]
    seen = [(line, process.text(row)) for line, row in zip(sites, rows, strict=True) if row.kind == SEEN]
    assert seen == [(12, "6")], "an object that comes after the write has the attribute from elsewhere"


def test_the_history_of_an_attribute_begins_on_the_line_that_made_its_object() -> None:
    past = PastProcess(record(ON_NEW_OBJECTS, python(3, 13)).processes[0])
    history = variable_history(past, "part.size", HistoryPage())
    assert [entry.line for entry in history.entries] == [3, 4]
