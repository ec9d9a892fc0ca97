"""An editor joins in any phase of a session: it is answered, sees what is true then, and follows from there."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from msgspec import Struct
from trio.testing import MockClock

from tests.editors.bench import CONTROL, OBSERVE, Bench, EditorClient, Refused, open_bench
from trio_debugmcp.testing import FakeAdapter, ToolFailed

JOIN_SECONDS = 2.0
"""For all that an editor asks for when it joins: nothing of it waits for the program, or for another client."""


class Scene:
    """A bench, its adapter, and calls of the agent that are not over yet. `gate` holds up what a phase withholds."""

    def __init__(self, bench: Bench, adapter: FakeAdapter, nursery: trio.Nursery) -> None:
        self.bench, self.adapter, self._nursery = bench, adapter, nursery
        self.gate = trio.Event()

    def begin(self, tool: str, **arguments: Any) -> None:
        """Have the agent call a tool, and do not wait for its answer."""
        self._nursery.start_soon(self._call, tool, arguments)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> None:
        try:
            await self.bench.agent.call(tool, **arguments)
        except ToolFailed:  # as the program has ended meanwhile
            return

    def hold(self, command: str) -> None:
        """Have the adapter answer that command only when the gate is open."""
        usual = self.adapter.answer_to(command)

        async def answer(arguments: dict[str, Any]) -> Any:
            await self.gate.wait()
            return await usual(arguments)

        self.adapter.answer(command, answer)

    async def launch(self, *, stop_at_entry: bool = False) -> None:
        """Have the agent launch the program."""
        await self.bench.agent.call(
            "debug_launch", program=self.adapter.program, stop_at_entry=stop_at_entry, wait=stop_at_entry
        )
        await trio.sleep(1)


Act = Callable[[Scene], Awaitable[None]]


class Phase(Struct, frozen=True):
    """`reach` brings a session there; `sees` is the editor's picture; after `then` it is shown what `follows`."""

    name: str
    reach: Act
    sees: tuple[str, ...]
    then: Act
    follows: tuple[str, ...]


async def starting(scene: Scene) -> None:
    scene.hold("launch")
    scene.begin("debug_launch", program=scene.adapter.program, stop_at_entry=True)
    await trio.sleep(1)


async def running(scene: Scene) -> None:
    await scene.launch()


async def at_entry(scene: Scene) -> None:
    await scene.launch(stop_at_entry=True)


async def stepping(scene: Scene) -> None:
    await at_entry(scene)
    scene.begin("debug_step")
    await trio.sleep(1)


async def evaluating(scene: Scene) -> None:
    await at_entry(scene)
    scene.hold("evaluate")
    scene.begin("evaluate", expression="count", timeout=20)
    await trio.sleep(1)


async def at_an_exception(scene: Scene) -> None:
    await scene.bench.agent.call("breakpoint_set_exception", exception_type="*")
    await scene.launch()
    await scene.adapter.stop("exception", text="ValueError")
    await scene.bench.agent.call("debug_wait")


async def restarting(scene: Scene) -> None:
    await at_entry(scene)
    scene.hold("launch")
    scene.begin("debug_restart")
    await trio.sleep(1)


async def restarting_slowly(scene: Scene) -> None:
    await at_entry(scene)
    scene.hold("disconnect")
    scene.begin("debug_restart")
    await trio.sleep(1)


async def ending(scene: Scene) -> None:
    await at_entry(scene)
    scene.hold("disconnect")
    scene.begin("debug_disconnect")
    await trio.sleep(1)


async def open_gate(scene: Scene) -> None:
    scene.gate.set()
    await trio.sleep(1)


async def stop(scene: Scene) -> None:
    await scene.adapter.stop("step")


async def pause(scene: Scene) -> None:
    await scene.adapter.stop("pause")


async def end(scene: Scene) -> None:
    await scene.adapter.exit(3)


PAUSED = ("stopped entry", "MainThread", "main")
RUNNING = ("MainThread", "notStopped")
ENDED = ("exited", "terminated")

PHASES = [
    Phase("starting", starting, RUNNING, open_gate, ("stopped entry",)),
    Phase("running", running, RUNNING, pause, ("stopped pause",)),
    Phase("running to its end", running, RUNNING, end, ENDED),
    Phase("entry stop", at_entry, PAUSED, end, ("continued", *ENDED)),
    Phase("stepping", stepping, RUNNING, stop, ("stopped step",)),
    Phase("evaluating", evaluating, PAUSED, open_gate, ()),
    Phase("exception stop", at_an_exception, ("stopped exception", *PAUSED[1:]), end, ("continued", *ENDED)),
    Phase("restarting", restarting, RUNNING, open_gate, ("stopped entry",)),
    Phase("restarting, not ended yet", restarting_slowly, PAUSED, open_gate, ("continued", "stopped entry")),
    Phase("ending", ending, PAUSED, open_gate, ("terminated",)),
]
"""A program that is about to end, or to begin again, is paused until its adapter says that it is not."""


MOVES = ("stopped", "continued", "exited", "terminated")


def moves(editor: EditorClient, since: int = 0) -> tuple[str, ...]:
    """Return what an editor has been shown of whether the program runs."""
    shown = [
        each for each in editor.events[since:] if each["event"] in ("stopped", "continued", "exited", "terminated")
    ]
    return tuple(
        f"stopped {each['body']['reason']}" if each["event"] == "stopped" else str(each["event"]) for each in shown
    )


async def join(editor: EditorClient, token: str) -> tuple[str, ...]:
    """Join as editors do, and return what a person sees then."""
    with trio.fail_after(JOIN_SECONDS):
        await editor.initialize()
        await editor.ask("attach", token=token)
        await editor.wait_event("initialized")
        await editor.ask("setBreakpoints", source={"path": FakeAdapter.program}, breakpoints=[])
        await editor.ask("configurationDone")
        threads = (await editor.ask("threads"))["threads"]
    await trio.sleep(1)
    with trio.fail_after(JOIN_SECONDS):
        try:
            top = (await editor.top_frame())["name"]
        except Refused as refused:
            top = refused.word or str(refused)
    return (*moves(editor), *(each["name"] for each in threads), top)


@pytest.mark.parametrize("token", [CONTROL, OBSERVE])
@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.name)
async def test_an_editor_that_joins_in_any_phase_sees_what_is_true_and_follows_from_there(
    phase: Phase, token: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.values = {"count": "3"}
    async with open_bench(adapter) as bench, bench.editor() as editor, trio.open_nursery() as nursery:
        scene = Scene(bench, adapter, nursery)
        await phase.reach(scene)
        assert await join(editor, token) == phase.sees
        before = len(editor.events)
        await phase.then(scene)
        await trio.sleep(2)
        assert moves(editor, before) == phase.follows
        assert editor.bodies("exited") == [{"exitCode": 3}] * phase.follows.count("exited")
        if "terminated" in phase.follows:
            assert "There is no debug session" in str(await editor.refused("threads"))
        elif phase.follows:
            assert (await editor.top_frame())["name"] == "main"
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("is_over", [True, False], ids=["after the end", "before any session"])
async def test_without_a_session_an_editor_is_refused_and_with_wait_it_gets_the_next_one_from_its_start(
    is_over: bool, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, trio.open_nursery() as nursery:
        scene = Scene(bench, adapter, nursery)
        if is_over:
            await at_entry(scene)
            await adapter.exit(3)
            await trio.sleep(1)
        async with bench.editor() as editor:
            await editor.initialize()
            assert '"wait": true' in str(await editor.refused("attach", token=CONTROL))
            assert editor.events == []
        async with bench.editor() as editor:
            await editor.initialize()
            await editor.send("attach", {"token": CONTROL, "wait": True})
            await editor.wait_event("initialized")
            wanted = {"source": {"path": adapter.program}, "breakpoints": [{"line": 5}]}
            [made] = (await editor.ask("setBreakpoints", **wanted))["breakpoints"]
            assert (made["verified"], made["message"]) == (False, "not set in the program yet")
            await editor.ask("configurationDone")
            await trio.sleep(100)
            assert ("response attach" in editor.log, moves(editor)) == (False, ())
            await scene.launch(stop_at_entry=True)
            await editor.wait_event("stopped")
            assert "response attach" in editor.log
            assert moves(editor) == ("stopped entry",)
            assert (await editor.top_frame())["name"] == "main"
            assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 5}]
        nursery.cancel_scope.cancel()


async def test_an_agent_joins_the_session_that_an_editor_has_started(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        await editor.initialize()
        await editor.send("launch", {"token": CONTROL, "program": adapter.program, "stopOnEntry": True})
        await editor.wait_event("initialized")
        await editor.ask("configurationDone")
        await editor.wait_event("stopped")
        async with bench.server.connect(name="late agent") as agent:
            assert (await agent.call("debug_state"))["state"] == "Paused"
            await agent.call("debug_step", wait=False)
            await editor.wait_event("continued")
            await adapter.stop("step")
            assert (await agent.call("debug_wait"))["reason"] == "Step"
            await editor.wait_event("stopped", 2)
        assert moves(editor) == ("stopped entry", "continued", "stopped step")
