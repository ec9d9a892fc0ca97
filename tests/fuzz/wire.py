"""A client that can send any line to a server in memory, as on standard input and output."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio
from trio.testing import memory_stream_one_way_pair

from trio_debugmcp.app import Options, open_app
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.transports.stdio import open_lines


class Wire:
    """A client on standard input and output, line by line."""

    def __init__(self, sink: trio.abc.SendStream, source: trio.abc.ReceiveStream) -> None:
        self._sink = sink
        self._source = source
        self._buffer = b""
        self._id = 10**12  # above the ids of the fuzzed requests
        self.other: list[dict[str, Any]] = []

    async def send(self, line: bytes) -> None:
        await self._sink.send_all(line + b"\n")

    async def line(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            data = bytes(await self._source.receive_some())
            assert data, "the server has closed the connection"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return the response. Other messages are kept in `other`."""
        self._id += 1
        await self.send(json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}).encode())
        while (message := await self.line()).get("id") != self._id:
            self.other.append(message)
        return message

    async def initialize(self) -> None:
        info = {"name": "fuzz", "version": "0"}
        answer = await self.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
        assert "result" in answer
        await self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    async def call(self, tool: str, arguments: object) -> dict[str, Any]:
        """Call a tool; a failure must have a public error code."""
        answer = await self.request("tools/call", name=tool, arguments=arguments)
        result: dict[str, Any] = answer.get("result", {})
        if result.get("isError"):
            error = json.loads(result["content"][0]["text"])["error"]
            assert error["code"] != "INTERNAL", error
            assert error["message"]
        else:
            assert "result" in answer or answer["error"]["code"] == -32602, answer
        return result

    async def read_all(self) -> None:
        """Read every resource that is listed, and check that it is JSON."""
        listed = (await self.request("resources/list"))["result"]["resources"]
        for resource in listed:
            answer = await self.request("resources/read", uri=resource["uri"])
            payload = json.loads(answer["result"]["contents"][0]["text"])
            assert payload["revision"] >= 0


@asynccontextmanager
async def wire(fake: FakeAdapter | None = None) -> AsyncIterator[Wire]:
    """Open a server with that adapter, and an initialized client."""
    options: Options = (fake or FakeAdapter()).options()
    sink, to_server = memory_stream_one_way_pair()
    from_server, source = memory_stream_one_way_pair()
    async with (
        open_app(options) as app,
        open_lines(to_server, from_server) as (incoming, outgoing),
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(app.serve_connection, incoming, outgoing)
        client = Wire(sink, source)
        await client.initialize()
        yield client
        nursery.cancel_scope.cancel()
