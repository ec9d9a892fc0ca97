"""Streamable HTTP for clients: the SDK's transport, and below it a watch on the HTTP requests that it makes.

The SDK reports each refusal as one of a few JSON-RPC errors, without the status, and no end at all: a stream of
notifications that breaks is opened again twice and then never, in silence. So the watch notes what was refused, and
when there is reason to doubt that the server still has our session. To find out is the connection's part.

    watch = HttpWatch()
    async with open_http(url, headers, watch) as streams: ...
    await watch.doubt(0)    # returns when something is wrong
    watch.last_refusal
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import httpx2
import trio
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import MAX_RECONNECTION_ATTEMPTS, streamable_http_client

from trio_debugmcp.client.connection.connection_end import HttpRefusal, refusal
from trio_debugmcp.transports.line_pipes import MAX_LINE_BYTES

CONNECT_SECONDS = 30.0
"""To connect, and to write a request, as in the SDK's own client."""

GOODBYE_SECONDS = 2.0
"""For the request that ends a session; a server that is gone must not hold up the end."""

MAX_BODY_BYTES = 4096
"""Of a refusal that is read for its reason; what is longer is a page for browsers."""

_NO_STREAM = HTTPStatus.METHOD_NOT_ALLOWED
"""How a server says that it has no stream of notifications, which is not a fault."""


class HttpWatch:
    """What has happened to the HTTP requests of one connection.

    Attributes:
        last_refusal: the last response with an error status, None once a later request was answered.
        last_failure: why the server could not be reached, None once it was.
        refused: how many requests were refused so far.
        on_gap: called when the stream of notifications is open again, and some may have been missed.
    """

    def __init__(self) -> None:
        self.last_refusal: HttpRefusal | None = None
        self.last_failure: Exception | None = None
        self.refused = 0
        self.on_gap: Callable[[], None] = lambda: None
        self._streams = 0
        self._stream_failures = 0
        self._doubts = 0
        self._doubted = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<HttpWatch: {self.refused} refused, last {self.last_refusal}>"

    @property
    def stream_lost(self) -> bool:
        """Whether there was a stream of notifications, and the SDK will not try again to open it."""
        return self._streams > 0 and self._stream_failures >= MAX_RECONNECTION_ATTEMPTS

    @property
    def access_denied(self) -> HttpRefusal | None:
        """The last refusal, if it was of our authorisation and not, as 403 may be, of one request."""
        refusal = self.last_refusal
        return refusal if refusal is not None and refusal.status == HTTPStatus.UNAUTHORIZED else None

    async def doubt(self, seen: int) -> int:
        """Wait until there was reason to doubt that the session still exists, more often than `seen`; returns it."""
        while self._doubts <= seen:
            await self._doubted.park()
        return self._doubts

    def answered(self, request: httpx2.Request) -> None:
        """Note a response that is none of an error."""
        self.last_refusal = self.last_failure = None
        if request.method == "GET":
            self._streams += 1
            self._stream_failures = 0
            if self._streams > 1 and "last-event-id" not in request.headers:  # else the server sends what was missed
                self.on_gap()

    def refuse(self, request: httpx2.Request, what: HttpRefusal) -> None:
        """Note a response with an error status."""
        self.last_refusal = what
        self.refused += 1
        self._doubt(request)

    def fail(self, request: httpx2.Request, error: Exception) -> None:
        """Note that there was no response."""
        self.last_failure = error
        self._doubt(request)

    def _doubt(self, request: httpx2.Request) -> None:
        if request.method == "GET":
            self._stream_failures += 1
        if "mcp-session-id" in request.headers:
            self._doubts += 1
            self._doubted.unpark_all()


class _WatchedClient(httpx2.AsyncClient):
    """An HTTP client whose responses a watch sees before the SDK does."""

    def __init__(self, watch: HttpWatch, headers: Mapping[str, str], auth: httpx2.Auth | None) -> None:
        # No limit for reading: requests have their own, and a stream of notifications may be silent for ever.
        # Uncompressed: a few bytes would otherwise become any number of them, behind the bound below.
        super().__init__(
            headers={"accept-encoding": "identity", **headers},
            auth=auth,
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
        )
        self._watch = watch

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        if request.method == "DELETE":
            with trio.fail_after(GOODBYE_SECONDS):
                return await super().send(request, **options)
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError as error:
            self._watch.fail(request, error)
            raise
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.DecodingError("the server compresses its answers, which was not asked for", request=request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = BoundedStream(response.stream, request)
        if not response.is_error:
            self._watch.answered(request)
        elif request.method != "GET" or response.status_code != _NO_STREAM:
            self._watch.refuse(request, await _refusal(request, response))
        return response


class BoundedStream(httpx2.AsyncByteStream):
    """A response that is cut where one message in it becomes too long; events end with an empty line."""

    def __init__(self, stream: httpx2.AsyncByteStream, request: httpx2.Request) -> None:
        self._stream = stream
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for chunk in self._stream:
            if (end := max(chunk.rfind(b"\n\n"), chunk.rfind(b"\r\n\r\n"))) < 0:
                length += len(chunk)
            else:
                length = len(chunk) - end
            if length > MAX_LINE_BYTES:
                raise httpx2.ReadError(f"a message of more than {MAX_LINE_BYTES} bytes", request=self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _refusal(request: httpx2.Request, response: httpx2.Response) -> HttpRefusal:
    body = b""
    if 0 < int(response.headers.get("content-length", "0")) <= MAX_BODY_BYTES:
        body = await response.aread()  # kept in the response: the SDK, which reads it too, finds it there
    return refusal(str(request.url), response.status_code, body)


@asynccontextmanager
async def open_http(
    url: str, headers: Mapping[str, str], watch: HttpWatch, auth: httpx2.Auth | None = None
) -> AsyncGenerator[TransportStreams]:
    """Connect to a server that speaks MCP over Streamable HTTP; yields the streams that the SDK's client takes."""
    async with (
        _WatchedClient(watch, headers, auth) as http,
        streamable_http_client(url, http_client=http, max_sse_event_size=MAX_LINE_BYTES) as streams,
    ):
        yield streams
