"""MCP over WebSocket, for servers and clients: subprotocol `mcp`, one JSON-RPC message in a text frame.

    async with open_websocket_client("ws://127.0.0.1:8765/mcp", token) as (incoming, outgoing):
        ...  # the streams that the SDK's client takes

trio-websocket speaks the protocol. While a message is not fetched its reader stops, and pongs and close frames with
it; so each connection has a task that always fetches, and a bound on the messages that may wait.

How a connection ends, and with which close code:

| what happens | code |
| --- | --- |
| the server ends | 1001 |
| a malformed frame, a second Upgrade | 1002 |
| a binary frame | 1003 |
| text that is not UTF-8 | 1007 |
| the peer does not answer pings, which means that it does not read; or too many messages wait | 1008 |
| a message takes too long, or comes in too many pieces: see transports/websocket_frames.py | 1008 |
| a message over `MAX_MESSAGE_SIZE` | 1009 |

Text that is not a JSON-RPC message gets the error -32700, as on every transport; the connection stays open.
"""

import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from math import inf
from urllib.parse import SplitResult, urlsplit

import anyio
import trio
from mcp.shared.message import SessionMessage
from msgspec import Struct
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_client_stream, wrap_server_stream
from wsproto.frame_protocol import CloseReason, FrameProtocol
from wsproto.utilities import LocalProtocolError

from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.sparse_log import SparseLog
from trio_debugmcp.transports.head import Head, ReplayedStream, drain
from trio_debugmcp.transports.jsonrpc import (
    Incoming,
    Outgoing,
    complaint_about,
    message_text,
    parse_message,
    unreadable_response,
)
from trio_debugmcp.transports.outbox import Outbox, SharedStream
from trio_debugmcp.transports.websocket_frames import BoundedFrames

log = logging.getLogger(__name__)

SUBPROTOCOL = "mcp"

MAX_MESSAGE_SIZE = 4 * 1024 * 1024
"""Characters of one message, not bytes: trio-websocket counts decoded text."""

MAX_OBSERVER_MESSAGE_SIZE = 256 * 1024
"""The same for an observer, whose longest message subscribes to a thousand sources."""

MAX_WAITING = 256
"""Messages that wait to be handled, and also responses that wait to be sent, before the peer is cut off."""

PING_SECONDS = 15.0
"""Between two pings. Some proxies cut connections that are silent for half a minute."""

PONG_SECONDS = 20.0
"""For the pong, which comes after everything that the peer has not read yet."""

CONNECT_SECONDS = 30.0
"""For a client to be connected, name resolution and TLS included."""

CLOSE_SECONDS = 3.0
"""For the last frame and the closing handshake; after that the connection is dropped."""

_CODES_NOT_SENT = (CloseReason.PROTOCOL_ERROR, CloseReason.INVALID_FRAME_PAYLOAD_DATA)
"""Errors after which trio-websocket closes the stream without a close frame; we send it."""


class Courtesy(Struct, frozen=True):
    """What keeps a peer from costing others much.

    Attributes:
        wait_turn: waited for before each of its messages is handled.
        sparse: where what it sends is logged, within bounds.
        patience: with a peer that should read.
    """

    wait_turn: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint
    sparse: SparseLog | None = None
    patience: Patience = USUAL


class _Socket:
    """The tasks of one connection, between the WebSocket and the pair of message streams."""

    def __init__(self, connection: WebSocketConnection, stream: SharedStream, courtesy: Courtesy) -> None:
        self._connection = connection
        self._courtesy = courtesy
        self._stream = stream
        self._frames = FrameProtocol(client=connection.is_client, extensions=[])
        self._to_us, self.incoming = anyio.create_memory_object_stream[SessionMessage | Exception](MAX_WAITING)
        self.outgoing = Outbox()
        self._close_reason = (CloseReason.NORMAL_CLOSURE, "")
        self._written = trio.Event()

    def __repr__(self) -> str:
        waiting = self.incoming.statistics().current_buffer_used
        return f"<WebSocket {waiting} messages to handle, {self.outgoing!r}>"

    def give_up(self, code: CloseReason, reason: str) -> None:
        """End the connection for that reason; the serving task sees it as if the peer had disconnected."""
        info = log.info if self._courtesy.sparse is None else partial(self._courtesy.sparse.log, logging.INFO)
        info("closing a WebSocket: %d %s", code, reason)
        self._close_reason = code, reason
        self._to_us.close()

    async def read(self, nursery: trio.Nursery) -> None:
        with self._to_us, suppress(ConnectionClosed, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                text = await self._connection.get_message()
                await self._courtesy.wait_turn()
                if not isinstance(text, str):
                    self.give_up(CloseReason.UNSUPPORTED_DATA, "MCP is spoken in text frames")
                    return
                message = parse_message(text, self._courtesy.sparse)
                try:
                    if self.outgoing.waiting > MAX_WAITING:
                        raise anyio.WouldBlock
                    if message is None:
                        if self._connection.is_client and (unreadable := unreadable_response(text)) is not None:
                            self._to_us.send_nowait(unreadable)
                            continue
                        # Not here: this task must keep fetching while the peer does not read.
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
        """Write at the peer's pace, all waiting messages in one piece.

        Cancelled only together with the whole connection, because nothing can be sent after half a frame.
        """
        gone = trio.EndOfChannel, trio.BrokenResourceError, trio.ClosedResourceError
        try:
            with suppress(*gone):
                while True:
                    messages = await self.outgoing.take()
                    if self._connection.closed:  # data frames are not allowed after a close frame
                        return
                    await self._stream.send_all(b"".join(map(self._frame, messages)))
        finally:
            self.outgoing.abandon()
            self._written.set()

    def _frame(self, item: SessionMessage) -> bytes:
        """Encode a frame; trio-websocket would write each message by itself. Its control frames go between ours."""
        return bytes(self._frames.send_data(message_text(item), fin=True))

    async def keep_alive(self, nursery: trio.Nursery) -> None:
        seconds = self._courtesy.patience.seconds(PONG_SECONDS)
        while True:
            await trio.sleep(PING_SECONDS)
            answered = trio.Event()
            nursery.start_soon(self._ping, answered)
            with trio.move_on_after(seconds):
                await answered.wait()
            if not answered.is_set():
                self.give_up(CloseReason.POLICY_VIOLATION, f"you have not read anything for {seconds:g} s")
                return

    async def _ping(self, answered: trio.Event) -> None:
        with suppress(ConnectionClosed, LocalProtocolError):  # the connection closes meanwhile
            await self._connection.ping()
            answered.set()

    async def close(self, *, cancelled: bool) -> None:
        """Finish the frame that is being written, and do the closing handshake. The caller bounds the time."""
        self._to_us.close()
        self.incoming.close()
        self.outgoing.close()
        code, reason = self._close_reason
        if cancelled and code == CloseReason.NORMAL_CLOSURE:
            code, reason = CloseReason.GOING_AWAY, "the server ends"
        await self._written.wait()
        with suppress(LocalProtocolError):
            await self._connection.aclose(code, reason)


@asynccontextmanager
async def open_messages(
    connection: WebSocketConnection,
    stream: SharedStream,
    frames: BoundedFrames | None = None,
    courtesy: Courtesy | None = None,
) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Exchange MCP messages over an open WebSocket, and close it at the end of the block.

    Resource handling: the caller closes the stream below.

    Error handling: the incoming stream ends when the peer disconnects or is cut off; nothing is raised.
    """
    courtesy = courtesy or Courtesy()
    socket = _Socket(connection, stream, courtesy)
    if frames is not None:
        frames.give_up = partial(socket.give_up, CloseReason.POLICY_VIOLATION)
    async with trio.open_nursery() as outer:
        # The writer outlives the other tasks, to finish its last frame.
        outer.start_soon(_shielded, socket, writing := trio.CancelScope(shield=True))
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(socket.read, nursery)
                nursery.start_soon(socket.keep_alive, nursery)
                yield socket.incoming, socket.outgoing
                nursery.cancel_scope.cancel(reason="the connection is over")
        finally:
            cancelled = trio.current_effective_deadline() == -inf  # from outside: the server ends
            with trio.move_on_after(courtesy.patience.seconds(CLOSE_SECONDS), shield=True):
                await socket.close(cancelled=cancelled)
            writing.cancel(reason="the connection is over")


async def _shielded(socket: _Socket, scope: trio.CancelScope) -> None:
    with scope:
        await socket.write()


@asynccontextmanager
async def accept_websocket(
    stream: trio.abc.Stream, head: Head, max_message_size: int = MAX_MESSAGE_SIZE, courtesy: Courtesy | None = None
) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Accept a WebSocket on a stream from which the request's head was read, and admitted, already.

    Resource handling: the caller closes the stream.
    """
    last_words, courtesy = b"", courtesy or Courtesy()
    try:
        async with trio.open_nursery() as nursery:
            frames = BoundedFrames(stream, head.rest)
            shared = SharedStream(frames)
            replayed = ReplayedStream(shared, head)
            request = await wrap_server_stream(nursery, replayed, max_message_size=max_message_size)
            connection = await request.accept(subprotocol=SUBPROTOCOL)
            replayed.release()
            async with open_messages(connection, shared, frames, courtesy) as streams:
                yield streams
            last_words = _last_words(connection)
            nursery.cancel_scope.cancel(reason="the connection is over")
    except* (ConnectionClosed, LocalProtocolError) as errors:  # it tries to respond to frames after its close frame
        log.debug("a WebSocket ended badly: %s", errors)
    with trio.move_on_after(courtesy.patience.seconds(CLOSE_SECONDS), shield=True):
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await stream.send_all(last_words)
        await drain(stream)


def _last_words(connection: WebSocketConnection) -> bytes:
    """The close frame that trio-websocket did not send."""
    closed = connection.closed
    if closed is None or closed.code not in _CODES_NOT_SENT:
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
    """Connect to a server that speaks MCP over WebSocket; yields the streams that the SDK's client takes.

    Resource handling: everything is closed at the end of the block. The incoming stream ends when the server
    disconnects.

    Args:
        url: `ws://…` or `wss://…`.
        token: sent as `Authorization: Bearer`.
        headers: further headers of the opening request.
        ssl_context: for `wss://`; by default the system's trusted certificates.

    Raises:
        ValueError: the URL is not a `ws://` or `wss://` one.
        OSError: the server cannot be reached, or its certificate is not trusted.
        trio.TooSlowError: there is no response within `CONNECT_SECONDS`.
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
        finally:  # trio-websocket does not close the stream if the server closed the WebSocket first
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
