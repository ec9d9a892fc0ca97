"""Pauses that cross stops, their echoes, and stops that do not count: the rules of `session.suspension`."""

from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import SESSION, launch, paused, running
from tests.session.answers import refuse, stop
from trio_debugmcp.dap.profiles import Dialect
from trio_debugmcp.session.suspension import Suspension
from trio_debugmcp.testing import FakeAdapter, ToolFailed, connect


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
        assert (await client.call("debug_state"))["notes"] == ["the program is starting"]
        assert (await client.read(SESSION))["state"] == "Starting"
        assert (await client.call("debug_pause"))["reason"] == "Pause"
        commands = adapter.commands()
        assert commands.index("threads") > commands.index("configurationDone")


async def test_a_pause_that_the_adapter_refuses_fails_with_its_reason(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        adapter.answer("pause", partial(refuse, "not today"))
        with pytest.raises(ToolFailed, match="not today") as failed:
            await client.call("debug_pause")
        assert failed.value.code == "ADAPTER_FAILED"


async def test_no_pause_is_sent_to_a_program_that_has_stopped(autojump_clock: MockClock) -> None:
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


async def test_a_filtered_stop_counts_if_a_pause_is_requested_during_its_examination(
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
        assert [(stop["reason"], "exception" in stop) for stop in stops] == [("Pause", False)]
        assert adapter.sent("pause") == adapter.sent("continue") == []


async def test_a_filtered_stop_counts_if_it_crosses_a_pause(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="KeyError")
        adapter.answer("pause", partial(stop, adapter, reason="exception"))
        stopped = await client.call("debug_pause")
        assert (stopped["reason"], "exception" in stopped, adapter.sent("continue")) == ("Pause", False, [])


@pytest.mark.parametrize("echoes", [True, False])
async def test_a_resume_waits_until_a_stop_that_crossed_a_pause_cannot_be_repeated(
    echoes: bool, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As debugpy does it: had the program been resumed, requests about the second stop would never be answered."""
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


async def test_a_stop_that_is_reported_once_more_stays_what_it_was(
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
        assert (state["reason"], state["exception"]) == ("Exception", "ValueError: bad")
        await adapter.stop("pause")
        await trio.sleep(5)
        assert (await client.call("debug_state"))["reason"] == "Pause"


async def test_a_pause_still_counts_after_a_second_stop(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="KeyError")

        async def two(arguments: object) -> object:
            await adapter.stop("exception", text="ValueError")
            await adapter.stop("exception", text="ValueError")
            return {}

        adapter.answer("pause", two)
        assert ((await client.call("debug_pause"))["reason"], adapter.sent("continue")) == ("Pause", [])


async def test_a_pause_without_time_to_wait_is_sent_all_the_same(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        await client.call("debug_continue", wait=False)
        assert (await client.call("debug_pause", timeout=0))["timedOut"]
        await trio.sleep(1)
        assert len(adapter.sent("pause")) == 1


async def test_a_refused_pause_makes_no_later_stop_count(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="KeyError")
        adapter.answer("pause", partial(refuse, "not today"))
        with pytest.raises(ToolFailed, match="not today"):
            await client.call("debug_pause")
        await adapter.stop("exception", text="ValueError")
        await trio.sleep(5)
        assert len(adapter.sent("continue")) == 1


async def test_a_filtered_stop_that_cannot_be_resumed_is_published(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="KeyError")
        adapter.answer("continue", partial(refuse, "not today"))
        await adapter.stop("exception", text="ValueError")
        assert (await client.call("debug_wait"))["reason"] == "Pause"


async def test_a_resume_does_not_wait_after_a_stop_that_the_pause_caused(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "pause_echo_seconds", 0.7)
    async with running("legacy") as (client, adapter):
        adapter.answer("pause", partial(stop, adapter))
        assert (await client.call("debug_pause"))["reason"] == "Pause"
        stopped = trio.current_time()
        await client.call("debug_continue", wait=False)
        assert (adapter.commands()[-1], trio.current_time()) == ("continue", stopped)


async def test_of_two_pauses_at_once_either_may_be_repeated(
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


# --- The rules by themselves ---------------------------------------------------------------------------------


async def crossed() -> Suspension:
    """A program that has stopped at a breakpoint while a pause was on its way."""
    suspension = Suspension(pause_echo_seconds=0.7)
    suspension.begin_pause()
    suspension.report_stop("breakpoint")
    assert suspension.pause_requested
    return suspension


async def test_there_is_at_most_one_echo_of_a_stop(autojump_clock: MockClock) -> None:
    suspension = await crossed()
    assert suspension.is_echo("pause")
    assert not suspension.is_echo("pause")


async def test_a_stop_for_another_reason_is_not_an_echo(autojump_clock: MockClock) -> None:
    suspension = await crossed()
    assert not suspension.is_echo("step")
    assert suspension.is_echo("pause")


async def test_a_stop_after_a_resume_is_not_an_echo(autojump_clock: MockClock) -> None:
    suspension = await crossed()
    suspension.report_resume()
    assert not suspension.is_echo("pause")


async def test_an_echo_does_not_come_after_its_time(autojump_clock: MockClock) -> None:
    suspension = await crossed()
    await trio.sleep(0.7)
    assert not suspension.is_echo("pause")


async def test_waiting_for_an_echo_ends_with_it_or_with_its_time(autojump_clock: MockClock) -> None:
    suspension = await crossed()
    start = trio.current_time()
    await suspension.wait_echo()
    assert trio.current_time() - start == pytest.approx(0.7)
    await suspension.wait_echo()
    assert trio.current_time() - start == pytest.approx(0.7)


async def test_a_stopped_program_needs_no_pause_and_its_stop_counts(autojump_clock: MockClock) -> None:
    suspension = Suspension(pause_echo_seconds=0.7)
    assert suspension.want_pause()
    suspension.report_stop("exception")
    counts = [suspension.pause_requested]
    assert not suspension.want_pause()
    counts.append(suspension.pause_requested)
    suspension.report_resume()
    suspension.report_stop("exception")
    counts.append(suspension.pause_requested)
    assert counts == [False, True, False]


async def test_only_while_variables_are_fetched_at_a_stop_the_program_seems_to_continue() -> None:
    suspension = Suspension(0.5)
    assert not suspension.is_interlude()
    suspension.report_stop("breakpoint")
    assert not suspension.is_interlude()  # the program was resumed
    with suspension.reading():
        assert suspension.is_interlude()
    assert suspension.is_echo("breakpoint")
    assert not suspension.is_echo("breakpoint")
    with suspension.reading():
        assert suspension.is_interlude()
    suspension.report_resume()
    suspension.report_stop("step")
    assert not suspension.is_echo("step")  # of another stop


async def test_where_calls_are_reported_only_their_return_leaves_the_stop_as_it_is() -> None:
    suspension = Suspension(0.5, "function call")
    assert not suspension.is_interlude()
    suspension.report_stop("breakpoint")
    assert suspension.is_interlude()
    assert suspension.is_interlude()  # gdb reports it twice
    assert suspension.is_echo("function call")
    assert not suspension.is_echo("function call")
    assert suspension.is_interlude()
    assert not suspension.is_echo("signal")  # the function has crashed
    suspension.report_resume()
    assert not suspension.is_interlude()


# --- Pauses that are wanted no more -----------------------------------------------------------------------------------


def waiting() -> FakeAdapter:
    """A Python program that does not stop for a pause: it waits, though it says that it runs."""
    adapter = FakeAdapter()
    thread = {"id": 1, "name": "main", "state": "running", "daemon": False}
    adapter.probe = {"threads": {"threads": [thread], "total": 1}, "unpause": {"taken": True}}
    return adapter


def taken_back(adapter: FakeAdapter) -> int:
    return sum(name == "unpause" for name, _ in adapter.probed)


@pytest.mark.parametrize("cancelled", [False, True])
async def test_a_pause_without_a_caller_that_waits_is_taken_back(cancelled: bool, autojump_clock: MockClock) -> None:
    async with running("legacy", waiting()) as (client, adapter):
        with trio.move_on_after(2 if cancelled else 100) as scope:
            answer = await client.call("debug_pause", timeout=5)
            assert answer["timedOut"]
        assert scope.cancelled_caught == cancelled
        await trio.sleep(1)
        assert (len(adapter.sent("pause")), taken_back(adapter)) == (1, 1)
        # So the next one is not taken for an echo of that, and a stop is what it is.
        adapter.answer("pause", partial(stop, adapter))
        assert (await client.call("debug_pause"))["reason"] == "Pause"
        assert taken_back(adapter) == 1


async def test_a_pause_is_sent_once_a_silent_program_says_which_threads_it_has(autojump_clock: MockClock) -> None:
    """So what `debug_pause` says is true: it stays armed."""
    async with running("legacy", waiting()) as (client, adapter):
        answers = trio.Event()
        for command in ("threads", "evaluate"):
            plausible = adapter.answer_to(command)

            async def late(arguments: Any, plausible: Any = plausible) -> object:
                await answers.wait()
                return await plausible(arguments)

            adapter.answer(command, late)
        adapter.answer("pause", partial(stop, adapter))
        assert "The pause stays armed" in (await client.call("debug_pause"))["notes"][0]
        assert adapter.sent("pause") == []
        answers.set()
        assert (await client.call("debug_wait"))["reason"] == "Pause"
        assert len(adapter.sent("pause")) == 1


@pytest.mark.parametrize("stopped", [False, True])
async def test_a_pause_that_nothing_needs_any_more_when_the_threads_are_known_is_not_sent(
    stopped: bool, autojump_clock: MockClock
) -> None:
    async with running("legacy", waiting()) as (client, adapter):
        answers, plausible = trio.Event(), adapter.answer_to("threads")

        async def late(arguments: Any) -> object:
            await answers.wait()
            return await plausible(arguments)

        adapter.answer("threads", late)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(client.call, "debug_pause", timeout=1))
            await trio.sleep(0.5)
            if stopped:
                await adapter.event("stopped", {"reason": "breakpoint", "threadId": 1})
                answers.set()
        answers.set()
        await trio.sleep(1)
        assert adapter.sent("pause") == []
        assert taken_back(adapter) == 0


async def test_a_pause_that_another_client_waits_for_stays(autojump_clock: MockClock) -> None:
    async with running("legacy", waiting()) as (client, adapter), trio.open_nursery() as nursery:
        answers: list[Any] = []

        async def pause() -> None:
            answers.append(await client.call("debug_pause", timeout=20))

        nursery.start_soon(pause)
        await trio.sleep(1)
        assert (await client.call("debug_pause", timeout=2))["timedOut"]
        assert taken_back(adapter) == 0
        await adapter.stop("pause")
        await trio.sleep(1)
        assert [each["state"] for each in answers] == ["Paused"]


async def test_a_thread_that_has_stopped_meanwhile_keeps_the_pause(autojump_clock: MockClock) -> None:
    async with running("legacy", waiting()) as (client, adapter):
        assert adapter.probe is not None
        adapter.probe["unpause"] = {"taken": False}
        assert (await client.call("debug_pause", timeout=2))["timedOut"]
        await adapter.stop("pause")
        assert (await client.call("debug_wait", timeout=2))["reason"] == "Pause"
        adapter.probe["unpause"] = '{"error": {"kind": "slow", "message": "later"}}'
        await client.call("debug_continue", wait=False)
        assert (await client.call("debug_pause", timeout=2))["timedOut"]
        await adapter.stop("step")
        assert (await client.call("debug_wait", timeout=2))["state"] == "Paused"


@pytest.mark.parametrize("is_silent", [False, True])
async def test_pauses_that_all_clients_have_given_up_are_taken_back(is_silent: bool, autojump_clock: MockClock) -> None:
    async with running("legacy", waiting()) as (client, adapter):
        answers, plausible = trio.Event(), adapter.answer_to("threads")

        async def late(arguments: Any) -> object:
            await answers.wait()
            return await plausible(arguments)

        if is_silent:
            adapter.answer("threads", late)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(client.call, "debug_pause", timeout=1))
            nursery.start_soon(partial(client.call, "debug_pause", timeout=2))
        answers.set()
        await trio.sleep(1)
        assert (len(adapter.sent("pause")), taken_back(adapter)) == ((0, 0) if is_silent else (2, 1))
        # So the next one is not taken for an echo of those, and waits for a stop of its own.
        adapter.answer("pause", partial(stop, adapter))
        assert (await client.call("debug_pause"))["reason"] == "Pause"
        start = trio.current_time()
        await client.call("debug_continue", wait=False, timeout=0)
        assert trio.current_time() == start
