"""Sessions that break: the adapter dies or sends garbage, or a bug of ours raises. The server continues."""

from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.server.scene import (
    BREAKPOINTS,
    LIST_CHANGED,
    SESSION,
    failure,
    launch,
    paused,
    running,
    still_works,
)
from trio_debugmcp.dap.profiles import Dialect
from trio_debugmcp.testing import FakeAdapter, FakeProfile, connect

# --- Adapters that die or send garbage --------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["debug_continue", "debug_step", "debug_wait"])
@pytest.mark.parametrize("garbage", [False, True])
async def test_an_adapter_that_dies_while_a_tool_waits_fails_the_tool_and_may_be_started_again(
    tool: str, garbage: bool, autojump_clock: MockClock
) -> None:
    async with paused("legacy") as (client, adapter), client.subscribed(SESSION), trio.open_nursery() as nursery:
        if tool == "debug_wait":
            await client.call("debug_continue", wait=False)
        start = trio.current_time()

        @nursery.start_soon
        async def _() -> None:
            await trio.sleep(1)
            if garbage:
                await adapter.send_raw(b"Traceback (most recent call last):\n")
            else:
                await adapter.crash()

        failed = await failure(client, tool, timeout=20)
        assert failed.code == "ADAPTER_GONE"
        assert ("Traceback (most recent" in failed.message) is garbage
        assert trio.current_time() - start <= 1 + 1e-6
        await trio.sleep(1)
        assert client.notices[-1].what == LIST_CHANGED
        state = await client.call("debug_state")
        assert state["state"] == "Disconnected"
        assert state["notes"], "why it ended"
        await still_works(client)


@pytest.mark.parametrize("command", ["initialize", "launch", "configurationDone", "setExceptionBreakpoints"])
async def test_an_adapter_that_dies_during_the_handshake_fails_the_launch(
    command: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()

    async def die(arguments: object) -> object:
        await adapter.crash()
        return {}

    adapter.answer(command, die)
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_launch", program=adapter.program)
        assert failed.code == "ADAPTER_FAILED"
        assert trio.current_time() == 0
        assert await client.uris() == []
        adapter.restore()
        await still_works(client)


async def test_an_adapter_that_prints_a_traceback_is_quoted(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def blurt(arguments: object) -> object:
        await adapter.send_raw(b"ModuleNotFoundError: No module named 'adapter'\nsomewhere\n")
        await adapter.crash()
        return {}

    adapter.answer("initialize", blurt)
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_launch", program=adapter.program)
        assert failed.code == "ADAPTER_FAILED"
        assert "No module named 'adapter'" in failed.message


@pytest.mark.parametrize("tool", ["evaluate", "variables_get", "stacktrace_get"])
async def test_an_inspection_during_which_the_adapter_dies_says_that_it_is_gone(
    tool: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(1, "main"), (2, "worker")]
    async with paused("legacy", adapter) as (client, _):

        async def die(arguments: object) -> object:
            await adapter.crash()
            return {}

        for command in ("evaluate", "scopes", "stackTrace"):
            adapter.answer(command, die)
        needed: dict[str, dict[str, Any]] = {"evaluate": {"expression": "x"}, "stacktrace_get": {"thread_id": 2}}
        assert (await failure(client, tool, **needed.get(tool, {}))).code == "ADAPTER_GONE"


async def test_a_program_whose_adapter_closes_without_terminated_has_exited(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            await trio.sleep(1)
            await adapter.event("exited", {"exitCode": 3})
            await adapter.crash()  # without a `terminated`

        stop = await client.call("debug_continue")
        assert (stop["state"], stop["reason"], stop["exitCode"]) == ("Disconnected", "Exited", 3)


async def test_breakpoints_survive_an_adapter_that_dies_and_bind_again(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["state"] == "Bound"
        await adapter.crash()
        await trio.sleep(10)
        (kept,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert kept.startswith("bp-1 "), "pending, as all are without a session"
        await launch(client, adapter)
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["state"] == "Bound"


async def test_bytes_that_are_not_a_dap_message_are_quoted_as_text(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            await trio.sleep(1)
            await adapter.send_raw(b"Oh \xff!\n")

        failed = await failure(client, "debug_continue")
        assert 'expected a DAP header (received "Oh \ufffd!\\n")' in failed.message


# --- Bugs of ours -----------------------------------------------------------------------------------------------------


async def test_a_reverse_request_that_hits_a_bug_of_ours_is_refused_and_the_session_continues(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(self: object, configuration: object) -> None:
        raise ValueError("no such port")

    monkeypatch.setattr(FakeProfile, "serves_child", trip)
    async with running("legacy") as (client, adapter):
        answer = await adapter.reverse_request("startDebugging", {"request": "launch", "configuration": {}})
        assert answer["success"] is False
        assert "no such port" in answer["message"]
        assert (await client.read(SESSION))["state"] == "Running"


@pytest.mark.parametrize("question", ["settings_requests", "runtime_request"])
async def test_a_launch_that_hits_a_bug_of_ours_fails_with_a_code(
    question: str, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object) -> None:
        raise ValueError("unheard of")

    monkeypatch.setattr(Dialect, question, trip)
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_launch", program=adapter.program)
        assert failed.code == "ADAPTER_FAILED"
        monkeypatch.undo()
        await still_works(client)


async def test_a_session_that_ends_by_a_bug_of_ours_says_so(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object) -> None:
        raise ValueError("unheard of")

    async with paused("legacy") as (client, adapter):
        monkeypatch.setattr(Dialect, "condition_failure", trip)
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def _() -> None:
                await trio.sleep(1)
                await adapter.event("output", {"output": "hello"})

            failed = await failure(client, "debug_continue")
        assert failed.code == "ADAPTER_GONE"
        assert "internal error" in (await client.call("debug_state"))["notes"][0]
        monkeypatch.undo()
        await still_works(client)
