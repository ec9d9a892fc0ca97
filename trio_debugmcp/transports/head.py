"""The head of an HTTP request: read in bounded time and space, and kept so that it can be read again.

    head = await read_head(stream)
    if head is not None and head.wants_websocket:
        replayed = ReplayedStream(stream, head)  # wsproto reads the head once more
    else:
        await answer(stream, HTTPStatus.OK, {"Content-Length": "2"}, b"hi")

h11 does the parsing. Bytes that were read beyond the head stay with it, and may be the beginning of the next one:

    head = await read_head(stream, head.rest)
"""

from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus

import h11
import trio
from msgspec import Struct

from trio_debugmcp.transports.admission import Refused

MAX_HEAD_BYTES = 16 * 1024
"""Size of the request line and the headers. Browsers send about 1 KiB."""

MAX_HEADERS = 100
"""Lines of headers. Browsers send about 20; parsing each costs processor time."""

PIECE_SECONDS = 0.02
"""Between two reads of a head that is not complete: one that comes byte by byte costs at most 50 reads a second."""

HEAD_SECONDS = 10.0
"""From the connection to the end of the head, TLS included. A slow network needs less than a second."""

DRAIN_SECONDS = 1.0
"""For the peer to read the response and to close. Closing with unread bytes would reset the connection instead."""

_WHITESPACE = " \t"
"""As HTTP defines it. Python's `str.strip` also removes bytes that wsproto counts as part of a token."""

_CHUNK_BYTES = 4096
"""Size of one read: most heads fit."""

_MAX_DRAINED_CHUNKS = 64
"""Reads after the response; a peer that still sends after 256 KiB is not waiting for it."""


class Head(Struct, frozen=True):
    """A request without its body.

    `path` is as it was sent, still encoded and without the query, and `target` with it. `raw` are the bytes of the
    head, and `rest` are those that were read beyond it.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    raw: bytes = b""
    rest: bytes = b""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def value(self, name: str) -> str | None:
        """The first value of a header, or None."""
        values = self.values(name)
        return values[0] if values else None

    def values(self, name: str) -> list[str]:
        """The values of a header, in order."""
        return [value for key, value in self.headers if key == name]

    def tokens(self, name: str) -> list[str]:
        """The parts of a header that is a comma-separated list, from all of its lines."""
        parts = [part.strip(_WHITESPACE) for value in self.values(name) for part in value.split(",")]
        return [part for part in parts if part]

    @property
    def is_last(self) -> bool:
        """Whether no other request may follow on the connection: the peer says so, or a body comes that is not read."""
        has_body = bool(self.values("transfer-encoding")) or any(map(int, self.values("content-length")))
        return has_body or "close" in [token.lower() for token in self.tokens("connection")]

    @property
    def wants_websocket(self) -> bool:
        """Whether the request asks for an upgrade to WebSocket."""
        return "websocket" in [token.lower() for token in self.tokens("upgrade")]


async def read_head(stream: trio.abc.Stream, begun: bytes = b"") -> Head | None:
    """Read the head of a request, of which the first bytes may have been read; None if the peer closes before its end.

    Raises:
        Refused: it took too long, is too large, is not HTTP/1.1, or is malformed.
    """
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
    raw = bytearray(begun)
    if begun:  # no bytes would be the end of the stream
        check_lines(raw)
        parser.receive_data(begun)
    with trio.move_on_after(HEAD_SECONDS):
        while True:
            try:
                event = parser.next_event()
            except h11.RemoteProtocolError as error:
                raise Refused(HTTPStatus(error.error_status_hint), "bad request head") from error
            if isinstance(event, h11.Request):
                rest = parser.trailing_data[0]
                return head_of(event, bytes(raw.removesuffix(rest)), rest)
            if event is not h11.NEED_DATA:
                return None
            if raw:
                await trio.sleep(PIECE_SECONDS)
            if not (data := await receive_bytes(stream)):
                return None
            raw += data
            check_lines(raw)
            parser.receive_data(data)
    raise Refused(HTTPStatus.REQUEST_TIMEOUT, f"the request head took over {HEAD_SECONDS:g} s")


def check_lines(data: bytes | bytearray) -> None:
    """Check the number of headers in bytes that begin with a head, before these are parsed.

    Raises:
        Refused: 431.
    """
    lines = data.split(b"\n", MAX_HEADERS + 2)[:-1]  # and the request line
    if len(lines) > MAX_HEADERS + 1 and not any(line in (b"", b"\r") for line in lines):
        raise Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"a request has at most {MAX_HEADERS} headers")


def head_of(request: h11.Request, raw: bytes = b"", rest: bytes = b"") -> Head:
    """Make a head of what h11 has parsed.

    Raises:
        Refused: it is too large (h11 bounds only one that arrives in several pieces), is not HTTP/1.1, or says in two
            ways how long its body is.
    """
    if request.http_version != b"1.1":
        raise Refused(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, "HTTP/1.1 only")
    size = (
        len(request.method) + len(request.target) + sum(len(name) + len(value) + 4 for name, value in request.headers)
    )
    if size > MAX_HEAD_BYTES:
        raise Refused(
            HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"a request's head has at most {MAX_HEAD_BYTES} bytes"
        )
    head = Head(
        method=request.method.decode("ascii"),
        target=request.target.decode("ascii"),
        headers=tuple((name.decode("ascii"), value.decode("latin-1")) for name, value in request.headers),
        raw=raw,
        rest=rest,
    )
    if head.values("content-length") and head.values("transfer-encoding"):
        raise Refused(HTTPStatus.BAD_REQUEST, "Content-Length and Transfer-Encoding exclude each other")
    return head


async def answer(
    stream: trio.abc.Stream,
    status: HTTPStatus,
    headers: Mapping[str, str],
    body: bytes = b"",
    *,
    last: bool = True,
) -> None:
    """Send a response; behind the last one the caller closes the stream. A peer that is gone is ignored."""
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    if last:
        lines.append("Connection: close")
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        await stream.send_all("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        if last:
            await drain(stream)


async def drain(stream: trio.abc.Stream) -> None:
    """Let the peer read what was sent: half-close, and discard what it still sends for `DRAIN_SECONDS`."""
    with trio.move_on_after(DRAIN_SECONDS), suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        if isinstance(stream, trio.abc.HalfCloseableStream):
            await stream.send_eof()
        for _ in range(_MAX_DRAINED_CHUNKS):
            if not await receive_bytes(stream):
                break


async def receive_bytes(stream: trio.abc.Stream) -> bytes:
    """Receive some bytes; none if there will be no more."""
    try:
        return bytes(await stream.receive_some(_CHUNK_BYTES))
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return b""


class ReplayedStream(trio.abc.Stream):
    """A stream on which the head, which was read already, is read again. Closing it leaves the stream below open.

    Bytes behind the head are held back until `release` is called: wsproto keeps bytes that arrive before its response
    in a buffer, and does not look at them until further ones arrive.
    """

    def __init__(self, stream: trio.abc.Stream, head: Head) -> None:
        self._stream = stream
        self._head = head.raw
        self._rest = head.rest
        self._answered = trio.Event()

    def release(self) -> None:
        """Deliver what follows the head, which has been answered."""
        self._answered.set()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Receive the bytes of the head, then those behind it, then new ones."""
        if self._head:
            await trio.lowlevel.checkpoint()
            again, self._head = _cut(self._head, max_bytes)
            return again
        await self._answered.wait()
        if self._rest:
            again, self._rest = _cut(self._rest, max_bytes)
            return again
        return await self._stream.receive_some(max_bytes)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        """Do nothing: the owner of the stream below closes it."""
        await trio.lowlevel.checkpoint()


def _cut(data: bytes, size: int | None) -> tuple[bytes, bytes]:
    return (data, b"") if size is None else (data[:size], data[size:])
