"""A server on a virtual clock, one client that works and one that watches, and the outcome of each fault for them."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio
from mcp.shared.exceptions import MCPError

from tests.faults.leftovers import children, descriptors, tasks
from tests.faults.phases import Phase, healthy
from tests.server.scene import JSON_URIS, LIST_CHANGED, SESSION
from trio_debugmcp.app import Options
from trio_debugmcp.errors import leaf
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, FakeProfile, ToolFailed, open_server
from trio_debugmcp.testing.faults import FAULTS, Fault

CELL_SECONDS = 300.0
"""By trio's virtual clock; what takes longer hangs."""

LET_GO_SECONDS = 60.0
"""After which every late answer and notification has come."""

_NEXT_STEP = re.compile(r"\b(debug|process|breakpoint|variables)_\w+|`timeout`")
_FOR_MACHINES = re.compile(
    r"""b['"]|\\x|<\w|0x[0-9a-f]|Error\(|\bNone\b|ExceptionGroup|\btrio\.|msgspec|\w+Violation|\[\w+Error"""
)


class Bench:
    """Made by `open_bench`."""

    def __init__(self, profile: FakeProfile, worker: DebugClient, watcher: DebugClient) -> None:
        self._profile = profile
        self.worker = worker
        self.watcher = watcher

    async def try_fault(self, fault: Fault, phase: Phase) -> str:
        """Let the fault inject in the phase, check everything that must hold for all of them, and tell the outcome."""
        before = tasks(), descriptors(), children()
        self._profile.adapter = adapter = healthy()
        with trio.fail_after(CELL_SECONDS):
            await phase.reach(self.worker)
            edges = len(self.watcher.times_of(LIST_CHANGED))
            fault.inject(adapter, phase.command)
            outcome = await self._act(phase)
            await trio.sleep(LET_GO_SECONDS)
            goes_on = (await self.worker.call("debug_state"))["state"] != "Disconnected"
            if goes_on:
                await self._end()
            await self._check_over(edges)
        after = tasks(), descriptors(), children()
        assert after == before, f"left behind: {after[0] - before[0]}, {before} -> {after}"
        await self.check_fresh_launch()
        if phase.paused is None or phase.name == "disconnecting":
            return outcome
        return outcome if goes_on else f"{outcome} †"

    async def _act(self, phase: Phase) -> str:
        """What the client's call comes to, while the watcher reads and is never held up."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_reading)
            start = trio.current_time()
            try:
                result = await phase.act(self.worker)
                outcome = outcome_of(result)
            except ToolFailed as failed:
                check_readable(failed)
                outcome = failed.code
            took = trio.current_time() - start
            assert took <= phase.seconds + 1e-6, f"{phase.tool} took {took} s"
            nursery.cancel_scope.cancel(reason="enough is read")
        return outcome

    async def _keep_reading(self) -> None:
        while True:
            start, refusals = trio.current_time(), []
            for uri in JSON_URIS:
                try:
                    await self.watcher.read(uri)
                except MCPError as refusal:
                    refusals.append(refusal.error)
            for each in refusals:
                assert (each.code in {-32002, -32602}, "debug_launch" in each.message) == (True, True), each
            assert trio.current_time() == start, "a read waited"
            await trio.sleep(2)

    async def _end(self) -> None:
        start = trio.current_time()
        await self.worker.call("debug_disconnect")
        assert trio.current_time() - start <= 7 + 1e-6, "the goodbye took too long"

    async def _check_over(self, edges: int) -> None:
        """The documented end: no resources, `list_changed` sent, a reason that is a sentence."""
        await trio.sleep(1)
        assert await self.watcher.uris() == []
        assert len(self.watcher.times_of(LIST_CHANGED)) > edges, "list_changed was not sent"
        state = await self.worker.call("debug_state")
        assert state["state"] == "Disconnected"
        assert "exitCode" in state or state["notes"]
        for reason in state.get("notes", ()):
            check_for_people(reason)
            assert "shutting down" not in reason

    async def check_fresh_launch(self) -> None:
        self._profile.adapter = FakeAdapter()
        result = await self.worker.call("debug_launch", program=FakeAdapter.program, stop_at_entry=True)
        assert result["reason"] == "Entry"
        assert (await self.watcher.read(SESSION))["state"] == "Paused"
        assert await self.worker.call("debug_disconnect") == {"ended": True}
        await self.worker.call("breakpoint_remove", id="*")
        await trio.sleep(5)


def outcome_of(result: dict[str, Any]) -> str:
    """What a call that did not fail says of its end."""
    if result.get("timedOut"):
        return "times out"
    if result.get("reason") == "Exited":
        return "exited"
    return "unharmed"


def check_readable(failed: ToolFailed) -> None:
    """The message of a failure is for people, and says what to do next."""
    check_for_people(failed.message)
    assert failed.code != "INTERNAL", failed
    assert failed.code == "EVAL_FAILED" or _NEXT_STEP.search(failed.message), f"no next step: {failed}"


def check_for_people(text: str) -> None:
    """Not a word of it is for machines."""
    found = _FOR_MACHINES.search(text)
    assert not found, f"{found and found[0]!r} in: {text}"


async def try_all(phase: Phase) -> dict[str, str]:
    """What each fault comes to in a phase, all on one server; a fault that breaks a promise gets a new one."""
    outcomes: dict[str, str] = {}
    waiting = list(FAULTS)
    while waiting:
        try:
            async with open_bench() as bench:
                while waiting:
                    fault = waiting.pop(0)
                    outcomes[fault.name] = await bench.try_fault(fault, phase)
        except* (AssertionError, ToolFailed, MCPError, trio.TooSlowError) as broken:
            outcomes[fault.name] = f"BROKEN: {leaf(broken)}"
    return outcomes


@asynccontextmanager
async def open_bench() -> AsyncIterator[Bench]:
    """A server, a client that works and one that watches everything; both warmed up."""
    profile = FakeProfile(FakeAdapter())
    options = Options(settings=Settings(directory="/", profiles=(profile,)))
    async with (
        open_server(options) as server,
        server.connect("legacy") as worker,
        server.connect("modern", "observe") as watcher,
        watcher.subscribed(*JSON_URIS),
    ):
        bench = Bench(profile, worker, watcher)
        await bench.check_fresh_launch()
        yield bench
