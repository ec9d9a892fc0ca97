"""Editors that break, flood and vanish: another client does not notice it in any phase of a session."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import check_message
from tests.faults.leftovers import descriptors, tasks
from tests.faults.phases import PHASES, Phase, healthy
from tests.faults.test_client_faults import TAKES_TIME, check_unharmed, slow
from tests.server.scene import LIST_CHANGED, SESSION, launch
from trio_debugmcp.app import Options
from trio_debugmcp.listen import editor_door
from trio_debugmcp.server.auth import Tokens
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import FakeAdapter, FakeProfile, open_server
from trio_debugmcp.testing.faults import EDITOR_FAULTS, EditorFault, RawEditor, connect_raw_editor
from trio_debugmcp.transports.admission import STRANGER_SECONDS, Admission, bounds

CONTROL = "control-token"

ACTS: dict[str, tuple[str, dict[str, Any]]] = {
    "running": ("pause", {"threadId": 1}),
    "paused": ("setBreakpoints", {"source": {"path": FakeAdapter.program}, "breakpoints": [{"line": 5}]}),
    "stepping": ("next", {"threadId": 1}),
    "evaluating": ("evaluate", {"expression": "x", "context": "repl"}),
    "disconnecting": ("disconnect", {"terminateDebuggee": True}),
}
"""What the editor asks for in a phase; it launches when there is none yet, and reads the variables in `reading`."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Dozens of faults are worth no log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


async def act(raw: RawEditor, phase: Phase) -> None:
    """What the editor of the phase does, without waiting for the answer."""
    if phase.paused is None:
        await raw.request("initialize", {"adapterID": "raw", "clientName": "raw"})
        await raw.send("launch", {"token": CONTROL, "program": FakeAdapter.program, "stopOnEntry": True})
        await raw.wait(lambda message: message.get("event") == "initialized")
        await raw.send("configurationDone")
    else:
        await raw.join(CONTROL)
        if phase.paused:
            await raw.wait(lambda message: message.get("event") == "stopped")
        if phase.name == "reading":
            [frame, *_] = (await raw.request("stackTrace", {"threadId": 1}))["body"]["stackFrames"]
            [scope, *_] = (await raw.request("scopes", {"frameId": frame["id"]}))["body"]["scopes"]
            await raw.send("variables", {"variablesReference": scope["variablesReference"]})
        else:
            await raw.send(*ACTS[phase.name])
    await trio.sleep(TAKES_TIME / 2)


@pytest.mark.parametrize("fault", EDITOR_FAULTS, ids=lambda fault: fault.name)
async def test_an_editors_fault_in_any_phase_does_not_affect_another_client(
    fault: EditorFault, autojump_clock: MockClock
) -> None:
    profile = FakeProfile(healthy())
    options = Options(settings=Settings(directory="/", profiles=(profile,)))
    async with (
        open_server(options) as server,
        server.connect() as other,
        other.subscribed(SESSION),
        trio.open_nursery() as nursery,
    ):
        door, admission = editor_door(server.app, Tokens(CONTROL)), Admission(bounds(1000))
        nursery.start_soon(door.run)
        await launch(other, profile.adapter)
        await other.call("debug_disconnect")
        await trio.sleep(10)
        before = tasks(), descriptors()
        for phase in PHASES:
            profile.adapter = slow(phase.command)
            await phase.reach(other)
            async with connect_raw_editor(door, admission) as raw:
                await act(raw, phase)
                await fault.inject(raw)
                await trio.sleep(10)
                await check_unharmed(other, phase, profile.adapter)
                for message in raw.received:
                    check_message(message)
            await trio.sleep(1)
            assert admission.statistics().control == 0
            if await other.uris():
                await other.call("debug_disconnect")
            await other.call("breakpoint_remove", id="*")
            await trio.sleep(1)
            assert [notice.what for notice in other.notices].count(LIST_CHANGED) % 2 == 0
            assert (tasks(), descriptors()) == before, phase.name
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("fault", EDITOR_FAULTS, ids=lambda fault: fault.name)
async def test_a_fault_before_a_token_is_shown_costs_the_strangers_own_connection(
    fault: EditorFault, autojump_clock: MockClock
) -> None:
    adapter = healthy()
    async with open_server(adapter.options()) as server, server.connect() as other, trio.open_nursery() as nursery:
        door, admission = editor_door(server.app, Tokens(CONTROL)), Admission(bounds(1000))
        nursery.start_soon(door.run)
        await other.call("debug_launch", program=adapter.program, stop_at_entry=True)
        before = tasks(), descriptors()
        async with connect_raw_editor(door, admission) as raw:
            await fault.inject(raw)
            await trio.sleep(STRANGER_SECONDS + 1)
            assert admission.statistics().strangers == 0
            assert {message.get("event") for message in raw.received} <= {None, "output"}
            for message in raw.received:
                check_message(message)
        await trio.sleep(1)
        assert (tasks(), descriptors()) == before
        assert (await other.call("debug_step"))["reason"] == "Step"
        nursery.cancel_scope.cancel()
