"""An editor that comes back, or opens another session: what is its own again, and what is another client's still."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import CONTROL, Bench, EditorClient, open_bench, paused
from trio_debugmcp.editors.breakpoints.announced import MAX_KEYS, MAX_NAMES, Announced
from trio_debugmcp.server.auth import Role
from trio_debugmcp.testing import FakeAdapter, open_server
from trio_debugmcp.testing.connect import Server
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES
from trio_debugmcp.testing.fake_native import NATIVE_CAPABILITIES

SOURCE = {"path": FakeAdapter.program}


async def put(editor: EditorClient, *breakpoints: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await editor.ask("setBreakpoints", source=SOURCE, breakpoints=list(breakpoints))
    found: list[dict[str, Any]] = answer["breakpoints"]
    return found


async def join_with(editor: EditorClient, *breakpoints: dict[str, Any], **arguments: Any) -> list[dict[str, Any]]:
    """Join as editors do that have breakpoints: they send them before anything was reported to them."""
    await editor.initialize()
    await editor.ask("attach", token=CONTROL, **arguments)
    await editor.wait_event("initialized")
    answers = await put(editor, *breakpoints)
    await editor.ask("configurationDone")
    await editor.ask("threads")
    await trio.sleep(1)
    return answers


def known(bench: Bench) -> list[tuple[str, int | None, str | None, tuple[str, ...]]]:
    """The id, line, condition and setters of all breakpoints."""
    found = bench.server.app.debugger.state.breakpoints
    return [(each.id, each.spec.line, each.spec.condition, each.set_by) for each in found]


def watching() -> FakeAdapter:
    """An adapter that knows breakpoints on data and on instructions."""
    adapter = FakeAdapter({**ALL_CAPABILITIES, **NATIVE_CAPABILITIES, "supportsDataBreakpoints": True})
    adapter.values = {"count": "3", "&(count)": "0x1000"}
    adapter.data = {"count": {"dataId": "count/4", "description": "4 bytes at count"}}
    return adapter


def console(editor: EditorClient) -> list[str]:
    return [each["output"] for each in editor.bodies("output") if each["category"] == "console"]


AGENTS: list[dict[str, Any]] = [{"condition": "x > 5"}, {"log_message": "at {x}"}, {"hit_condition": "> 2"}, {}]


# --- Breakpoints of others --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("terms", AGENTS)
async def test_an_editor_that_comes_back_and_sends_what_was_reported_to_it_makes_nothing_else_of_it(
    terms: dict[str, Any], autojump_clock: MockClock
) -> None:
    async with paused() as (bench, adapter):
        made = await bench.agent.call("breakpoint_set", file=adapter.program, line=5, **terms)
        if not terms:
            await bench.agent.call("breakpoint_enable", id=made["id"], enabled=False)
        before = bench.server.app.debugger.state.breakpoints
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("breakpoint")
        async with bench.editor() as editor:
            [answer] = await join_with(editor, {"line": 5})
            assert f"{made['id'][:3]}{answer['id']}" == made["id"]
        assert bench.server.app.debugger.state.breakpoints == before


async def test_a_second_connection_of_an_editor_sends_what_was_reported_to_the_first_and_changes_nothing(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as first, bench.editor() as second:
        await bench.agent.call("breakpoint_set", file=adapter.program, line=5, condition="x")
        await first.join()
        await first.wait_event("breakpoint")
        await join_with(second, {"line": 5})
        assert known(bench) == [("bp-1", 5, "x", ("mcp",))]


async def test_what_a_person_has_at_the_place_of_a_breakpoint_that_was_never_reported_to_its_editor_is_its_own(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as other:
        await bench.agent.call("breakpoint_set", file=adapter.program, line=5, condition="x")
        off = await bench.agent.call("breakpoint_set", file=adapter.program, line=6)
        await bench.agent.call("breakpoint_enable", id=off["id"], enabled=False)
        await other.join(hello={"clientName": "Other"})
        await other.wait_event("breakpoint", 2)
        async with bench.editor() as editor:
            await join_with(editor, {"line": 5}, {"line": 6})
            state = bench.server.app.debugger.state
            assert [(each.spec.line, each.spec.condition, each.enabled, each.set_by) for each in state.breakpoints] == [
                (5, "x", True, ("mcp",)),
                (6, None, False, ("mcp",)),
                (5, None, True, ("Test Editor",)),
                (6, None, True, ("Test Editor",)),
            ]


async def test_what_an_editor_has_left_out_is_not_sent_back_when_its_next_connection_sets_it(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter):
        await bench.agent.call("breakpoint_set", file=adapter.program, line=5, condition="x")
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("breakpoint")
            await put(editor)
            assert len(console(editor)) == 1
        async with bench.editor() as editor:
            await join_with(editor, {"line": 5})
            assert [each[1:] for each in known(bench)] == [(5, "x", ("mcp",)), (5, None, ("Test Editor",))]


async def test_where_an_editor_that_waits_shows_nothing_its_person_sets_a_breakpoint_of_its_own(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter):
        await bench.agent.call("breakpoint_set", file=adapter.program, line=5, condition="x")
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("breakpoint")
        await bench.agent.call("debug_disconnect")
        async with bench.editor() as editor, trio.open_nursery() as nursery:
            await editor.initialize()
            nursery.start_soon(lambda: editor.ask("attach", token=CONTROL, wait=True))
            await editor.wait_event("initialized")
            await put(editor, {"line": 7})
            await put(editor, {"line": 5}, {"line": 7})
            assert {each[1:] for each in known(bench)} == {
                (5, "x", ("mcp",)),
                (5, None, ("Test Editor",)),
                (7, None, ("Test Editor",)),
            }
            nursery.cancel_scope.cancel()


async def test_the_same_person_in_two_windows_takes_nothing_from_the_one_that_still_shows_it(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as one, bench.editor() as other:
        await bench.agent.call("breakpoint_set", file=adapter.program, line=5, condition="x")
        for each in (one, other):
            await each.join()
            await each.wait_event("breakpoint")
        await put(one)
        await put(other, {"line": 5}, {"line": 9})
        assert [each[1:3] for each in known(bench)] == [(5, "x"), (9, None)]


async def test_a_breakpoint_of_another_client_is_known_on_the_line_to_which_the_adapter_has_moved_it(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter):
        await bench.agent.call("breakpoint_set", file=adapter.program, line=5, condition="x")
        await bench.agent.call("breakpoint_set", file=adapter.program, line=11, column=4, condition="y")
        [binding] = bench.server.app.debugger.state.breakpoints[0].bindings
        await adapter.event(
            "breakpoint", {"reason": "changed", "breakpoint": {"id": binding.adapter_id, "verified": True, "line": 8}}
        )
        await trio.sleep(1)
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("breakpoint", 2)
            assert [each["breakpoint"]["line"] for each in editor.bodies("breakpoint")] == [8, 11]
            await put(editor, {"line": 8}, {"line": 11})
            assert [each[1:3] for each in known(bench)] == [(5, "x"), (11, "y")]
            assert console(editor) == []


async def test_what_was_set_anew_while_an_editor_was_away_is_still_that_others(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter):
        made = await bench.agent.call("breakpoint_set", file=adapter.program, line=5, condition="x")
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("breakpoint")
        await bench.agent.call("breakpoint_remove", id=made["id"])
        await bench.agent.call("breakpoint_set", file=adapter.program, line=5, condition="y")
        async with bench.editor() as editor:
            await join_with(editor, {"line": 5})
            assert [each[1:3] for each in known(bench)] == [(5, "y")]


async def test_a_breakpoint_of_another_client_is_known_by_its_id_where_it_has_gone_while_an_editor_was_away(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter):
        await bench.agent.call("breakpoint_set", file=adapter.program, line=5, condition="x")
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("breakpoint")
        [binding] = bench.server.app.debugger.state.breakpoints[0].bindings
        moved = {"id": binding.adapter_id, "verified": True, "line": 8}
        await adapter.event("breakpoint", {"reason": "changed", "breakpoint": moved})
        await trio.sleep(1)
        async with bench.editor() as editor:
            await join_with(editor, {"line": 8})
            assert [each[1:3] for each in known(bench)] == [(5, "x")]


async def test_a_place_that_was_left_out_is_shown_again_when_a_breakpoint_there_is_reported_again(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        terms = {"file": adapter.program, "line": 5}
        made = await bench.agent.call("breakpoint_set", **terms, condition="x")
        await editor.join()
        await editor.wait_event("breakpoint")
        await put(editor)
        await bench.agent.call("breakpoint_edit", id=made["id"], condition="y")
        await editor.wait_event("breakpoint", 2)
        await bench.agent.call("breakpoint_remove", id=made["id"])
        await bench.agent.call("breakpoint_set", **terms, condition="z")
        await put(editor, {"line": 5})
        assert [each[1:3] for each in known(bench)] == [(5, "z")]


def test_what_was_reported_to_editors_is_bounded_and_the_last_of_it_is_kept() -> None:
    announced = Announced()
    for number in range(MAX_KEYS + 1):
        announced.add("one", number)
    assert not announced.has("one", 0)
    assert announced.has("one", 1)
    announced.add("one", 1)
    announced.add("one", "new")
    assert (announced.has("one", 1), announced.has("one", 2)) == (True, False)
    for number in range(MAX_NAMES - 1):
        announced.add(f"name {number}", 0)
    announced.add("one", 3)
    announced.add("another", 0)
    assert (announced.has("one", "new"), announced.has("name 0", 0)) == (True, False)
    announced.discard("one", "new", 1)
    announced.discard("nobody", 1)
    assert not announced.has("one", "new", 1)


# --- Its own ----------------------------------------------------------------------------------------------------------


async def test_what_an_editor_has_set_stays_when_another_of_its_name_was_there_all_along(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _), bench.editor() as staying:
        await staying.join()
        async with bench.editor() as leaving:
            await leaving.join()
            await put(leaving, {"line": 7})
            await leaving.ask("setExceptionBreakpoints", filters=["raised"])
        await trio.sleep(1)
        await put(staying, {"line": 9})
        await staying.ask("setExceptionBreakpoints", filters=[])
        assert [each[1] for each in known(bench)] == [7, 9]
        assert len(bench.server.app.debugger.state.exceptions) == 1
        assert [each.partition(":")[0] for each in console(staying)] == [
            "The breakpoint of Test Editor on line 7 stays"
        ]


async def test_of_the_connections_of_two_editors_of_one_name_each_takes_over_those_of_its_own(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _), bench.editor() as stranger:
        await stranger.join(partOf="b")
        async with bench.editor() as parent:
            await parent.join(partOf="a")
            async with bench.editor() as child:
                await child.join(partOf="a")
                await put(child, {"line": 7})
            await trio.sleep(1)
            await put(stranger)
            assert [each[1] for each in known(bench)] == [7]
            await put(parent)
            assert known(bench) == []


async def test_an_editor_that_has_left_with_all_its_connections_takes_over_what_each_has_set(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _):
        async with bench.editor() as parent, bench.editor() as child:
            await parent.join(partOf="a")
            await child.join(partOf="a")
            for each in (parent, child):
                await put(each, {"line": 7})
        async with bench.editor() as editor:
            await editor.join()
            await put(editor)
            assert known(bench) == []


async def test_what_editors_have_set_is_forgotten_when_their_program_has_ended(autojump_clock: MockClock) -> None:
    async with paused(watching()) as (bench, adapter):
        async with bench.editor() as staying:
            await staying.join()
            async with bench.editor() as leaving:
                await leaving.join()
                await put(leaving, {"line": 7})
                frame = await leaving.top_frame()
                data_id = (await leaving.ask("dataBreakpointInfo", name="count", frameId=frame["id"]))["dataId"]
                await leaving.ask("setDataBreakpoints", breakpoints=[{"dataId": data_id}])
            await adapter.exit()
            await staying.wait_event("terminated")
            assert "0 breakpoints and 1 editors" in repr(bench.door)
        assert "0 breakpoints and 0 editors" in repr(bench.door)


async def test_what_a_person_sets_on_the_line_to_which_its_own_breakpoint_was_moved_is_another_one(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter):
        async with bench.editor() as editor:
            await editor.join()
            await put(editor, {"line": 5})
            [binding] = bench.server.app.debugger.state.breakpoints[0].bindings
            moved = {"id": binding.adapter_id, "verified": True, "line": 8}
            await adapter.event("breakpoint", {"reason": "changed", "breakpoint": moved})
            await trio.sleep(1)
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("breakpoint")
            await put(editor, {"line": 5}, {"line": 8})
            assert [each[1] for each in known(bench)] == [5, 8]


async def test_an_editor_that_comes_back_takes_its_breakpoint_away_and_the_console_does_not_say_that_it_stays(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _):
        async with bench.editor() as editor:
            await editor.join()
            await put(editor, {"line": 7})
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("breakpoint")
            await put(editor)
            assert (known(bench), console(editor)) == ([], [])


async def test_the_connections_of_an_editor_for_other_sessions_are_the_same_editor(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.children = {1: FakeAdapter()}
    async with paused(adapter) as (bench, _):
        async with bench.editor() as parent, trio.open_nursery() as nursery:
            await parent.join(hello={"supportsStartDebuggingRequest": True})
            child = {"request": "attach", "configuration": {"child": 1, "name": "c"}}
            nursery.start_soon(adapter.reverse_request, "startDebugging", child)
            await parent.wait(lambda: bool(parent.asked))
            configuration = parent.asked[0]["arguments"]["configuration"]
            await put(parent, {"line": 7})
            async with bench.editor() as opened:
                await join_with(opened, {"line": 7}, partOf=configuration["partOf"], sessionId="s-1")
                await put(opened, {"line": 7}, {"line": 8})
                await trio.sleep(1)
                await put(parent)  # it shows the one on line 8, which its other connection takes back, too
                assert console(parent) == []
                await put(parent, {"line": 7}, {"line": 8})
            await put(parent, {"line": 7})
            assert [each[1] for each in known(bench)] == [7], "what the other connection has set is its own"
            nursery.cancel_scope.cancel()
        async with bench.editor() as opened, bench.editor() as parent:
            await opened.join(partOf="a")
            await parent.join(partOf="a")
            await put(opened, {"line": 7})
            await opened.ask("disconnect")
            await opened.wait_closed()
            await trio.sleep(1)
            await put(parent)
            assert known(bench) == []


async def test_data_that_an_editor_watches_is_its_own_again_when_it_comes_back(autojump_clock: MockClock) -> None:
    adapter = watching()
    async with paused(adapter) as (bench, _):
        async with bench.editor() as editor:
            await editor.join()
            frame = await editor.top_frame()
            data_id = (await editor.ask("dataBreakpointInfo", name="count", frameId=frame["id"]))["dataId"]
            [made] = (await editor.ask("setDataBreakpoints", breakpoints=[{"dataId": data_id}]))["breakpoints"]
            await editor.ask("next", threadId=1)
            await adapter.stop("step")
            await editor.wait_event("stopped", 2)
        async with bench.editor() as editor:
            await editor.join()
            # It is the same, though the stop is over at which it was chosen.
            [again] = (await editor.ask("setDataBreakpoints", breakpoints=[{"dataId": data_id}]))["breakpoints"]
            assert (again["verified"], again["id"]) == (True, made["id"])
        async with bench.editor() as editor:
            await editor.join()
            await editor.ask("setDataBreakpoints", breakpoints=[])
            assert known(bench) == []


async def test_breakpoints_on_instructions_are_an_editors_own_again_when_it_comes_back(
    autojump_clock: MockClock,
) -> None:
    async with paused(watching()) as (bench, _):
        for wanted in ([{"instructionReference": "0x1004"}], []):
            async with bench.editor() as editor:
                await editor.join()
                await editor.ask("setInstructionBreakpoints", breakpoints=wanted)
                assert len(known(bench)) == len(wanted)


# --- What was interrupted ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["cancel", "vanish"])
async def test_a_breakpoint_whose_setting_was_interrupted_is_the_editors_and_ends_with_its_program(
    how: str, autojump_clock: MockClock
) -> None:
    async with paused() as (bench, adapter):
        async with bench.editor() as editor:
            await editor.join()
            adapter.withhold("setBreakpoints")
            number = await editor.send("setBreakpoints", {"source": SOURCE, "breakpoints": [{"line": 5}]})
            await trio.sleep(0.5)
            if how == "cancel":
                await editor.ask("cancel", requestId=number)
                adapter.restore("setBreakpoints")
                await trio.sleep(1)
                assert [each[1] for each in known(bench)] == [5]
                await put(editor)
                assert (known(bench), console(editor)) == ([], [])
                return
        adapter.restore("setBreakpoints")
        await trio.sleep(1)
        assert [each[1] for each in known(bench)] == [5], "it stays while the program is debugged"
        await bench.agent.call("debug_disconnect")
        await trio.sleep(1)
        assert known(bench) == []


async def test_data_and_instructions_whose_setting_was_interrupted_are_the_editors(autojump_clock: MockClock) -> None:
    adapter = watching()
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        data_id = (await editor.ask("dataBreakpointInfo", name="count", frameId=frame["id"]))["dataId"]
        for command, wanted in (
            ("setDataBreakpoints", {"dataId": data_id}),
            ("setInstructionBreakpoints", {"instructionReference": "0x1004"}),
        ):
            adapter.withhold(command)
            number = await editor.send(command, {"breakpoints": [wanted]})
            await trio.sleep(0.5)
            await editor.ask("cancel", requestId=number)
            adapter.restore(command)
            await trio.sleep(1)
            assert len(known(bench)) == 1
            await editor.ask(command, breakpoints=[])
            assert known(bench) == []


async def test_an_editor_that_vanishes_at_any_moment_while_no_program_is_debugged_leaves_no_breakpoint(
    autojump_clock: MockClock,
) -> None:
    async with open_bench(FakeAdapter()) as bench:
        for checkpoints in range(30):
            async with bench.editor() as editor, trio.open_nursery() as nursery:
                await editor.initialize()
                nursery.start_soon(editor.send, "attach", {"token": CONTROL, "wait": True})
                await editor.wait_event("initialized")
                await put(editor, {"line": 5})
                await editor.send(
                    "setBreakpoints", {"source": SOURCE, "breakpoints": [{"line": 5, "logMessage": "at"}, {"line": 6}]}
                )
                for _ in range(checkpoints):
                    await trio.lowlevel.checkpoint()
            await trio.sleep(1)
            assert known(bench) == []
            assert "0 breakpoints and 0 editors" in repr(bench.door)


async def test_what_the_adapter_does_not_answer_is_taken_back_as_it_is_shown_as_refused(
    autojump_clock: MockClock,
) -> None:
    adapter = watching()
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        data_id = (await editor.ask("dataBreakpointInfo", name="count", frameId=frame["id"]))["dataId"]
        for command, wanted in (
            ("setBreakpoints", {"line": 5}),
            ("setDataBreakpoints", {"dataId": data_id}),
            ("setInstructionBreakpoints", {"instructionReference": "0x1004"}),
        ):
            adapter.withhold(command)
            [answer] = (await editor.ask(command, source=SOURCE, breakpoints=[wanted]))["breakpoints"]
            assert (answer["verified"], "not answer" in answer["message"]) == (False, True)
            adapter.restore(command)
            await trio.sleep(1)
            assert known(bench) == []


async def test_a_condition_that_the_adapter_refuses_leaves_what_an_agent_has_set_before_it_left(
    autojump_clock: MockClock,
) -> None:
    async def judge(arguments: dict[str, Any]) -> Any:
        wrong = [each.get("condition") == "(" for each in arguments["breakpoints"]]
        return {
            "breakpoints": [{"verified": False, "message": "syntax"} if each else {"verified": True} for each in wrong]
        }

    async with paused() as (bench, adapter):
        async with bench.server.connect(name="gone") as gone:
            await gone.call("breakpoint_set", file=adapter.program, line=5, condition="x")
        adapter.answer("setBreakpoints", judge)
        async with bench.editor() as editor:
            [answer] = await join_with(editor, {"line": 5, "condition": "("})
            assert (answer["verified"], "is refused" in answer["message"]) == (False, True)
            assert [each[1:3] for each in known(bench)] == [(5, "x")]


# --- Its program ------------------------------------------------------------------------------------------------------


async def test_a_program_that_an_editor_has_launched_continues_for_the_agent_when_it_leaves(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter, adapter.options(linger=100)) as bench:
        async with bench.editor() as editor, bench.server.connect(name="page") as page:
            await page.call("person_join", key="tab-12345678")
            await launch(editor, adapter)
        await trio.sleep(1000)
        assert [each.id for each in bench.server.app.debugger.state.snapshots] == ["s-1"]
        assert bench.server.app.clients.statistics().ends_at == float("inf")


def running(server: Server) -> int:
    return len(server.app.debugger.state.snapshots)


async def launch(editor: EditorClient, adapter: FakeAdapter) -> None:
    async with trio.open_nursery() as nursery:
        await editor.initialize()
        nursery.start_soon(lambda: editor.ask("launch", token=CONTROL, program=adapter.program))
        await editor.wait_event("initialized")
        await editor.ask("configurationDone")


@pytest.mark.parametrize("role", ["observe", "control"])
async def test_a_program_that_an_editor_has_launched_ends_when_it_leaves_and_there_is_no_agent(
    role: Role, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with (
        open_server(adapter.options(linger=100)) as server,
        server.connect(name="page", role=role) as page,
        trio.open_nursery() as nursery,
    ):
        if role == "control":  # a person, who may have forgotten the page
            await page.call("person_join", key="tab-12345678")
        bench = Bench(server, page)
        nursery.start_soon(bench.door.run)
        async with bench.editor() as editor:
            await launch(editor, adapter)
        await trio.sleep(95)
        assert running(server) == 1
        await trio.sleep(10)
        assert running(server) == 0
        nursery.cancel_scope.cancel()


async def test_a_program_without_an_owner_that_an_editor_has_stepped_is_an_agents_when_the_editor_leaves(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter, adapter.options(linger=100)) as bench:
        async with bench.server.connect(name="gone") as gone:
            await gone.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
            await adapter.stop("entry")
        async with bench.editor() as editor:
            await editor.join()
            await editor.ask("next", threadId=1)
            await adapter.stop("step")
            await editor.wait_event("stopped", 2)
        await trio.sleep(1000)
        assert running(bench.server) == 1


async def test_a_program_that_an_agent_has_launched_ends_with_it_also_when_another_is_connected(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter, adapter.options(linger=100)) as bench:
        async with bench.server.connect(name="gone") as gone:
            await gone.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
            await adapter.stop("entry")
        await trio.sleep(105)
        assert running(bench.server) == 0
