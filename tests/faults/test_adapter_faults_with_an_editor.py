"""Every fault of an adapter with an editor in the session, whose request it is that fails: it learns of it."""

import logging
from collections.abc import Iterator
from math import inf
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import CONTROL, Bench, EditorClient, open_bench
from tests.faults.bench import LET_GO_SECONDS, check_for_people
from tests.faults.leftovers import descriptors, tasks
from tests.faults.outcomes import declared
from tests.faults.phases import PHASES, Phase, healthy
from tests.faults.test_editor_faults import ACTS
from trio_debugmcp.app import Options
from trio_debugmcp.editors.starting import LAUNCH_SECONDS
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import FakeAdapter, FakeProfile
from trio_debugmcp.testing.faults import FAULTS, Fault

ANSWER_SECONDS = LAUNCH_SECONDS + 10
"""The longest that a request waits: the launch of a program that never starts."""

ASKING = ("starting", "greeting", "reading", "evaluating")
"""In these the answer to the editor is what the adapter answers."""

STRIDE = 3
"""Each fault in every third phase, and each phase with every third fault: all of them take half a minute."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Hundreds of faults are worth no log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


class Cell:
    """One fault in one phase, and what the editor makes of it."""

    def __init__(self, bench: Bench, editor: EditorClient, adapter: FakeAdapter, phase: Phase, fault: Fault) -> None:
        self.bench, self.editor, self.adapter = bench, editor, adapter
        self.phase, self.fault = phase, fault

    async def run(self) -> None:
        """Let the fault strike while the editor's request is under way, and check everything."""
        response = await self._act()
        self._check_answer(response)
        await trio.sleep(LET_GO_SECONDS)
        if self.phase.name == "disconnecting":
            await self.editor.wait_closed()
            assert self.editor.log[-1] == "response disconnect"
        else:
            await self._check_end(response)
        answered = sum(each.startswith("response ") for each in self.editor.log)
        assert answered == self.editor.sent, "each request has one answer"
        for each in self.editor.bodies("output"):
            if each["category"] == "important":
                check_for_people(each["output"])

    async def _act(self) -> dict[str, Any]:
        """Reach the phase, inject the fault, and return the answer to what the editor asks for."""
        editor, phase = self.editor, self.phase
        if phase.paused is None:
            self.fault.inject(self.adapter, phase.command)
            return await self._launch()
        await phase.reach(self.bench.agent)
        await editor.join()
        if phase.paused:
            await editor.wait_event("stopped")
        command, arguments = ACTS.get(phase.name, ("", {}))
        if phase.name == "reading":
            [scope] = (await editor.ask("scopes", frameId=(await editor.top_frame())["id"]))["scopes"]
            command, arguments = "variables", {"variablesReference": scope["variablesReference"]}
        self.fault.inject(self.adapter, phase.command)
        with trio.fail_after(ANSWER_SECONDS):
            return await editor.response(command, arguments)

    async def _launch(self) -> dict[str, Any]:
        editor, came = self.editor, list[dict[str, Any]]()
        await editor.initialize()

        async def launch() -> None:
            wanted = {"token": CONTROL, "program": FakeAdapter.program, "stopOnEntry": True}
            came.append(await editor.response("launch", wanted))

        with trio.fail_after(ANSWER_SECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(launch)
                await editor.wait_event("initialized")
                await editor.ask("configurationDone")
        return came[0]

    def _check_answer(self, response: dict[str, Any]) -> None:
        """A failure is a sentence; what leaves a call of an agent unharmed leaves the request of an editor so."""
        outcome = declared()[self.fault.name][self.phase.name]
        if not response["success"]:
            check_for_people(response["body"]["error"]["format"])
        # An agent's call has other messages than an editor's request, so that not the same is lost with one of them.
        if outcome.startswith("unharmed"):
            assert response["success"], (outcome, response)
        if (
            "crashes at message" not in self.fault.name
            and outcome.isupper()
            and self.phase.name in ("starting", "greeting", "reading", "evaluating")
        ):
            assert not response["success"], (outcome, response)

    async def _check_end(self, response: dict[str, Any]) -> None:
        """The session is over for the editor exactly if it is; else the editor is served."""
        editor, agent = self.editor, self.bench.agent
        state = await agent.call("debug_state")
        if state["state"] != "Disconnected":
            assert "terminated" not in editor.log
            with trio.fail_after(ANSWER_SECONDS):
                await editor.response("threads", {})
            await agent.call("debug_disconnect")
            await trio.sleep(LET_GO_SECONDS)
            state = await agent.call("debug_state")
        assert (editor.log.count("terminated"), editor.closed) == (1, False)
        codes = [each["exitCode"] for each in editor.bodies("exited")]
        assert codes in ([], [3])
        assert codes or "exitCode" not in state or not response["success"]
        assert not (await editor.response("stackTrace", {"threadId": 1}))["success"]


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.name)
async def test_an_editor_learns_of_every_fault_of_the_adapter_and_all_its_requests_are_answered(
    phase: Phase, autojump_clock: MockClock
) -> None:
    profile = FakeProfile(healthy())
    options = Options(settings=Settings(directory="/", profiles=(profile,)))
    broken: dict[str, str] = {}
    async with open_bench(profile.adapter, options, seconds=inf) as bench:
        for fault in (FAULTS[0], *FAULTS[PHASES.index(phase) % STRIDE :: STRIDE]):  # the first of all warms it up
            profile.adapter = healthy()
            before = tasks(), descriptors()
            async with bench.editor() as editor:
                try:
                    await Cell(bench, editor, profile.adapter, phase, fault).run()
                except (AssertionError, trio.TooSlowError, trio.EndOfChannel) as error:
                    broken[fault.name] = f"{type(error).__name__}: {str(error)[:300]}"
            await trio.sleep(5)
            if (await bench.agent.call("debug_state"))["state"] != "Disconnected":
                await bench.agent.call("debug_disconnect")
            await bench.agent.call("breakpoint_remove", id="*")
            await trio.sleep(LET_GO_SECONDS)
            if (tasks(), descriptors()) != before and fault is not FAULTS[0]:
                broken.setdefault(fault.name, f"left behind: {tasks() - before[0]}")
    assert broken == {}
