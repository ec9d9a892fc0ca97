"""Steps through the past of a program that is stopped: where each leads, and what is said where the record ends."""

from functools import cache
from typing import Literal

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.histories.recorded_hits import LineBreakpoint
from trio_debugmcp.runs.run_walks import NoWalkError, RunWalk, WalkedMoment, walked

pytestmark = pytest.mark.real

SHOP = """\
import json
import threading

def add(items, price):
    items.append(price)
    return len(items)

def fill(prices):
    items = []
    for price in prices:
        add(items, price)
    return items

def stopped(cart):
    text = json.dumps(
        cart,
    )
    return text

def other():
    thread = "other"
    thread = thread.upper()

helper = threading.Thread(target=other)
helper.start()
helper.join()
cart = fill([4, 6])
stopped(cart)
"""


@cache
def shop() -> ProcessRecord:
    return record(SHOP, python(3, 13)).processes[0]


def at(line: int, *below: int) -> list[tuple[str, int]]:
    """A stack in the program, by its lines; the innermost first."""
    return [(shop().codes[0].file, place) for place in (line, *below)]


def last_run(line: int) -> int:
    """The last LINE row of a line."""
    record = shop()
    lines = (row for row in range(record.last, 0, -1) if record.row(row).kind == rows.LINE)
    return next(row for row in lines if record.site(record.row(row).key).line == line)


def until(line: int) -> ProcessRecord:
    """The record as it was when the program was stopped at the last run of a line."""
    record = shop()
    shorter = ProcessRecord(record.directory)
    shorter.last = last_run(line)
    return shorter


def walk_at(line: int, walk: RunWalk) -> WalkedMoment:
    return walked(until(line), walk)


def test_a_step_back_stays_in_the_function_and_then_goes_to_the_line_that_called() -> None:
    first = walk_at(18, RunWalk(mode="back", stack=at(18, 28)))
    assert first.moment is not None
    assert first.moment.stack[0].line == 15
    then = walk_at(18, RunWalk(mode="back", stack=at(18, 28), at=first.moment.row))
    assert then.moment is not None
    assert (then.moment.stack[0].line, then.moment.frames) == (28, 1)


def test_a_stop_in_code_that_is_not_recorded_is_within_the_line_that_called_it() -> None:
    json_dumps = ("/usr/lib/python3/json/__init__.py", 231)
    found = walk_at(15, RunWalk(mode="back", stack=[json_dumps, *at(16, 28)]))
    assert found.moment is not None
    assert found.moment.stack[0].line == 15, "the moment before the line under way"
    forth = walk_at(15, RunWalk(mode="over", at=found.moment.row, stack=[json_dumps, *at(16, 28)]))
    assert forth.moment is None, "that is the present"


def test_a_line_of_several_lines_is_known_by_each_of_them() -> None:
    for line in (15, 16, 17):
        found = walk_at(15, RunWalk(mode="back", stack=at(line, 28)))
        assert found.moment is not None
        assert found.moment.stack[0].line == 28, "the statement has not begun"


def test_steps_forth_go_over_in_and_out_up_to_the_present() -> None:
    stack = at(28)
    record = until(28)

    def go(mode: str, row: int) -> int:
        moment = walked(record, RunWalk(mode=mode, at=row, stack=stack)).moment  # type: ignore[arg-type]
        lines.append(None if moment is None else moment.stack[0].line)
        return 0 if moment is None else moment.row

    lines: list[int | None] = []
    row = go("back", 0)
    row = go("in", row)
    for _ in range(2):
        row = go("over", row)
    row = go("in", row)
    row = go("out", row)
    row = go("out", row)
    assert lines == [27, 9, 10, 11, 5, 10, None]


def test_more_steps_back_than_there_are_end_where_the_record_begins_and_say_how_many_were_made() -> None:
    found = walk_at(28, RunWalk(mode="back", count=50, stack=at(28)))
    assert found.moment is not None
    assert (found.moment.stack[0].line, found.is_first) == (1, True)
    assert found.notes == ["what can be stepped back to begins here", "10 of 50 steps"]


def test_the_way_back_goes_from_breakpoint_to_breakpoint_and_ends_at_the_beginning() -> None:
    file = shop().codes[0].file
    breakpoints = [
        LineBreakpoint("bp-1", file, 5, "price < 5"),
        LineBreakpoint("bp-2", file, 16),
        LineBreakpoint("bp-3", file, 22),
        LineBreakpoint("bp-4", file, 9, "nothing == 3"),
        LineBreakpoint("bp-5", file, 9, "len(items)"),
    ]
    record, row, found = until(18), 0, []
    for _ in range(4):
        walk = RunWalk(mode="reverse", at=row, stack=at(18, 28), breakpoints=breakpoints)
        step = walked(record, walk)
        assert step.moment is not None
        row = step.moment.row
        found.append((step.moment.stack[0].line, step.hits, step.is_first))
    assert found == [(15, ["bp-2"], False), (5, ["bp-1"], False), (22, ["bp-3"], False), (1, [], True)]
    walk = RunWalk(mode="reverse", stack=at(18, 28), breakpoints=breakpoints[3:])
    passed = walked(record, walk).notes
    assert passed[0] == "no breakpoint is known to have been hit before: the record begins here"
    assert passed[1].startswith("bp-5 was passed over: `len(items)` cannot be judged over recorded values")
    assert passed[2].startswith("the condition of bp-4 cannot be judged at 1 run of its line, which was passed over: #")
    forth = walked(record, RunWalk(mode="continue", at=row, stack=at(18, 28), breakpoints=breakpoints))
    assert forth.hits == ["bp-3"]
    last = walked(record, RunWalk(mode="continue", at=last_run(15), stack=at(18, 28), breakpoints=breakpoints))
    assert last.moment is None


@pytest.mark.parametrize("mode", ["reverse", "continue"])
def test_a_way_on_which_too_many_runs_were_judged_ends_where_they_end(
    mode: Literal["reverse", "continue"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trio_debugmcp.runs.histories.recorded_hits.MOST_JUDGED", 1)
    breakpoints = [LineBreakpoint("bp-1", shop().codes[0].file, 5, "price > 1000")]
    walk = RunWalk(mode=mode, at=0 if mode == "reverse" else 1, stack=at(18, 28), breakpoints=breakpoints)
    step = walked(until(18), walk)
    assert step.moment is not None
    assert (step.moment.stack[0].line, step.hits, step.is_first) == (5, [], False)
    assert step.notes[0].startswith("only 1 runs of these lines were looked at, up to #")


def test_shown_are_names_and_paths_and_of_others_it_is_said_that_no_code_is_run() -> None:
    walk = RunWalk(mode="back", stack=at(28), show=["price", "cart", "len(cart)", "1 +"])
    found = walk_at(28, RunWalk(mode="here", at=last_run(11), stack=at(28), show=["price", "items[0]", "len(items)"]))
    assert (found.show["price"], found.show["items[0]"]) == ("6", "4")
    assert found.show["len(items)"].startswith("<of a recorded moment there are names and paths")
    assert walk_at(28, walk).show["cart"].startswith("<the record has no value of it")


def test_a_thread_is_found_by_its_stack_also_when_others_have_run_on() -> None:
    record = until(22)
    mine = next(row for row in range(record.last, 0, -1) if record.row(row).subject == 1 and record.row(row).kind == 1)
    line = record.site(record.row(mine).key).line
    assert line in (25, 26), "the main thread waits for the other one"
    for stack, before in ((at(line), line - 1), ([("/usr/lib/threading.py", 9), *at(line)], line), (at(22), 21)):
        found = walked(record, RunWalk(mode="back", stack=stack))
        assert found.moment is not None
        assert found.moment.stack[0].line == before


def test_a_thread_of_which_nothing_is_recorded_is_said() -> None:
    with pytest.raises(NoWalkError, match="no line that this thread has come through is recorded"):
        walked(shop(), RunWalk(mode="back", stack=[("/src/else.py", 3)]))
