"""The registry of breakpoints: what it keeps, what it sends to whom, and what it takes back."""

from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, launch, paused
from tests.session.answers import refuse
from trio_debugmcp.dap.profiles import Dialect
from trio_debugmcp.session.breakpoints.placement import one_per_line
from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec, RunPlace
from trio_debugmcp.testing import FakeAdapter, ToolFailed, connect


def lines_sent(adapter: FakeAdapter) -> list[list[int]]:
    return [[each["line"] for each in arguments["breakpoints"]] for arguments in adapter.sent("setBreakpoints")]


async def test_a_launch_whose_second_breakpoint_is_refused_sets_none(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client:
        wanted = [{"file": adapter.program, "line": 3}, {"file": adapter.program, "line": 4, "hit_condition": "often"}]
        with pytest.raises(ToolFailed) as failed:
            await launch(client, adapter, breakpoints=wanted)
        assert failed.value.code == "INVALID_CONDITION"
        assert (await client.call("breakpoint_list"))["breakpoints"] == []
        assert adapter.commands() == []


async def test_every_change_of_a_breakpoint_is_sent(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        before = len(lines_sent(adapter))
        made = await client.call("breakpoint_set", file=adapter.program, line=3)
        await client.call("breakpoint_set", file=adapter.program, line=5)
        await client.call("breakpoint_enable", id=made["id"], enabled=False)
        await client.call("breakpoint_enable", id=made["id"])
        await client.call("breakpoint_remove", id="*")
        assert lines_sent(adapter)[before:] == [[1, 3], [1, 3, 5], [1, 5], [1, 3, 5], []]


async def test_the_same_place_again_keeps_its_id_and_another_type_gets_a_new_one(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        place = {"file": adapter.program, "line": 3}
        first = (await client.call("breakpoint_set", **place))["id"]
        again = (await client.call("breakpoint_set", **place, condition="x > 1"))["id"]
        traced = (await client.call("breakpoint_set", **place, log_message="here"))["id"]
        assert (first, again, traced) == ("bp-2", "bp-2", "tp-3")
        assert [each["id"] for each in (await client.read(BREAKPOINTS))["breakpoints"]] == ["bp-1", "tp-3"]


async def test_a_change_that_the_adapter_refuses_is_kept(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.answer("setFunctionBreakpoints", lambda arguments: refuse("not today", arguments))
        with pytest.raises(ToolFailed, match="not today"):
            await client.call("breakpoint_set", function="main")
        listed = await client.read(BREAKPOINTS)
        assert [each["id"] for each in listed["functionBreakpoints"]] == ["fn-2"]


async def test_removing_all_breakpoints_empties_every_file(autojump_clock: MockClock, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("pass\n")
    async with paused("legacy") as (client, adapter):
        await client.call("breakpoint_set", file=str(other), line=1)
        await client.call("breakpoint_remove", id="*")
        last = {each["source"]["path"]: each["breakpoints"] for each in adapter.sent("setBreakpoints")}
        assert last == {adapter.program: [], str(other): []}


async def test_a_breakpoint_set_before_the_adapter_is_ready_is_sent_when_it_is(autojump_clock: MockClock) -> None:
    adapter, ready = FakeAdapter(), trio.Event()
    answer = adapter.answer_to("initialize")

    async def late(arguments: dict[str, Any]) -> object:
        await ready.wait()
        return await answer(arguments)

    adapter.answer("initialize", late)
    async with connect(options=adapter.options()) as client, trio.open_nursery() as nursery:
        nursery.start_soon(launch, client, adapter)
        await trio.sleep(1)
        made = await client.call("breakpoint_set", file=adapter.program, line=3)
        assert (made["state"], adapter.commands()) == ("Pending", ["initialize"])
        ready.set()
        await trio.sleep(1)
        assert lines_sent(adapter) == [[3]]


async def test_a_condition_that_fails_is_why_the_program_stops(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "condition_failure", lambda _, text: ("x > 1", "no x") if "oops" in text else None)
    async with paused("legacy") as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=3, condition="x > 1")
        await client.call("debug_continue", wait=False)
        await adapter.event("output", {"category": "stderr", "output": "oops\n"})
        await adapter.stop("breakpoint")
        stop = await client.call("debug_wait")
        assert stop["notes"] == ["the condition `x > 1` failed: no x"]
        [_, failed] = (await client.read(BREAKPOINTS))["breakpoints"]
        assert [failed["message"]] == stop["notes"]
        [_, line] = (await client.call("breakpoint_list"))["breakpoints"]
        assert line.endswith(f", {stop['notes'][0]}")


async def test_a_run_to_a_line_leaves_no_breakpoint_behind(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=3)
        before = len(lines_sent(adapter))
        await client.call("debug_run_to", file=adapter.program, line=8, timeout=1)
        assert lines_sent(adapter)[before:] == [[1, 3, 8], [1, 3]]
        assert [each["line"] for each in (await client.read(BREAKPOINTS))["breakpoints"]] == [1, 3]
        assert len((await client.call("breakpoint_list"))["breakpoints"]) == 2


def test_where_the_users_own_breakpoint_always_stops_no_place_of_a_run_is_sent() -> None:
    own = Breakpoint("bp-1", BreakpointSpec(file="a", line=3))
    place = RunPlace("run-to-1", BreakpointSpec(file="a", line=3))
    conditional = Breakpoint("bp-2", BreakpointSpec(file="a", line=3, condition="x"))
    assert one_per_line([own, place]) == [own]
    assert one_per_line([conditional, place]) == [place]
    assert one_per_line([conditional, RunPlace("run-to-1", BreakpointSpec(file="a", line=4))])[0] == conditional


async def test_an_adapter_that_answers_fewer_breakpoints_than_were_sent_leaves_the_rest_pending(
    autojump_clock: MockClock,
) -> None:
    async def first_only(arguments: dict[str, Any]) -> object:
        return {"breakpoints": [{"id": 70, "verified": True}]}

    async with paused("legacy") as (client, adapter):
        adapter.answer("setFunctionBreakpoints", first_only)
        adapter.answer("setBreakpoints", first_only)
        await client.call("breakpoint_set", file=adapter.program, line=3)
        await client.call("breakpoint_set", function="main")
        await client.call("breakpoint_set", function="work")
        listed = await client.read(BREAKPOINTS)
        states = [each["state"] for each in (*listed["breakpoints"], *listed["functionBreakpoints"])]
        assert states == ["Bound", "Pending", "Bound", "Pending"]
        pending = [line.endswith(", pending") for line in (await client.call("breakpoint_list"))["breakpoints"]]
        assert pending == [False, True, False, True]


async def test_breakpoints_that_the_adapter_moves_to_one_line_are_joined(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "one_breakpoint_per_line", True)

    async def moved(arguments: dict[str, Any]) -> object:
        lines = [each["line"] for each in arguments["breakpoints"]]
        return {"breakpoints": [{"id": 70 + line, "verified": True, "line": min(line, 8)} for line in lines]}

    async with paused("legacy") as (client, adapter):
        adapter.answer("setBreakpoints", moved)
        await client.call("breakpoint_set", file=adapter.program, line=8, condition="x > 1")
        await client.call("breakpoint_set", file=adapter.program, line=9, condition="x > 2")
        await client.call("breakpoint_set", file=adapter.program, line=10, log_message="here")
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"][1:] == [{"line": 8, "condition": "(x > 1) || (x > 2)"}]
        adapter.values.update({"x > 1": "true", "x > 2": "false"})
        await client.call("debug_continue", wait=False)
        await adapter.stop("breakpoint", hit=[78])
        assert (await client.call("debug_wait"))["breakpoints"] == ["bp-2"]
        listed = (await client.read(BREAKPOINTS))["breakpoints"]
        assert [each["hitCount"] for each in listed] == [0, 1, 0, 0]
        assert listed[3]["message"] == "overridden by bp-2, which is on the same line: remove one of the two"


async def test_an_end_names_the_breakpoints_at_which_nothing_stopped(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, line=3)
        await client.call("breakpoint_set", function="nosuch")
        await client.call("breakpoint_set", file=adapter.program, line=5, log_message="here")
        await launch(client, adapter)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(adapter.exit, 0)
            ended = await client.call("debug_wait")
        assert ended["notes"][0].startswith("no stop at bp-1 ")
        assert ended["notes"][0].endswith(":3; fn-2 nosuch")
        assert ended["notes"][1].startswith("no hit of tp-3 ")
        # In the next session they are of before, and may be meant for another program.
        await launch(client, adapter)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(adapter.exit, 0)
            again = await client.call("debug_wait")
        assert not [each for each in again.get("notes", []) if each.startswith("no ")]
