"""Timeline, tracepoints and completions against real debugpy."""

import mcp_types as types
import pytest

from tests.real.conftest import Connect, at, line_of, program
from trio_debugmcp.testing.connect import Era

OUTPUT, TIMELINE, SESSION, THREADS = (f"debugger://{name}" for name in ("output", "timeline", "session", "threads"))


async def test_the_timeline_has_the_events_of_a_session_in_order_and_outlives_it(debugging: Connect, era: Era) -> None:
    async with debugging(era) as client:
        await client.call("breakpoint_set", **at("errors.py", "empty = {}"))
        await client.call("breakpoint_set_exception", exception_type="SoldOut")
        await client.call("debug_launch", program=program("errors.py"), stop_at_entry=True, stop_on_uncaught=False)
        await client.call("debug_continue")
        await client.call("debug_continue")
        await client.call("debug_step")
        await client.call("breakpoint_remove", id="*")
        await client.call("debug_continue")
        events = (await client.call("timeline_query", count=1000, full=True))["events"]
        assert [each["eventId"] for each in events] == list(range(events[0]["eventId"], events[-1]["eventId"] + 1))
        unordered = {"toolStarted", "toolCalled", "threadStarted", "output"}
        in_no_fixed_order = {"breakpointChanged", "moduleLoaded", "threadExited", "clientJoined"}
        story = [each for each in events if each["type"] not in in_no_fixed_order]
        assert [each["type"] for each in story if each["type"] not in unordered] == [
            "breakpointSet",
            "breakpointSet",
            "sessionStarted",
            "stopped",
            "continued",
            "stopped",
            "exception",
            "breakpointHit",
            "continued",
            "stopped",
            "breakpointHit",
            "stepped",
            "stopped",
            "breakpointRemoved",
            "breakpointRemoved",
            "continued",
            "sessionEnded",
        ]
        of = {kind: [each for each in events if each["type"] == kind] for kind in {each["type"] for each in events}}
        assert [each["payload"]["reason"] for each in of["stopped"]] == ["Entry", "Exception", "Breakpoint", "Step"]
        assert of["stopped"][2]["payload"]["location"]["line"] == line_of("errors.py", "empty = {}")
        assert of["stopped"][2]["threadId"] == of["breakpointHit"][1]["threadId"] > 0
        assert of["exception"][0]["payload"]["message"] == "nothing left"
        assert of["sessionEnded"][0]["payload"]["exitCode"] == 1
        assert any("Traceback" in each["payload"]["text"] for each in of["output"])
        assert [each["payload"]["tool"] for each in of["toolCalled"]][2:4] == ["debug_launch", "debug_continue"]
        assert all(each["timestamp"].endswith("+00:00") for each in events)


async def test_a_program_that_runs_and_writes_is_followed_without_stopping_it(debugging: Connect, era: Era) -> None:
    async with debugging(era) as client:
        await client.call("breakpoint_set", **at("steps.py", "# in loop"), log_message="total is {total}")
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        async with client.subscribed(OUTPUT, TIMELINE):
            await client.call("breakpoint_set", **at("steps.py", "# last"))
            stop = (await client.call("debug_continue"))["reason"]
            assert stop == "Breakpoint"
            traced = (await client.call("timeline_query", types=["tracepoint"], full=True))["events"]
            assert [each["payload"]["text"] for each in traced] == [f"total is {n}" for n in (0, 0, 1, 3, 6)]
            assert [each["payload"]["hitCount"] for each in traced] == [1, 2, 3, 4, 5]
            first = len(client.notices)
            await client.call("debug_step", mode="over", wait=False)
            await client.wait_notice(OUTPUT, after=first)
            await client.wait_notice(TIMELINE, after=first)


@pytest.mark.parametrize("typed", ["fir", "first.bit_le"])
async def test_debugpy_completes_expressions(debugging: Connect, era: Era, typed: str) -> None:
    async with debugging(era) as client:
        await client.call("breakpoint_set", **at("steps.py", "# last"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        ref = types.PromptReference(name="trace_data_flow")
        found = (await client.sdk.complete(ref, {"name": "variable", "value": typed})).completion.values
        assert {"fir": "first", "first.bit_le": "first.bit_length"}[typed] in found
        source = types.ResourceTemplateReference(uri="debugger://source/{+file}")
        files = (await client.sdk.complete(source, {"name": "file", "value": "steps"})).completion.values
        assert program("steps.py") in files
