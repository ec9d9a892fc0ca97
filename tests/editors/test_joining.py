"""An editor joins a session that an agent has, at any time, and leaves it as it was."""

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import CONTROL, OBSERVE, open_bench, paused
from trio_debugmcp.testing import FakeAdapter


async def test_an_editor_that_joins_late_gets_the_last_stop_with_its_frames_and_values(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        stop = await editor.wait_event("stopped")
        assert (stop["reason"], stop["threadId"], stop["allThreadsStopped"]) == ("entry", 1, True)
        assert (await editor.ask("threads"))["threads"] == [{"id": 1, "name": "MainThread"}]
        frame = await editor.top_frame()
        assert (frame["name"], frame["line"]) == ("main", 1)
        assert [(each["name"], each["value"]) for each in await editor.locals()] == [("count", "3")]


async def test_the_stop_is_reported_once_an_editor_knows_the_threads_or_a_moment_later(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _), bench.editor() as editor, bench.editor() as silent:
        for each in (editor, silent):
            await each.initialize()
            await each.ask("attach", token=CONTROL)
            await each.ask("configurationDone")
        configured = trio.current_time()
        await trio.sleep(0.2)
        assert {"stopped"} & {*editor.log, *silent.log} == set()
        await editor.ask("threads")
        await editor.wait_event("stopped")
        assert editor.log.index("response threads") < editor.log.index("stopped")
        assert trio.current_time() - configured < 0.3
        await silent.wait_event("stopped")
        assert trio.current_time() - configured == pytest.approx(0.3)


async def test_a_step_of_an_editor_is_the_agents_next_stop_and_its_notes_say_who_stepped(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.wait_event("stopped")
        await editor.ask("next", threadId=1)
        assert adapter.commands()[-1] == "next"
        adapter.frames = [("main", "/src/app.py", 2)]
        await adapter.stop("step")
        stop = await bench.agent.call("debug_wait")
        assert (stop["at"], stop["notes"]) == ("/src/app.py:2 in main", ["a person (Test Editor) stepped over"])
        assert (await editor.wait_event("stopped", 2))["reason"] == "step"
        assert [each for each in editor.log if each in ("response next", "stopped")][-2:] == [
            "response next",
            "stopped",
        ]


@pytest.mark.parametrize("configured", [True, False])
async def test_an_editor_that_steps_before_the_stop_was_reported_steps_from_it(
    configured: bool, autojump_clock: MockClock
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.initialize()
        await editor.ask("attach", token=CONTROL)
        if configured:
            await editor.ask("configurationDone")
        await editor.ask("next", threadId=1)
        assert adapter.commands()[-1] == "next"
        adapter.frames = [("main", "/src/app.py", 2)]
        await adapter.stop("step")
        if not configured:
            await editor.ask("configurationDone")
        assert (await editor.wait_event("stopped"))["reason"] == "step"
        assert (await editor.top_frame())["line"] == 2
        await trio.sleep(1)
        assert (editor.log.count("stopped"), editor.log.count("continued")) == (1, 0)


@pytest.mark.parametrize("command", ["next", "continue", "stepOut"])
async def test_a_step_that_was_meant_for_the_stop_before_is_refused(command: str, autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.wait_event("stopped")
        await trio.sleep(2)  # it watches, so that what follows is reported a moment later
        await bench.agent.call("debug_step", wait=False)
        await adapter.stop("step")
        await bench.agent.call("debug_wait")
        refused = await editor.refused(command, threadId=1)
        assert (refused.word, str(refused)) == ("notStopped", "The program has stopped elsewhere meanwhile.")
        before = adapter.commands()
        await editor.wait_event("stopped", 2)
        assert adapter.commands() == before
        await editor.ask(command, threadId=1)
        assert adapter.commands()[-1] == command


async def test_a_step_before_the_next_stop_is_reported_is_refused_also_when_the_resume_was(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.wait_event("stopped")
        await trio.sleep(2)
        await bench.agent.call("debug_step", wait=False)
        await editor.wait_event("continued")
        await adapter.stop("step")
        await bench.agent.call("debug_wait")
        assert (await editor.refused("next", threadId=1)).word == "notStopped"


async def test_a_step_of_the_agent_is_reported_to_the_editor(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.wait_event("stopped")
        await bench.agent.call("debug_step", wait=False)
        assert (await editor.wait_event("continued"))["threadId"] == 1
        await adapter.stop("step")
        assert (await editor.wait_event("stopped", 2))["reason"] == "step"


async def test_a_breakpoint_of_an_editor_is_among_all_breakpoints(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        source = {"path": adapter.program}
        answer = await editor.ask("setBreakpoints", source=source, breakpoints=[{"line": 5, "condition": "x > 1"}])
        [made] = answer["breakpoints"]
        assert (made["verified"], made["line"]) == (True, 5)
        [known] = (await bench.agent.read("debugger://breakpoints"))["breakpoints"]
        assert (known["id"], known["line"], known["condition"]) == (f"bp-{made['id']}", 5, "x > 1")


async def test_an_editor_that_disconnects_changes_nothing(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter):
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("stopped")
            before = len(adapter.requests)
            await editor.ask("disconnect")
            await editor.wait_closed()
        assert (await bench.agent.call("debug_state"))["state"] == "Paused"
        assert adapter.commands()[before:] == []


async def test_an_agent_learns_that_the_person_in_an_editor_has_ended_the_session(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        await editor.wait_event("stopped")
        await editor.ask("disconnect", terminateDebuggee=True)
        await editor.wait_closed()
        (note,) = [each for each in (await bench.agent.call("debug_state"))["notes"] if "disconnected" in each]
        assert note.startswith("disconnected by a person (")


@pytest.mark.parametrize("leaving", ["terminate", "disconnect"])
async def test_a_launch_that_does_not_come_to_an_end_is_given_up_when_its_person_stops_it(
    leaving: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.withhold("launch")
    async with open_bench(adapter) as bench, bench.editor() as editor:
        await editor.initialize()
        await editor.send("launch", {"token": CONTROL, "program": adapter.program})
        await editor.wait_event("initialized")
        await editor.ask("configurationDone")
        await trio.sleep(1)
        assert "launch" in adapter.commands()
        start = trio.current_time()
        await editor.ask(leaving, **({"terminateDebuggee": True} if leaving == "disconnect" else {}))
        assert trio.current_time() - start < 10  # the adapter has its time to end the program
        if leaving == "terminate":
            await editor.wait_event("terminated")
            assert editor.log.count("response launch") == 1
        assert (await bench.agent.call("debug_state"))["state"] == "Disconnected"


async def test_an_editor_waits_for_a_session_until_terminate(autojump_clock: MockClock) -> None:
    async with open_bench(FakeAdapter()) as bench, bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.initialize()

        async def attach() -> None:
            assert (await editor.refused("attach", token=CONTROL, wait=True)).word == "cancelled"

        nursery.start_soon(attach)
        await editor.wait_event("initialized")
        await editor.ask("terminate")
        await editor.wait_event("terminated")


async def test_an_editor_that_waits_joins_the_next_session(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.initialize()
        refused = await editor.refused("attach", token="control-token")
        assert "There is no debug session. With" in str(refused)
    async with open_bench(adapter) as bench, bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.initialize()

        async def attach() -> None:
            await editor.ask("attach", token=OBSERVE, wait=True)

        nursery.start_soon(attach)
        await trio.sleep(100)
        assert editor.log == ["response initialize", "capabilities", "initialized"]
        await editor.ask("configurationDone")
        await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await adapter.stop("pause")
        await editor.wait_event("stopped")


@pytest.mark.parametrize(
    ("token", "words"),
    [(None, "needs a token"), ("", "needs a token"), ("wrong", "token is wrong"), ("control-token2", "token is wrong")],
)
async def test_without_a_valid_token_nothing_is_said_about_the_session(
    token: str | None, words: str, autojump_clock: MockClock
) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.initialize()
        refused = await editor.refused("attach", **({} if token is None else {"token": token}))
        assert words in str(refused)
        await editor.wait_closed()
        assert editor.log == ["response initialize", "response attach"]
