"""What a person does next is served while an adapter is silent: nothing that hangs keeps the rest from being read."""

from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.editors.bench import EditorClient, Refused, paused
from trio_debugmcp.dap.profiles.python.repl import PythonRepl
from trio_debugmcp.testing import FakeAdapter, ToolFailed
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES


class Asked:
    """A request that is sent without waiting for its answer, and what came of it."""

    def __init__(self, nursery: trio.Nursery, editor: EditorClient, command: str, **arguments: Any) -> None:
        self.outcome: dict[str, Any] | Refused | None = None
        self.at = 0.0
        nursery.start_soon(self._ask, editor, command, arguments)

    async def _ask(self, editor: EditorClient, command: str, arguments: dict[str, Any]) -> None:
        try:
            self.outcome = await editor.ask(command, **arguments)
        except Refused as refused:
            self.outcome = refused
        except trio.EndOfChannel:  # the connection was closed before
            return
        self.at = trio.current_time()


async def hang(nursery: trio.Nursery, editor: EditorClient, adapter: FakeAdapter, number: int = 1) -> list[Asked]:
    """Evaluate what the adapter never answers, so many times."""
    adapter.values, frame = {"f()": "1"}, await editor.top_frame()
    adapter.withhold("evaluate")
    asked = []
    for _ in range(number):
        asked.append(Asked(nursery, editor, "evaluate", expression="f()", frameId=frame["id"], context="repl"))
        await trio.testing.wait_all_tasks_blocked()
    return asked


# --- Silent adapters --------------------------------------------------------------------------------------------------


async def test_a_person_pauses_while_as_many_evaluations_hang_as_are_served_at_a_time(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.join()
        await hang(nursery, editor, adapter, 40)
        assert len(adapter.sent("evaluate")) == 32
        await bench.agent.call("debug_continue", wait=False)
        start = trio.current_time()
        await editor.ask("pause", threadId=1)
        await trio.sleep(0.1)
        assert adapter.commands().count("pause") == 1
        await adapter.stop("pause")
        await editor.wait_event("stopped", 2)
        assert trio.current_time() == start + 0.1
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("leaving", ["disconnect", "terminate"])
async def test_a_person_leaves_or_ends_the_program_while_evaluations_and_breakpoints_hang(
    leaving: str, autojump_clock: MockClock
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.join()
        await hang(nursery, editor, adapter, 40)
        adapter.withhold("setBreakpoints")
        for line in range(3):
            wanted = {"source": {"path": adapter.program}, "breakpoints": [{"line": line + 1}]}
            await editor.send("setBreakpoints", wanted)
        await trio.sleep(0.1)
        start = trio.current_time()
        await editor.ask(leaving)
        assert trio.current_time() - start < 0.5
        if leaving == "disconnect":
            await editor.wait_closed()
            assert (await bench.agent.call("debug_state"))["state"] == "Paused"
        nursery.cancel_scope.cancel()


async def test_breakpoints_that_hang_keep_no_other_request_waiting(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.join()
        adapter.withhold("setBreakpoints")
        asked = []
        for file in (adapter.program, __file__):
            asked.append(Asked(nursery, editor, "setBreakpoints", source={"path": file}, breakpoints=[{"line": 1}]))
            await trio.testing.wait_all_tasks_blocked()
        start = trio.current_time()
        await editor.ask("threads")
        assert await editor.top_frame()
        assert trio.current_time() == start
        await trio.sleep(60)
        assert all(each.outcome is not None for each in asked)
        assert asked[0].at < asked[1].at  # in their order, each within the time of a request


async def test_a_stop_is_reported_although_the_adapter_never_answers_what_the_editor_asks_for(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.join()
        await editor.wait_event("stopped")
        adapter.withhold("setBreakpoints")
        asked = Asked(nursery, editor, "setBreakpoints", source={"path": adapter.program}, breakpoints=[{"line": 1}])
        await trio.sleep(0.5)
        await bench.agent.call("debug_step", wait=False)
        await adapter.stop("step")
        await trio.sleep(1.4)
        assert len(editor.bodies("stopped")) == 1  # what is the effect of a request is reported behind its answer
        await trio.sleep(0.2)
        assert len(editor.bodies("stopped")) == 2
        assert asked.outcome is None
        nursery.cancel_scope.cancel()


# --- Cancelling -------------------------------------------------------------------------------------------------------


async def test_a_request_is_cancelled_while_it_is_served_and_while_it_waits(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.join()
        assert editor.bodies("capabilities")[0]["capabilities"]["supportsCancelRequest"] is True
        asked = await hang(nursery, editor, adapter, 34)
        first = 5  # behind `initialize`, `attach`, `configurationDone` and `threads`, and then one for the frame
        start = trio.current_time()
        await editor.ask("cancel", requestId=first + 1)
        await editor.ask("cancel", requestId=first + 34)
        await trio.sleep(0.1)
        cancelled = [index for index, each in enumerate(asked) if isinstance(each.outcome, Refused)]
        assert cancelled == [0, 33]
        assert [getattr(asked[index].outcome, "word", None) for index in cancelled] == ["cancelled", "cancelled"]
        assert len(adapter.sent("evaluate")) == 33  # one that waited has got the room
        assert trio.current_time() == start + 0.1
        await editor.ask("cancel", requestId=first + 1)
        await editor.ask("cancel", requestId=999)
        await editor.ask("cancel", progressId="x")
        assert "do not fit" in str(await editor.refused("cancel", requestId="x"))
        nursery.cancel_scope.cancel()


async def test_an_evaluation_that_is_cancelled_is_interrupted_unless_another_client_waits_for_one(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        bench.server.app.debugger.settings.profiles[0].repl = PythonRepl()
        interrupts: list[str] = []

        async def evaluate(arguments: dict[str, Any]) -> Any:
            if "interrupt" not in arguments["expression"]:
                await trio.sleep_forever()
            interrupts.append(arguments["expression"])
            return {"result": "0", "variablesReference": 0}

        adapter.answer("evaluate", evaluate)
        await editor.join()
        frame = await editor.top_frame()

        async def agent_evaluates() -> None:
            with pytest.raises(ToolFailed):
                await bench.agent.call("evaluate", expression="slow()", timeout=20)

        nursery.start_soon(agent_evaluates)
        await trio.sleep(1)
        Asked(nursery, editor, "evaluate", expression="f()", frameId=frame["id"], context="watch")
        await trio.sleep(1)
        await editor.ask("cancel", requestId=6)
        await trio.sleep(1)
        assert interrupts == []
        await trio.sleep(30)
        assert len(interrupts) == 1  # as the time of the agent's was over
        Asked(nursery, editor, "evaluate", expression="f()", frameId=frame["id"], context="watch")
        await trio.sleep(1)
        await editor.ask("cancel", requestId=8)
        await trio.sleep(1)
        assert len(interrupts) == 2


async def test_breakpoints_that_hang_are_cancelled_and_those_behind_them_are_set(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.join()
        adapter.withhold("setBreakpoints")
        first = Asked(nursery, editor, "setBreakpoints", source={"path": adapter.program}, breakpoints=[{"line": 1}])
        await trio.sleep(0.1)
        second = Asked(nursery, editor, "setFunctionBreakpoints", breakpoints=[{"name": "main"}])
        await trio.sleep(0.1)
        assert (first.outcome, second.outcome) == (None, None)
        await editor.ask("cancel", requestId=5)
        await trio.sleep(20)
        assert isinstance(first.outcome, Refused)
        assert first.outcome.word == "cancelled"
        assert isinstance(second.outcome, dict)
        assert second.outcome["breakpoints"][0]["verified"] is True


async def test_a_pause_that_is_answered_already_is_not_cancelled(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.ask("continue", threadId=1)
        await editor.ask("pause", threadId=1)
        await editor.ask("cancel", requestId=6)
        await trio.sleep(0.1)
        await adapter.stop("pause")
        assert (await editor.wait_event("stopped", 2))["reason"] == "pause"
        assert editor.log.count("response pause") == 1


# --- Bounds -----------------------------------------------------------------------------------------------------------


async def test_requests_beyond_those_that_may_wait_are_refused_and_the_others_served(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.join()
        await hang(nursery, editor, adapter, 999)
        last = Asked(nursery, editor, "evaluate", expression="f()", context="hover")
        await trio.testing.wait_all_tasks_blocked()
        assert last.outcome is None
        assert "Too many requests" in str(await editor.refused("threads"))
        await editor.ask("cancel", requestId=6)
        assert (await editor.ask("disconnect")) == {}
        nursery.cancel_scope.cancel()


async def test_the_arguments_of_requests_that_wait_are_bounded(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.join()
        await hang(nursery, editor, adapter)
        large = {"expression": "f()" + " " * 3_000_000, "context": "repl"}
        asked = []
        for _ in range(3):
            asked.append(Asked(nursery, editor, "evaluate", **large))
            await trio.testing.wait_all_tasks_blocked()
        outcomes = [str(each.outcome) for each in asked]
        assert [each.startswith("Too many requests") for each in outcomes] == [False, False, True]
        await trio.sleep(100)
        assert (await editor.ask("threads"))["threads"]  # what is answered waits no more
        nursery.cancel_scope.cancel()


async def test_an_editor_cancels_its_own_requests_and_no_others(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsDisassembleRequest": True})
    async with (
        paused(adapter) as (bench, _),
        bench.editor() as one,
        bench.editor() as other,
        trio.open_nursery() as nursery,
    ):
        await one.join()
        await other.join()
        adapter.withhold("disassemble")
        asked = [
            Asked(nursery, each, "disassemble", memoryReference="0x1000", instructionCount=1) for each in (one, other)
        ]
        await trio.sleep(0.1)
        await other.ask("cancel", requestId=5)
        await trio.sleep(0.1)
        assert [each.outcome is None for each in asked] == [True, False]
        nursery.cancel_scope.cancel()
