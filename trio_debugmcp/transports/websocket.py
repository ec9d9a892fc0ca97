"""MCP over WebSocket: subprotocol `mcp`, one JSON-RPC message in a text frame. Both ends of it.

trio-websocket speaks the protocol. Its reader stops, with pongs and close frames, as long as a message is not
fetched; so each connection has a task here that always fetches, and a bound on what may wait instead.

How a connection ends, and with which close code:

| what happens | code |
| --- | --- |
| the server ends | 1001 |
| a frame that makes no sense, a second Upgrade | 1002 |
| a binary frame | 1003 |
| text that is not UTF-8 | 1007 |
| the peer does not answer pings, which means that it does not read; or it floods | 1008 |
| a message over `MAX_MESSAGE_SIZE` | 1009 |

Text that is not a JSON-RPC message is answered with the error -32700, as on every transport; the connection goes on.
"""

import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from math import inf
from urllib.parse import SplitResult, urlsplit

import anyio
import trio
from mcp.shared.message import SessionMessage
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_client_stream, wrap_server_stream
from wsproto.frame_protocol import CloseReason, FrameProtocol
from wsproto.utilities import LocalProtocolError

from trio_debugmcp.transports.head import Head, ReplayedStream, drain
from trio_debugmcp.transports.jsonrpc import (
    Incoming,
    Outgoing,
    complaint_about,
    message_text,
    parse_message,
)
from trio_debugmcp.transports.outbox import Outbox, SharedStream

log = logging.getLogger(__name__)

SUBPROTOCOL = "mcp"

MAX_MESSAGE_SIZE = 4 * 1024 * 1024
"""Characters of one message; as much as the SDK's HTTP transport takes in bytes."""

MAX_WAITING = 256
"""Messages that wait to be looked at, and also answers that wait to be sent; who has more is flooding."""

PING_SECONDS = 15.0
"""Between two pings: often enough for the proxies that cut silent connections after a minute or half of one."""

PONG_SECONDS = 20.0
"""For the answer to a ping, which queues behind all that the peer has not read yet."""

CONNECT_SECONDS = 30.0
"""For a client to be let in, name resolution and TLS included."""

CLOSE_SECONDS = 3.0
"""For the last frame and the closing handshake; after that the connection is simply dropped."""

_TELL_THE_PEER = (CloseReason.PROTOCOL_ERROR, CloseReason.INVALID_FRAME_PAYLOAD_DATA)
"""Faults at which trio-websocket closes the stream without a close frame."""


class _Socket:
    """One connection's tasks, between the WebSocket and the pair of message streams."""

    def __init__(self, connection: WebSocketConnection, stream: SharedStream) -> None:
        self._connection = connection
        self._stream = stream
        self._frames = FrameProtocol(client=connection.is_client, extensions=[])
        self._to_us, self.incoming = anyio.create_memory_object_stream[SessionMessage | Exception](MAX_WAITING)
        self.outgoing = Outbox()
        self._farewell = (CloseReason.NORMAL_CLOSURE, "")
        self._written = trio.Event()

    def give_up(self, code: CloseReason, reason: str) -> None:
        """End the connection for that reason: for whoever serves it, it looks like the peer's leaving."""
        log.info("closing a WebSocket: %d %s", code, reason)
        self._farewell = code, reason
        self._to_us.close()

    async def read(self, nursery: trio.Nursery) -> None:
        with self._to_us, suppress(ConnectionClosed, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                text = await self._connection.get_message()
                if not isinstance(text, str):
                    self.give_up(CloseReason.UNSUPPORTED_DATA, "MCP is spoken in text frames")
                    return
                message = parse_message(text)
                try:
                    if self.outgoing.waiting > MAX_WAITING:
                        raise anyio.WouldBlock
                    if message is None:
                        nursery.start_soon(self._complain, text)
                    else:
                        self._to_us.send_nowait(message)
                except anyio.WouldBlock:
                    self.give_up(CloseReason.POLICY_VIOLATION, f"over {MAX_WAITING} messages are waiting")
                    return

    async def _complain(self, text: str) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self.outgoing.send(complaint_about(text))

    async def write(self) -> None:
        """At the peer's pace, all that waits in one piece.

        Cancelled only with the whole connection: half a frame can have no successor.
        """
        gone = trio.EndOfChannel, trio.BrokenResourceError, trio.ClosedResourceError
        try:
            with suppress(*gone):
                while True:
                    messages = await self.outgoing.take()
                    if self._connection.closed:
                        return
                    await self._stream.send_all(b"".join(map(self._frame, messages)))
        finally:
            self.outgoing.abandon()
            self._written.set()

    def _frame(self, item: SessionMessage) -> bytes:
        """trio-websocket sends one message at a time; its own frames go out between ours."""
        return bytes(self._frames.send_data(message_text(item), fin=True))

    async def keep_alive(self, nursery: trio.Nursery) -> None:
        while True:
            await trio.sleep(PING_SECONDS)
            answered = trio.Event()
            nursery.start_soon(self._ping, answered)
            with trio.move_on_after(PONG_SECONDS):
                await answered.wait()
            if not answered.is_set():
                self.give_up(CloseReason.POLICY_VIOLATION, f"you have not read anything for {PONG_SECONDS:g} s")
                return

    async def _ping(self, answered: trio.Event) -> None:
        with suppress(ConnectionClosed, LocalProtocolError):
            await self._connection.ping()
            answered.set()

    async def close(self, *, cancelled: bool) -> None:
        """Finish the frame under way, and take leave properly. The caller bounds it."""
        self._to_us.close()
        self.incoming.close()
        self.outgoing.close()
        code, reason = self._farewell
        if cancelled and code == CloseReason.NORMAL_CLOSURE:
            code, reason = CloseReason.GOING_AWAY, "the server ends"
        await self._written.wait()
        with suppress(LocalProtocolError):
            await self._connection.aclose(code, reason)


@asynccontextmanager
async def open_messages(
    connection: WebSocketConnection, stream: SharedStream
) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """MCP messages over an open WebSocket, which is closed with the block; the stream below stays the caller's.

    The incoming stream ends when the peer leaves, or is given up.
    """
    socket = _Socket(connection, stream)
    async with trio.open_nursery() as outer:
        # The writer outlives the rest, for its last frame.
        outer.start_soon(_shielded, socket, writing := trio.CancelScope(shield=True))
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(socket.read, nursery)
                nursery.start_soon(socket.keep_alive, nursery)
                yield socket.incoming, socket.outgoing
                nursery.cancel_scope.cancel(reason="the connection is over")
        finally:
            cancelled = trio.current_effective_deadline() == -inf
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await socket.close(cancelled=cancelled)
            writing.cancel(reason="the connection is over")


async def _shielded(socket: _Socket, scope: trio.CancelScope) -> None:
    with scope:
        await socket.write()


@asynccontextmanager
async def accept_websocket(stream: trio.abc.Stream, head: Head) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The server's end, on a stream from which the request's head has been read and judged already.

    The stream stays the caller's to close.
    """
    last_words = b""
    try:
        async with trio.open_nursery() as nursery:
            shared = SharedStream(stream)
            replayed = ReplayedStream(shared, head)
            request = await wrap_server_stream(nursery, replayed, max_message_size=MAX_MESSAGE_SIZE)
            connection = await request.accept(subprotocol=SUBPROTOCOL)
            replayed.go_on()
            async with open_messages(connection, shared) as streams:
                yield streams
            last_words = _last_words(connection)
            nursery.cancel_scope.cancel(reason="the connection is over")
    except* (ConnectionClosed, LocalProtocolError) as errors:  # it answers frames that come after the goodbye
        log.debug("a WebSocket ended badly: %s", errors)
    with trio.move_on_after(CLOSE_SECONDS, shield=True):
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await stream.send_all(last_words)
        await drain(stream)


def _last_words(connection: WebSocketConnection) -> bytes:
    """The close frame that is still owed."""
    closed = connection.closed
    if closed is None or closed.code not in _TELL_THE_PEER:
        return b""
    return bytes(FrameProtocol(client=False, extensions=[]).close(closed.code, closed.reason))


@asynccontextmanager
async def open_websocket_client(
    url: str,
    token: str | None = None,
    *,
    headers: dict[str, str] | None = None,
    ssl_context: ssl.SSLContext | None = None,
) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The client's end of MCP over WebSocket, for any server that speaks it: the streams that the SDK's client takes.

    Everything is closed with the block; the incoming stream ends when the server leaves.

    Args:
        url: `ws://…` or `wss://…`.
        token: sent as `Authorization: Bearer`.
        headers: further headers of the opening request.
        ssl_context: for `wss://`; the system's trusted certificates if there is none.

    Raises:
        ValueError: not such a URL.
        OSError: nobody listens there, or not with a certificate that can be trusted.
        trio.TooSlowError: there is no answer within `CONNECT_SECONDS`.
        ExceptionGroup: of a `trio_websocket.ConnectionRejected`, with the `status_code` of the refusal.
    """
    extra = {**(headers or {}), **({"Authorization": f"Bearer {token}"} if token is not None else {})}
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise ValueError(f"{url!r} is not a ws:// or wss:// URL")
    with trio.fail_after(CONNECT_SECONDS) as connecting:
        stream = await _open_stream(parts, ssl_context)
        shared = SharedStream(stream)
        try:
            async with trio.open_nursery() as nursery:
                connection = await wrap_client_stream(
                    nursery,
                    shared,  # type: ignore[arg-type]
                    parts.netloc.rpartition("@")[2],
                    (parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
                    subprotocols=[SUBPROTOCOL],
                    extra_headers=[(name.encode("ascii"), value.encode("latin-1")) for name, value in extra.items()],
                    max_message_size=MAX_MESSAGE_SIZE,
                )
                connecting.deadline = inf
                async with open_messages(connection, shared) as streams:
                    yield streams
                nursery.cancel_scope.cancel(reason="the connection is over")
        finally:  # trio-websocket does not close a stream whose server has said goodbye first
            await trio.aclose_forcefully(stream)


async def _open_stream(
    parts: SplitResult, ssl_context: ssl.SSLContext | None
) -> trio.SocketStream | trio.SSLStream[trio.SocketStream]:
    if parts.hostname is None:
        raise AssertionError("checked by the caller")
    if parts.scheme == "ws":
        return await trio.open_tcp_stream(parts.hostname, parts.port or 80)
    return await trio.open_ssl_over_tcp_stream(
        parts.hostname, parts.port or 443, ssl_context=ssl_context, https_compatible=True
    )
