"""Breakpoints whose files are edited: those set by the text of their line move with it, all others say what changed."""

from pathlib import Path

import pytest
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, failure, launch
from tests.session.test_children import adopt
from trio_debugmcp.session.breakpoints.line_text import NotFound, every_line, lines_with, place_again, place_of
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect

BEFORE = "def pay(cart):\n    due = total(cart)\n    return due\n"


def edited(adapter: FakeAdapter, text: str) -> None:
    Path(adapter.program).write_text(text)


async def run_again(client: DebugClient, adapter: FakeAdapter) -> list[str]:
    """Launch once more, and return the notes."""
    notes: list[str] = (await launch(client, adapter, replace=True)).get("notes", [])
    return [each for each in notes if not each.startswith("in force from before")]


@pytest.fixture
def adapter(tmp_path: Path) -> FakeAdapter:
    program = tmp_path / "till.py"
    program.write_text(BEFORE)
    adapter = FakeAdapter()
    adapter.program = str(program)
    return adapter


async def test_a_breakpoint_set_by_its_text_moves_with_it(autojump_clock: MockClock, adapter: FakeAdapter) -> None:
    async with connect(options=adapter.options()) as client:
        made = await client.call("breakpoint_set", file=adapter.program, statement="due  =  total(cart)")
        assert (made["at"].rpartition("/")[2], made["line"]) == ("till.py:2", "due = total(cart)")
        await launch(client, adapter)
        edited(adapter, f"import sys\n\n{BEFORE}")
        assert await run_again(client, adapter) == ["bp-1 moved from line 2 to 4, where its text is now"]
        assert await run_again(client, adapter) == []
        edited(adapter, "def pay(cart):\n    due = total(cart, 1)\n    return due\n")
        assert await run_again(client, adapter) == [
            "bp-1 moved from line 4 to 2, now `due = total(cart, 1)`, it was `due = total(cart)`"
        ]
        assert [each["lines"] for each in sent(adapter)][-1] == [2]


async def test_a_breakpoint_whose_text_is_gone_is_pending_until_it_is_back(
    autojump_clock: MockClock, adapter: FakeAdapter
) -> None:
    async with connect(options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, statement="return due")
        await launch(client, adapter)
        edited(adapter, "print('nothing of before')\n")
        gone = "the file has no line `return due` any more"
        assert await run_again(client, adapter) == [f"bp-1 is pending: {gone}"]
        (listed,) = (await client.read(BREAKPOINTS))["breakpoints"]
        assert (listed["state"], listed["message"]) == ("Pending", gone)
        assert [each["lines"] for each in sent(adapter)][-1] == []
        edited(adapter, BEFORE)
        assert await run_again(client, adapter) == []
        assert [each["lines"] for each in sent(adapter)][-1] == [3]


async def test_a_breakpoint_on_a_line_says_once_that_the_line_has_another_text(
    autojump_clock: MockClock, adapter: FakeAdapter
) -> None:
    async with connect(options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, line=3)
        await launch(client, adapter)
        edited(adapter, f"import sys\n{BEFORE}")
        note = "bp-1 is on another text than when it was set: `due = total(cart)`, it was `return due`"
        assert await run_again(client, adapter) == [note]
        assert await run_again(client, adapter) == []


async def test_a_text_that_no_line_has_is_refused_with_those_that_are_like_it(
    autojump_clock: MockClock, adapter: FakeAdapter
) -> None:
    async with connect(options=adapter.options()) as client:
        with pytest.raises(ToolFailed) as failed:
            await client.call("breakpoint_set", file=adapter.program, statement="due = totl(cart)")
        assert failed.value.code == "INVALID_PARAMETER"
        assert "no line is `due = totl(cart)`; there are: `due = total(cart)`" in failed.value.message


async def test_a_line_that_was_found_by_its_beginning_is_named(autojump_clock: MockClock, adapter: FakeAdapter) -> None:
    note = "line 2 is the only one that begins with `due = tot`: `due = total(cart)`"
    async with connect(options=adapter.options()) as client:
        made = await client.call("breakpoint_set", file=adapter.program, statement="due = tot")
        assert (made["line"], made["notes"]) == ("due = total(cart)", [note])
        stop = await launch(client, adapter, breakpoints=[{"file": adapter.program, "statement": "due = tot"}])
        assert note in stop["notes"]


async def test_a_breakpoint_behind_the_end_of_its_file_says_so_at_once(
    autojump_clock: MockClock, adapter: FakeAdapter
) -> None:
    said = "no code follows line 999 of the file, which has 3 lines"
    async with connect(options=adapter.options()) as client:
        for more in ({}, {"log_message": "here"}):
            made = await client.call("breakpoint_set", file=adapter.program, line=999, **more)
            assert made["message"] == said
        assert (await client.call("tracepoint_set", file=adapter.program, line=999, log_message="x"))["message"] == said
        assert "message" not in await client.call("breakpoint_set", file=adapter.program, line=3)


def sent(adapter: FakeAdapter) -> list[dict[str, list[int]]]:
    return [{"lines": [each["line"] for each in every["breakpoints"]]} for every in adapter.sent("setBreakpoints")]


async def test_a_child_that_begins_after_an_edit_has_breakpoints_at_the_lines_of_the_new_text(
    autojump_clock: MockClock, adapter: FakeAdapter
) -> None:
    child, late = FakeAdapter(), FakeAdapter()
    async with connect(options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, statement="due = total(cart)")
        await client.call("breakpoint_set", file=adapter.program, line=3)
        await launch(client, adapter)
        await adopt(adapter, child)
        edited(adapter, f"import sys\n\n{BEFORE}")
        late.frames = [("pay", adapter.program, 4)]
        await adopt(adapter, late)
        assert [each["lines"] for each in sent(child)] == [[2, 3]]
        assert sorted(sent(late)[-1]["lines"]) == [3, 4]  # the one that goes by its line stays there
        await late.stop("breakpoint", hit=[1])
        stop = await client.call("debug_wait")
        assert (stop["breakpoints"], stop["notes"][0]) == (
            ["bp-1"],
            "bp-1 moved from line 2 to 4, where its text is now",
        )
        await client.call("breakpoint_set", file=adapter.program, statement="import sys")
        assert [each["lines"] for each in sent(child)][-1] == [2, 3]  # the text that it runs has no such line


# --- Pure -------------------------------------------------------------------------------------------------------------

LINES = ["x = 1", "y = 2", "x = 1", "if x == y:", "    return x"]


def test_one_of_several_equal_lines_is_the_one_nearest_to_the_hint() -> None:
    assert place_of("x = 1", LINES, 1).line == 1
    assert place_of("x = 1", LINES, 5).line == 3
    assert place_of("return x", LINES).line == 5
    with pytest.raises(NotFound, match=r"lines 1, 3 are `x = 1`: pass `line` as well"):
        place_of("x = 1", LINES)


def test_where_no_line_is_equal_comments_behind_the_code_are_left_out() -> None:
    lines = ["x = 1  # first", "y = '# 2'  # second", "x = 1 // third"]
    assert lines_with("x = 1", lines) == [1, 3]
    assert lines_with("x = 1  # other", lines) == [1, 3]
    assert lines_with("y = '# 2'", lines) == [2]
    assert lines_with("y = '# 3'", lines) == lines_with("# first", lines) == []
    assert lines_with("x = 1", [*lines, "x  =  1"]) == [4]
    assert every_line("x = 1", [*lines, "x  =  1"]) == [1, 3, 4]
    assert every_line("x = 1  # first", lines) == [1], "it is the text that is wanted"


async def test_a_breakpoint_on_every_line_with_a_text_is_several_and_says_which(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    file = tmp_path / "pay.py"
    file.write_text("x = 1\ny = 2\nx = 1\n")
    every = {"file": str(file), "statement": "x = 1", "every": True}
    async with connect() as client:
        answer = await client.call("breakpoint_set", **every)
        assert answer["notes"] == ["2 lines have this text: bp-1 line 1, bp-2 line 3"]
        refused = await failure(client, "breakpoint_set", **{**every, "every": False})
        assert "breakpoint_set and debug_launch take all of them with `every`: true" in refused.message
        refused = await failure(client, "breakpoint_set", file=str(file), line=1, every=True)
        assert refused.code == "INVALID_PARAMETER"
        other = tmp_path / "paid.py"
        other.write_text('"""\nx = 1\n"""\nx = 1\ny = 2\nx = 1  # again\nz = f"""{y}\nx = 1\n"""\n')
        answer = await client.call("breakpoint_set", **{**every, "file": str(other)})
        assert answer["notes"] == ["2 lines have this text: bp-3 line 4, bp-4 line 6"], "of code"
        one = await client.call("breakpoint_set", file=str(other), statement="x = 1")
        assert one["at"].endswith(":4")
        file.write_text("x = 1\n" * 101)
        refused = await failure(client, "breakpoint_set", **every)
        assert "101 lines of" in refused.message


def test_a_line_that_was_edited_is_only_taken_if_it_is_clearly_meant() -> None:
    assert place_again("if x == y :", LINES, 9).line == 4
    assert place_again("y = 2", LINES, 9).line == 2
    with pytest.raises(NotFound, match="any more"):
        place_again("for each in every:", LINES, 1)
    with pytest.raises(NotFound, match="lines 2 and 1 are like it"):
        place_again("total = price * 3", ["total = price * 1", "total = price * 2"], 1)
    with pytest.raises(NotFound, match="any more"):
        place_again("x = 1", [], 1)
