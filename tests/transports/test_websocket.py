"""MCP over WebSocket: both eras, observers, and peers that break the rules. On memory streams; the clock is exact."""

import json
from typing import Any

import anyio
import pytest
import trio
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification
from trio.testing import MockClock
from trio_websocket import ConnectionRejected, WebSocketConnection

from tests.server.scene import SESSION, STACK, THREADS, launch
from tests.transports.scene import INITIALIZE, OBSERVE, PING, Scene, closing, open_scene, receive, upgrade
from trio_debugmcp.publish.hub import MAX_SUBSCRIPTIONS
from trio_debugmcp.server.subscription_requests import MAX_STREAMS
from trio_debugmcp.sparse_log import MAX_LINES
from trio_debugmcp.testing import FakeAdapter, ToolFailed
from trio_debugmcp.testing.connect import Era
from trio_debugmcp.transports.head import read_head
from trio_debugmcp.transports.outbox import MAX_MESSAGES
from trio_debugmcp.transports.websocket import (
    CLOSE_SECONDS,
    MAX_MESSAGE_SIZE,
    MAX_WAITING,
    PING_SECONDS,
    PONG_SECONDS,
    accept_websocket,
    open_websocket_client,
)

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


async def initialize(connection: WebSocketConnection) -> None:
    await connection.send_message(json.dumps(INITIALIZE))
    assert (await receive(connection))["id"] == 0
    await connection.send_message(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))


@both_eras
async def test_a_client_in_control_and_an_observer_share_one_session(era: Era, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with (
        open_scene(adapter) as scene,
        scene.client(era) as agent,
        scene.client(era, OBSERVE) as person,
        person.subscribed(SESSION),
    ):
        await launch(agent, adapter)
        await person.wait_notice("list_changed")
        heard = len(person.notices)
        await adapter.stop("step")
        await person.wait_notice(SESSION, after=heard)
        assert (await person.read(SESSION))["state"] == "Paused"
        assert await person.read(SESSION) == await agent.read(SESSION)
        assert SESSION not in {notice.what for notice in agent.notices}


@both_eras
async def test_an_observer_can_neither_list_nor_call_tools_that_change_anything(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_scene(adapter) as scene, scene.client(era) as agent, scene.client(era, OBSERVE) as person:
        await launch(agent, adapter)
        everything = {tool.name: tool for tool in (await agent.sdk.list_tools()).tools}
        allowed = {tool.name for tool in (await person.sdk.list_tools()).tools}
        assert {"debug_state", "threads_list", "breakpoint_list"} <= allowed
        assert not {"evaluate", "debug_launch", "debug_step", "breakpoint_set"} & allowed
        for name in everything.keys() - allowed:
            with pytest.raises(ToolFailed) as caught:
                await person.call(name)
            assert caught.value.code == "READ_ONLY"
        assert (await person.call("debug_state"))["state"] == "Running"


async def test_a_client_that_is_refused_gets_the_status(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        with pytest.RaisesGroup(
            pytest.RaisesExc(ConnectionRejected, check=lambda error: error.status_code == 401), flatten_subgroups=True
        ):
            async with trio.open_nursery(), scene.websocket("wrong"):
                raise AssertionError("let in")


# --- Peers that break the rules ------------------------------------------------------------------------------


async def test_text_that_is_not_a_message_is_answered_and_the_connection_stays_open(autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.websocket() as connection:
        await initialize(connection)
        for nonsense, request_id, code in (
            *((text, None, -32700) for text in ("hello", "{", "", "\0", "[" * 100_000)),
            ("[]", None, -32600),
            ('{"jsonrpc": "2.0"}', None, -32600),
            ('{"id": 1}', 1, -32600),
        ):
            await connection.send_message(nonsense)
            complaint = await receive(connection)
            assert (complaint["id"], complaint["error"]["code"]) == (request_id, code)
        await connection.send_message(PING)
        assert await receive(connection) == {"jsonrpc": "2.0", "id": 7, "result": {}}


async def test_a_binary_frame_closes_with_1003(autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.websocket() as connection:
        await connection.send_message(PING.encode())
        assert (await closing(connection))[0] == 1003


async def test_a_message_over_the_bound_closes_with_1009(autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.websocket() as connection:
        await connection.send_message(json.dumps("x" * MAX_MESSAGE_SIZE))
        code, reason = await closing(connection)
        assert code == 1009
        assert str(MAX_MESSAGE_SIZE) in str(reason)


def frame(opcode: int, payload: bytes) -> bytes:
    """A client's frame, masked with zeros."""
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else bytes([0x80 | 126]) + len(payload).to_bytes(2)
    return bytes([0x80 | opcode]) + size + bytes(4) + payload


def text_frame(message: dict[str, Any]) -> bytes:
    return frame(1, json.dumps(message).encode())


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(1, b"\xff\xfe"), 1007),
        (frame(1, b"\xc3"), 1007),
        (frame(3, b"x"), 1002),
        (bytes([0x81, 0x01]) + b"x", 1002),
        (bytes([0xC1, 0x80, 0, 0, 0, 0]), 1002),
        (frame(0, b"x"), 1002),
        (upgrade(), 1002),
        (b"GET / HTTP/1.1\r\n\r\n", 1002),
    ],
    ids=["not UTF-8", "cut UTF-8", "no opcode", "not masked", "reserved bit", "nothing to continue", "a second Upgrade",
         "a request"],
)  # fmt: skip
async def test_malformed_frames_close_with_the_code_for_it(sent: bytes, code: int, autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        stream = scene.dial()
        await stream.send_all(upgrade() + sent)
        answer = b""
        while data := await stream.receive_some():
            answer += data
        assert answer.startswith(b"HTTP/1.1 101")
        closes = answer.partition(b"\r\n\r\n")[2]
        assert (closes[0], int.from_bytes(closes[2:4])) == (0x88, code)
        assert (await scene.ask("GET /"))[0] == 200


@pytest.mark.parametrize("cut", [1, 5, 7])
async def test_a_peer_that_vanishes_in_the_middle_of_a_frame_does_not_disturb_others(
    cut: int, autojump_clock: MockClock
) -> None:
    async with open_scene() as scene, scene.client() as other:
        stream = scene.dial()
        await stream.send_all(upgrade() + frame(1, PING.encode())[:cut])
        await trio.testing.wait_all_tasks_blocked()
        await trio.aclose_forcefully(stream)
        await trio.sleep(CLOSE_SECONDS + 1)
        assert len(scene.app.clients) == 1
        assert await other.uris() == []


async def flood(scene: Scene, connection: WebSocketConnection, text: str = PING) -> trio.Event:
    """Send messages faster than their responses are read; the returned event lets the responses through."""
    await initialize(connection)
    await trio.testing.wait_all_tasks_blocked()
    end, reading = scene.ends[0].send_stream, trio.Event()
    pump = end.send_all_hook

    async def stall() -> None:
        await reading.wait()
        await pump()

    end.send_all_hook = stall
    with trio.fail_after(1):
        for _ in range(3 * MAX_WAITING):
            await connection.send_message(text)
    return reading


@pytest.mark.parametrize("text", [PING, "malformed"])
async def test_a_flood_of_messages_is_cut_off_with_1008(text: str, autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.websocket() as connection:
        reading = await flood(scene, connection, text)
        await trio.sleep(CLOSE_SECONDS / 2)
        reading.set()
        with trio.fail_after(CLOSE_SECONDS):
            for _ in range(1 + MAX_MESSAGES):  # the one that was being written, and those in the outbox
                await connection.get_message()
        assert await closing(connection) == (1008, f"over {MAX_WAITING} messages are waiting")


async def test_a_flood_from_a_peer_that_does_not_read_is_dropped_without_a_goodbye(autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.websocket() as connection:
        await flood(scene, connection)
        with trio.fail_after(CLOSE_SECONDS + 1):
            while len(scene.app.clients):
                await trio.sleep(0.1)


async def test_after_the_close_handshake_no_message_is_written(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        stream = scene.dial()
        await stream.send_all(upgrade() + text_frame(INITIALIZE))
        await trio.sleep(1)
        end, reading = scene.ends[0].send_stream, trio.Event()
        pump = end.send_all_hook

        async def stall() -> None:
            await reading.wait()
            await pump()

        end.send_all_hook = stall
        for _ in range(3):  # the first response is being written when the others and the close frame come
            await stream.send_all(frame(1, PING.encode()))
            await trio.testing.wait_all_tasks_blocked()
        await stream.send_all(frame(8, (1000).to_bytes(2)))
        await trio.testing.wait_all_tasks_blocked()
        reading.set()
        received = b""
        while data := await stream.receive_some():
            received += data
        assert received.endswith(b"\x88\x02" + (1000).to_bytes(2))
        assert received.count(b'"id":7') == 1


async def test_messages_to_a_broken_connection_are_refused(autojump_clock: MockClock) -> None:
    async def reset() -> None:
        await trio.lowlevel.checkpoint()
        raise trio.BrokenResourceError

    ours, theirs = trio.testing.memory_stream_pair()
    await ours.send_all(upgrade())
    head = await read_head(theirs)
    assert head is not None
    message = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/hello"))
    async with accept_websocket(theirs, head) as (_, outgoing):
        theirs.send_stream.send_all_hook = reset
        await outgoing.send(message)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(anyio.BrokenResourceError):
            await outgoing.send(message)


async def test_a_peer_that_does_not_answer_pings_is_closed_with_1008(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        stream = scene.dial()
        await stream.send_all(upgrade())
        received = b""
        while data := await stream.receive_some():
            received += data
        ping, close = received.partition(b"\r\n\r\n")[2].split(b"\x88", 1)
        assert ping[0] == 0x89
        assert int.from_bytes(close[1:3]) == 1008
        assert trio.current_time() == pytest.approx(PING_SECONDS + PONG_SECONDS + CLOSE_SECONDS, abs=1.5)


async def test_a_flood_of_messages_that_are_answered_is_served(autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.websocket() as connection:
        await initialize(connection)

        async def send() -> None:
            for _ in range(3 * MAX_WAITING):
                await connection.send_message(PING)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send)
            for _ in range(3 * MAX_WAITING):
                assert (await receive(connection))["id"] == 7


async def test_subscriptions_and_streams_are_bounded_per_connection(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        async with scene.websocket() as connection:
            await initialize(connection)
            answers: list[dict[str, Any]] = []
            for number in range(MAX_SUBSCRIPTIONS + 5):
                params = {"uri": f"debugger://source//src/{number}.py"}
                request = {"jsonrpc": "2.0", "id": number, "method": "resources/subscribe", "params": params}
                await connection.send_message(json.dumps(request))
                answers.append(await receive(connection))
            assert sum("error" in answer for answer in answers) == 5
        async with scene.client("modern") as client, trio.open_nursery() as nursery:
            refused: list[ExceptionGroup[MCPError]] = []

            async def listen() -> None:
                try:
                    async with client.subscribed(SESSION):
                        await trio.sleep_forever()
                except* MCPError as group:
                    refused.append(group)

            for _ in range(MAX_STREAMS + 5):
                nursery.start_soon(listen)
            await trio.sleep(1)
            assert len(refused) == 5
            nursery.cancel_scope.cancel()


async def test_changes_of_one_moment_are_written_in_one_piece(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_scene(adapter) as scene, scene.client() as agent, scene.websocket(OBSERVE) as connection:
        await launch(agent, adapter)
        await initialize(connection)
        for number, uri in enumerate((SESSION, STACK, THREADS), 1):
            request = {"jsonrpc": "2.0", "id": number, "method": "resources/subscribe", "params": {"uri": uri}}
            await connection.send_message(json.dumps(request))
            await receive(connection)
        await trio.sleep(10)
        end = scene.ends[1].send_stream
        pump, pieces = end.send_all_hook, 0

        async def count() -> None:
            nonlocal pieces
            pieces += 1
            await pump()

        end.send_all_hook = count
        await adapter.stop("pause")
        heard = [(await receive(connection))["params"]["uri"] for _ in range(3)]
        assert (sorted(heard), pieces) == ([SESSION, STACK, THREADS], 1)


# --- Peers that do not read ----------------------------------------------------------------------------------


@both_eras
async def test_an_observer_that_does_not_read_delays_no_other_client_and_is_closed(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_scene(adapter) as scene, scene.client(era) as agent, agent.subscribed(SESSION):
        stalled = scene.dial()
        await stalled.send_all(upgrade(Authorization=f"Bearer {OBSERVE}"))
        await trio.sleep(0.1)
        await stalled.send_all(text_frame(INITIALIZE))
        await stalled.send_all(text_frame({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        subscribe = {"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": SESSION}}
        await stalled.send_all(text_frame(subscribe))
        await trio.sleep(0.1)
        assert len(scene.app.clients) == 2
        scene.ends[1].send_stream.send_all_hook = trio.sleep_forever
        since = trio.current_time()
        await launch(agent, adapter)
        for _ in range(10):
            heard, before = len(agent.notices), trio.current_time()
            await adapter.stop("step")
            await agent.wait_notice(SESSION, after=heard)
            assert trio.current_time() - before <= 0.9
            await agent.call("debug_continue", wait=False)
        while len(scene.app.clients) == 2:
            await trio.sleep(0.5)
        assert trio.current_time() - since <= PING_SECONDS + PONG_SECONDS + 1


async def test_a_client_that_is_busy_still_answers_pings(autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.websocket() as connection:
        await initialize(connection)
        wait = {"name": "debug_wait", "arguments": {"timeout": 1000}}
        await connection.send_message(json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": wait}))
        for _ in range(20):
            with trio.fail_after(1):
                await connection.ping()
            await trio.sleep(PING_SECONDS)
        assert len(scene.app.clients) == 1


async def test_silent_clients_stay_connected_for_hours(autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.client() as client:
        await trio.sleep(4 * 3600)
        assert await client.uris() == []


async def test_the_end_of_the_server_closes_with_1001(autojump_clock: MockClock) -> None:
    codes: list[int] = []
    async with trio.open_nursery() as watchers, open_scene() as scene:
        stream = scene.dial()
        await stream.send_all(upgrade())

        async def watch() -> None:
            answer = b""
            while data := await stream.receive_some():
                answer += data
            codes.append(int.from_bytes(answer.partition(b"\r\n\r\n")[2][2:4]))

        watchers.start_soon(watch)
        await trio.sleep(1)
    assert codes == [1001]


async def test_fifty_clients_connect_and_disconnect_and_leave_no_task(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        await trio.sleep(1)
        before = trio.lowlevel.current_statistics().tasks_living
        for number in range(50):
            async with scene.client("modern" if number % 2 else "legacy", OBSERVE) as client:
                await client.uris()
        await trio.sleep(CLOSE_SECONDS + 1)
        assert trio.lowlevel.current_statistics().tasks_living == before


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/mcp", "ws:///mcp", "127.0.0.1:1", "wss://", ""])
async def test_a_client_refuses_what_is_not_a_websocket_url(url: str, autojump_clock: MockClock) -> None:
    with pytest.raises(ValueError, match="is not a ws:// or wss:// URL"):
        async with open_websocket_client(url):
            pass


# --- What an observer costs others ------------------------------------------------------------------------------------


async def test_over_websocket_messages_of_an_observer_wait_for_their_turn(autojump_clock: MockClock) -> None:
    async with (
        open_scene() as scene,
        scene.websocket(OBSERVE) as observer,
        scene.websocket() as control,
    ):
        async with scene.admission.turns:
            for connection in (observer, control):
                await connection.send_message(PING)
            assert json.loads(await control.get_message())["id"] == 7
            with trio.move_on_after(1) as waited:
                await observer.get_message()
            assert waited.cancelled_caught
        assert json.loads(await observer.get_message())["id"] == 7


async def test_garbage_of_a_peer_does_not_fill_the_log(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_scene() as scene, scene.websocket(OBSERVE) as observer, scene.websocket(OBSERVE) as other:
        for _ in range(MAX_LINES):
            for connection in (observer, other):
                await connection.send_message("{")
                await connection.get_message()
    assert caplog.text.count("not a JSON-RPC message") == MAX_LINES
