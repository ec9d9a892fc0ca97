"""Requests that an adapter never answers and calls that a client cancels: each ends in bounded time."""

from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.server.scene import (
    SESSION,
    failure,
    launch,
    paused,
    running,
    still_works,
)
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect, open_server


async def timed_out(client: DebugClient, tool: str, **arguments: Any) -> bool:
    """Whether a call ran out of time: its error has that code, or its answer says so."""
    try:
        result = await client.call(tool, **arguments)
    except ToolFailed as failed:
        return failed.code == "TIMEOUT"
    return result.get("timedOut") is True and result["state"] == "Running"


# --- Adapters that never answer ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["initialize", "launch", "setBreakpoints", "configurationDone"])
@pytest.mark.parametrize("timeout", [2, 8])
async def test_a_launch_that_is_not_answered_ends_by_its_timeout(
    command: str, timeout: float, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.withhold(command)
    async with connect(options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, line=1)
        assert await timed_out(client, "debug_launch", program=adapter.program, timeout=timeout)
        assert trio.current_time() <= timeout + 1e-6
        assert (await client.call("debug_state"))["notes"] == ["the program is starting"]
        await client.call("debug_disconnect")
        assert (await client.call("debug_state"))["state"] == "Disconnected"
        assert "disconnect" in adapter.commands()
        adapter.restore()
        await still_works(client)


@pytest.mark.parametrize("timeout", [2, 20])
async def test_an_attachment_that_is_not_answered_ends_by_its_timeout(
    timeout: float, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.withhold("attach")
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_attach", port=5678, timeout=timeout)
        assert failed.code == "TIMEOUT"
        assert timeout <= trio.current_time() <= timeout + 1.1
        assert (await client.call("debug_state"))["state"] == "Disconnected"


async def test_a_cancelled_call_is_cancelled_and_recorded_as_that(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as client:
        await launch(client, adapter)
        with trio.move_on_after(3) as scope:
            await open_toolbox().call(server.app.debugger, "debug_wait", {"timeout": 100})
        assert scope.cancelled_caught
        events = (await client.call("timeline_query", types=["toolCalled"], full=True))["events"]
        assert (events[-1]["payload"]["tool"], events[-1]["payload"]["error"]) == ("debug_wait", "CANCELLED")


async def test_a_launch_whose_disconnect_is_not_answered_either_still_ends(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold("launch")
    adapter.withhold("disconnect")
    async with connect(options=adapter.options()) as client:
        answer = await client.call("debug_launch", program=adapter.program, timeout=5)
        assert (answer["timedOut"], answer["session"]) == (True, "s-1")
        assert answer["notes"] == ["the program is still starting: use debug_wait, or end it with debug_disconnect"]
        assert trio.current_time() == pytest.approx(5)
        await client.call("debug_disconnect")
        assert (await client.call("debug_state"))["state"] == "Disconnected"
        assert trio.current_time() - 5 <= 6 + 1e-6


@pytest.mark.parametrize(
    ("command", "tool", "arguments"),
    [
        ("continue", "debug_continue", {"timeout": 3}),
        ("next", "debug_step", {"timeout": 3}),
        ("stepIn", "debug_step", {"mode": "in", "timeout": 3}),
        ("stepOut", "debug_step", {"mode": "out", "timeout": 3}),
        ("continue", "debug_run_to", {"file": FakeAdapter.program, "line": 1, "timeout": 3}),
    ],
)
async def test_a_resume_that_is_not_answered_ends_by_its_timeout(
    command: str, tool: str, arguments: dict[str, Any], autojump_clock: MockClock
) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.withhold(command)
        start = trio.current_time()
        assert await timed_out(client, tool, **arguments)
        assert trio.current_time() - start <= 3 + 1e-6


async def test_a_pause_that_is_not_answered_ends_by_its_timeout(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        adapter.withhold("pause")
        start = trio.current_time()
        assert await timed_out(client, "debug_pause", timeout=3)
        assert trio.current_time() - start <= 3 + 1e-6


@pytest.mark.parametrize(
    ("command", "tool", "arguments", "code", "seconds"),
    [
        ("evaluate", "evaluate", {"expression": "x"}, "EVAL_TIMEOUT", 5),
        ("evaluate", "evaluate", {"expression": "x", "timeout": 1}, "EVAL_TIMEOUT", 1),
        ("stackTrace", "stacktrace_get", {"thread_id": 2}, "TIMEOUT", 10),
        ("scopes", "variables_get", {}, "TIMEOUT", 10),
        ("variables", "variables_get", {}, "TIMEOUT", 10),
        ("setBreakpoints", "breakpoint_set", {"file": FakeAdapter.program, "line": 5}, "TIMEOUT", 10),
        ("setBreakpoints", "breakpoint_remove", {"id": "*"}, "TIMEOUT", 10),
        ("setFunctionBreakpoints", "breakpoint_set", {"function": "main"}, "TIMEOUT", 10),
        ("setExceptionBreakpoints", "breakpoint_set_exception", {"exception_type": "*"}, "TIMEOUT", 10),
    ],
)
async def test_a_request_that_is_not_answered_fails_its_tool_and_nothing_else(
    command: str, tool: str, arguments: dict[str, Any], code: str, seconds: float, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(1, "main"), (2, "worker")]
    async with paused("legacy", adapter) as (client, _):
        adapter.withhold(command)
        start = trio.current_time()
        failed = await failure(client, tool, **arguments)
        assert failed.code == code
        assert trio.current_time() - start <= seconds + 1e-6
        assert (await client.read(SESSION))["state"] == "Paused"
        assert await client.call("debug_disconnect") == {"ended": True}


async def test_an_evaluation_that_waits_for_another_says_that_it_will_still_run(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.withhold("evaluate")
        await failure(client, "evaluate", expression="first()")
        waits = await failure(client, "evaluate", expression="second()")
        assert "for `first()`, which is still running" in waits.message
        assert "This one will still run when that has ended" in waits.message


@pytest.mark.parametrize(
    ("tool", "command"), [("debug_continue", "continue"), ("debug_step", "next"), ("debug_run_to", "continue")]
)
async def test_a_move_behind_an_unfinished_evaluation_is_not_sent_and_names_it(
    tool: str, command: str, autojump_clock: MockClock
) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.withhold("evaluate")
        first = await failure(client, "evaluate", expression="spin()")
        assert "which does not move until then. It may never end by itself; debug_restart ends it." in first.message
        start, sent = trio.current_time(), len(adapter.sent(command))
        arguments = {"file": adapter.program, "line": 1} if tool == "debug_run_to" else {}
        refused = await failure(client, tool, **arguments)
        assert refused.code == "TIMEOUT"
        assert "still evaluating `spin()` at this stop. Nothing was sent" in refused.message
        assert trio.current_time() - start == pytest.approx(1)
        assert len(adapter.sent(command)) == sent
        assert (await client.read(SESSION))["state"] == "Paused"


@pytest.mark.parametrize("second", [False, True])
async def test_the_program_moves_again_when_an_unfinished_evaluation_has_ended(
    second: bool, autojump_clock: MockClock
) -> None:
    ended = trio.Event()

    async def late(arguments: Any) -> Any:
        await ended.wait()
        return {"result": "1", "variablesReference": 0}

    async with paused("legacy") as (client, adapter):
        adapter.answer("evaluate", late)
        await failure(client, "evaluate", expression="spin()")
        if second:
            await failure(client, "evaluate", expression="spin()")
        adapter.withhold("evaluate")
        ended.set()
        await trio.testing.wait_all_tasks_blocked()
        sent = len(adapter.sent("evaluate"))
        adapter.answer("continue", adapter.answer_to("continue"), then=lambda: adapter.stop("breakpoint", hit=[1]))
        assert (await client.call("debug_continue"))["state"] == "Paused"
        assert len([each for each in adapter.sent("evaluate")[sent:] if each["expression"] == "1"]) == 0


async def test_an_adapter_that_forgets_one_evaluation_and_answers_the_next_moves(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.withhold("evaluate")
        await failure(client, "evaluate", expression="spin()")
        adapter.restore("evaluate")
        adapter.answer("continue", adapter.answer_to("continue"), then=lambda: adapter.stop("breakpoint", hit=[1]))
        assert (await client.call("debug_continue"))["state"] == "Paused"


async def test_an_evaluation_of_the_stop_before_holds_up_nothing(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.withhold("evaluate")
        await failure(client, "evaluate", expression="spin()")
        await adapter.stop("breakpoint", hit=[1])
        await trio.testing.wait_all_tasks_blocked()
        adapter.answer("continue", adapter.answer_to("continue"), then=lambda: adapter.stop("breakpoint", hit=[1]))
        start = trio.current_time()
        assert (await client.call("debug_continue"))["state"] == "Paused"
        assert trio.current_time() == start


async def test_breakpoints_that_wait_for_an_evaluation_say_so(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.withhold("evaluate")
        adapter.withhold("setBreakpoints")
        await failure(client, "evaluate", expression="input('?')")
        start = trio.current_time()
        waits = await failure(client, "breakpoint_set", file=adapter.program, line=5)
        assert (
            "'setBreakpoints' within 2 s: it is still evaluating `input('?')`. It will be carried out" in waits.message
        )
        assert "process_write_input" in waits.message
        assert trio.current_time() - start == pytest.approx(2)


async def test_a_disconnect_that_is_not_answered_ends_after_its_grace_period(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.withhold("disconnect")
        start = trio.current_time()
        assert await client.call("debug_disconnect") == {"ended": True}
        assert trio.current_time() - start == pytest.approx(6)
        assert await client.uris() == []


@pytest.mark.parametrize("command", ["threads", "stackTrace", "scopes", "variables"])
async def test_a_stop_whose_examination_is_not_answered_is_still_a_stop(
    command: str, autojump_clock: MockClock
) -> None:
    async with running("legacy") as (client, adapter):
        adapter.withhold(command)
        await adapter.stop("breakpoint", hit=[1])
        stop = await client.call("debug_wait", timeout=60)
        assert (stop["state"], stop["reason"]) == ("Paused", "Breakpoint")
        assert (await client.read(SESSION))["activeThreadId"] == 1


# --- Calls that are cancelled -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_wait_that_is_cancelled_leaves_the_program_running(era: Any, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        with trio.move_on_after(1):
            await client.call("debug_continue", timeout=100)
        assert (await client.read(SESSION))["state"] == "Running"
        await adapter.stop("breakpoint", hit=[1])
        assert (await client.call("debug_wait"))["breakpoints"] == ["bp-1"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_an_evaluation_that_is_cancelled_leaves_the_session_usable(era: Any, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        adapter.values = {"x": "1"}
        adapter.withhold("evaluate")
        with trio.move_on_after(1):
            await client.call("evaluate", expression="x", timeout=100)
        adapter.restore("evaluate")
        assert (await client.call("evaluate", expression="x"))["value"] == "1"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_launch_that_is_cancelled_ends_its_session(era: Any, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold("launch")
    async with connect(era, options=adapter.options()) as client:
        with trio.move_on_after(1):
            await launch(client, adapter)
        await trio.sleep(10)
        assert await client.uris() == []
        adapter.restore()
        await still_works(client)


async def test_a_run_to_that_is_cancelled_removes_its_breakpoint(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        with trio.move_on_after(1):
            await client.call("debug_run_to", file=adapter.program, line=9, timeout=100)
        await trio.sleep(1)
        assert [each["line"] for each in adapter.sent("setBreakpoints")[-2]["breakpoints"]] == [1, 9]
        assert [each["line"] for each in adapter.sent("setBreakpoints")[-1]["breakpoints"]] == [1]
        assert len((await client.call("breakpoint_list"))["breakpoints"]) == 1
