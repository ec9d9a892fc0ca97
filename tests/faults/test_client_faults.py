"""Clients that break, flood and vanish: another client does not notice it in any phase of a session."""

import logging
from collections.abc import Iterator

import pytest
import trio
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from tests.faults.leftovers import descriptors, tasks
from tests.faults.phases import PHASES, Phase, healthy
from tests.server.scene import LIST_CHANGED, SESSION, launch
from trio_debugmcp.app import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, FakeProfile, open_server
from trio_debugmcp.testing.faults import CLIENT_FAULTS, ClientFault, RawClient, connect_raw

TAKES_TIME = 0.5
"""The adapter's answer comes that late, so that the client goes wrong while its call is under way."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Dozens of faults are worth no log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def slow(command: str) -> FakeAdapter:
    """An adapter that takes its time for that command."""
    adapter = healthy()
    answer = adapter.answer_to(command)

    async def later(arguments: dict[str, object]) -> object:
        await trio.sleep(TAKES_TIME)
        return await answer(arguments)

    adapter.answer(command, later)
    return adapter


async def act(raw: RawClient, phase: Phase) -> None:
    """What the client of the phase does, without waiting for the answer."""
    await raw.call(phase.tool, phase.arguments)
    await trio.sleep(TAKES_TIME / 2)


@pytest.mark.parametrize("fault", CLIENT_FAULTS, ids=lambda fault: fault.name)
async def test_a_client_fault_in_any_phase_does_not_affect_another_client(
    fault: ClientFault, autojump_clock: MockClock
) -> None:
    profile = FakeProfile(healthy())
    options = Options(settings=Settings(directory="/", profiles=(profile,)))
    async with open_server(options) as server, server.connect() as other, other.subscribed(SESSION):
        await launch(other, profile.adapter)
        await other.call("debug_disconnect")
        await trio.sleep(10)
        before = tasks(), descriptors()
        for phase in PHASES:
            profile.adapter = slow(phase.command)
            await phase.reach(other)
            async with connect_raw(server.app) as raw:
                await raw.initialize()
                await raw.request("resources/subscribe", {"uri": SESSION})
                await act(raw, phase)
                await fault.inject(raw)
                await trio.sleep(10)
                await check_unharmed(other, phase, profile.adapter)
            await trio.sleep(1)
            if await other.uris():
                await other.call("debug_disconnect")
            await other.call("breakpoint_remove", id="*")
            await trio.sleep(1)
            assert [notice.what for notice in other.notices].count(LIST_CHANGED) % 2 == 0
            assert (tasks(), descriptors()) == before, phase.name


async def check_unharmed(other: DebugClient, phase: Phase, adapter: FakeAdapter) -> None:
    """The other client does with the session what it likes, is not held up, and is notified."""
    start, heard = trio.current_time(), len(other.notices)
    if await other.uris():
        if (await other.read(SESSION))["state"] == "Running":
            await other.call("debug_pause")
        assert (await other.call("evaluate", expression="x"))["value"] == "1"
        await other.call("debug_continue", wait=False)
        assert (await other.read(SESSION))["state"] == "Running"
    else:  # the client has ended it, or has left and its launch with it
        assert phase.paused is None or phase.tool == "debug_disconnect"
        await launch(other, adapter)
    assert trio.current_time() - start <= 2 * TAKES_TIME, "the other client had to wait"
    await trio.sleep(1)
    assert SESSION in [notice.what for notice in other.notices[heard:]]


@pytest.mark.parametrize("fault", ["garbage", "half a line", "endless line", "repeats an id", "greets again"])
async def test_a_client_that_has_sent_garbage_is_still_served(fault: str, autojump_clock: MockClock) -> None:
    (chosen,) = [each for each in CLIENT_FAULTS if each.name == fault]
    adapter = healthy()
    async with open_server(adapter.options()) as server, connect_raw(server.app) as raw:
        await raw.initialize()
        await chosen.inject(raw)
        await raw.send_raw(b"\n")
        answer = await raw.request("tools/call", {"name": "debug_state", "arguments": {}})
        assert answer["result"]["structuredContent"]["state"] == "Disconnected"


async def test_every_garbage_line_with_an_id_is_answered(autojump_clock: MockClock) -> None:
    (garbage,) = [each for each in CLIENT_FAULTS if each.name == "garbage"]
    async with open_server(FakeAdapter().options()) as server, connect_raw(server.app) as raw:
        await raw.initialize()
        first = len(raw.received)
        await garbage.inject(raw)
        await trio.sleep(1)
        codes = [message["error"]["code"] for message in raw.received[first:]]
        assert codes.count(-32700) == 3, raw.received[first:]
        assert {8, 9, 10} <= {message.get("id") for message in raw.received[first:]}


async def test_a_launch_whose_client_vanishes_is_ended_and_another_client_may_launch(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.withhold("launch")
    async with open_server(adapter.options()) as server, server.connect() as other, connect_raw(server.app) as raw:
        await raw.initialize()
        await raw.call("debug_launch", {"program": adapter.program})
        await trio.sleep(1)
        assert (await other.read(SESSION))["state"] == "Starting"
        await raw.abort()
        await trio.sleep(2)
        with pytest.raises(MCPError):
            await other.read(SESSION)
        assert "disconnect" in adapter.commands()
        adapter.restore()
        await launch(other, adapter)
