"""A small MCP server of the handshake era over real HTTP on loopback, which forgets and refuses at will.

async with open_http_peer() as peer:
    async with InspectorClient(peer.url) as client: ...
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from typing import Any

import trio

Json = dict[str, Any]


class HttpPeer:
    """See the module's docstring.

    Attributes:
        forgotten: the status that a request with an unknown session gets.
        status: that every request gets, None to serve them.
        body: of every refusal.
        headers: of every refusal that `status` causes, each with its line end.
        modern: whether it speaks 2026-07-28, which has no sessions, in place of the handshake era.
        as_events: whether results come as an event each, and calls with 2 MB of text.
        has_streams: whether GET opens a stream of notifications.
        requests: the methods of all requests, `GET` and `DELETE` for those of HTTP.
        initialized: how many sessions were begun.
    """

    def __init__(self) -> None:
        self.url = ""
        self.forgotten: int = HTTPStatus.NOT_FOUND
        self.status: int | None = None
        self.body = b""
        self.headers = ""
        self.modern = self.as_events = False
        self.has_streams = True
        self.requests: list[str] = []
        self.initialized = 0
        self._sessions: set[str] = set()
        self._streams: set[trio.SocketStream] = set()
        self._opened = trio.lowlevel.ParkingLot()

    def count(self, method: str) -> int:
        return self.requests.count(method)

    async def restart(self) -> None:
        """Forget all sessions, and close their streams, as a server does that is started again."""
        self._sessions.clear()
        await self.close_streams()

    async def close_streams(self) -> None:
        for stream in list(self._streams):
            await stream.aclose()

    async def wait_streams(self, number: int) -> None:
        while self.count("GET") < number:
            await self._opened.park()

    async def answer(self, stream: trio.SocketStream) -> None:
        head, _, body = (await _receive(stream)).partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        message = json.loads(body) if body else {"method": first.split()[0]}
        self.requests.append(message.get("method", "response"))
        session = headers.get("mcp-session-id")
        if self.status is not None:
            await _respond(stream, self.status, self.body, self.headers)
        elif message["method"] == "GET":
            await self._stream(stream, session)
        elif "id" not in message:
            await _respond(stream, HTTPStatus.ACCEPTED if session in self._sessions else self.forgotten)
        elif message["method"] == "initialize":
            self.initialized += 1
            session = f"session-{self.initialized}"
            self._sessions.add(session)
            await self._result(stream, message, _WELCOME, session)
        elif message["method"] == "server/discover" and not self.modern:
            await _respond(stream, HTTPStatus.BAD_REQUEST)
        elif not self.modern and session not in self._sessions:
            await _respond(stream, self.forgotten, self.body)
        else:
            result = _RESULTS.get(message["method"], {})
            await self._result(stream, message, {**result, **_MODERN} if self.modern else result)

    async def _stream(self, stream: trio.SocketStream, session: str | None) -> None:
        if not self.has_streams or session not in self._sessions:
            await _respond(stream, self.forgotten if self.has_streams else HTTPStatus.METHOD_NOT_ALLOWED)
            self._opened.unpark_all()
            return
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        self._streams.add(stream)
        self._opened.unpark_all()
        try:
            await stream.receive_some(1)
        finally:
            self._streams.discard(stream)

    async def _result(self, stream: trio.SocketStream, request: Json, result: Json, session: str = "") -> None:
        kind = "application/json"
        if self.as_events and request["method"] == "tools/call":
            result = {"content": [{"type": "text", "text": "x" * 2_000_000}]}
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        if self.as_events:
            kind, body = "text/event-stream", b"event: message\ndata: " + body + b"\n\n"
        more = f"Mcp-Session-Id: {session}\r\n" if session else ""
        await _respond(stream, HTTPStatus.OK, body, f"Content-Type: {kind}\r\n{more}")


_WELCOME: Json = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"resources": {"subscribe": True, "listChanged": True}, "tools": {}},
    "serverInfo": {"name": "http peer", "version": "1"},
}
_MODERN: Json = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
_RESULTS: dict[str, Json] = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
}


async def _receive(stream: trio.SocketStream) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await _some(stream)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += await _some(stream)
    return head + b"\r\n\r\n" + body


async def _some(stream: trio.SocketStream) -> bytes:
    if not (data := await stream.receive_some()):
        raise trio.BrokenResourceError
    return bytes(data)


async def _respond(stream: trio.SocketStream, status: int, body: bytes = b"", headers: str = "") -> None:
    head = f"HTTP/1.1 {int(status)} x\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{headers}\r\n"
    await stream.send_all(head.encode() + body)


@asynccontextmanager
async def open_http_peer() -> AsyncGenerator[HttpPeer]:
    """A peer that listens until the end of the block."""
    peer = HttpPeer()

    async def handle(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await peer.answer(stream)

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, handle, 0, host="127.0.0.1"))
        peer.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/mcp"
        yield peer
        nursery.cancel_scope.cancel("the test is over")
