"""Two clients, one session: what one asks for while the other changes everything."""

from functools import partial

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import launch, paused, running
from trio_debugmcp.testing import FakeAdapter, ToolFailed, connect
from trio_debugmcp.testing.fake_adapter import Refusal


async def test_a_call_that_waits_for_the_adapter_ends_with_the_session(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter), trio.open_nursery() as nursery:
        adapter.withhold("evaluate")
        adapter.withhold("setBreakpoints")

        async def look() -> None:
            with pytest.raises(ToolFailed) as failed:
                await client.call("evaluate", expression="x", timeout=100)
            assert (failed.value.code, trio.current_time()) == ("ADAPTER_GONE", ended)

        async def set_breakpoint() -> None:
            made = await client.call("breakpoint_set", file=adapter.program, line=9)
            assert (made["breakpoint"]["state"], trio.current_time()) == ("Pending", ended)

        nursery.start_soon(look)
        nursery.start_soon(set_breakpoint)
        await trio.sleep(1)
        ended = trio.current_time()
        await client.call("debug_disconnect")


@pytest.mark.parametrize("command", ["scopes", "variables", "evaluate"])
async def test_what_was_asked_about_a_stop_that_is_over_is_not_paused_any_more(
    command: str, autojump_clock: MockClock
) -> None:
    async with paused("legacy") as (client, adapter):

        async def too_late(arguments: object) -> object:
            await client.call("debug_continue", wait=False)
            raise Refusal("Unable to find thread to evaluate variable reference.")

        adapter.answer(command, too_late)
        tool, arguments = ("evaluate", {"expression": "x"}) if command == "evaluate" else ("variables_get", {})
        with pytest.raises(ToolFailed, match="has gone on meanwhile") as failed:
            await client.call(tool, **arguments)
        assert failed.value.code == "NOT_PAUSED"


async def test_nothing_is_asked_about_a_stop_once_another_client_has_let_the_program_go(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy") as (client, adapter):

        async def slowly(arguments: object) -> object:
            await client.call("debug_continue", wait=False)
            return {"scopes": [{"name": "Locals", "variablesReference": 7, "presentationHint": "locals"}]}

        adapter.answer("scopes", slowly)
        asked = len(adapter.requests)
        with pytest.raises(ToolFailed, match="has gone on meanwhile") as failed:
            await client.call("variables_get")
        assert failed.value.code == "NOT_PAUSED"
        assert adapter.commands()[asked:] == ["scopes", "continue"]


async def test_a_resume_that_is_refused_leaves_everything_to_be_asked(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):

        async def refuse(arguments: object) -> object:
            raise Refusal("not now")

        adapter.answer("continue", refuse)
        with pytest.raises(ToolFailed, match="not now"):
            await client.call("debug_continue")
        assert (await client.call("variables_get"))["variables"] == []


async def test_a_pause_while_the_program_starts_waits_for_it_to_run(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def slowly(arguments: object) -> object:
        await trio.sleep(3)
        return adapter.capabilities

    adapter.answer("initialize", slowly)
    adapter.answer("pause", partial(stop, adapter))
    async with connect(options=adapter.options()) as client, trio.open_nursery() as nursery:
        nursery.start_soon(launch, client, adapter)
        await trio.sleep(1)
        assert (await client.call("debug_state"))["state"] == "Starting"
        assert (await client.call("debug_pause"))["reason"] == "Pause"
        commands = adapter.commands()
        assert commands.index("threads") > commands.index("configurationDone")


async def stop(adapter: FakeAdapter, arguments: object) -> object:
    await adapter.stop("pause")
    return {}


async def test_a_pause_of_a_program_that_is_just_ending_tells_its_end(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter), trio.open_nursery() as nursery:

        async def end() -> None:
            await trio.sleep(0.5)
            await adapter.exit(7)

        async def refuse(arguments: object) -> object:
            nursery.start_soon(end)
            raise Refusal("Server is not available")

        adapter.answer("threads", refuse)
        over = await client.call("debug_pause")
        assert (over["state"], over["reason"], over["exitCode"]) == ("Disconnected", "Exited", 7)


async def test_a_pause_that_is_refused_for_another_reason_says_so(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):

        async def refuse(arguments: object) -> object:
            raise Refusal("not today")

        adapter.answer("pause", refuse)
        with pytest.raises(ToolFailed, match="not today") as failed:
            await client.call("debug_pause")
        assert failed.value.code == "ADAPTER_FAILED"
