"""HTTP/1.1 on one connection, for an application that answers one request after another.

    async def application(exchange):
        exchange.visitor.admit("observe")  # or raise Refused
        body = await exchange.read_body(MAX_BODY_BYTES)
        await asgi_application(exchange.scope, exchange.receive, exchange.send)

    await serve_http11(stream, visitor, application, patience)

h11 does the parsing. Everything has a bound in time: the head, the body, a peer that does not read, and the time
between two requests. An answered connection is closed as HTTP/1.1 says: at once if the client asked for it, else when
no further request comes. Other versions of HTTP are refused.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import h11
import trio

from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.transports.admission import Refused, Visitor
from trio_debugmcp.transports.head import (
    HEAD_SECONDS,
    MAX_HEAD_BYTES,
    PIECE_SECONDS,
    Head,
    answer,
    check_lines,
    drain,
    head_of,
)

log = logging.getLogger(__name__)

KEEP_ALIVE_SECONDS = 60.0
"""For the next request to begin. Longer than clients keep a connection, so that they close it and not we: a request
that crosses our close would fail."""

BODY_SECONDS = 60.0
"""For the whole body of a request to arrive: 4 MiB at half a megabit per second."""

MAX_CHUNKS = 1000
"""Pieces of a request's body that is sent in chunks. Each costs processor time, however short it is."""

MAX_REFUSALS = 4
"""Requests without a token on one connection. Each costs processor time; connections come at a bounded rate."""

STALL_SECONDS = 20.0
"""For the peer to read a chunk of a response. Over WebSocket it has as long to answer a ping."""

MAX_REFUSED_BYTES = 256 * 1024
"""Declared size of a stranger's body that is read before its request is refused. Of a longer one nothing is read."""

REFUSED_SECONDS = 1.0
"""For the rest of a refused request, so that the peer reads the response instead of a reset."""

_CHUNK_BYTES = 64 * 1024
"""Size of one read, and of one write that has to make progress."""

Application = Callable[["HttpExchange"], Awaitable[None]]


class PeerGone(Exception):
    """The peer has closed the connection in the middle of a request."""


class _Wire:
    """A connection: bytes below, events of h11 above."""

    def __init__(self, stream: trio.abc.Stream, patience: Patience) -> None:
        self.stream = stream
        self.stall_seconds = patience.seconds(STALL_SECONDS)
        self.h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        self.gone = trio.Event()
        self._writing = trio.Lock()

    def next_event(self) -> Any:
        """Return what h11 makes of the bytes received so far.

        Raises:
            Refused: they are not HTTP.
        """
        try:
            return self.h11.next_event()
        except h11.RemoteProtocolError as error:
            raise Refused(HTTPStatus(error.error_status_hint), "malformed HTTP") from error

    async def receive(self) -> bool:
        """Receive some bytes; False if there will be no more."""
        try:
            data = bytes(await self.stream.receive_some(_CHUNK_BYTES))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            data = b""
        if not data:
            self.gone.set()
            return False
        self.h11.receive_data(data)
        return True

    async def send(self, *events: Any) -> None:
        """Send; what a peer that is gone would have received is dropped, and one that does not read is given up.

        Resource handling: not cancelled on the way, as nothing could be sent behind half a message. The SDK cancels a
        response when its last part is sent, and the connection can be used again nevertheless.
        """
        async with self._writing:
            data = b"".join(self.h11.send(event) or b"" for event in events)
            for start in range(0, len(data), _CHUNK_BYTES):
                with trio.move_on_after(self.stall_seconds, shield=True) as limit:
                    try:
                        if not self.gone.is_set():
                            await self.stream.send_all(data[start : start + _CHUNK_BYTES])
                    except (trio.BrokenResourceError, trio.ClosedResourceError):
                        self.gone.set()
                if limit.cancelled_caught:
                    self.gone.set()


class HttpExchange:
    """One request and its response. `receive` and `send` are those of ASGI, once the body was read."""

    def __init__(self, wire: _Wire, visitor: Visitor, head: Head) -> None:
        self.head = head
        self.visitor = visitor
        self.started = False
        self._wire = wire
        self._body: bytes | None = b""
        self._receiving = trio.Lock()

    def __repr__(self) -> str:
        return f"<Exchange {self.head.method} {self.head.path} of {self.visitor!r}>"

    @property
    def scope(self) -> dict[str, Any]:
        """What ASGI says of a request."""
        path, _, query = self.head.target.partition("?")
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": self.head.method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode("ascii"),
            "query_string": query.encode("ascii"),
            "root_path": "",
            "headers": [(name.encode("ascii"), value.encode("latin-1")) for name, value in self.head.headers],
            "client": None,
            "server": None,
        }

    async def read_body(self, most_bytes: int) -> bytes:
        """Read the whole body. Of strangers it is not read.

        Raises:
            Refused: 413, 408, or 400.
            PeerGone: it ends before it is complete.
        """
        declared = self.head.value("content-length")
        if declared is not None and int(declared) > most_bytes:
            raise _too_large(most_bytes)
        if self._wire.h11.they_are_waiting_for_100_continue:
            await self._wire.send(h11.InformationalResponse(status_code=100, headers=[]))
        body = bytearray()
        chunks = 0
        with trio.move_on_after(BODY_SECONDS):
            while True:
                event = self._wire.next_event()
                if isinstance(event, h11.Data):
                    body += event.data
                    chunks += event.chunk_start
                    if len(body) > most_bytes:
                        raise _too_large(most_bytes)
                    if chunks > MAX_CHUNKS:
                        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {MAX_CHUNKS} chunks")
                elif isinstance(event, h11.EndOfMessage):
                    self._body = bytes(body)
                    return self._body
                elif not await self._wire.receive():
                    raise PeerGone
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, f"the body took over {BODY_SECONDS:g} s")

    async def receive(self) -> dict[str, Any]:
        """Return the body; from the second call on wait until the peer has disconnected."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        async with self._receiving:
            # Once: a request that is sent ahead waits, and then only a failing write shows that the peer has gone.
            if not self._wire.gone.is_set():
                await self._wire.receive()
            await self._wire.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        """Send a part of the response."""
        match message["type"]:
            case "http.response.start":
                self.started = True
                headers = [(name, value) for name, value in message.get("headers", ()) if name.lower() != b"connection"]
                if self._wire.h11.their_state is not h11.DONE:
                    headers.append((b"Connection", b"close"))
                await self._wire.send(h11.Response(status_code=message["status"], headers=headers))
            case "http.response.body":
                body = message.get("body", b"")
                data = [h11.Data(data=body)] if body and self.head.method != "HEAD" else []
                await self._wire.send(*data, *([] if message.get("more_body") else [h11.EndOfMessage()]))
            case other:
                raise ValueError(f"not an ASGI message for a response: {other}")

    async def refuse(self, refusal: Refused) -> None:
        """Answer with the status of a refusal. The connection can be used again, by a stranger `MAX_REFUSALS` times.

        To close it instead would be simpler, but undici (Node.js 22) crashes at a close behind a body that it has not
        read yet.
        """
        declared = self.head.value("content-length")  # chunks of a stranger are not parsed: that would cost others time
        reads = declared is not None and (self.visitor.role is not None or int(declared) <= MAX_REFUSED_BYTES)
        with trio.move_on_after(REFUSED_SECONDS), suppress(Refused):  # it may be malformed as well
            while (
                reads
                and self._wire.h11.their_state is h11.SEND_BODY
                and not self._wire.h11.they_are_waiting_for_100_continue
            ):
                if self._wire.next_event() is h11.NEED_DATA and not await self._wire.receive():
                    break
        headers = refusal.headers
        if self.visitor.role is None:
            self.visitor.refusals += 1
            if self.visitor.refusals >= MAX_REFUSALS:
                headers = {**headers, "Connection": "close"}
        await self.respond(refusal.status, f"{refusal.reason}\n", "text/plain; charset=utf-8", headers)

    async def respond(
        self, status: HTTPStatus, text: str, content_type: str, more: Mapping[str, str] | None = None
    ) -> None:
        """Send a whole response."""
        body = text.encode()
        headers = {**(more or {}), "Content-Type": content_type, "Content-Length": str(len(body))}
        if self._wire.h11.their_state is not h11.DONE:
            headers["Connection"] = "close"
        response = h11.Response(status_code=status.value, reason=status.phrase, headers=list(headers.items()))
        data = [] if self.head.method == "HEAD" else [h11.Data(data=body)]
        self.started = True
        await self._wire.send(response, *data, h11.EndOfMessage())


def _too_large(most_bytes: int) -> Refused:
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has at most {most_bytes} bytes")


async def serve_http11(
    stream: trio.abc.Stream, visitor: Visitor, application: Application, patience: Patience = USUAL
) -> None:
    """Serve requests until the connection is to be closed. The caller closes the stream.

    Error handling: a request that is not HTTP/1.1 is refused here; an exception of the application is raised, once
    the peer was answered.
    """
    wire = _Wire(stream, patience)
    try:
        while (head := await _next_head(wire, visitor)) is not None:
            exchange = HttpExchange(wire, visitor, head)
            await _serve(exchange, application)
            if wire.gone.is_set() or wire.h11.our_state is not h11.DONE or wire.h11.their_state is not h11.DONE:
                break
            wire.h11.start_next_cycle()
            visitor.idle_since = trio.current_time()
    except PeerGone:
        return
    except Refused as refusal:
        body = f"{refusal.reason}\n".encode()
        headers = {**refusal.headers, "Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
        with trio.move_on_after(wire.stall_seconds):
            await answer(stream, refusal.status, headers, body)
        return
    await drain(stream)


async def _serve(exchange: HttpExchange, application: Application) -> None:
    failure: Exception | None = None
    try:
        await application(exchange)
    except PeerGone:
        raise
    except Exception as error:  # noqa: BLE001 - raised below, once the peer was answered
        failure = error
    if not exchange.started:
        await exchange.refuse(Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "this request failed"))
    if failure is not None:
        raise failure


async def _next_head(wire: _Wire, visitor: Visitor) -> Head | None:
    """Wait for the head of the next request; None if there is none: the peer closes, or is silent for too long.

    Raises:
        Refused: it took too long, is too large, is not HTTP/1.1, or is malformed.
    """
    first, begun = visitor.idle_since is None, bool(wire.h11.trailing_data[0])
    with trio.move_on_after(HEAD_SECONDS if first or begun else KEEP_ALIVE_SECONDS) as limit:
        while True:
            data = wire.h11.trailing_data[0]
            check_lines(data)
            event = wire.next_event()
            if isinstance(event, h11.Request):
                visitor.idle_since = None
                return head_of(event)
            if event is not h11.NEED_DATA:
                return None
            if data:
                await trio.sleep(PIECE_SECONDS)
            if not await wire.receive():
                return None
            if not begun and not first:
                limit.deadline = trio.current_time() + HEAD_SECONDS
            begun, visitor.idle_since = True, None
    if begun or first:
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, f"the request head took over {HEAD_SECONDS:g} s")
    return None
