"""Two clients, one session: what one asks for while the other changes everything."""

from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import launch, paused, running
from trio_debugmcp.dap.profiles import Dialect
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
        with pytest.raises(ToolFailed, match="was resumed in the meantime") as failed:
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
        with pytest.raises(ToolFailed, match="was resumed in the meantime") as failed:
            await client.call("variables_get")
        assert failed.value.code == "NOT_PAUSED"
        assert adapter.commands()[asked:] == ["scopes", "continue"]


async def test_a_resume_that_is_refused_leaves_everything_to_be_asked(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.answer("continue", partial(refuse, "not now"))
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


async def stop(adapter: FakeAdapter, arguments: object, *, reason: str = "pause") -> object:
    await adapter.stop(reason)
    return {}


async def refuse(text: str, arguments: object) -> object:
    raise Refusal(text)


async def refuse_at_the_end(text: str, adapter: FakeAdapter, nursery: trio.Nursery, arguments: object) -> object:
    """The program has just ended, and the adapter says so a little later."""
    nursery.start_soon(exit_soon, adapter)
    raise Refusal(text)


async def exit_soon(adapter: FakeAdapter) -> None:
    await trio.sleep(0.5)
    await adapter.exit(7)


async def test_a_pause_of_a_program_that_is_just_ending_tells_its_end(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter), trio.open_nursery() as nursery:
        adapter.answer("threads", partial(refuse_at_the_end, "Server is not available", adapter, nursery))
        over = await client.call("debug_pause")
        assert (over["state"], over["reason"], over["exitCode"]) == ("Disconnected", "Exited", 7)


async def test_a_pause_that_is_refused_for_another_reason_says_so(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        adapter.answer("pause", partial(refuse, "not today"))
        with pytest.raises(ToolFailed, match="not today") as failed:
            await client.call("debug_pause")
        assert failed.value.code == "ADAPTER_FAILED"


async def test_a_program_that_has_stopped_is_not_told_to_pause(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter), trio.open_nursery() as nursery:
        frames = adapter.answer_to("stackTrace")

        async def slowly(arguments: dict[str, Any]) -> object:
            nursery.start_soon(pause)
            await trio.sleep(1)
            return await frames(arguments)

        async def pause() -> None:
            stops.append((await client.call("debug_pause"))["reason"])

        stops: list[str] = []
        adapter.answer("stackTrace", slowly)
        await adapter.stop("step")
        await trio.sleep(5)
        assert (stops, adapter.sent("pause")) == (["Step"], [])


async def test_a_stop_that_does_not_count_does_when_somebody_wants_a_pause_meanwhile(
    autojump_clock: MockClock,
) -> None:
    async with running("legacy") as (client, adapter), trio.open_nursery() as nursery:
        await client.call("breakpoint_set_exception", exception_type="KeyError")

        async def slowly(arguments: object) -> object:
            nursery.start_soon(pause)
            await trio.sleep(1)
            return {"exceptionId": "ValueError", "description": "bad", "breakMode": "always"}

        async def pause() -> None:
            stops.append(await client.call("debug_pause"))

        stops: list[dict[str, Any]] = []
        adapter.answer("exceptionInfo", slowly)
        await adapter.stop("exception", text="ValueError")
        await trio.sleep(5)
        assert [(stop["reason"], stop["exception"]) for stop in stops] == [("Pause", None)]
        assert adapter.sent("pause") == adapter.sent("continue") == []


async def test_a_stop_that_does_not_count_does_when_it_crosses_a_pause(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="KeyError")
        adapter.answer("pause", partial(stop, adapter, reason="exception"))
        stopped = await client.call("debug_pause")
        assert (stopped["reason"], stopped["exception"], adapter.sent("continue")) == ("Pause", None, [])


@pytest.mark.parametrize("echoes", [True, False])
async def test_a_stop_that_crosses_a_pause_is_left_only_once_it_cannot_be_told_of_again(
    echoes: bool, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As debugpy does it: had the program gone on, what is asked about the second stop would never be answered."""
    monkeypatch.setattr(Dialect, "pause_echo_seconds", 0.7)
    async with running("legacy") as (client, adapter), trio.open_nursery() as nursery:
        adapter.answer("pause", partial(stop, adapter, reason="breakpoint"))
        assert (await client.call("debug_pause"))["reason"] == "Breakpoint"
        stopped = trio.current_time()

        async def echo() -> None:
            await trio.sleep(0.5)
            await adapter.stop("pause")

        if echoes:
            nursery.start_soon(echo)
        await client.call("debug_continue", wait=False)
        assert adapter.commands()[-1] == "continue"
        assert trio.current_time() - stopped == pytest.approx(0.5 if echoes else 0.7)
        assert (await client.call("debug_state"))["state"] == "Running"


async def test_a_stop_that_is_told_of_again_stays_what_it_was(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "pause_echo_seconds", 0.7)
    async with running("legacy") as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="ValueError")
        adapter.answer("pause", partial(stop, adapter, reason="exception"))
        await client.call("debug_pause")
        await trio.sleep(0.5)
        await adapter.stop("pause")
        await trio.sleep(5)
        state = await client.call("debug_state")
        assert (state["pauseReason"], state["exception"]["type"]) == ("Exception", "ValueError")
        await adapter.stop("pause")
        await trio.sleep(5)
        assert (await client.call("debug_state"))["pauseReason"] == "Pause"


async def test_a_second_stop_does_not_make_a_pause_forgotten(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="KeyError")

        async def two(arguments: object) -> object:
            await adapter.stop("exception", text="ValueError")
            await adapter.stop("exception", text="ValueError")
            return {}

        adapter.answer("pause", two)
        assert ((await client.call("debug_pause"))["reason"], adapter.sent("continue")) == ("Pause", [])


async def test_a_pause_whose_time_is_up_at_once_is_told_to_the_adapter(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        await client.call("debug_continue", wait=False)
        assert (await client.call("debug_pause", timeout=0))["timedOut"]
        await trio.sleep(1)
        assert len(adapter.sent("pause")) == 1


async def test_a_pause_that_was_refused_makes_no_later_stop_count(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="KeyError")
        adapter.answer("pause", partial(refuse, "not today"))
        with pytest.raises(ToolFailed, match="not today"):
            await client.call("debug_pause")
        await adapter.stop("exception", text="ValueError")
        await trio.sleep(5)
        assert len(adapter.sent("continue")) == 1


async def test_a_stop_that_does_not_count_and_cannot_be_left_is_shown(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="KeyError")
        adapter.answer("continue", partial(refuse, "not today"))
        await adapter.stop("exception", text="ValueError")
        assert (await client.call("debug_wait"))["reason"] == "Pause"


async def test_a_stop_that_a_pause_has_brought_about_is_left_at_once(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "pause_echo_seconds", 0.7)
    async with running("legacy") as (client, adapter):
        adapter.answer("pause", partial(stop, adapter))
        assert (await client.call("debug_pause"))["reason"] == "Pause"
        stopped = trio.current_time()
        await client.call("debug_continue", wait=False)
        assert (adapter.commands()[-1], trio.current_time()) == ("continue", stopped)


async def test_of_two_pauses_at_once_either_may_be_told_of_again(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "pause_echo_seconds", 0.7)
    async with running("legacy") as (client, adapter):

        async def late(arguments: object) -> object:
            if len(adapter.sent("pause")) == 2:
                await adapter.stop("pause")
            return {}

        adapter.answer("pause", late)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.call, "debug_pause")
            nursery.start_soon(client.call, "debug_pause")
        stopped = trio.current_time()
        await client.call("debug_continue", wait=False, timeout=0)
        assert adapter.commands()[-1] == "continue"
        assert trio.current_time() - stopped == pytest.approx(0.7)


async def test_a_step_of_a_program_that_is_just_ending_tells_its_end(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "has_lost_program", lambda _, refusal: refusal == "it is no more")
    async with paused("legacy") as (client, adapter), trio.open_nursery() as nursery:
        adapter.answer("next", partial(refuse_at_the_end, "it is no more", adapter, nursery))
        over = await client.call("debug_step")
        assert (over["state"], over["reason"], over["exitCode"]) == ("Disconnected", "Exited", 7)


async def test_a_program_that_ends_as_soon_as_it_runs_was_launched(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "has_lost_program", lambda _, refusal: refusal == "it is no more")
    monkeypatch.setattr(Dialect, "runtime_request", lambda _: ("whoAreYou", None))
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client, trio.open_nursery() as nursery:
        adapter.answer("whoAreYou", partial(refuse_at_the_end, "it is no more", adapter, nursery))
        over = await launch(client, adapter, wait=True)
        assert (over["stop"]["reason"], over["stop"]["exitCode"]) == ("Exited", 7)


async def test_whoever_steps_on_at_once_does_not_wait_for_where_other_threads_are(autojump_clock: MockClock) -> None:
    """Of a thread that waits, debugpy says where it is after half a second, and answers nothing else meanwhile."""
    adapter = FakeAdapter()
    adapter.threads = [(number, f"worker {number}") for number in range(1, 6)]
    frames = adapter.answer_to("stackTrace")

    async def slowly(arguments: dict[str, Any]) -> object:
        if arguments["threadId"] in (2, 3):
            await trio.sleep(0.5)
            return {"stackFrames": [], "totalFrames": 0}
        return await frames(arguments)

    adapter.answer("stackTrace", slowly)
    adapter.answer("next", partial(stop, adapter))

    def asked_for() -> list[int]:
        return [arguments["threadId"] for arguments in adapter.sent("stackTrace")]

    async with paused("legacy", adapter) as (client, _):
        assert asked_for() == [1, 2]
        for _ in range(3):
            await client.call("debug_step")
        assert asked_for() == [1, 2, 1, 1, 1]
        await trio.sleep(5)
        assert asked_for()[5:] == [3]
        await client.call("debug_step")
        await trio.sleep(5)
        assert asked_for()[6:] == [1, 4, 5, 2]
        await client.call("debug_step")
        await trio.sleep(5)
        assert asked_for()[10:] == [1, 4, 5, 3]
        places = [thread["location"] is not None for thread in (await client.call("threads_list"))["threads"]]
        assert places == [True, False, False, True, True]
