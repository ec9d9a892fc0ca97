"""Editors and agents at once: one wins where only one can, each learns of the other, and leaving changes nothing."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import OBSERVE, EditorClient, Refused, open_bench, paused
from trio_debugmcp.editors import child_sessions
from trio_debugmcp.testing import FakeAdapter, ToolFailed
from trio_debugmcp.testing.fake_adapter import FakeProfile
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES


async def test_of_two_who_step_at_once_one_wins_and_the_other_is_refused(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as one, bench.editor() as other:
        await one.join()
        await other.join(hello={"clientName": "Other"})
        outcomes: list[str] = []

        async def step(editor: EditorClient) -> None:
            try:
                await editor.ask("next", threadId=1)
                outcomes.append("stepped")
            except Refused as refused:
                outcomes.append(refused.word or "")

        async def agent_steps() -> None:
            try:
                await bench.agent.call("debug_step", wait=False)
                outcomes.append("stepped")
            except ToolFailed as failed:
                outcomes.append(failed.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(step, one)
            nursery.start_soon(step, other)
            nursery.start_soon(agent_steps)
        assert outcomes.count("stepped") == 1
        assert {*outcomes} <= {"stepped", "notStopped", "NOT_PAUSED"}
        assert adapter.commands().count("next") == 1


async def test_an_editor_is_among_the_clients_of_the_timeline_until_it_leaves(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _):
        async with bench.editor() as editor:
            await editor.join(OBSERVE)
        await trio.sleep(1)
        events = (await bench.agent.read("debugger://timeline"))["events"]
        seen = [
            (each["type"], each["payload"]["name"], each["payload"]["role"])
            for each in events
            if "client" in each["type"]
        ]
        assert seen[-2:] == [("clientJoined", "Test Editor", "observe"), ("clientLeft", "Test Editor", "observe")]


async def test_the_calls_of_an_editor_are_a_persons_on_the_timeline_and_those_of_the_agent_are_not(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        adapter.values["count"] = "3"
        await editor.ask("evaluate", expression="count", frameId=frame["id"], context="repl")
        await editor.ask("next", threadId=1)
        await adapter.stop("step")
        await bench.agent.call("debug_state")
        for kind in ("toolStarted", "toolCalled"):
            events = (await bench.agent.call("timeline_query", types=[kind], full=True))["events"]
            calls = [(each["payload"]["tool"], each["payload"].get("person")) for each in events]
            assert calls[:2] == [("debug_launch", None), ("debug_wait", None)]
            assert calls[2:] == [("evaluate", True), ("debug_step", True), ("debug_state", None)]


@pytest.mark.parametrize("phase", ["connected", "initialized", "attached", "configured", "moving", "waiting"])
async def test_an_editor_that_vanishes_in_any_phase_changes_nothing(phase: str, autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter):
        async with bench.editor() as editor, trio.open_nursery() as nursery:
            if phase in ("initialized", "attached", "waiting"):
                await editor.initialize()
            if phase == "attached":
                await editor.ask("attach", token="control-token")
            if phase == "waiting":
                await editor.send("attach", {"token": "control-token", "wait": True, "sessionId": "s-99"})
            if phase in ("configured", "moving"):
                await editor.join()
            if phase == "moving":
                adapter.withhold("next")
                await editor.send("next", {"threadId": 1})
            await trio.sleep(1)
            nursery.cancel_scope.cancel()
        await trio.sleep(1)
        if phase == "moving":  # what it has begun is carried out
            await adapter.stop("step")
            await bench.agent.call("debug_wait")
        assert (await bench.agent.call("debug_state"))["state"] == "Paused"
        assert not {"disconnect", "terminate"} & {*adapter.commands()}
        assert bench.admission.statistics().control == 0


async def test_the_program_ends_for_all_when_a_person_asks_to_terminate(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor, bench.editor() as other:
        await editor.join()
        await other.join(hello={"clientName": "Other"})
        await editor.ask("disconnect", terminateDebuggee=True)
        await other.wait_event("terminated")
        assert (await bench.agent.call("debug_state"))["state"] == "Disconnected"


async def test_the_end_of_the_program_is_reported_with_its_output_before(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await bench.agent.call("debug_continue", wait=False)
        await adapter.event("output", {"category": "stdout", "output": "the end\n"})
        await adapter.exit(3)
        await editor.wait_event("terminated")
        assert [each["output"] for each in editor.bodies("output")] == ["the end\n"]
        assert editor.bodies("exited") == [{"exitCode": 3}]
        assert editor.log[-3:] == ["output", "exited", "terminated"]
        assert (await editor.refused("threads")).args[0].startswith("There is no debug session")


async def test_output_from_before_is_shown_bounded_and_what_follows_as_it_comes(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter):
        for _ in range(10):
            await adapter.event("output", {"category": "stdout", "output": "x" * 9_999 + "\n"})
        await trio.sleep(1)
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("stopped")
            before = [each["output"] for each in editor.bodies("output")]
            assert before[0] == "… 40000 characters before\n"
            assert sum(map(len, before[1:])) == 60_000
            await adapter.event("output", {"category": "stderr", "output": "late"})
            await adapter.event("output", {"category": "stderr", "output": " line\n"})
            await editor.wait(lambda: "".join(each["output"] for each in editor.bodies("output")[7:]) == "late line\n")
            assert editor.bodies("output")[-1]["category"] == "stderr"


async def test_a_restart_by_the_agent_keeps_the_editor_in_the_program(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.ask("setBreakpoints", source={"path": adapter.program}, breakpoints=[{"line": 5}])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bench.agent.call, "debug_restart")
            await editor.wait_event("process", 2)
            await adapter.stop("entry")
        await editor.wait_event("stopped", 2)
        assert editor.bodies("terminated") == []
        assert (await editor.top_frame())["name"] == "main"
        assert [each["line"] for each in (await bench.agent.read("debugger://breakpoints"))["breakpoints"]] == [5]


async def test_a_restart_by_an_editor_is_a_call_of_the_tool(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.ask("restart")
        await editor.wait_event("process", 2)
        await adapter.stop("entry")
        await editor.wait_event("stopped", 2)
        await trio.sleep(1)
        assert "a person (Test Editor) restarted the program" in (await bench.agent.call("debug_wait"))["notes"]


async def test_a_pause_by_an_editor_is_answered_at_once_and_its_stop_is_an_event(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.ask("continue", threadId=1)
        await editor.ask("pause", threadId=1)
        await trio.sleep(0.1)
        await adapter.stop("pause")
        assert (await editor.wait_event("stopped", 2))["reason"] == "pause"


async def test_an_editor_goes_to_a_line_and_into_one_of_several_calls(autojump_clock: MockClock) -> None:
    able = {"supportsGotoTargetsRequest": True, "supportsStepInTargetsRequest": True, "supportsRestartFrame": True}
    adapter = FakeAdapter({**ALL_CAPABILITIES, **able})
    adapter.frames = [("main", adapter.program, 1)]

    async def lines(arguments: dict[str, Any]) -> Any:
        return {"targets": [{"id": 40, "label": "line 3", "line": 3}]}

    async def calls(arguments: dict[str, Any]) -> Any:
        return {"targets": [{"id": 41, "label": "f(x)"}, {"id": 42, "label": "g(x)"}]}

    adapter.answer("gotoTargets", lines)
    adapter.answer("stepInTargets", calls)
    adapter.answer("goto", adapter.answer_to("goto"), then=lambda: adapter.stop("goto"))
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        [target] = (await editor.ask("gotoTargets", source={"path": adapter.program}, line=3))["targets"]
        await editor.ask("goto", threadId=1, targetId=target["id"])
        assert adapter.sent("goto")[-1]["targetId"] == 40
        assert (await editor.wait_event("stopped", 2))["reason"] == "goto"
        [note] = (await bench.agent.call("debug_state"))["notes"]
        assert "went to fake_adapter.py:1 in main without running" in note
        frame = await editor.top_frame()
        targets = (await editor.ask("stepInTargets", frameId=frame["id"]))["targets"]
        assert [each["label"] for each in targets] == ["f(x)", "g(x)"]
        await editor.ask("stepIn", threadId=1, targetId=targets[1]["id"])
        assert adapter.sent("stepIn")[-1]["targetId"] == 42


async def test_while_a_person_holds_the_program_an_editor_is_refused_with_who_holds_it(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.server.connect() as page, bench.editor() as editor:
        await editor.join()
        await page.call("person_join", key="the tab of a page")
        await page.call("session_hold")
        refused = await editor.refused("next", threadId=1)
        assert ("holds the session" in str(refused), refused.show) == (True, True)
        assert "next" not in adapter.commands()
        await page.call("session_hand_back")
        await editor.ask("next", threadId=1)
        assert adapter.commands()[-1] == "next"
        clients = (await page.read("debugger://people"))["clients"]
        assert {(each["name"], each["person"]) for each in clients} == {
            ("mcp", False),
            ("mcp", True),
            ("Test Editor", True),
        }


# --- Children ---------------------------------------------------------------------------------------------------------


async def test_an_editor_that_can_is_asked_to_open_each_child_session_over_the_same_door(
    autojump_clock: MockClock,
) -> None:
    adapter, child = FakeAdapter(), FakeAdapter()
    adapter.children = {7: child}
    async with paused(adapter) as (bench, _), bench.editor() as editor, bench.editor() as second:
        await editor.join(hello={"supportsStartDebuggingRequest": True}, type="debugpy", connect={"port": 1})
        await adapter.reverse_request("startDebugging", {"request": "attach", "configuration": {"child": 7}})
        await editor.wait(lambda: bool(editor.asked))
        [request] = editor.asked
        configuration = request["arguments"]["configuration"]
        assert (configuration["sessionId"], configuration["connect"]) == ("s-2", {"port": 1})
        await editor.answer(request)
        await child.stop("breakpoint")
        await second.initialize()
        await second.ask("attach", **configuration)
        await second.ask("configurationDone")
        assert (await second.wait_event("stopped"))["reason"] == "breakpoint"
        assert len(editor.bodies("stopped")) == 1  # its own


async def test_a_child_session_has_no_tasks_of_the_configuration_that_has_started_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.children = {7: FakeAdapter()}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        tasks: dict[str, Any] = {"preLaunchTask": "open the tunnel", "postDebugTask": "close it", "debugServer": 4711}
        await editor.join(hello={"supportsStartDebuggingRequest": True}, **tasks)
        await adapter.reverse_request("startDebugging", {"request": "attach", "configuration": {"child": 7}})
        await editor.wait(lambda: bool(editor.asked))
        [request] = editor.asked
        assert not {"preLaunchTask", "postDebugTask"} & request["arguments"]["configuration"].keys()
        assert request["arguments"]["configuration"]["debugServer"] == 4711


async def test_sessions_are_offered_side_by_side_to_an_editor_that_does_not_answer(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.children = {number: FakeAdapter() for number in range(12)}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        for number in adapter.children:
            asked = {"request": "attach", "configuration": {"child": number}}
            await adapter.reverse_request("startDebugging", asked)
        await trio.sleep(1)
        await editor.join(hello={"supportsStartDebuggingRequest": True})
        start = trio.current_time()
        numbers: list[int] = []
        for _ in range(4):
            await trio.sleep(1)
            numbers.append(len(editor.asked))
            await trio.sleep(9)
        assert trio.current_time() == start + 40
        assert numbers == [5, 10, 12, 12]
        opened = [each["arguments"]["configuration"]["sessionId"] for each in editor.asked]
        assert len({*opened}) == 12


async def test_an_answer_makes_room_for_the_next_offer(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.children = {number: FakeAdapter() for number in range(8)}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join(hello={"supportsStartDebuggingRequest": True})
        for number in adapter.children:
            asked = {"request": "attach", "configuration": {"child": number}}
            await adapter.reverse_request("startDebugging", asked)
        await trio.sleep(1)
        start = trio.current_time()
        await editor.answer(editor.asked[0])
        await editor.answer(editor.asked[1], success=False)
        await editor.wait(lambda: len(editor.asked) == 7)
        assert trio.current_time() == start


async def test_an_editor_that_has_launched_is_offered_the_children_of_its_program_and_of_no_other(
    autojump_clock: MockClock,
) -> None:
    adapter, child, other = FakeAdapter(), FakeAdapter(), FakeAdapter()
    adapter.children = {7: child}
    async with open_bench(adapter) as bench, bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.initialize(supportsStartDebuggingRequest=True)
        wanted = {"token": "control-token", "program": adapter.program, "args": ["a"], "type": "debugpy", "port": 1}
        nursery.start_soon(lambda: editor.ask("launch", **wanted))
        await editor.wait_event("initialized")
        await editor.ask("configurationDone")
        await editor.wait_event("process")
        profile = bench.server.app.debugger.settings.profiles[0]
        assert isinstance(profile, FakeProfile)
        profile.adapter = other
        second = {"program": other.program, "stop_at_entry": False, "wait": False, "new_session": True}
        await bench.agent.call("debug_launch", **second)
        profile.adapter = adapter
        await adapter.reverse_request("startDebugging", {"request": "attach", "configuration": {"child": 7}})
        await trio.sleep(5)
        [request] = editor.asked
        configuration = request["arguments"]["configuration"]
        assert {*configuration} == {"token", "type", "port", "request", "name", "sessionId", "wait", "partOf"}
        assert configuration["sessionId"] == "s-3"


async def test_no_more_sessions_are_offered_than_an_editor_can_show(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_sessions, "MAX_OFFERED", 3)
    adapter = FakeAdapter()
    adapter.children = {number: FakeAdapter() for number in range(5)}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join(hello={"supportsStartDebuggingRequest": True})
        for number in adapter.children:
            asked = {"request": "attach", "configuration": {"child": number}}
            await adapter.reverse_request("startDebugging", asked)
        await trio.sleep(60)
        assert len(editor.asked) == 3


async def test_an_editor_with_one_place_shows_the_session_in_focus(autojump_clock: MockClock) -> None:
    adapter, child = FakeAdapter(), FakeAdapter()
    adapter.children = {7: child}
    child.frames = [("in_child", "/src/child.py", 9)]
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        await bench.agent.call("debug_continue", wait=False)
        await adapter.reverse_request("startDebugging", {"request": "attach", "configuration": {"child": 7}})
        await child.connected.wait()
        await trio.sleep(1)
        await child.stop("breakpoint")
        await editor.wait_event("stopped", 2)
        assert (await editor.top_frame())["name"] == "in_child"


# --- Starting ---------------------------------------------------------------------------------------------------------


async def test_an_editor_launches_a_program_that_the_agent_finds(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        await editor.initialize()
        wanted = {
            "token": "control-token",
            "type": "fake",
            "program": adapter.program,
            "args": ["a"],
            "stopOnEntry": True,
        }
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: editor.ask("launch", **wanted))
            await editor.wait_event("initialized")
            [made] = (await editor.ask("setBreakpoints", source={"path": adapter.program}, breakpoints=[{"line": 5}]))[
                "breakpoints"
            ]
            assert (made["verified"], made["message"]) == (False, "not set in the program yet")
            await editor.ask("configurationDone")
        assert adapter.sent("launch")[0] == {"program": adapter.program, "args": ["a"], "stopOnEntry": True}
        stop = await bench.agent.call("debug_wait")
        assert (stop["reason"], stop["state"]) == ("Entry", "Paused")
        await editor.wait_event("stopped")
        verified = [each["breakpoint"]["verified"] for each in editor.bodies("breakpoint")]
        assert verified == [True]
        assert (await editor.top_frame())["name"] == "main"


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"program": "/nowhere.py"}, "nowhere.py"),
        ({"program": FakeAdapter.program, "type": "chrome"}, "browser"),
        ({}, "Pass one of"),
        ({"program": FakeAdapter.program, "noDebug": True}, "only runs programs to debug them"),
    ],
)
async def test_a_launch_that_fails_says_why_and_ends(
    more: dict[str, Any], problem: str, autojump_clock: MockClock
) -> None:
    async with open_bench(FakeAdapter()) as bench, bench.editor() as editor:
        await editor.initialize()
        refusals: list[Refused] = []

        async def launch() -> None:
            refusals.append(await editor.refused("launch", token="control-token", **more))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(launch)
            await editor.wait_event("initialized")
            await editor.ask("configurationDone")
        await editor.wait_event("terminated")
        assert problem in str(refusals[0])


async def test_a_launch_beside_a_program_is_refused_unless_it_asks_for_that(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, bench.editor() as observer:
        await editor.initialize()
        refused = await editor.refused("launch", token="control-token", program=adapter.program)
        assert "session" in str(refused)
        await observer.initialize()
        assert "observe" in str(await observer.refused("launch", token=OBSERVE, program=adapter.program))
