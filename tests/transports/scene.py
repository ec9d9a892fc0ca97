"""A port on memory streams, so that time is exact, and requests as text."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import memory_stream_pair
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_client_stream

from trio_debugmcp.app import App, Options, open_app
from trio_debugmcp.server.auth import Role, Tokens
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect_streams
from trio_debugmcp.testing.connect import Era
from trio_debugmcp.transports.admission import Admission, ConnectionBounds
from trio_debugmcp.transports.gate import Gate
from trio_debugmcp.transports.outbox import SharedStream
from trio_debugmcp.transports.port import Port
from trio_debugmcp.transports.static import StaticFile
from trio_debugmcp.transports.websocket import open_messages

HOST = "127.0.0.1:8000"
CONTROL, OBSERVE = "the-control-token", "the-observer-token"
BOUNDS = ConnectionBounds(strangers=8, control=6, observe=4)
PAGES = {
    "/": StaticFile("text/html; charset=utf-8", b"<p>hello</p>"),
    "/app.js": StaticFile("text/javascript; charset=utf-8", b"hello();"),
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}},
}
PING = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "ping"})


class Scene:
    """A running app behind a port. `ends` are the server's ends of its connections, for tests that break them."""

    def __init__(self, app: App, port: Port, admission: Admission, nursery: trio.Nursery) -> None:
        self.app = app
        self.port = port
        self.admission = admission
        self.ends: list[trio.StapledStream[Any, Any]] = []
        self._nursery = nursery

    def dial(self) -> trio.abc.HalfCloseableStream:
        """Open a connection and return the client's end."""
        ours, theirs = memory_stream_pair()
        self.ends.append(theirs)
        self._nursery.start_soon(self.admission.serve, theirs, self.port.receive)
        return ours

    async def ask(self, request: str | bytes) -> tuple[int, dict[str, str], bytes]:
        """Send a request and return status, headers and body of the response; (0, {}, b"") if there is none."""
        stream = self.dial()
        await stream.send_all(request if isinstance(request, bytes) else http(request))
        return await read_answer(stream)

    @asynccontextmanager
    async def websocket(self, token: str | None = CONTROL, **more: str) -> AsyncIterator[WebSocketConnection]:
        """Open a WebSocket for raw messages."""
        async with self._dial_websocket(token, **more) as (connection, _):
            yield connection

    @asynccontextmanager
    async def _dial_websocket(
        self, token: str | None, **more: str
    ) -> AsyncIterator[tuple[WebSocketConnection, SharedStream]]:
        stream = SharedStream(self.dial())
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **more}
        async with trio.open_nursery() as nursery:
            connection = await wrap_client_stream(
                nursery,
                stream,  # type: ignore[arg-type]
                HOST,
                "/mcp",
                subprotocols=["mcp"],
                extra_headers=[(name.encode(), value.encode()) for name, value in headers.items()],
            )
            yield connection, stream
            nursery.cancel_scope.cancel()
            await trio.aclose_forcefully(stream)

    @asynccontextmanager
    async def client(self, era: Era = "legacy", token: str = CONTROL) -> AsyncIterator[DebugClient]:
        """Connect the SDK's client over a WebSocket."""
        async with self._dial_websocket(token) as dialled, connect_streams(open_messages(*dialled), era) as client:
            yield client


@asynccontextmanager
async def open_scene(adapter: FakeAdapter | None = None, **options: Any) -> AsyncIterator[Scene]:
    """Run an app with a fake adapter behind a port."""
    tokens = Tokens(CONTROL, OBSERVE)
    app_options: Options = (adapter or FakeAdapter()).options(**options)
    async with open_app(app_options) as app, trio.open_nursery() as nursery:
        gate: Gate[Role] = Gate("127.0.0.1", tokens.role_of)
        yield Scene(app, Port(gate, app.serve_connection, PAGES.get, app.debugger.patience), Admission(BOUNDS), nursery)
        nursery.cancel_scope.cancel()


def http(first_line: str, **headers: str) -> bytes:
    """The bytes of a request; `Host` is ours unless it is given. An empty header is left out."""
    fields = {"Host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [f"{first_line} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items() if value), "", ""]
    return "\r\n".join(lines).encode()


def upgrade(**headers: str) -> bytes:
    """A valid WebSocket handshake, except for the headers that are given; an empty one is left out."""
    good = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Protocol": "mcp",
        "Authorization": f"Bearer {CONTROL}",
    }
    return http("GET /mcp", **{**good, **headers})


Answer = tuple[int, dict[str, str], bytes]


async def read_answer(stream: trio.abc.ReceiveStream) -> Answer:
    """Read a response until the other side closes."""
    answer = b""
    while data := await stream.receive_some():
        answer += data
    if not answer:
        return 0, {}, b""
    head, _, body = answer.partition(b"\r\n\r\n")
    return *parsed(head), body


def parsed(head: bytes) -> tuple[int, dict[str, str]]:
    """Status and headers of a response."""
    first, *lines = head.decode().split("\r\n")
    return int(first.split()[1]), {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}


class Kept:
    """A connection on which several responses come, each as long as it says."""

    def __init__(self, stream: trio.abc.HalfCloseableStream) -> None:
        self.stream = stream
        self._unread = b""

    async def ask(self, request: str | bytes) -> Answer:
        """Send a request and read its response."""
        sent = request if isinstance(request, bytes) else http(request)
        await self.stream.send_all(sent)
        return await self.read(body=not sent.startswith(b"HEAD"))

    async def read(self, *, body: bool = True) -> Answer:
        """Read a response; that to HEAD has no body."""
        while b"\r\n\r\n" not in self._unread:
            await self._more()
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        status, headers = parsed(head)
        length = int(headers.get("content-length", "0")) if body and status != 304 else 0
        while len(self._unread) < length:
            await self._more()
        content, self._unread = self._unread[:length], self._unread[length:]
        return status, headers, content

    async def rest(self) -> bytes:
        """Read until the other side closes."""
        rest, self._unread = self._unread, b""
        while data := await self.stream.receive_some():
            rest += data
        return rest

    async def _more(self) -> None:
        data = await self.stream.receive_some()
        assert data, f"closed behind {self._unread!r}"
        self._unread += data


async def closing(connection: WebSocketConnection) -> tuple[int, str | None]:
    """Read to the end, and return the code and the reason with which the server closed."""
    with pytest.raises(ConnectionClosed) as caught:
        while True:
            await connection.get_message()
    reason = caught.value.reason
    assert reason is not None
    return reason.code, reason.reason


async def receive(connection: WebSocketConnection) -> dict[str, Any]:
    """Receive the next message."""
    message: dict[str, Any] = json.loads(await connection.get_message())
    return message
