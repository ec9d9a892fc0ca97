"""An editor's person steps back through what a session has recorded, and opens a run that has ended."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.editors.bench import OBSERVE, Bench, EditorClient
from tests.real.test_recorded_programs import NEW, SHOP, on
from trio_debugmcp.testing import open_server

pytestmark = pytest.mark.real

PYTHON = on(next(iter(NEW.values())))

SECONDS = 300
"""It only ends a hang."""


@asynccontextmanager
async def real_bench() -> AsyncIterator[Bench]:
    with trio.fail_after(SECONDS):
        async with open_server() as server, server.connect() as agent, trio.open_nursery() as nursery:
            bench = Bench(server, agent)
            nursery.start_soon(bench.door.run)
            yield bench
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def stopped(folder: Path, line: int, **more: Any) -> AsyncIterator[tuple[Bench, EditorClient, int]]:
    """A recorded program that is stopped at a line, an editor that shows it, and the number of the thread."""
    file = folder / "shop.py"
    file.write_text(SHOP)
    async with real_bench() as bench, bench.editor() as editor:
        wanted = {"record": True, "breakpoints": [{"file": str(file), "line": line}], **PYTHON, **more}
        await bench.agent.call("debug_launch", program=str(file), **wanted)
        await editor.join()
        yield bench, editor, (await editor.wait_event("stopped"))["threadId"]


async def moved(editor: EditorClient, command: str, thread: int) -> tuple[int, dict[str, Any]]:
    """Move, and return the line of the top frame and the event that has reported it."""
    number = len(editor.bodies("stopped")) + 1
    await editor.ask(command, threadId=thread)
    event = await editor.wait_event("stopped", number)
    assert editor.log.index(f"response {command}") < len(editor.log) - 1 - editor.log[::-1].index("stopped")
    return (await editor.top_frame(event["threadId"]))["line"], event


async def variables(editor: EditorClient, reference: int) -> dict[str, dict[str, Any]]:
    found = (await editor.ask("variables", variablesReference=reference))["variables"]
    return {each["name"]: each for each in found}


async def test_a_person_steps_back_looks_at_recorded_values_and_comes_back(tmp_path: Path) -> None:
    async with stopped(tmp_path, 19) as (bench, editor, thread):
        assert editor.bodies("capabilities")[-1]["capabilities"]["supportsStepBack"] is True
        line, event = await moved(editor, "stepBack", thread)
        assert (line, event["reason"], event["threadId"]) == (18, "step", thread)
        assert event["description"].startswith("Recorded moment #")
        assert "Shown from run-1: nothing is undone" in editor.bodies("output")[-1]["output"]
        lines = [(await moved(editor, command, thread))[0] for command in ("stepIn", "stepIn", "stepOut")]
        assert lines == [14, 4, 15]
        lines = [(await moved(editor, command, thread))[0] for command in ("stepIn", "next", "next", "next")]
        assert lines == [8, 9, 10, 9]

        stack = (await editor.ask("stackTrace", threadId=thread))["stackFrames"]
        assert [(frame["name"], frame["line"]) for frame in stack] == [("total", 9), ("serve", 15), ("<module>", 18)]
        assert stack[0]["source"]["path"] == str(tmp_path / "shop.py")
        [scope] = (await editor.ask("scopes", frameId=stack[0]["id"]))["scopes"]
        shown = await variables(editor, scope["variablesReference"])
        assert {name: shown[name]["value"] for name in ("amount", "price")} == {"amount": "4", "price": "4"}
        inside = await variables(editor, shown["cart"]["variablesReference"])
        assert list(inside) == ["[0]", "[1]"]
        assert inside["[0]"]["value"] == "('tea', 4)"
        assert list(await variables(editor, inside["[0]"]["variablesReference"])) == ["…"], "the text is what there is"
        [scope] = (await editor.ask("scopes", frameId=stack[1]["id"]))["scopes"]
        assert (await variables(editor, scope["variablesReference"]))["name"]["value"] == "'Ada'"

        watched = {"expression": "cart[1]", "frameId": stack[0]["id"]}
        assert "'cake', 6" in (await editor.ask("evaluate", context="watch", **watched))["result"]
        refused = await editor.refused("evaluate", expression="len(cart)", frameId=stack[0]["id"], context="repl")
        assert str(refused).startswith("Of a recorded moment there are names and paths")
        for command, arguments in (
            ("setVariable", {"variablesReference": scope["variablesReference"], "name": "name", "value": "'x'"}),
            ("setExpression", {"expression": "amount", "value": "1", "frameId": stack[0]["id"]}),
            ("restartFrame", {"frameId": stack[0]["id"]}),
            ("goto", {"threadId": thread, "targetId": 1}),
        ):
            assert "This moment is recorded" in str(await editor.refused(command, **arguments)), command

        assert (await bench.agent.call("debug_state"))["at"].endswith("shop.py:19 in <module>"), "it has not moved"
        line, event = await moved(editor, "continue", thread)
        assert (line, event["text"]) == (19, "Back in the present: nothing has run meanwhile")
        old = await editor.ask("scopes", frameId=(await editor.top_frame(thread))["id"])
        assert old["scopes"], "of the program itself again"
        line, event = await moved(editor, "next", thread)
        assert (line, event["reason"]) == (20, "step")
        assert not any("recorded" in str(note) for note in (await bench.agent.call("debug_state")).get("notes", []))


async def test_reverse_continue_goes_from_breakpoint_to_breakpoint_and_a_move_of_the_agent_ends_the_past(
    tmp_path: Path,
) -> None:
    async with stopped(tmp_path, 20) as (bench, editor, thread):
        source = {"path": str(tmp_path / "shop.py")}
        wanted = [{"line": 11}, {"line": 10, "condition": "price == 6"}]
        await editor.ask("setBreakpoints", source=source, breakpoints=wanted)
        lines = [(await moved(editor, "reverseContinue", thread))[0] for _ in range(5)]
        assert lines == [11, 10, 11, 10, 1]
        line, event = await moved(editor, "continue", thread)
        assert (line, event["reason"], len(event["hitBreakpointIds"])) == (10, "breakpoint", 1)
        end = await bench.agent.call("debug_continue")
        assert end["exitCode"] == 10, "the agent is not in the past"
        await editor.wait_event("terminated")


async def test_a_run_that_has_ended_is_opened_and_stepped_through_also_by_who_only_observes(tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text(SHOP)
    async with real_bench() as bench, bench.editor() as editor, bench.editor() as other:
        await bench.agent.call("debug_launch", program=str(file), record=True, stop_at_entry=False, **PYTHON)
        await editor.join(OBSERVE, run="run-1")
        assert editor.bodies("capabilities")[-1]["capabilities"]["supportsStepBack"] is False, "as its role has it"
        event = await editor.wait_event("stopped")
        assert (await editor.top_frame(event["threadId"]))["line"] == 20
        [thread] = (await editor.ask("threads"))["threads"]
        lines = [(await moved(editor, command, thread["id"]))[0] for command in ("stepBack", "stepIn", "continue")]
        assert lines == [19, 14, 20]
        await editor.ask("terminate")
        await editor.wait_event("terminated")
        await other.initialize()
        assert "There is no run 'run-7'. Runs: run-1" in str(await other.refused("attach", token=OBSERVE, run="run-7"))


async def test_a_session_that_is_not_recorded_has_no_way_back(tmp_path: Path) -> None:
    async with stopped(tmp_path, 19, record=False) as (_, editor, thread):
        assert editor.bodies("capabilities")[-1]["capabilities"]["supportsStepBack"] is False
        assert "debug_launch(record=true)" in str(await editor.refused("stepBack", threadId=thread))
