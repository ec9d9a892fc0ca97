"""The life of a connection: states and their events, ways to end, coming back.

Virtual clock, both eras where they differ.
"""

from typing import Any

import pytest
import trio
from mcp.server.mcpserver import MCPServer
from trio.testing import MockClock, wait_all_tasks_blocked

from trio_debugmcp.client import (
    ConnectFailed,
    ConnectionLost,
    InspectorClient,
    InspectorOptions,
    NotConnected,
    Reconnect,
)
from trio_debugmcp.errors import UsageError

from .peer import Peer

ONE = "demo://one"


def status(client: InspectorClient) -> str:
    """Its status, as something that the type checker knows to change."""
    return client.status


def kinds(stream: Any) -> list[str]:
    return [event.kind for event in stream._queue if event.kind not in ("message", "cacheChange")]


async def test_connecting_tells_status_connection_server_and_lists_in_that_order(
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


async def test_each_connection_is_ended_once(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client, client.events("disconnect") as events:
        peer.crash()
        await trio.sleep(1)
        await client.disconnect()
        assert len(events._queue) == 1
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


async def test_a_server_that_does_not_answer_the_handshake_is_given_up(autojump_clock: MockClock) -> None:
    peer = Peer()
    peer.silent_about |= {"initialize", "server/discover"}
    client = InspectorClient(peer, InspectorOptions(connect_on_enter=False, connect_timeout=25))
    async with client, client.events("error", "disconnect", "statusChange") as events:
        with pytest.raises(ConnectFailed, match="no handshake within 25 s"):
            await client.connect()
        assert trio.current_time() == 25
        assert status(client) == "error"
        assert [getattr(event, "status", event.kind) for event in events._queue] == ["connecting", "error"]
        peer.silent_about.clear()
        await client.connect()
        assert status(client) == "connected"


async def test_a_failure_to_connect_arrives_bare(autojump_clock: MockClock) -> None:
    class Broken(Peer):
        async def __aenter__(self) -> Any:
            raise OSError("no route to host")

    with pytest.raises(ConnectFailed, match="Cannot connect: no route to host"):
        async with InspectorClient(Broken()):
            pytest.fail("connected to nothing")


@pytest.mark.parametrize(
    ("target", "said"),
    [("ftp://x", "not an http"), (42, "Not an MCP server")],
)
async def test_a_target_of_another_kind_is_an_error_of_use(target: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        async with InspectorClient(target):
            pytest.fail("connected to nothing")


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
        assert not events._queue


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
        assert client.cache.statistics().entries == 0


async def test_reconnecting_pauses_ever_longer_and_gives_up(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer, InspectorOptions(reconnect=Reconnect(attempts=4))) as client:
        peer.silent_about |= {"initialize", "server/discover"}
        async with client.events("error", "statusChange") as events, client.subscribed(ONE) as updates:
            peer.handlers["initialize"] = peer.handlers["server/discover"] = lambda _: {}
            peer.silent_about.clear()
            peer.crash()
            with pytest.raises(ConnectionLost):
                await anext(updates)
            assert trio.current_time() == pytest.approx(0.5 + 1 + 2 + 4)
            failures = [event for event in events._queue if event.kind == "error"]
            assert len(failures) == 1 + 4
        assert status(client) == "error"
        assert peer.connections == 5


async def test_a_disconnect_ends_the_attempts_to_come_back(peer: Peer, autojump_clock: MockClock) -> None:
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
            nursery.cancel_scope.cancel("seen enough")
        assert peer.connections == 1 + 3


async def test_the_message_log_starts_anew_with_each_connection(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        await client.read_resource(ONE)
        await client.disconnect()
        assert "resources/read" in [entry.message.get("method") for entry in client.messages], "kept for reading"
        await client.connect()
        assert "resources/read" not in [entry.message.get("method") for entry in client.messages]


async def test_a_ping_is_answered_in_either_era(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        await client.ping()
        assert peer.requests[-1]["method"] == ("server/discover" if peer.modern else "ping")


async def test_garbage_on_the_wire_does_not_end_the_connection(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        reported = client.wait_for("error")
        peer._to_client.send_nowait(ValueError("not JSON"))  # type: ignore[attr-defined]
        peer.notify("notifications/resources/updated", uri=42)
        peer.notify("notifications/progress", progressToken=[], progress="x")
        peer.notify("notifications/never/heard/of")
        assert (await reported).message == "The server sent something that is not a message: not JSON"
        await client.ping()
        assert status(client) == "connected"


async def test_events_wait_for_no_one_who_left_and_end_with_the_client(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        events = client.events("toolsChange")
        waiting = client.wait_for("toolsChange")
        async with events:
            pass
        with pytest.raises(ValueError, match="no such event kind: nonsense"):
            client.events("nonsense")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="buffer"):
            client.events(buffer=0)
    with pytest.raises(NotConnected, match="closed while waiting for 'toolsChange'"):
        await waiting
    assert [event async for event in events] == []


async def test_an_in_process_server_is_a_target_in_either_era() -> None:
    server = MCPServer("here")

    @server.tool()
    def double(n: int) -> int:
        """Twice n."""
        return 2 * n

    for mode in ("legacy", "modern"):
        async with InspectorClient(server, InspectorOptions(mode=mode)) as client:
            assert [tool.name for tool in client.tools] == ["double"]
            called = await client.call_tool("double", {"n": "21"})
            assert called.result is not None
            assert called.result.structured_content == {"result": 42}


async def test_a_function_that_makes_transports_can_be_reconnected_to(autojump_clock: MockClock) -> None:
    peers = [Peer(), Peer()]
    made = iter(peers)
    async with InspectorClient(lambda: next(made)._connect(), InspectorOptions(reconnect=Reconnect())) as client:
        back = client.wait_for("connect")
        peers[0].crash()
        await back
        assert peers[1].connections == 1


async def test_a_cancelled_block_leaves_nothing_running(peer: Peer, autojump_clock: MockClock) -> None:
    with trio.move_on_after(1) as scope:
        async with InspectorClient(peer) as client:
            await client.subscribe_to_resource(ONE)
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert status(client) == "disconnected"
