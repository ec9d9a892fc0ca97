"""When changes are reported to editors: to who acts at once, to those who watch together and a moment later."""

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import OBSERVE, Bench, EditorClient, paused
from trio_debugmcp.dap.messages import ThreadEvent
from trio_debugmcp.state.changes import EventReceived
from trio_debugmcp.testing import FakeAdapter

WATCHERS = 20


async def step(bench: Bench, adapter: FakeAdapter) -> None:
    await bench.agent.call("debug_step", wait=False)
    await adapter.stop("step")
    await bench.agent.call("debug_wait")


async def test_a_step_of_the_agent_is_over_before_it_is_reported_to_those_who_watch_once_for_all(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), trio.open_nursery() as nursery:
        watchers: list[EditorClient] = []

        async def watch(*, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
            async with bench.editor() as editor:
                await editor.join(OBSERVE if len(watchers) % 2 else "control-token")
                watchers.append(editor)
                task_status.started()
                await trio.sleep_forever()

        for _ in range(WATCHERS):
            await nursery.start(watch)
        await trio.sleep(2)  # what they did when they joined is long over
        before, made = [len(each.events) for each in watchers], bench.door.rounds.made
        at = trio.current_time()
        await step(bench, adapter)
        assert trio.current_time() == at  # the answer waited for no one
        assert [len(each.events) for each in watchers] == before
        await trio.sleep(1)
        for each, known in zip(watchers, before, strict=True):
            assert [event["event"] for event in each.events[known:]] == ["continued", "stopped"]
            assert each.bodies("stopped")[-1]["reason"] == "step"
        assert bench.door.rounds.made == made + 1
        nursery.cancel_scope.cancel()


async def test_an_editor_that_steps_gets_events_at_once_also_after_it_has_watched(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await trio.sleep(5)
        at = trio.current_time()
        await editor.ask("next", threadId=1)
        await adapter.stop("step")
        await editor.wait_event("stopped", 2)
        assert trio.current_time() == at


async def test_changes_while_an_editor_watches_all_arrive_and_idle_ones_are_not_woken(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        for number in range(2, 6):
            await trio.sleep(3)
            made = bench.door.rounds.made
            await trio.sleep(60)
            assert bench.door.rounds.made == made
            await step(bench, adapter)
            await editor.wait_event("stopped", number)


async def test_an_agent_that_steps_faster_than_a_person_can_look_is_shown_ten_times_a_second_and_at_its_last_stop(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await trio.sleep(5)
        begin, known = trio.current_time(), len(editor.bodies("stopped"))
        for _ in range(40):
            await step(bench, adapter)
            await trio.sleep(0.05)
        assert trio.current_time() - begin == pytest.approx(2)
        assert len(editor.bodies("stopped")) - known == 20
        await trio.sleep(1)
        assert editor.log[-1] == "stopped"
        assert len(editor.bodies("stopped")) == len(editor.bodies("continued")) + 1


async def test_after_a_pause_the_first_stop_is_shown_without_delay(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await trio.sleep(5)
        for number in range(2, 5):
            await trio.sleep(1)
            at = trio.current_time()
            await step(bench, adapter)
            await editor.wait_event("stopped", number)
            assert trio.current_time() - at == pytest.approx(0.03)


async def test_changes_of_one_moment_all_reach_an_editor_that_begins_to_watch_by_the_first(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter):
        merger = bench.server.app.debugger.merger
        for first in range(100, 200, 10):  # Trio runs the tasks of a moment in any order
            async with bench.editor() as editor:
                await editor.join()
                await editor.ask("setBreakpoints", source={"path": adapter.program}, breakpoints=[])
                await adapter.event("thread", {"reason": "started", "threadId": first})
                await trio.sleep(5)  # what its person did is over: at the next change it begins to watch
                async with trio.open_nursery() as nursery:
                    for number in (first + 1, first + 2):
                        started = ThreadEvent(reason="started", thread_id=number)
                        nursery.start_soon(merger.merge, EventReceived("s-1", started))
                await trio.sleep(5)
                assert sorted(each["threadId"] for each in editor.bodies("thread")[-3:]) == [
                    first,
                    first + 1,
                    first + 2,
                ]
            await trio.sleep(20)
