"""Events that come early, late, twice or incomplete: the state follows the events, never the responses."""

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.server.scene import SESSION, THREADS, failure, launch, paused, running, still_works
from trio_debugmcp.testing import ALL_CAPABILITIES, FakeAdapter, connect, open_server

# --- Order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer_after", [0.5, 8])
async def test_a_stop_that_overtakes_the_answer_of_its_step_is_the_stop(
    answer_after: float, autojump_clock: MockClock
) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.frames = [("main", "/src/app.py", 2)]

        async def stop_first(arguments: object) -> object:
            await adapter.stop("step")
            await trio.sleep(answer_after)
            return {}

        adapter.answer("next", stop_first)
        stop = await client.call("debug_step", timeout=20)
        assert (stop["state"], stop["reason"], stop["at"]) == ("Paused", "Step", "/src/app.py:2 in main")
        await trio.sleep(20)
        assert (await client.read(SESSION))["state"] == "Paused"


async def test_a_late_continued_event_changes_nothing(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter), client.subscribed(SESSION, THREADS):
        await client.call("debug_continue", wait=False)
        await trio.sleep(10)
        first = len(client.notices)
        await adapter.event("continued", {"threadId": 1, "allThreadsContinued": True})
        await trio.sleep(10)
        assert client.notices[first:] == []
        await adapter.stop("breakpoint", hit=[1])
        assert (await client.call("debug_wait"))["reason"] == "Breakpoint"


async def test_a_program_that_resumes_by_itself_is_running(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        await adapter.event("continued", {"threadId": 1})
        await trio.sleep(1)
        assert (await client.read(SESSION))["state"] == "Running"
        assert (await failure(client, "stacktrace_get")).code == "NOT_PAUSED"


async def test_a_second_initialized_starts_no_second_configuration(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        commands = adapter.commands()
        await adapter.event("initialized")
        await trio.sleep(10)
        assert adapter.commands() == commands
        assert (await client.read(SESSION))["state"] == "Running"


async def test_an_initialized_event_before_the_answer_to_initialize_counts(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def hasty(arguments: object) -> object:
        await adapter.event("initialized")
        await trio.sleep(0.5)
        return ALL_CAPABILITIES

    adapter.answer("initialize", hasty)
    async with connect(options=adapter.options()) as client:
        result = await client.call("debug_launch", program=adapter.program)
        assert result["reason"] == "Entry"
        assert adapter.commands().count("configurationDone") == 1


async def test_an_adapter_may_answer_launch_before_the_configuration(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def at_once(arguments: object) -> object:
        await trio.lowlevel.checkpoint()
        return None

    adapter.answer("launch", at_once)
    async with connect(options=adapter.options()) as client:
        result = await launch(client, adapter)
        assert result["state"] == "Running"


async def test_a_program_that_ends_during_a_step_has_exited(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):

        async def end(arguments: object) -> object:
            await adapter.exit(3)
            return {}

        adapter.answer("next", end)
        stop = await client.call("debug_step", count=5)
        assert (stop["state"], stop["reason"], stop["exitCode"]) == ("Disconnected", "Exited", 3)
        assert len(adapter.sent("next")) == 1
        assert (await failure(client, "debug_step")).code == "NO_SESSION"


async def test_a_series_of_steps_ends_at_a_breakpoint(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):

        async def step(arguments: object) -> object:
            steps = len(adapter.sent("next"))
            await adapter.stop("breakpoint" if steps == 3 else "step", hit=[1] if steps == 3 else [])
            return {}

        adapter.answer("next", step)
        stop = await client.call("debug_step", count=10)
        assert (stop["reason"], stop["breakpoints"]) == ("Breakpoint", ["bp-1"])
        assert len(adapter.sent("next")) == 3


# --- Threads ----------------------------------------------------------------------------------------------------------


async def test_a_thread_may_have_the_id_zero(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(0, "main"), (1, "worker")]
    async with running("legacy", adapter) as (client, _):
        await adapter.stop("pause", thread=0)
        stop = await client.call("debug_wait")
        assert stop["thread"] == "0 main"
        assert (await client.read(SESSION))["activeThreadId"] == 0
        assert [each["isCurrent"] for each in (await client.read(THREADS))["threads"]] == [True, False]
        await client.call("debug_continue", thread_id=0, wait=False)
        assert adapter.sent("continue")[-1]["threadId"] == 0


async def test_a_stopped_thread_that_the_adapter_does_not_list_is_listed(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await adapter.stop("pause", thread=7)
        await trio.sleep(1)
        threads = (await client.read(THREADS))["threads"]
        assert [(each["id"], each["state"], each["isCurrent"]) for each in threads] == [
            (1, "Suspended", False),
            (7, "Suspended", True),
        ]


async def test_a_stop_without_a_thread_and_with_an_unknown_reason_counts(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(7, "main")]
    async with running("legacy", adapter) as (client, _):
        await adapter.event("stopped", {"reason": "signal", "description": "SIGUSR1"})
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["says"]) == ("Pause", "SIGUSR1")
        assert (await client.read(SESSION))["activeThreadId"] == 7


# --- Programs that stop or end before the adapter has answered --------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "tool"), [("next", "debug_step"), ("continue", "debug_continue"), ("pause", "debug_pause")]
)
async def test_a_stop_is_reported_at_once_although_its_request_is_never_answered(
    command: str, tool: str, autojump_clock: MockClock
) -> None:
    async with running("legacy") if tool == "debug_pause" else paused("legacy") as (client, adapter):

        async def only_stop(arguments: object) -> object:
            await adapter.stop("breakpoint", hit=[1])
            return await trio.sleep_forever()

        adapter.answer(command, only_stop)
        start = trio.current_time()
        stop = await client.call(tool, timeout=5)
        assert (stop["state"], "timedOut" in stop, stop["breakpoints"]) == ("Paused", False, ["bp-1"])
        assert trio.current_time() == start


async def test_a_program_that_exits_together_with_its_adapter_during_a_step_has_exited(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy") as (client, adapter):

        async def exit_and_leave(arguments: object) -> object:
            await adapter.event("exited", {"exitCode": 3})
            await adapter.crash()
            return {}

        adapter.answer("next", exit_and_leave)
        stop = await client.call("debug_step")
        assert (stop["state"], stop["reason"], stop["exitCode"]) == ("Disconnected", "Exited", 3)


async def test_a_program_that_exits_before_its_launch_is_answered_has_exited(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def exit_first(arguments: object) -> object:
        await adapter.configured.wait()
        await adapter.exit(3)
        return {}

    adapter.answer("launch", exit_first)
    async with connect(options=adapter.options()) as client:
        stop = await client.call("debug_launch", program=adapter.program)
        assert (stop["state"], stop["reason"], stop["exitCode"]) == ("Disconnected", "Exited", 3)


async def test_a_session_whose_program_exits_ends_although_the_adapter_sends_no_terminated(
    autojump_clock: MockClock,
) -> None:
    async with running("legacy") as (client, adapter):
        start = trio.current_time()
        await adapter.event("exited", {"exitCode": 3})
        stop = await client.call("debug_wait", timeout=60)
        assert (stop["state"], stop["reason"], stop["exitCode"]) == ("Disconnected", "Exited", 3)
        assert trio.current_time() == pytest.approx(start + 5)
        await still_works(client)


async def test_a_handshake_that_another_client_ends_fails_at_once(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold("configurationDone")
    async with open_server(adapter.options()) as server, server.connect() as one, server.connect() as two:
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def _() -> None:
                await trio.sleep(1)
                assert await two.call("debug_disconnect") == {"ended": True}

            failed = await failure(one, "debug_launch", program=adapter.program)
        assert (failed.code, "debug_disconnect" in failed.message) == ("LAUNCH_FAILED", True)
        assert trio.current_time() == 1
