"""Observers: they inspect, are refused everything else in a sentence that says why, and are spared what is in vain."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import OBSERVE, EditorClient, open_bench, paused
from trio_debugmcp.editors.dispatch import REQUESTS
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES

ABLE = {
    **ALL_CAPABILITIES,
    "supportsStepBack": True,
    "supportsCompletionsRequest": True,
    "supportsGotoTargetsRequest": True,
    "supportsStepInTargetsRequest": True,
    "supportsRestartFrame": True,
    "supportsDataBreakpoints": True,
    "supportsInstructionBreakpoints": True,
    "supportsReadMemoryRequest": True,
    "supportsDisassembleRequest": True,
    "supportsSetVariable": True,
    "supportsSetExpression": True,
}
"""What the adapter can: so that nothing is refused because it cannot."""

ALLOWED = {"threads", "stackTrace", "scopes", "variables", "source", "exceptionInfo", "modules", "loadedSources"}

SOURCE = {"path": FakeAdapter.program}

REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("next", {"threadId": 1}),
    ("stepIn", {"threadId": 1}),
    ("stepOut", {"threadId": 1}),
    ("stepBack", {"threadId": 1}),
    ("continue", {"threadId": 1}),
    ("reverseContinue", {"threadId": 1}),
    ("pause", {"threadId": 1}),
    ("gotoTargets", {"source": SOURCE, "line": 2}),
    ("goto", {"threadId": 1, "targetId": 1}),
    ("stepInTargets", {"frameId": 1}),
    ("restartFrame", {"frameId": 1}),
    ("evaluate", {"expression": "count"}),
    ("evaluate", {"expression": "count", "context": "hover"}),
    ("evaluate", {"expression": "count", "context": "repl"}),
    ("completions", {"text": "c", "column": 2}),
    ("setVariable", {"variablesReference": 1, "name": "count", "value": "4"}),
    ("setExpression", {"expression": "count", "value": "4"}),
    ("setBreakpoints", {"source": SOURCE, "breakpoints": [{"line": 1}]}),
    ("setBreakpoints", {"source": SOURCE, "lines": [1]}),
    ("setFunctionBreakpoints", {"breakpoints": [{"name": "main"}]}),
    ("setExceptionBreakpoints", {"filters": ["raised"]}),
    ("setExceptionBreakpoints", {"filters": [], "filterOptions": [{"filterId": "uncaught"}]}),
    ("dataBreakpointInfo", {"name": "count"}),
    ("setDataBreakpoints", {"breakpoints": [{"dataId": "s-1:1:1:0:count"}]}),
    ("setInstructionBreakpoints", {"breakpoints": [{"instructionReference": "0x1000"}]}),
    ("readMemory", {"memoryReference": "0x1000", "count": 4}),
    ("disassemble", {"memoryReference": "0x1000", "instructionCount": 4}),
    ("restart", {}),
    ("terminate", {}),
    ("disconnect", {"terminateDebuggee": True}),
]
"""The last one, as an editor is disconnected by it in any case."""

SENTENCE = "This editor may only observe: "


async def test_an_observer_sees_the_stop_and_the_locals_of_its_top_frame_without_a_request_to_the_program(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join(OBSERVE)
        await editor.wait_event("stopped")
        before = len(adapter.requests)
        assert [(each["name"], each["value"]) for each in await editor.locals()] == [("count", "3")]
        assert len(adapter.requests) == before


def test_each_request_is_known_to_be_one_for_observers_or_not() -> None:
    assert ALLOWED | {each for each, _ in REFUSED} == {*REQUESTS, "disconnect"}
    assert not ALLOWED & {each for each, _ in REFUSED}


@pytest.mark.parametrize("state", ["Paused", "Running"])
async def test_an_observer_is_refused_what_changes_something_and_learns_that_it_may_only_observe(
    state: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter(ABLE)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join(OBSERVE)
        await editor.wait_event("stopped")
        assert await editor.locals()  # so that 1 is the number of a frame, and 2 that of its locals
        if state == "Running":
            await bench.agent.call("debug_continue", wait=False)
            await editor.wait_event("continued")
        before = adapter.commands()
        for command, arguments in REFUSED:
            refused = await editor.refused(command, **arguments)
            assert str(refused).startswith(SENTENCE), (command, str(refused))
            assert str(refused).endswith(" needs the control token.")
        await editor.wait_closed()
        await trio.sleep(10)
        assert adapter.commands() == before
        assert (await bench.agent.read("debugger://breakpoints"))["breakpoints"] == []
        assert (await bench.agent.call("debug_state"))["state"] == state


@pytest.mark.parametrize("is_there", [True, False])
async def test_an_observer_starts_no_program(is_there: bool, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        if is_there:
            await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=True)
        before = adapter.commands()
        await editor.initialize()
        refused = await editor.refused("launch", token=OBSERVE, program=adapter.program, newSession=True)
        assert str(refused).startswith(SENTENCE)
        assert refused.show, "its person is waiting for a program"
        await trio.sleep(10)
        assert adapter.commands() == before


async def send_nothing(editor: EditorClient) -> list[dict[str, Any]]:
    """Send what editors send about breakpoints when they have none."""
    return [
        await editor.ask("setBreakpoints", source=SOURCE, breakpoints=[], lines=[], sourceModified=False),
        await editor.ask("setBreakpoints", source=SOURCE),
        await editor.ask("setFunctionBreakpoints", breakpoints=[]),
        await editor.ask("setDataBreakpoints", breakpoints=[]),
        await editor.ask("setInstructionBreakpoints", breakpoints=[]),
        await editor.ask("setExceptionBreakpoints", filters=[], filterOptions=[]),
    ]


async def test_an_observer_that_has_no_breakpoints_may_say_so_as_editors_do_when_they_join(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter(ABLE)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await bench.agent.call("breakpoint_set", file=adapter.program, line=3)
        await bench.agent.call("breakpoint_set_exception", exception_type="*")
        before = adapter.commands()
        await editor.initialize()
        await editor.ask("attach", token=OBSERVE)
        await editor.wait_event("initialized")
        assert await send_nothing(editor) == [{"breakpoints": []}] * 5 + [{}]
        await editor.ask("configurationDone")
        await editor.ask("threads")
        await editor.wait_event("stopped")
        assert (await editor.top_frame())["name"] == "main"
        shown = await bench.agent.read("debugger://breakpoints")
        assert (len(shown["breakpoints"]), len(shown["exceptionBreakpoints"])) == (1, 1), "those of others stay"
        assert not {each for each in adapter.commands()[len(before) :] if each.startswith("set")}


async def test_the_buttons_of_an_observer_are_greyed_by_its_capabilities(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsSetVariable": True})
    async with paused(adapter) as (bench, _), bench.editor() as editor, bench.editor() as observer:
        await editor.join()
        await observer.join(OBSERVE)
        [mine] = editor.bodies("capabilities")
        [theirs] = observer.bodies("capabilities")
        assert mine["capabilities"]["supportsSetVariable"] is True
        assert mine["capabilities"]["supportsStepBack"] is False  # as the adapter has it
        allowed = {name for name, each in theirs["capabilities"].items() if each is True}
        assert allowed == {
            "supportsConfigurationDoneRequest",
            "supportsExceptionInfoRequest",
            "supportsModulesRequest",
            "supportsLoadedSourcesRequest",
            "supportsDelayedStackTraceLoading",
            "supportsCancelRequest",
        }
