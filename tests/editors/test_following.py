"""What editors get as events: sources that become known, and what becomes of breakpoints of every kind."""

from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import OBSERVE, EditorClient, open_bench, paused
from trio_debugmcp.editors import rounds
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES

# --- Sources ----------------------------------------------------------------------------------------------------------


async def test_sources_are_reported_as_they_become_known_once_and_not_those_from_before(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await adapter.event("loadedSource", {"reason": "new", "source": {"path": "/src/early.py"}})
        await trio.sleep(1)
        await editor.join()
        late = tmp_path / "late.py"
        late.touch()
        for path in (str(late), "<eval>", str(late)):
            await adapter.event("loadedSource", {"reason": "new", "source": {"path": path}})
        await editor.wait_event("loadedSource", 2)
        await trio.sleep(1)
        first, second = editor.bodies("loadedSource")
        assert first == {"reason": "new", "source": {"name": "late.py", "path": str(late)}}
        assert (second["source"]["path"], second["source"]["sourceReference"] > 0) == ("<eval>", True)
        paths = {each["path"] for each in (await editor.ask("loadedSources"))["sources"]}
        assert {"/src/early.py", str(late), "<eval>"} <= paths


async def test_sources_of_the_next_run_are_reported_when_a_program_is_restarted(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await trio.sleep(1)
        assert editor.bodies("loadedSource") == []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bench.agent.call, "debug_restart")
            await editor.wait_event("process", 2)
            await adapter.stop("entry")
        await editor.wait(lambda: "/src/app.py" in [each["source"]["path"] for each in editor.bodies("loadedSource")])


# --- Breakpoints ------------------------------------------------------------------------------------------------------


def reported(editor: EditorClient) -> list[tuple[str, int, bool]]:
    found = [(each["reason"], each["breakpoint"]) for each in editor.bodies("breakpoint")]
    return [(reason, shown["id"], shown["verified"]) for reason, shown in found]


async def test_a_program_and_its_first_thread_are_reported_once_in_each_run(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.initialize()
        nursery.start_soon(lambda: editor.ask("attach", token="control-token", wait=True))
        await editor.wait_event("initialized")
        await editor.ask("configurationDone")
        await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await editor.wait_event("thread")
        await adapter.stop("breakpoint")
        await editor.wait_event("stopped")
        assert [each["reason"] for each in editor.bodies("thread")] == ["started"]
        assert len(editor.bodies("process")) == 1
        nursery.start_soon(bench.agent.call, "debug_restart")
        await editor.wait_event("process", 2)
        await adapter.stop("entry")
        await editor.wait_event("stopped", 2)
        assert [each["reason"] for each in editor.bodies("thread")] == ["started", "exited", "started"]
        assert len(editor.bodies("process")) == 2


async def test_kinds_of_exceptions_that_were_set_before_the_program_are_reported_when_it_has_them(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.initialize()
        nursery.start_soon(lambda: editor.ask("attach", token="control-token", wait=True))
        await editor.wait_event("initialized")
        asked: dict[str, Any] = {"filters": ["raised"], "filterOptions": [{"filterId": "uncaught"}]}
        raised, uncaught = (await editor.ask("setExceptionBreakpoints", **asked))["breakpoints"]
        assert (raised["verified"], uncaught["verified"], raised["id"] != uncaught["id"]) == (False, False, True)
        await editor.ask("configurationDone")
        await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await editor.wait_event("breakpoint", 2)
        assert {*reported(editor)} == {("changed", raised["id"], True), ("changed", uncaught["id"], True)}
        await adapter.stop("exception", text="ValueError")
        await editor.wait_event("stopped")
        assert len(editor.bodies("breakpoint")) == 2  # a hit changes nothing of them


async def test_kinds_of_exceptions_that_another_client_removes_are_reported_and_not_those_that_an_editor_takes_back(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        [raised] = (await editor.ask("setExceptionBreakpoints", filters=["raised"]))["breakpoints"]
        assert raised["verified"] is True
        await editor.ask("setExceptionBreakpoints", filters=[])
        await trio.sleep(1)
        assert reported(editor) == []
        raised, users = (await editor.ask("setExceptionBreakpoints", filters=["raised", "userUnhandled"]))[
            "breakpoints"
        ]
        await bench.agent.call("breakpoint_set_exception", exception_type="KeyError")
        await trio.sleep(1)
        assert reported(editor) == []
        await bench.agent.call("breakpoint_enable", id=f"ex-{raised['id']}", enabled=False)
        await editor.wait_event("breakpoint", 2)
        await bench.agent.call("breakpoint_remove", id=f"ex-{raised['id']}")
        await editor.wait_event("breakpoint", 4)
        both = {raised["id"], users["id"]}
        assert {*reported(editor)[:2]} == {("changed", each, False) for each in both}
        assert {*reported(editor)[2:]} == {("removed", each, False) for each in both}
        await bench.agent.call("breakpoint_set_exception", exception_type="*")
        await trio.sleep(1)
        assert len(reported(editor)) == 4


async def test_conditions_that_differ_between_kinds_of_exceptions_hold_for_none_and_the_answer_says_so(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()

        async def messages(*conditions: str | None) -> list[str | None]:
            wanted = zip(("raised", "uncaught"), conditions, strict=True)
            options = [{"filterId": kind, **({"condition": each} if each else {})} for kind, each in wanted]
            answer = await editor.ask("setExceptionBreakpoints", filters=[], filterOptions=options)
            assert all(each["verified"] for each in answer["breakpoints"])
            return [each.get("message") for each in answer["breakpoints"]]

        async def condition() -> str | None:
            [known] = (await bench.agent.read("debugger://breakpoints"))["exceptionBreakpoints"]
            wanted: str | None = known["condition"]
            return wanted

        assert (await messages("x > 1", "x > 1"), await condition()) == ([None, None], "x > 1")
        first, second = await messages("x > 1", "x > 2")
        assert "without its condition" in str(first)
        assert (second, await condition()) == (first, None)
        assert (await messages("x > 1", None), await condition()) == ([first, None], None)


async def test_a_kind_of_exceptions_that_there_is_not_is_refused_in_its_answer(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        asked: dict[str, Any] = {"filters": ["cpp_throw", "raised"], "filterOptions": [{"filterId": "cpp_catch"}]}
        answers = (await editor.ask("setExceptionBreakpoints", **asked))["breakpoints"]
        assert [each["verified"] for each in answers] == [False, True, False]
        assert "raised, uncaught, userUnhandled" in answers[0]["message"]
        [known] = (await bench.agent.read("debugger://breakpoints"))["exceptionBreakpoints"]
        assert (known["breakOnFirstChance"], known["breakOnSecondChance"]) == (True, False)


async def test_breakpoints_on_functions_and_on_data_are_reported_as_those_on_lines(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsDataBreakpoints": True})
    adapter.values = {"count": "3", "&(count)": "0x1000"}
    adapter.data = {"count": {"dataId": "count/4", "description": "4 bytes at count"}}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        theirs = await bench.agent.call("breakpoint_set", function="main")
        await editor.wait_event("breakpoint")
        frame = await editor.top_frame()
        info = await editor.ask("dataBreakpointInfo", name="count", frameId=frame["id"])
        wanted = [{"dataId": info["dataId"]}]
        [mine] = (await editor.ask("setDataBreakpoints", breakpoints=wanted))["breakpoints"]
        await trio.sleep(1)
        assert reported(editor) == [("new", int(theirs["id"].removeprefix("fn-")), True)]  # its own it was answered
        await bench.agent.call("breakpoint_enable", id=f"dp-{mine['id']}", enabled=False)
        await editor.wait_event("breakpoint", 2)
        await bench.agent.call("breakpoint_remove", id="*")
        await editor.wait_event("breakpoint", 4)
        assert reported(editor)[1] == ("changed", mine["id"], False)
        assert {each for _, each, _ in reported(editor)[2:]} == {mine["id"], int(theirs["id"].removeprefix("fn-"))}
        assert {reason for reason, _, _ in reported(editor)[2:]} == {"removed"}
        [mine] = (await editor.ask("setDataBreakpoints", breakpoints=wanted))["breakpoints"]
        await editor.ask("setDataBreakpoints", breakpoints=[])
        await trio.sleep(1)
        assert len(reported(editor)) == 4


async def test_a_watcher_gets_the_end_of_a_restarted_program_that_is_over_before_it_has_looked(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "ROUND_SECONDS", 5)  # this machine is that slow
    async with paused() as (bench, adapter), bench.editor() as watcher:
        await watcher.join(OBSERVE)
        await trio.sleep(20)  # what it did when it joined is long over: it gets news in rounds
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bench.agent.call, "debug_restart")
            await bench.server.app.debugger.merger.wait_until(lambda now: now.focus == "s-2")
            await adapter.stop("entry")
        at = trio.current_time()
        await bench.agent.call("debug_disconnect")
        await watcher.wait_event("terminated")
        assert trio.current_time() - at < 10
