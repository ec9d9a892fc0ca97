"""Breakpoints have owners and one registry: an editor replaces its own, sees all, and removes nothing of others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import Bench, EditorClient, open_bench, paused
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.testing.fake_adapter import FakeProfile
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES


async def known(bench: Bench, kind: str = "breakpoints") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await bench.agent.read("debugger://breakpoints"))[kind]
    return found


async def put(
    editor: EditorClient, *breakpoints: dict[str, Any], file: str = FakeAdapter.program
) -> list[dict[str, Any]]:
    answer = await editor.ask("setBreakpoints", source={"path": file}, breakpoints=list(breakpoints))
    found: list[dict[str, Any]] = answer["breakpoints"]
    return found


async def test_an_editor_replaces_its_own_breakpoints_of_a_file_and_no_others(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await bench.agent.call("breakpoint_set", file=adapter.program, line=3)
        await editor.join()
        [first, second] = await put(editor, {"line": 5}, {"line": 7, "hitCondition": "> 2"})
        [kept, new] = await put(editor, {"line": 7, "hitCondition": "> 2"}, {"line": 9, "logMessage": "at {count}"})
        assert kept["id"] == second["id"]
        found = {each["line"]: each for each in await known(bench)}
        assert [*found] == [3, 7, 9]
        assert [each["setBy"] for each in found.values()] == [["mcp"], ["Test Editor"], ["Test Editor"]]
        assert (found[7]["hitCondition"], found[9]["type"]) == ("> 2", "Tracepoint")
        assert first["id"] != new["id"]
        assert await put(editor) == []
        assert [each["line"] for each in await known(bench)] == [3]


async def test_a_condition_that_is_changed_keeps_the_breakpoint(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        [before] = await put(editor, {"line": 5, "condition": "a"})
        [after] = await put(editor, {"line": 5, "condition": "b"})
        assert (before["id"], [each["condition"] for each in await known(bench)]) == (after["id"], ["b"])


async def test_breakpoints_of_others_are_reported_and_stay_theirs_when_an_editor_sends_them_back(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await bench.agent.call("breakpoint_set", file=adapter.program, line=3, condition="x")
        await editor.join()
        event = await editor.wait_event("breakpoint")
        assert (event["reason"], event["breakpoint"]["line"]) == ("new", 3)
        assert event["breakpoint"]["message"].endswith(": if x")
        [echo, mine] = await put(editor, {"line": 3}, {"line": 4})
        assert echo["id"] == event["breakpoint"]["id"] != mine["id"]
        assert [(each["line"], each["condition"], each["setBy"]) for each in await known(bench)] == [
            (3, "x", ["mcp"]),
            (4, None, ["Test Editor"]),
        ]
        await put(editor, {"line": 3})
        await bench.agent.call("breakpoint_remove", id=f"bp-{echo['id']}")
        await editor.wait(lambda: [each["reason"] for each in editor.bodies("breakpoint")] == ["new", "removed"])


async def test_what_a_person_sets_where_it_has_taken_away_anothers_breakpoint_is_its_own(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await bench.agent.call("breakpoint_set", file=adapter.program, line=3, condition="x")
        await editor.join()
        theirs = (await editor.wait_event("breakpoint"))["breakpoint"]["id"]
        await put(editor)
        assert editor.bodies("output")[-1]["output"].startswith("The breakpoint of mcp on line 3 stays: ")
        [mine] = await put(editor, {"line": 3})
        assert mine["id"] != theirs
        assert [(each["condition"], each["setBy"]) for each in await known(bench)] == [
            ("x", ["mcp"]),
            (None, ["Test Editor"]),
        ]
        await put(editor)
        assert [each["condition"] for each in await known(bench)] == ["x"]


async def test_an_editor_learns_what_another_client_makes_of_its_breakpoint_and_does_not_undo_it_unawares(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        [mine] = await put(editor, {"line": 5})
        await bench.agent.call("breakpoint_edit", id=f"bp-{mine['id']}", condition="x")
        event = await editor.wait_event("breakpoint")
        assert event["reason"] == "changed"
        assert event["breakpoint"]["message"] == "changed by another client: if x"
        await put(editor, {"line": 5}, {"line": 6})
        assert [each["condition"] for each in await known(bench)] == ["x", None]
        await put(editor, {"line": 5, "condition": "y"}, {"line": 6})
        assert [each["condition"] for each in await known(bench)] == ["y", None]
        await put(editor, {"line": 5}, {"line": 6})
        assert [each["condition"] for each in await known(bench)] == [None, None]


async def test_a_breakpoint_of_an_editor_that_another_client_turns_into_a_logpoint_is_still_the_editors(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        [mine] = await put(editor, {"line": 5})
        made = await bench.agent.call("breakpoint_edit", id=f"bp-{mine['id']}", log_message="at {count}")
        await editor.wait(lambda: bool(editor.bodies("breakpoint")[2:]))
        [gone, _, shown] = editor.bodies("breakpoint")
        new = shown["breakpoint"]
        assert (gone["reason"], gone["breakpoint"]["id"]) == ("removed", mine["id"])
        assert (made["id"], new["message"]) == (f"tp-{new['id']}", "changed by another client: logs at {count}")
        assert await put(editor) == []
        assert await known(bench) == []


async def test_a_second_breakpoint_at_the_same_place_is_refused(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        [first, second] = await put(editor, {"line": 5}, {"line": 5, "condition": "x"})
        assert (first["verified"], second["verified"]) == (True, False)
        assert "another breakpoint at the same place" in second["message"]
        assert [each["condition"] for each in await known(bench)] == [None]


async def test_one_file_with_two_spellings_has_one_set_of_breakpoints(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    file = tmp_path / "real" / "app.py"
    file.write_text("pass\n" * 20)
    linked = str(tmp_path / "link" / "app.py")
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await bench.agent.call("breakpoint_set", file=str(file), line=3, condition="x")
        [mine] = await put(editor, {"line": 3, "condition": "y"}, file=linked)
        assert mine["source"]["path"] == linked
        [again] = await put(editor, {"line": 5}, file=linked)
        assert again["verified"]
        assert [(each["file"], each["line"], each["condition"]) for each in await known(bench)] == [
            (str(file), 3, "x"),
            (str(file), 5, None),
        ]
        assert [each["line"] for each in adapter.sent("setBreakpoints")[-1]["breakpoints"]] == [3, 5]
        assert {each["source"]["path"] for each in adapter.sent("setBreakpoints")} == {str(file)}


async def test_what_two_have_set_alike_stays_until_both_have_taken_it_back(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as one, bench.editor() as other:
        await one.join()
        await other.join(hello={"clientName": "Other"})
        [mine] = await put(one, {"line": 5, "condition": "x"})
        [theirs] = await put(other, {"line": 5, "condition": "x"})
        assert mine["id"] == theirs["id"]
        assert [each["setBy"] for each in await known(bench)] == [["Test Editor", "Other"]]
        await put(one)
        assert [each["setBy"] for each in await known(bench)] == [["Other"]]
        await put(other)
        assert await known(bench) == []


async def test_what_an_editor_has_set_alike_that_has_left_stays_when_the_other_takes_it_back(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _):
        async with bench.editor() as one:
            await one.join()
            await put(one, {"line": 5, "condition": "x"})
        async with bench.editor() as other:
            await other.join(hello={"clientName": "Other"})
            await put(other, {"line": 5, "condition": "x"})
            await put(other)
            assert lines(bench) == [5]


async def test_breakpoints_of_one_file_leave_those_of_another_file_alone(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        await put(editor, {"line": 5})
        await put(editor, {"line": 7}, file=__file__)
        await put(editor)
        assert lines(bench) == [7]


async def test_breakpoints_beyond_what_one_request_may_set_are_answered_as_not_set(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        made = await put(editor, *({"line": line} for line in range(1, 203)))
        assert [each["verified"] for each in made] == [True] * 200 + [False] * 2
        assert "more than 200" in made[-1]["message"]
        assert len(lines(bench)) == 200


async def test_a_condition_at_the_place_of_anothers_breakpoint_is_a_breakpoint_of_its_own(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await bench.agent.call("breakpoint_set", file=adapter.program, line=3, condition="x")
        await editor.join()
        await editor.wait_event("breakpoint")
        await put(editor, {"line": 3, "condition": "y"})
        assert [(each["condition"], each["setBy"]) for each in await known(bench)] == [
            ("x", ["mcp"]),
            ("y", ["Test Editor"]),
        ]


async def test_an_editor_learns_where_the_adapter_has_moved_its_breakpoint(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        [made] = await put(editor, {"line": 5})
        moved = {"id": 1, "verified": True, "line": 8}
        await adapter.event("breakpoint", {"reason": "changed", "breakpoint": moved})
        event = await editor.wait_event("breakpoint")
        assert (event["reason"], event["breakpoint"]["id"], event["breakpoint"]["line"]) == ("changed", made["id"], 8)
        assert "moved from line 5" in event["breakpoint"]["message"]


async def test_a_condition_that_is_refused_leaves_none_in_force_that_the_editor_does_not_show(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        await put(editor, {"line": 5, "condition": "a"})
        [refused] = await put(editor, {"line": 5, "hitCondition": "often"})
        assert (refused["verified"], await known(bench)) == (False, [])


async def test_what_cannot_be_set_is_not_verified_and_says_why(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        [refused] = await put(editor, {"line": 5, "hitCondition": "often"})
        assert (refused["verified"], refused["message"].partition(" ")[0]) == (False, "'often'")
        [missing] = await put(editor, {"line": 5}, file="/nowhere.py")
        assert (missing["verified"], "There is no file" in missing["message"]) == (False, True)


async def test_breakpoints_of_an_editor_are_kept_while_the_program_is_debugged_and_end_with_it(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter):
        await bench.agent.call("breakpoint_set", file=adapter.program, line=3)
        async with bench.editor() as editor:
            await editor.join()
            await put(editor, {"line": 5})
            await editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "main"}])
        assert [each["line"] for each in await known(bench)] == [3, 5]
        assert [each["setBy"] for each in await known(bench, "functionBreakpoints")] == [["Test Editor"]]
        async with bench.editor() as editor:  # the same one comes back, without the one on line 5
            await editor.join()
            await put(editor, {"line": 6})
            assert [each["line"] for each in await known(bench)] == [3, 6]
        await bench.agent.call("debug_disconnect")
        await trio.sleep(1)
        lines = (await bench.agent.call("breakpoint_list"))["breakpoints"]
        assert [each.partition(" ")[0] for each in lines] == ["bp-1"]


async def test_a_function_breakpoint_replaces_the_editors_and_is_reported_to_others(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor, bench.editor() as other:
        await editor.join()
        await other.join(hello={"clientName": "Other"})
        await editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "main", "condition": "x"}, {"name": "run"}])
        await other.wait_event("breakpoint", 2)
        await editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "run"}])
        found = await known(bench, "functionBreakpoints")
        assert [(each["functionName"], each["setBy"]) for each in found] == [("run", ["Test Editor"])]
        await other.wait(lambda: other.bodies("breakpoint")[-1]["reason"] == "removed")


async def test_exception_filters_of_an_editor_add_to_what_the_agent_wants(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await bench.agent.call("breakpoint_set_exception", exception_type="*", break_on_first_chance=False)
        await editor.join()
        body = await editor.ask("setExceptionBreakpoints", filters=["raised"])
        assert body["breakpoints"][0]["verified"] is True
        [both] = await known(bench, "exceptionBreakpoints")
        assert (both["breakOnFirstChance"], both["breakOnSecondChance"]) == (True, True)
        assert both["setBy"] == ["mcp", "Test Editor"]
        await editor.ask("setExceptionBreakpoints", filters=[])
        [agents] = await known(bench, "exceptionBreakpoints")
        assert (agents["breakOnFirstChance"], agents["setBy"]) == (False, ["mcp"])


async def test_exception_filters_of_an_editor_alone_go_when_it_takes_them_back(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        options = [{"filterId": "raised", "condition": "e.args"}]
        await editor.ask("setExceptionBreakpoints", filters=[], filterOptions=options)
        [mine] = await known(bench, "exceptionBreakpoints")
        assert (mine["condition"], mine["breakOnSecondChance"]) == ("e.args", False)
        await editor.ask("setExceptionBreakpoints", filters=[])
        assert await known(bench, "exceptionBreakpoints") == []


async def test_exception_filters_of_an_editor_end_with_its_program_and_are_its_own_again_when_it_comes_back(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter):
        async with bench.editor() as editor:
            await editor.join()
            await editor.ask("setExceptionBreakpoints", filters=["raised"])
        await trio.sleep(1)
        assert len(await known(bench, "exceptionBreakpoints")) == 1, "it stays while the program is debugged"
        async with bench.editor() as editor:
            await editor.join()
            await editor.ask("setExceptionBreakpoints", filters=[])
            assert await known(bench, "exceptionBreakpoints") == []
            await editor.ask("setExceptionBreakpoints", filters=["raised"])
        await bench.agent.call("breakpoint_set_exception", exception_type="*", break_on_first_chance=False)
        await adapter.exit()
        await trio.sleep(1)
        [left] = bench.server.app.debugger.state.exceptions
        assert (left.first_chance, left.second_chance) == (False, True)


async def test_data_is_watched_by_the_path_of_a_variable(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsDataBreakpoints": True})
    adapter.values = {"count": "3", "&(count)": "0x1000"}

    async def info(arguments: dict[str, Any]) -> Any:
        return {"dataId": "count/4", "description": "4 bytes at count", "accessTypes": ["write", "read"]}

    async def put_data(arguments: dict[str, Any]) -> Any:
        return {"breakpoints": [{"id": 50 + n, "verified": True} for n, _ in enumerate(arguments["breakpoints"])]}

    adapter.answer("dataBreakpointInfo", info)
    adapter.answer("setDataBreakpoints", put_data)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        found = await editor.ask("dataBreakpointInfo", variablesReference=scope["variablesReference"], name="count")
        assert (found["description"], found["accessTypes"]) == ("4 bytes at count", ["write", "read"])
        wanted = [{"dataId": found["dataId"], "accessType": "write"}]
        [made] = (await editor.ask("setDataBreakpoints", breakpoints=wanted))["breakpoints"]
        assert made["verified"] is True
        assert (await editor.ask("setDataBreakpoints", breakpoints=wanted))["breakpoints"] == [made]
        [data] = await known(bench, "dataBreakpoints")
        assert (data["expression"], data["setBy"]) == ("count", ["Test Editor"])
        await editor.ask("setDataBreakpoints", breakpoints=[])
        assert await known(bench, "dataBreakpoints") == []
        assert await editor.refused("setDataBreakpoints", breakpoints=[{"dataId": "invented"}])


async def test_the_same_path_in_another_frame_or_at_another_stop_is_other_data(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsDataBreakpoints": True})
    adapter.values = {"count": "3", "&(count)": "0x1000"}
    adapter.frames = [("inner", adapter.program, 3), ("main", adapter.program, 9)]

    async def info(arguments: dict[str, Any]) -> Any:
        return {"dataId": f"count of {arguments['frameId']}", "description": "count"}

    adapter.answer("dataBreakpointInfo", info)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        await editor.wait_event("stopped")

        async def data_ids() -> list[str]:
            frames = (await editor.ask("stackTrace", threadId=1))["stackFrames"]
            asked = [await editor.ask("dataBreakpointInfo", name="count", frameId=each["id"]) for each in frames]
            return [each["dataId"] for each in asked]

        async def put(*wanted: dict[str, str]) -> list[Any]:
            answers = (await editor.ask("setDataBreakpoints", breakpoints=wanted))["breakpoints"]
            return [each["id"] if each["verified"] else each["message"] for each in answers]

        inner, outer = await data_ids()
        first, second = await put({"dataId": inner}, {"dataId": outer})
        assert first != second
        before = [each["dataId"] for each in adapter.sent("setDataBreakpoints")[-1]["breakpoints"]]
        assert len({*before}) == 2

        await editor.ask("next", threadId=1)
        await adapter.stop("step")
        await editor.wait_event("stopped", 2)
        # What is watched stays that, wherever the program is; a path of the stop before is not evaluated here.
        assert await put({"dataId": inner, "condition": "count > 3"}, {"dataId": outer}) == [first, second]
        assert [each["dataId"] for each in adapter.sent("setDataBreakpoints")[-1]["breakpoints"]] == before
        assert [each.get("condition") for each in await known(bench, "dataBreakpoints")] == ["count > 3", None]
        refused = await put({"dataId": inner, "accessType": "read"})
        assert "at a stop that is over" in refused[0]
        assert await known(bench, "dataBreakpoints") == []


async def test_data_is_watched_with_a_condition_and_a_hit_condition_that_can_be_changed(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsDataBreakpoints": True})
    adapter.values = {"count": "3", "&(count)": "0x1000"}
    adapter.data = {"count": {"dataId": "count/4", "description": "4 bytes at count"}}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        data_id = (await editor.ask("dataBreakpointInfo", name="count", frameId=frame["id"]))["dataId"]
        ids = []
        for terms in ({"condition": "count > 3"}, {"condition": "count > 4", "hitCondition": "2"}, {}):
            wanted = [{"dataId": data_id, **terms}]
            for _ in range(2):
                [made] = (await editor.ask("setDataBreakpoints", breakpoints=wanted))["breakpoints"]
                assert made["verified"] is True
                ids.append(made["id"])
            [data] = await known(bench, "dataBreakpoints")
            assert {name: data[name] for name in ("condition", "hitCondition") if name in data} == terms
        assert len({*ids}) == 1
        [refused] = (await editor.ask("setDataBreakpoints", breakpoints=[{"dataId": data_id, "hitCondition": "x"}]))[
            "breakpoints"
        ]
        assert (refused["verified"], "not a hit condition" in refused["message"]) == (False, True)


@pytest.mark.parametrize("era", ["before", "while"])
async def test_breakpoints_set_before_or_while_the_session_begins_reach_the_program(
    era: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        await editor.initialize()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: editor.ask("attach", token="control-token", wait=True))
            await editor.wait_event("initialized")
            if era == "before":
                [made] = await put(editor, {"line": 5})
                assert made["verified"] is False
                await editor.ask("configurationDone")
            await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        if era == "before":
            await editor.wait_event("breakpoint")
            assert editor.bodies("breakpoint")[-1]["breakpoint"]["verified"] is True
            commands = adapter.commands()
            assert commands.index("setBreakpoints") < commands.index("configurationDone")
        else:
            [made] = await put(editor, {"line": 5})
            assert made["verified"] is True
            await editor.ask("configurationDone")


async def test_many_breakpoints_of_one_request_are_sent_together_and_each_is_answered(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        before = len(adapter.sent("setBreakpoints"))
        made = await put(editor, *({"line": line} for line in range(1, 101)))
        assert all(each["verified"] for each in made)
        assert len({each["id"] for each in made}) == 100
        # Once, and what `keep_in_step` has seen on the way.
        assert len(adapter.sent("setBreakpoints")) - before <= 5
        assert len(adapter.sent("setBreakpoints")[-1]["breakpoints"]) == 100
        before = len(adapter.sent("setBreakpoints"))
        assert await put(editor) == []
        assert len(adapter.sent("setBreakpoints")) - before <= 5
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == []


async def test_what_a_cancelled_batch_has_removed_is_removed_from_the_adapter_as_well(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter):
        made = await bench.agent.call("breakpoint_set", file=adapter.program, line=3)
        registry = bench.server.app.debugger.breakpoints
        with trio.CancelScope() as scope:
            async with registry.batch():
                await registry.remove(made["id"])
                scope.cancel()
                await trio.lowlevel.checkpoint()
        async with bench.editor() as editor:  # any change of the state, as the leaving of who was cancelled
            await editor.join()
            await trio.sleep(2)
        assert await known(bench) == []
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == []


# --- With which program they end --------------------------------------------------------------------------------------


@asynccontextmanager
async def two_programs() -> AsyncIterator[tuple[Bench, FakeAdapter, FakeAdapter]]:
    """Run a server with two programs, s-1 and s-2; the first is paused, the second runs."""
    first, second = FakeAdapter(), FakeAdapter()
    async with paused(first) as (bench, _):
        profile = bench.server.app.debugger.settings.profiles[0]
        assert isinstance(profile, FakeProfile)
        profile.adapter = second
        await bench.agent.call(
            "debug_launch", program=second.program, stop_at_entry=False, wait=False, new_session=True
        )
        profile.adapter = first
        yield bench, first, second


def lines(bench: Bench) -> list[int | None]:
    """Return where breakpoints are, also while there is no session in which a resource can be read."""
    return [each.spec.line for each in bench.server.app.debugger.state.breakpoints]


async def test_an_editor_that_waits_keeps_its_breakpoints_when_a_program_ends(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.initialize()
        nursery.start_soon(lambda: editor.ask("attach", token="control-token", wait=True, sessionId="s-2"))
        await editor.wait_event("initialized")
        await put(editor, {"line": 5})
        await editor.ask("configurationDone")
        await adapter.exit()
        await trio.sleep(1)
        assert lines(bench) == [5]
        await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await editor.wait_event("process")
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 5}]
        await adapter.exit()
        await editor.wait_event("terminated")
        await trio.sleep(1)
        assert lines(bench) == []


async def test_breakpoints_of_an_editor_end_with_its_program_and_with_no_other(autojump_clock: MockClock) -> None:
    async with two_programs() as (bench, first, second), bench.editor() as editor:
        await editor.join(sessionId="s-1")
        await put(editor, {"line": 5})
        await second.exit()
        await trio.sleep(1)
        assert lines(bench) == [5]
        await first.exit()
        await trio.sleep(1)
        assert lines(bench) == []


@pytest.mark.parametrize("leaves", [True, False])
async def test_breakpoints_of_a_restarted_program_end_with_its_next_run_and_with_no_other_program(
    leaves: bool, autojump_clock: MockClock
) -> None:
    async with two_programs() as (bench, first, second), bench.editor() as editor:
        await editor.join(sessionId="s-1")
        await put(editor, {"line": 5})
        if leaves:
            await editor.ask("disconnect")
            await editor.wait_closed()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: bench.agent.call("debug_restart", session_id="s-1"))
            await trio.sleep(1)
            await first.stop("entry")
        await second.exit()
        await trio.sleep(1)
        assert lines(bench) == [5]
        await first.exit()
        await trio.sleep(1)
        assert lines(bench) == []


async def test_the_next_run_of_a_restarted_program_is_the_first_that_begins_then(autojump_clock: MockClock) -> None:
    third = FakeAdapter()
    async with two_programs() as (bench, first, _):
        async with bench.editor() as editor:
            await editor.join(sessionId="s-1")
            await put(editor, {"line": 5})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: bench.agent.call("debug_restart", session_id="s-1"))
            await trio.sleep(1)
            await first.stop("entry")
        profile = bench.server.app.debugger.settings.profiles[0]
        assert isinstance(profile, FakeProfile)
        profile.adapter = third
        later = {"program": third.program, "stop_at_entry": False, "wait": False, "new_session": True}
        await bench.agent.call("debug_launch", **later)
        await third.exit()
        await trio.sleep(1)
        assert lines(bench) == [5]
        await first.exit()
        await trio.sleep(1)
        assert lines(bench) == []


async def test_a_breakpoint_is_removed_by_the_spelling_under_which_it_was_set(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    (tmp_path / "app.py").write_text("a = 1\nb = 2\n")
    path = f"{tmp_path}/../{tmp_path.name}/app.py"
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        await editor.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": 2}])
        assert [each.spec.file for each in bench.server.app.debugger.state.breakpoints] == [f"{tmp_path}/app.py"]
        await editor.ask("setBreakpoints", source={"path": path}, breakpoints=[])
        assert bench.server.app.debugger.state.breakpoints == ()


@pytest.mark.parametrize("wanted", [{"line": 2**70}, {"line": 7, "column": 2**31}])
async def test_a_number_outside_of_what_the_protocol_has_is_refused(
    wanted: dict[str, int], autojump_clock: MockClock
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        refused = await editor.refused("setBreakpoints", source={"path": adapter.program}, breakpoints=[wanted])
        assert "do not fit" in str(refused)
