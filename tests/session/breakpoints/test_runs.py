"""Hidden breakpoints of runs (`session.runs`): which of the user's they hold, and that nothing of them is left."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure
from tests.session.passes import Passes
from trio_debugmcp.session.breakpoints.observations import ObservedPlace, Run
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.breakpoint import BreakpointSpec
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect, open_server

FILE = "/app.py"


@asynccontextmanager
async def kept() -> AsyncIterator[Debugger]:
    """Breakpoints of each kind, and no program."""
    async with open_server(FakeAdapter().options()) as server:
        debugger = server.app.debugger
        for spec in (
            BreakpointSpec(file=FILE, line=1),
            BreakpointSpec(file=FILE, line=2, log_message="x"),
            BreakpointSpec(function="work"),
            BreakpointSpec(address="0x10"),
        ):
            await debugger.breakpoints.set(spec)
        yield debugger


def held(debugger: Debugger) -> list[str]:
    return [each.id for each in debugger.state.breakpoints if each.is_held]


async def test_a_run_holds_what_would_stop_it_at_lines_and_in_functions(autojump_clock: MockClock) -> None:
    async with kept() as debugger:
        before, runs = debugger.state.stop_places, debugger.breakpoints.runs
        async with runs.observing(Run([ObservedPlace(file=FILE, line=9)], 1, holds=True)) as ids:
            assert ids == held(debugger) == ["bp-1", "fn-3"]
            # Other runs, which hold none, leave that as it is.
            async with runs.temporary(FILE, 5, "x > 1") as made:
                assert (made.spec.condition, made.spec.line) == ("x > 1", 5)
            async with runs.observing(Run([ObservedPlace(file=FILE, line=7)], 1)) as none:
                assert none == []
            assert held(debugger) == ids
        assert debugger.state.stop_places == before


async def test_a_run_that_holds_none_gets_none(autojump_clock: MockClock) -> None:
    async with kept() as debugger:
        async with debugger.breakpoints.runs.observing(Run([ObservedPlace(file=FILE, line=7)], 1)) as none:
            assert (none, held(debugger)) == ([], [])
        assert [each.id for each in debugger.state.stop_places] == ["bp-1", "tp-2", "fn-3", "bp-4"]


# --- In a program -----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def at_entry(
    probe: dict[str, Any] | None = None, **more: Any
) -> AsyncIterator[tuple[DebugClient, FakeAdapter, Passes]]:
    adapter = FakeAdapter()
    adapter.probe = probe
    if probe is not None:
        adapter.capabilities["hitRecords"] = "1"
    script = Passes(adapter, *((line, {"x": "1"}) for line in (10, 11, 12)), **more)
    async with connect(options=adapter.options()) as client:
        await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
        yield client, adapter, script


async def test_where_the_users_own_breakpoint_stops_a_run_to_that_line_is_one_to_it(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, _):
        await client.call("breakpoint_set", file=adapter.program, line=11)
        stop = await client.call("debug_run_to", file=adapter.program, line=11)
        assert stop["breakpoints"] == ["bp-1"]


async def test_a_place_that_the_adapter_has_not_verified_is_refused_with_its_reason(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, script):

        async def unverified(arguments: dict[str, Any]) -> object:
            return {
                "breakpoints": [{"id": 9, "verified": False, "message": "no code"} for _ in arguments["breakpoints"]]
            }

        adapter.answer("setBreakpoints", unverified)
        for tool, words in (("debug_run_to", "Cannot run to"), ("debug_run_until", "Cannot look at")):
            more = {"expression": "x"} if tool == "debug_run_until" else {}
            failed = await failure(client, tool, file=adapter.program, line=11, **more)
            assert (failed.code, failed.message.endswith(": no code")) == ("INVALID_PARAMETER", True)
            assert failed.message.startswith(words)
        assert script.here == 0, "it was not resumed"


@pytest.mark.parametrize("message", [None, "Class not yet loaded"])
async def test_a_run_goes_to_a_place_that_code_which_is_loaded_later_may_have(
    autojump_clock: MockClock, message: str | None
) -> None:
    async with at_entry() as (client, adapter, script):

        async def pending(arguments: dict[str, Any]) -> object:
            await script.set_lines(arguments)
            said = {} if message is None else {"message": message}
            return {"breakpoints": [{"id": id_, "verified": False, **said} for id_ in script.lines.values()]}

        adapter.answer("setBreakpoints", pending)
        stop = await client.call("debug_run_to", file=adapter.program, line=11)
        assert (stop["reason"], stop["at"].endswith(":11 in work"), stop.get("notes")) == ("Step", True, None)
        until = await client.call("debug_run_until", file=adapter.program, line=12, expression="x == 1")
        assert until["at"].endswith(":12 in work")
        failed = await failure(client, "debug_run_to", file=__file__, line=100_000)
        assert (failed.code, "no code follows line 100000 of the file, which has" in failed.message) == (
            "INVALID_PARAMETER",
            True,
        )
        end = await client.call("debug_run_to", file=adapter.program, line=99)
        why = message or "its adapter has set no breakpoint there yet, and does not say why"
        assert (end["state"], end["notes"]) == (
            "Disconnected",
            [f"line 99 was not reached; when the run began: {why}"],
        )


async def test_conditions_that_still_run_are_interrupted_once_a_run_is_over(autojump_clock: MockClock) -> None:
    probe = {"record": {"recording": True}, "over": {"interrupted": 1}}
    async with at_entry(probe, endless=True) as (client, adapter, _):
        plain = {"file": adapter.program, "line": 20}
        found = await client.call("batch_evaluate", experiments=[plain], timeout=2)
        assert "notes" not in found
        assert all(name != "over" for name, _ in adapter.probed), "there is no condition"
        found = await client.call("batch_evaluate", experiments=[{**plain, "condition": "x"}], timeout=2)
        assert found["notes"] == ["1 evaluation of the condition had not ended, and was interrupted"]

        async def hit() -> None:
            await trio.sleep(1)
            (hidden,) = [each for each in adapter.sent("setBreakpoints")[-1]["breakpoints"] if "run-to-" in str(each)]
            name, version = str(hidden["condition"]).partition("run-to-")[2].split('"', 1)
            record = ["capture", f"run-to-{name}", int(version.split(",")[1]), 1, "[1, []]"]
            await adapter.event("output", {"category": "tracepoint", "output": "", "data": {"hit_records": [record]}})

        asked = sum(name == "over" for name, _ in adapter.probed)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hit)
            found = await client.call("batch_evaluate", experiments=[{**plain, "condition": "x"}], timeout=9)
        assert found["ended"] == "complete"
        assert sum(name == "over" for name, _ in adapter.probed) == asked, "it has all its hits"
