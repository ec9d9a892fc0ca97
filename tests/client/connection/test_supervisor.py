"""Connecting, disconnecting and reconnecting. Virtual clock, both eras where they differ."""

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
    Reconnect,
)


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
