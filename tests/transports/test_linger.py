"""Several clients and one session: which of them owns it, and how long it outlives its owner. Exact times."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import SESSION, launch
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server
from trio_debugmcp.testing.connect import Era, Server

LINGER = 100.0


class Agent:
    """A client in a task of its own, so that it can leave while others stay."""

    def __init__(self) -> None:
        self.here, self._go, self._gone = trio.Event(), trio.Event(), trio.Event()

    async def run(self, server: Server, adapter: FakeAdapter) -> None:
        async with server.connect() as client:
            await launch(client, adapter)
            self.here.set()
            await self._go.wait()
        self._gone.set()

    async def leave(self) -> None:
        self._go.set()
        await self._gone.wait()


@asynccontextmanager
async def launched(adapter: FakeAdapter) -> AsyncIterator[tuple[Server, Agent]]:
    """A server whose session was launched by that agent."""
    async with open_server(adapter.options(linger=LINGER)) as server, trio.open_nursery() as nursery:
        agent = Agent()
        nursery.start_soon(agent.run, server, adapter)
        await agent.here.wait()
        yield server, agent
        nursery.cancel_scope.cancel()


async def state(client: DebugClient) -> str:
    return str((await client.call("debug_state"))["state"])


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_with_an_observer_connected_the_session_outlives_its_owner_for_the_linger_time(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with launched(adapter) as (server, agent), server.connect(era, "observe") as person:
        async with person.subscribed(SESSION):
            await agent.leave()
            await trio.sleep(LINGER - 1)
            assert await state(person) == "Running"
            heard = len(person.notices)
            await person.wait_notice("list_changed", after=heard)
            assert await state(person) == "Disconnected"
        assert adapter.sent("disconnect")[0]["terminateDebuggee"] is True


async def test_without_any_client_the_session_ends_at_once(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(adapter) as (server, agent):
        await agent.leave()
        await trio.sleep(1)
        assert server.app.debugger.state.root is None


async def test_a_lingering_session_ends_when_its_last_observer_disconnects(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(adapter) as (server, agent):
        async with server.connect(role="observe"):
            await agent.leave()
            await trio.sleep(10)
            assert server.app.debugger.state.root is not None
        await trio.sleep(1)
        assert server.app.debugger.state.root is None


async def test_a_client_in_control_becomes_the_owner_by_using_the_session(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(adapter) as (server, agent), server.connect() as other:
        await agent.leave()
        await trio.sleep(LINGER / 2)
        await other.call("debug_pause", timeout=0)
        await trio.sleep(10 * LINGER)
        assert await state(other) == "Running"


async def test_a_client_in_control_that_only_reads_does_not_become_the_owner(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(adapter) as (server, agent), server.connect() as other:
        await agent.leave()
        await trio.sleep(LINGER / 2)
        assert await state(other) == "Running"
        await trio.sleep(LINGER)
        assert await state(other) == "Disconnected"


async def test_observers_that_connect_and_disconnect_do_not_end_the_session(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options(linger=LINGER)) as server, server.connect() as agent:
        await launch(agent, adapter)
        for _ in range(10):
            async with server.connect(role="observe") as person, person.subscribed(SESSION):
                await adapter.stop("step")
                await trio.sleep(1)
        await trio.sleep(10 * LINGER)
        assert await state(agent) == "Paused"


async def test_the_client_that_used_the_session_last_owns_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(adapter) as (server, agent), server.connect() as second:
        await second.call("debug_pause", timeout=0)
        await agent.leave()
        await trio.sleep(10 * LINGER)
        assert await state(second) == "Running"


async def test_without_lingering_the_session_ends_with_its_owner(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options(linger=0)) as server, server.connect(role="observe") as person:
        async with server.connect() as agent:
            await launch(agent, adapter)
        await trio.sleep(1)
        assert await state(person) == "Disconnected"


async def test_the_server_is_dispensable_without_control_clients_once_the_linger_time_of_observers_is_over(
    autojump_clock: MockClock,
) -> None:
    async with open_server(FakeAdapter().options(linger=LINGER)) as server:
        start = trio.current_time()
        await server.app.clients.wait_dispensable()
        assert trio.current_time() == start
        async with server.connect(role="observe"), trio.open_nursery() as nursery:

            async def control() -> None:
                async with server.connect():
                    await trio.sleep(500)

            nursery.start_soon(control)
            await trio.sleep(1)
            await server.app.clients.wait_dispensable()
            assert trio.current_time() - start == pytest.approx(500 + LINGER, abs=2)
