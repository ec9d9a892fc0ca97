"""What an editor asks for is done where it means it: in that thread, file, program and stop."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import Bench, Refused, open_bench, paused
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES


def able(*more: str) -> FakeAdapter:
    return FakeAdapter({**ALL_CAPABILITIES, **dict.fromkeys(more, True)})


async def test_a_frame_of_another_thread_than_the_one_that_stopped_is_restarted(autojump_clock: MockClock) -> None:
    adapter = able("supportsRestartFrame")
    adapter.threads = [(1, "Main"), (2, "Worker")]

    async def stack(asked: dict[str, Any]) -> dict[str, Any]:
        frame = {"id": 1000 * asked["threadId"], "name": "f", "line": 3, "column": 1}
        return {"stackFrames": [{**frame, "source": {"path": adapter.program}}], "totalFrames": 1}

    adapter.answer("stackTrace", stack)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        [frame] = (await editor.ask("stackTrace", threadId=2))["stackFrames"]
        with trio.move_on_after(1):
            await editor.ask("restartFrame", frameId=frame["id"])
        assert adapter.sent("restartFrame") == [{"frameId": 2000}]


async def test_a_target_of_goto_in_another_file_than_that_of_the_stop_is_not_taken_for_a_line_of_this_one(
    autojump_clock: MockClock,
) -> None:
    adapter = able("supportsGotoTargetsRequest")

    async def targets(asked: dict[str, Any]) -> dict[str, Any]:
        return {"targets": [{"id": 1, "label": asked["source"]["path"], "line": asked["line"]}]}

    adapter.answer("gotoTargets", targets)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        [target] = (await editor.ask("gotoTargets", source={"path": "/src/other.py"}, line=1))["targets"]
        await editor.refused("goto", threadId=1, targetId=target["id"])
        assert adapter.sent("goto") == []


@pytest.mark.parametrize("path", ["/src/a\0.py", "file:///src/a%00.py", "file://[/a.py"])
async def test_a_path_that_no_file_can_have_is_refused_in_words(autojump_clock: MockClock, path: str) -> None:
    adapter = able("supportsGotoTargetsRequest")
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        for command, more in (
            ("setBreakpoints", {"breakpoints": [{"line": 1}]}),
            ("source", {"sourceReference": 0}),
            ("gotoTargets", {"line": 1}),
        ):
            refused = await editor.refused(command, source={"path": path}, **more)
            assert "bug" not in str(refused), command


async def two_programs(bench: Bench, one: FakeAdapter, two: FakeAdapter, profile: Any) -> None:
    """Stop two programs; the second is in focus."""
    for number, adapter in enumerate((one, two), 1):
        profile.adapter = adapter
        launch = {"program": adapter.program, "stop_at_entry": False, "wait": False, "new_session": number > 1}
        await bench.agent.call("debug_launch", **launch)
        await adapter.stop("entry")
        await bench.agent.call("debug_wait", session_id=f"s-{number}")


async def test_with_two_programs_what_is_typed_and_read_is_of_the_editors_own_and_so_in_the_timeline(
    autojump_clock: MockClock,
) -> None:
    one, two = FakeAdapter(), FakeAdapter()
    one.values, two.values = {"x": "1"}, {"x": "2"}
    for adapter, text in ((one, "of one"), (two, "of two")):

        async def stack(_: dict[str, Any]) -> dict[str, Any]:
            frame = {"id": 1000, "name": "f", "line": 1, "column": 1}
            return {
                "stackFrames": [{**frame, "source": {"path": "<string>", "sourceReference": 5}}],
                "totalFrames": 1,
            }

        async def source(_: dict[str, Any], text: str = text) -> dict[str, Any]:
            return {"content": text}

        adapter.answer("stackTrace", stack)
        adapter.answer("source", source)
    options = one.options()
    async with open_bench(one, options) as bench:
        await two_programs(bench, one, two, options.settings.profiles[0])
        async with bench.editor() as editor:
            await editor.join(sessionId="s-1")
            frame = await editor.top_frame()
            assert (await editor.ask("evaluate", expression="x", frameId=frame["id"], context="repl"))["result"] == "1"
            read = await editor.ask("source", sourceReference=frame["source"]["sourceReference"])
            assert read["content"] == "of one"
            events = (await bench.agent.read("debugger://timeline"))["events"]
            calls = [each["payload"] for each in events if each["type"] == "toolCalled"]
            assert "s-1" in str(next(each for each in calls if each["tool"] == "evaluate")["arguments"])


async def test_a_breakpoint_that_only_another_program_has_is_not_verified_in_the_editors_own(
    autojump_clock: MockClock,
) -> None:
    one, two = FakeAdapter(), FakeAdapter()

    async def put(asked: dict[str, Any]) -> dict[str, Any]:
        return {"breakpoints": [{"verified": each["line"] != 7} for each in asked["breakpoints"]]}

    one.answer("setBreakpoints", put)
    options = one.options()
    async with open_bench(one, options) as bench:
        await two_programs(bench, one, two, options.settings.profiles[0])
        async with bench.editor() as first, bench.editor() as second:
            await first.join(sessionId="s-1")
            await second.join(sessionId="s-2")
            wanted = {"source": {"path": one.program}, "breakpoints": [{"line": 7}, {"line": 8}]}
            made = (await first.ask("setBreakpoints", **wanted))["breakpoints"]
            assert [each["verified"] for each in made] == [False, True]
            assert [each["verified"] for each in (await second.ask("setBreakpoints", **wanted))["breakpoints"]] == [
                True,
                True,
            ]


async def test_a_value_that_was_set_in_a_stop_that_is_over_by_then_does_not_lead_to_values_of_the_next(
    autojump_clock: MockClock,
) -> None:
    adapter = able("supportsSetVariable")
    is_set = trio.Event()

    async def put(_: dict[str, Any]) -> dict[str, Any]:
        await is_set.wait()
        return {"value": "Box2", "type": "Box", "variablesReference": 8}

    adapter.answer("setVariable", put)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        answers: list[dict[str, Any]] = []

        async def put_box() -> None:
            reference = scope["variablesReference"]
            answers.append(await editor.ask("setVariable", variablesReference=reference, name="count", value="Box2()"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(put_box)
            await trio.sleep(1)
            await bench.agent.call("debug_step", wait=False)
            await adapter.stop("step")
            await trio.sleep(1)
            is_set.set()
        assert answers[0]["value"] == "Box2"
        refused = await editor.refused("variables", variablesReference=answers[0]["variablesReference"])
        assert "a stop that is over" in str(refused)


@pytest.mark.parametrize("context", ["watch", "hover", "clipboard"])
async def test_while_a_person_holds_editors_evaluate_by_themselves_only_what_changes_nothing(
    context: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.values = {"items.pop()": "2", "count": "3"}
    async with paused(adapter) as (bench, _), bench.editor() as editor, bench.server.connect(name="page") as page:
        await page.call("person_join", key="tab-12345678")
        await editor.join()
        await page.call("session_hold")
        at = {"frameId": (await editor.top_frame())["id"], "context": context}
        with pytest.raises(Refused, match="holds the session"):
            await editor.ask("evaluate", expression="items.pop()", **at)
        assert (await editor.ask("evaluate", expression="count", **at))["result"] == "3"
        assert "items.pop()" not in {each.get("expression") for each in adapter.sent("evaluate")}
        await page.call("session_hand_back")
        assert (await editor.ask("evaluate", expression="items.pop()", **at))["result"] == "2"
