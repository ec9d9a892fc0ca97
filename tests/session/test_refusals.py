"""Requests that one side refuses: the adapter ours, and we the reverse requests of the adapter."""

from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.server.scene import (
    BREAKPOINTS,
    LIST_CHANGED,
    SESSION,
    THREADS,
    failure,
    launch,
    paused,
    running,
    still_works,
)
from trio_debugmcp.testing import DebugClient, FakeAdapter, Refusal, ToolFailed, connect, open_server


def refusing(reason: str) -> Any:
    async def refuse(arguments: object) -> object:
        await trio.lowlevel.checkpoint()
        raise Refusal(reason)

    return refuse


# --- Adapters that refuse ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("early", [True, False])
async def test_a_launch_that_is_refused_says_why_and_may_be_tried_again(early: bool, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def refuse(arguments: object) -> object:
        if not early:
            await adapter.configured.wait()
        raise Refusal("no such interpreter")

    adapter.answer("launch", refuse)
    async with connect(options=adapter.options()) as client, client.subscribed(SESSION):
        failed = await failure(client, "debug_launch", program=adapter.program)
        assert failed.code == "LAUNCH_FAILED"
        assert "no such interpreter" in failed.message
        await trio.sleep(1)
        assert [each.what for each in client.notices].count(LIST_CHANGED) == 2
        adapter.restore()
        await still_works(client)


async def test_an_attach_that_is_refused_says_why(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.answer("attach", refusing("operation not permitted"))
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_attach", port=5678)
        assert (failed.code, "operation not permitted" in failed.message) == ("ATTACH_FAILED", True)


async def test_a_step_that_is_refused_leaves_the_program_paused(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.answer("next", refusing("thread is not suspended"))
        failed = await failure(client, "debug_step")
        assert (failed.code, "thread is not suspended" in failed.message) == ("ADAPTER_FAILED", True)
        assert (await client.read(SESSION))["state"] == "Paused"
        assert (await client.read(THREADS))["stale"] is False


async def test_when_two_clients_continue_at_once_a_refusal_of_the_second_leaves_the_program_running(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    calls = 0

    async def only_once(arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls > 1:
            await trio.sleep(0.1)
            raise Refusal("already running")
        return {}

    adapter.answer("continue", only_once)
    async with open_server(adapter.options()) as server, server.connect() as one, server.connect("modern") as two:
        await launch(one, adapter, stop_at_entry=True, wait=True)
        codes: list[str | None] = []

        async def resume(client: DebugClient) -> None:
            try:
                await client.call("debug_continue", wait=False)
            except ToolFailed as failed:
                codes.append(failed.code)
            else:
                codes.append(None)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(resume, one)
            nursery.start_soon(resume, two)
        assert codes.count(None) >= 1
        assert (await one.read(SESSION))["state"] == "Running"


async def test_a_breakpoint_that_is_refused_is_kept_and_says_why(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        adapter.answer("setBreakpoints", refusing("no code here"))
        made = await client.call("breakpoint_set", file=adapter.program, line=5)
        assert (made["state"], made["message"]) == ("Pending", "no code here")
        assert (await client.read(BREAKPOINTS))["breakpoints"][1]["verified"] is False


@pytest.mark.parametrize("tool", ["evaluate", "variables_get"])
async def test_an_evaluation_that_fails_returns_the_error_of_the_program(tool: str, autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, _):
        arguments = {"expression": "nothing"} if tool == "evaluate" else {"path": "nothing"}
        failed = await failure(client, tool, **arguments)
        assert (failed.code, "NameError: name 'nothing' is not defined" in failed.message) == ("EVAL_FAILED", True)


@pytest.mark.parametrize("command", ["threads", "stackTrace", "scopes", "variables", "exceptionInfo"])
async def test_a_stop_whose_examination_is_refused_is_still_a_stop(command: str, autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        adapter.answer(command, refusing("not now"))
        await adapter.stop("exception", text="ValueError")
        stop = await client.call("debug_wait", timeout=60)
        assert (stop["state"], stop["reason"], stop["exception"].partition(":")[0]) == (
            "Paused",
            "Exception",
            "ValueError",
        )


# --- Reverse requests -------------------------------------------------------------------------------------------------


async def test_an_unknown_reverse_request_is_refused_and_not_ignored(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        answer = await adapter.reverse_request("makeCoffee", {"sugar": 2})
        assert (answer["success"], answer["command"]) == (False, "makeCoffee")
        assert "does not serve" in answer["message"]
        assert (await client.read(SESSION))["state"] == "Running"


@pytest.mark.real
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("runInTerminal", {}),
        ("runInTerminal", {"args": "ls", "cwd": "/"}),
        ("runInTerminal", {"args": [], "cwd": "/"}),
        ("runInTerminal", {"args": ["a\0b"], "cwd": "/"}),
        ("runInTerminal", {"args": ["true"], "cwd": "/", "env": {"a=b": "c"}}),
        ("startDebugging", {"request": "launch"}),
        ("startDebugging", {"request": "launch", "configuration": {}}),
    ],
)
async def test_an_invalid_reverse_request_is_refused(
    command: str, arguments: dict[str, Any], autojump_clock: MockClock
) -> None:
    async with running("legacy") as (client, adapter):
        answer = await adapter.reverse_request(command, arguments)
        assert answer["success"] is False
        assert answer["message"]
        assert (await client.read(SESSION))["state"] == "Running"


async def test_a_program_that_leaves_instead_of_answering_a_resume_runs_and_is_out_of_reach(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy") as (client, adapter):

        async def leave(arguments: object) -> object:
            await adapter.event("programLost", {"reason": "it has closed the connection"})
            await trio.sleep(0.1)
            raise Refusal("it has closed the connection")

        adapter.answer("continue", leave)
        answer = await client.call("debug_continue", timeout=1)
        assert (answer["state"], answer.get("locals")) == ("Running", None)
        state = await client.call("debug_state")
        assert state["state"] == "Running"
        assert "out of reach: it has closed the connection" in state["notes"][0]
