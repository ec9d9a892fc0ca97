"""MCP clients that misbehave: `RawClient` sends lines of any kind, and `CLIENT_FAULTS` lists what it can do wrong.

    async with connect_raw(server.app) as raw:
        await raw.initialize()
        await raw.call("debug_continue", {})
        await raw.abort()

Nothing here uses the SDK's client, which sends only what is valid.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import trio
import trio.testing
from msgspec import Struct

from trio_debugmcp.app import App
from trio_debugmcp.transports.line_splitter import MAX_LINE_BYTES
from trio_debugmcp.transports.stdio import open_lines

FLOOD_REQUESTS = 300
"""Requests at once: more than all queues between a client and a server hold."""


class RawClient:
    """The client's end of two pipes without a buffer: the server cannot send a message that the client does not read.

    `received` are the messages received. Made by `connect_raw`.
    """

    def __init__(self, to_server: trio.abc.SendStream, from_server: trio.abc.ReceiveStream) -> None:
        self.received: list[dict[str, Any]] = []
        self._to_server = to_server
        self._from_server = from_server
        self._ids = count(1)
        self._reading = trio.CancelScope()
        self._came = trio.lowlevel.ParkingLot()

    async def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be lines, nor JSON. If the server has closed the connection, they are lost."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self._to_server.send_all(data)

    async def send(self, method: str, params: dict[str, Any] | None = None, *, notify: bool = False) -> int:
        """Send a request or a notification; returns the request's id."""
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        await self.send_raw(json.dumps(message if notify else {**message, "id": number}).encode() + b"\n")
        return number

    async def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its whole response."""
        return await self.response_to(await self.send(method, params))

    async def response_to(self, number: int) -> dict[str, Any]:
        """Wait for the response to a request."""
        while True:
            for message in self.received:
                if message.get("id") == number:
                    return message
            await self._came.park()

    async def call(self, tool: str, arguments: dict[str, Any]) -> int:
        """Begin a call of a tool; returns the request's id."""
        return await self.send("tools/call", {"name": tool, "arguments": arguments})

    async def initialize(self) -> None:
        """Perform the handshake: request and notification."""
        client = {"name": "raw", "version": "0"}
        await self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        await self.send("notifications/initialized", notify=True)

    def stop_reading(self) -> None:
        """Read nothing more from the server."""
        self._reading.cancel(reason="the client stops reading")

    async def abort(self) -> None:
        """Close both pipes at once, whatever is under way."""
        self.stop_reading()
        await trio.aclose_forcefully(self._to_server)
        await trio.aclose_forcefully(self._from_server)

    async def close_sending(self) -> None:
        """Close the pipe to the server, and keep reading."""
        await self._to_server.aclose()

    async def read(self) -> None:
        """Read until `stop_reading` is called or the server closes. Run by `connect_raw`."""
        unread = b""
        with self._reading, suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while data := await self._from_server.receive_some():
                *lines, unread = (unread + data).split(b"\n")
                self.received += [json.loads(line) for line in lines]
                self._came.unpark_all()


@asynccontextmanager
async def connect_raw(app: App) -> AsyncIterator[RawClient]:
    """Connect a client in lines of JSON, as on standard input and output, to a server in this process."""
    to_server, source = trio.testing.lockstep_stream_one_way_pair()
    sink, from_server = trio.testing.lockstep_stream_one_way_pair()
    client = RawClient(to_server, from_server)

    async def serve(*, task_status: trio.TaskStatus[None]) -> None:
        async with source, sink, open_lines(source, sink) as streams:
            task_status.started()
            await app.serve_connection(*streams)

    async with trio.open_nursery() as nursery:
        await nursery.start(serve)
        nursery.start_soon(client.read)
        yield client
        nursery.cancel_scope.cancel(reason="the raw client is done")


class ClientFault(Struct, frozen=True):
    """One way for a client to misbehave: `inject` makes it do so."""

    name: str
    description: str
    inject: Callable[[RawClient], Awaitable[None]]


async def _stop_reading(client: RawClient) -> None:
    client.stop_reading()
    await trio.lowlevel.checkpoint()


async def _flood(client: RawClient) -> None:
    client.stop_reading()
    with trio.move_on_after(1):  # a server does not take so many from a client that does not read the answers
        for _ in range(FLOOD_REQUESTS):
            await client.send("resources/read", {"uri": "debugger://session"})


async def _half_line(client: RawClient) -> None:
    await client.send_raw(b'{"jsonrpc": "2.0", "id": 999, "method": "tools/c')


async def _half_line_and_vanish(client: RawClient) -> None:
    await _half_line(client)
    await client.abort()


async def _garbage(client: RawClient) -> None:
    for line in (
        b"hello",
        b"\xff\xfe\x00",
        b"[]",
        b"{}",
        b"null",
        b"[" * 100_000,
        b'{"jsonrpc": "1.0", "id": [], "method": 7}',
        b'{"jsonrpc": "2.0", "id": 7}',
        b'{"jsonrpc": "2.0", "id": 424242, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 8, "method": "no/such"}',
        b'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": []}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}',
        rb'{"jsonrpc": "2.0", "id": 10, "method": "resources/read", "params": {"uri": "\ud800"}}',
    ):
        await client.send_raw(line + b"\n")


async def _huge_line(client: RawClient) -> None:
    piece = b"x" * (1024 * 1024)
    for _ in range(MAX_LINE_BYTES // len(piece) + 2):
        await client.send_raw(piece)
    await client.send_raw(b"\n")


async def _cancel_everything(client: RawClient) -> None:
    for number in range(50):
        await client.send("notifications/cancelled", {"requestId": number}, notify=True)


async def _same_id(client: RawClient) -> None:
    line = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "debug_wait", "arguments": {}}}\n'
    await client.send_raw(line * 3)


async def _greet_again(client: RawClient) -> None:
    await client.send("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
    await client.send("initialize", {"protocolVersion": 7})


CLIENT_FAULTS = (
    ClientFault("stops reading", "it reads nothing more", _stop_reading),
    ClientFault("floods", "it sends requests and reads no answers", _flood),
    ClientFault("half a line", "it sends half a line, and nothing more", _half_line),
    ClientFault("half a line, gone", "it sends half a line and vanishes", _half_line_and_vanish),
    ClientFault("garbage", "it sends what is not JSON-RPC, and JSON-RPC that is not MCP", _garbage),
    ClientFault("endless line", "it sends a line over the bound", _huge_line),
    ClientFault("vanishes", "it closes the connection without notice", RawClient.abort),
    ClientFault("hangs up", "it closes its half and keeps reading", RawClient.close_sending),
    ClientFault("cancels everything", "it cancels requests that it has made, and others", _cancel_everything),
    ClientFault("repeats an id", "it makes three requests with the same id", _same_id),
    ClientFault("greets again", "it sends `initialize` again, and once with invalid parameters", _greet_again),
)
