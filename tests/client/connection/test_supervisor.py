"""Connecting, disconnecting and reconnecting. Virtual clock, both eras where they differ."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import Peer, received
from trio_debugmcp.client import (
    ConnectFailed,
    ConnectionLost,
    InspectorClient,
    InspectorOptions,
    NotConnected,
    Reconnect,
)
from trio_debugmcp.client.connection.supervisor import STABLE_SECONDS


def status(client: InspectorClient) -> str:
    """Its status, as something that the type checker knows to change."""
    return client.status


def kinds(stream: Any) -> list[str]:
    return [event.kind for event in received(stream) if event.kind not in ("message", "cacheChange")]


ONE = "demo://one"


async def test_connect_does_nothing_when_connected_and_disconnect_nothing_when_not(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        await client.connect()
        assert peer.connections == 1
        await client.disconnect()
        await client.disconnect()
        await client.connect()
        assert peer.connections == 2


async def test_disconnecting_overtakes_connecting_and_nothing_is_announced_as_connected(
    autojump_clock: MockClock,
) -> None:
    peer = Peer()
    peer.silent_about |= {"server/discover"}
    client = InspectorClient(peer, InspectorOptions(connect_on_enter=False))
    async with client, client.events("connect", "disconnect") as events:
        async with trio.open_nursery() as nursery:

            async def connect() -> None:
                with pytest.raises(ConnectFailed, match="disconnected while connecting"):
                    await client.connect()

            nursery.start_soon(connect)
            await wait_all_tasks_blocked()
            assert status(client) == "connecting"
            await client.disconnect()
        assert status(client) == "disconnected"
        assert received(events) == []


async def test_a_crash_while_the_first_lists_are_fetched_fails_the_connection(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.silent_about.add("tools/list")
    client = InspectorClient(peer, InspectorOptions(connect_on_enter=False))
    async with client, client.events("connect", "disconnect") as events, trio.open_nursery() as nursery:

        async def connect() -> None:
            with pytest.raises(ConnectFailed, match="the server closed the connection"):
                await client.connect()

        nursery.start_soon(connect)
        await wait_all_tasks_blocked()
        assert status(client) == "connected"
        peer.crash()
        await wait_all_tasks_blocked()
        assert status(client) == "error"
        assert kinds(events) == ["connect", "disconnect"]


async def test_reconnecting_pauses_longer_each_time_and_gives_up(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer, InspectorOptions(reconnect=Reconnect(attempts=4))) as client:
        peer.silent_about |= {"initialize", "server/discover"}
        async with client.events("error", "statusChange") as events, client.subscribed(ONE) as updates:
            peer.handlers["initialize"] = peer.handlers["server/discover"] = lambda _: {}
            peer.silent_about.clear()
            peer.crash()
            with pytest.raises(ConnectionLost):
                await anext(updates)
            assert trio.current_time() == pytest.approx(0.5 + 1 + 2 + 4)
            failures = [event for event in received(events) if event.kind == "error"]
            assert len(failures) == 1 + 4
        assert status(client) == "error"
        assert peer.connections == 5


async def test_a_disconnect_ends_the_attempts_to_reconnect(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer, InspectorOptions(reconnect=Reconnect(first_delay=60, max_delay=60))) as client:
        peer.crash()
        await trio.sleep(5)
        await client.disconnect()
        assert status(client) == "disconnected"
        await trio.sleep(600)
        assert peer.connections == 1
        await client.connect()
        assert status(client) == "connected"


async def test_a_disconnect_ends_an_attempt_that_is_under_way(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer, InspectorOptions(reconnect=Reconnect(first_delay=1))) as client:
        peer.silent_about |= {"initialize", "server/discover"}
        peer.crash()
        await trio.sleep(2)
        assert status(client) == "connecting"
        await client.disconnect()
        assert status(client) == "disconnected"
        await trio.sleep(600)
        assert peer.connections == 2


async def test_a_server_that_crashes_at_once_again_and_again_is_not_restarted_for_ever(
    peer: Peer, autojump_clock: MockClock
) -> None:
    client = InspectorClient(peer, InspectorOptions(reconnect=Reconnect(attempts=3)))
    async with client, client.events("connect") as connects:
        await trio.sleep(100)  # what counts is how long a connection lasted, not the time of day
        async with trio.open_nursery() as nursery:

            async def crash() -> None:
                async for _ in connects:
                    await wait_all_tasks_blocked()
                    peer.crash()

            nursery.start_soon(crash)
            peer.crash()
            await trio.sleep(600)
            nursery.cancel_scope.cancel("done")
        assert peer.connections == 1 + 3
        assert client.statistics().supervisor.failed_attempts == 3


async def test_an_attempt_counts_as_failed_when_it_has_failed(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer, InspectorOptions(reconnect=Reconnect(first_delay=1))) as client:

        def failed() -> int:
            return client.statistics().supervisor.failed_attempts

        connected = client.wait_for("connect")
        peer.crash()
        await connected
        assert failed() == 0
        peer.crash()  # the connection was lost before it was stable
        await trio.sleep(0.5)
        assert failed() == 1
        await trio.sleep(60)
        assert status(client) == "connected"
        peer.crash()
        await trio.sleep(0.5)
        assert failed() == 0


async def test_after_a_connection_that_lasted_the_attempts_are_counted_from_the_first(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer, InspectorOptions(reconnect=Reconnect(attempts=2))) as client:
        for number in range(5):
            connected = client.wait_for("connect")
            crashed = trio.current_time()
            peer.crash()
            await connected
            assert trio.current_time() - crashed == pytest.approx(0.5), "the first pause"
            assert peer.connections == 2 + number
            await trio.sleep(31)


async def test_a_server_that_crashes_ten_seconds_after_each_handshake_is_given_up(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer, InspectorOptions(reconnect=Reconnect(attempts=2))) as client:
        for _ in range(2):
            connected = client.wait_for("connect")
            peer.crash()
            await connected
            await trio.sleep(10)
        peer.crash()
        await trio.sleep(600)
        assert status(client) == "error"
        assert peer.connections == 1 + 2


async def test_a_server_that_no_longer_answers_is_given_up_however_long_each_attempt_takes(
    peer: Peer, autojump_clock: MockClock
) -> None:
    options = InspectorOptions(reconnect=Reconnect(attempts=3), connect_timeout=STABLE_SECONDS + 1)
    async with InspectorClient(peer, options) as client:
        peer.silent_about |= {"initialize", "server/discover"}
        peer.crash()
        await trio.sleep(600)
        assert status(client) == "error"
        assert peer.connections == 1 + 3


async def test_a_client_that_is_cancelled_while_it_connects_is_disconnected(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.silent_about |= {"initialize", "server/discover"}
    client = InspectorClient(peer)
    with trio.move_on_after(1) as scope:
        async with client:
            raise AssertionError("connected to a silent server")
    assert scope.cancelled_caught
    assert status(client) == "disconnected"


async def test_a_connection_that_is_being_closed_takes_no_requests(autojump_clock: MockClock) -> None:
    class SlowToClose(Peer):
        @asynccontextmanager
        async def connect(self) -> AsyncGenerator[Any, None]:
            async with super().connect() as streams:
                try:
                    yield streams
                finally:
                    with trio.CancelScope(shield=True):
                        await trio.sleep(5)

    peer = SlowToClose()
    async with InspectorClient(peer) as client:
        start = trio.current_time()
        peer.crash()
        await wait_all_tasks_blocked()
        assert status(client) == "connected", "until everything is closed"
        assert client.statistics().connection is None
        with pytest.raises(NotConnected):
            await client.ping()
        assert trio.current_time() == start, "not only when it is closed"


async def test_the_statistics_count_connections_messages_and_open_requests(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer, InspectorOptions(auto_sync_lists=False)) as client:
        before = client.statistics().connection
        assert before is not None
        assert (before.alive, before.requests) == (True, 0)
        peer.silent_about.add("tools/call")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.call_tool, "t")
            await wait_all_tasks_blocked()
            during = client.statistics().connection
            assert during is not None
            assert (during.requests, during.sent - before.sent) == (1, 1)
            nursery.cancel_scope.cancel("done")
        await client.read_resource(ONE)
        assert client.statistics().cache.resources.entries == 1
        await client.disconnect()
        await client.connect()
        assert client.statistics().supervisor.connections == 2


async def test_what_lives_long_can_be_printed(peer: Peer, autojump_clock: MockClock) -> None:
    client = InspectorClient(peer, InspectorOptions(connect_on_enter=False))
    assert repr(client) == "<InspectorClient, disconnected: no server, <Subscriptions: 0 wanted, 0 confirmed>>"
    async with client, client.events("error") as events:
        await client.connect()
        await client.subscribe_to_resource(ONE)
        await client.read_resource(ONE)
        assert "connected" in repr(client)
        assert "1 wanted, 1 confirmed" in repr(client)
        assert repr(client.cache).startswith("<ReadOnlyContentCache: 1 entries, ")
        assert repr(events) == "<EventStream of error, 0 waiting>"
        async with client.subscribed(ONE) as updates:
            assert repr(updates) == "<Updates of demo://one>"
