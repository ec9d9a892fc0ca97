"""One connection: events in order, the handshake, garbage on the wire, the ways to end.

Virtual clock, both eras where they differ.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import Json, Peer, Refuse, received
from trio_debugmcp.client import (
    ConnectFailed,
    ConnectionLost,
    InspectorClient,
    InspectorOptions,
    NotConnected,
)
from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.connection.client_connection import ClientConnection
from trio_debugmcp.client.connection.connection_end import ConnectionEnding
from trio_debugmcp.client.connection.connection_requests import ConnectionRequests
from trio_debugmcp.client.connection.connection_wire import ConnectionWire
from trio_debugmcp.client.connection.targets import resolve_target
from trio_debugmcp.client.state.message_log import MessageLog
from trio_debugmcp.clock import Clock
from trio_debugmcp.deadlines import Deadlines
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.transports.streams import MessageReader


def status(client: InspectorClient) -> str:
    """Its status, as something that the type checker knows to change."""
    return client.status


def kinds(stream: Any) -> list[str]:
    return [event.kind for event in received(stream) if event.kind not in ("message", "cacheChange")]


ONE = "demo://one"


async def test_connecting_announces_status_connection_server_and_lists_in_that_order(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.tools = ["t"]
    client = InspectorClient(peer, InspectorOptions(connect_on_enter=False))
    async with client, client.events() as events:
        assert status(client) == "disconnected"
        await client.connect()
        assert status(client) == "connected"
        expected = ["statusChange", "statusChange", "connect", "capabilitiesChange"]
        expected += [] if peer.modern else ["serverInfoChange"]
        expected += ["instructionsChange", "toolsChange"]
        assert kinds(events) == expected
        assert client.instructions == "be kind"
        assert client.protocol_version == ("2026-07-28" if peer.modern else "2025-11-25")
        assert client.capabilities is not None


async def test_each_connection_is_ended_once(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client, client.events("disconnect") as events:
        peer.crash()
        await trio.sleep(1)
        await client.disconnect()
        assert len(received(events)) == 1
        assert status(client) == "error"


@pytest.mark.parametrize("mode", ["auto", "legacy", "modern"])
@pytest.mark.parametrize("modern", [False, True])
async def test_only_the_era_that_was_asked_for_is_accepted(mode: Any, modern: bool, autojump_clock: MockClock) -> None:
    peer = Peer(modern=modern)
    if mode == "auto" or (mode == "modern") == modern:
        async with InspectorClient(peer, InspectorOptions(mode=mode)) as client:
            assert status(client) == "connected"
        assert ("server/discover" in [r["method"] for r in peer.requests]) == (mode != "legacy")
    else:
        with pytest.raises(ConnectFailed, match="modern"):
            async with InspectorClient(peer, InspectorOptions(mode=mode)):
                pytest.fail("connected in another era")


async def test_a_handshake_that_is_not_answered_times_out(autojump_clock: MockClock) -> None:
    peer = Peer()
    peer.silent_about |= {"initialize", "server/discover"}
    client = InspectorClient(peer, InspectorOptions(connect_on_enter=False, connect_timeout=25))
    async with client, client.events("error", "disconnect", "statusChange") as events:
        with pytest.raises(ConnectFailed, match="no handshake within 25 s"):
            await client.connect()
        assert trio.current_time() == 25
        assert status(client) == "error"
        assert [getattr(event, "status", event.kind) for event in received(events)] == ["connecting", "error"]
        peer.silent_about.clear()
        await client.connect()
        assert status(client) == "connected"


async def test_a_failure_to_connect_is_not_wrapped_in_a_group(autojump_clock: MockClock) -> None:
    class Broken(Peer):
        async def __aenter__(self) -> Any:
            raise OSError("no route to host")

    with pytest.raises(ConnectFailed, match="Cannot connect: no route to host"):
        async with InspectorClient(Broken()):
            pytest.fail("connected to nothing")


async def test_every_open_request_ends_with_the_connection(peer: Peer, autojump_clock: MockClock) -> None:
    peer.silent_about |= {"resources/read", "prompts/get", "tools/call", "completion/complete"}
    ended: list[Exception] = []
    async with InspectorClient(peer) as client:

        async def ask(call: Any) -> None:
            with pytest.raises(ConnectionLost, match="the server closed the connection") as lost:
                await call()
            ended.append(lost.value)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, lambda: client.read_resource(ONE))
            nursery.start_soon(ask, lambda: client.get_prompt("p"))
            nursery.start_soon(ask, lambda: client.call_tool("t"))
            await wait_all_tasks_blocked()
            peer.crash()
        assert len(ended) == 3
        with pytest.raises(NotConnected):
            await client.read_resource(ONE)
        assert client.cache.stats().entries == 0


async def test_what_could_not_be_read_is_the_reason_of_the_end(peer: Peer, autojump_clock: MockClock) -> None:
    class Cut(MessageReader):
        """Reads what the peer sends, until the first read of a resource."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        async def __anext__(self) -> Any:
            item = await anext(self._inner)
            if any(request["method"] == "resources/read" for request in peer.requests):
                raise ProtocolViolation("a line of more than 42 bytes")
            return item

        async def aclose(self) -> None:
            await self._inner.aclose()

    @asynccontextmanager
    async def cut() -> AsyncGenerator[Any]:
        async with peer.connect() as (read, write):
            yield Cut(read), write

    async with InspectorClient(cut) as client:
        ended = client.wait_for("disconnect")
        with pytest.raises(ConnectionLost, match="the connection was cut: a line of more than 42 bytes"):
            await client.read_resource(ONE)
        assert "42 bytes" in (await ended).reason


async def test_garbage_on_the_wire_does_not_end_the_connection(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        reported = client.wait_for("error")
        peer.garble(ValueError("not JSON"))
        peer.notify("notifications/resources/updated", uri=42)
        peer.notify("notifications/progress", progressToken=[], progress="x")
        peer.notify("notifications/never/heard/of")
        assert (await reported).message == "The server sent something that is not a message: not JSON"
        await client.ping()
        assert status(client) == "connected"


async def test_a_cancelled_block_leaves_nothing_running(peer: Peer, autojump_clock: MockClock) -> None:
    with trio.move_on_after(1) as scope:
        async with InspectorClient(peer) as client:
            await client.subscribe_to_resource(ONE)
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert status(client) == "disconnected"


async def test_a_session_that_the_server_has_forgotten_is_lost(peer: Peer, autojump_clock: MockClock) -> None:
    """This is how the SDK reports the 404 of a restarted HTTP server; there is no stream whose end could be noticed."""

    def forget(_: Json) -> Json:
        raise Refuse(-32600, "Session terminated")

    async with InspectorClient(peer) as client:
        ended = client.wait_for("disconnect")
        peer.handlers["tools/call"] = forget
        with pytest.raises(ConnectionLost, match="does not know the session"):
            await client.call_tool("t")
        assert not (await ended).requested
        assert status(client) == "error"


async def test_after_the_reader_was_cancelled_nothing_is_committed() -> None:
    """Its reason is not known to the reader: the task that cancelled it gives it."""
    bus, options, deadlines = EventBus(Clock()), InspectorOptions(), Deadlines()
    wire = ConnectionWire(MessageLog(10, 10_000, Clock().utc), bus, lambda *_: True)
    route = resolve_target(Peer(), options, print, deadlines)
    requests = ConnectionRequests(route, options, deadlines, wire, str)
    connection = ClientConnection(requests, options, lambda: None)
    before = connection.alive
    wire.ended(cancelled=True)
    assert (before, connection.alive) == (True, False)
    connection.end("the client was closed", requested=True)
    connection.end("later reasons do not count", requested=False)
    assert connection.ending() == ConnectionEnding(reason="the client was closed", requested=True)
