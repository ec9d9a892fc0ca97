"""A line whose ways part and meet again, with a call in one of them, is one run of it, on each version."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import LINE, WRITE, ProcessRecord
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
