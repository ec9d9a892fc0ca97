"""A proxy for the conformance suite, on loopback, that adds the token and translates the suite's names.

The suite accepts no headers from its user, and its scenarios use tools, prompts and resources of a test server. The
proxy adds the token and replaces, for example, `test://watched-resource` by `debugger://session`, so that the suite
runs unchanged. Hosts and Origins that the suite forges are passed on; only the address of the proxy is replaced by that
of the server. Responses are passed on unchanged. One connection carries one request.
"""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial

import trio
from msgspec import Struct

MAX_HEAD = 64 * 1024
END_OF_HEAD = b"\r\n\r\n"


class Turnstile(Struct, frozen=True):
    """Proxies to the server at `host:port`; `names` are the suite's names → the server's."""

    server: str
    token: str
    names: Mapping[str, str]

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[str, None]:
        """Listen on loopback until the end of the block; yields `host:port`."""
        async with trio.open_nursery() as nursery:
            (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
            port = listener.socket.getsockname()[1]
            await nursery.start(trio.serve_listeners, partial(self._pass, port), [listener])
            yield f"localhost:{port}"
            nursery.cancel_scope.cancel(reason="the test is over")

    async def _pass(self, port: int, client: trio.SocketStream) -> None:
        host, _, number = self.server.partition(":")
        try:
            async with client:
                request = await self._received(client, port)
                if not request:
                    return
                async with await trio.open_tcp_stream(host, int(number)) as upstream, trio.open_nursery() as nursery:
                    await upstream.send_all(request)
                    nursery.start_soon(_copy, client, upstream, nursery.cancel_scope)
                    nursery.start_soon(_copy, upstream, client, nursery.cancel_scope)
        except* (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            pass

    async def _received(self, client: trio.SocketStream, port: int) -> bytes:
        """Receive one request, and return it as the server gets it; nothing if the client closes the connection."""
        received = b""
        while END_OF_HEAD not in received:
            chunk = await client.receive_some()
            if not chunk or len(received) > MAX_HEAD:
                return b""
            received += chunk
        head, _, body = received.partition(END_OF_HEAD)
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        while length is not None and len(body) < int(length[1]):
            body += await client.receive_some()
        body = self._translated(body)
        lines = self._head(head, port)
        if length is not None:
            lines.append(b"Content-Length: %d" % len(body))
        return b"\r\n".join(lines) + END_OF_HEAD + body

    def _head(self, head: bytes, port: int) -> list[bytes]:
        start, *lines = head.split(b"\r\n")
        kept = [start]
        for line in lines:
            name = line.partition(b":")[0].lower()
            if name in (b"host", b"origin"):
                kept.append(re.sub(rb"(localhost|127\.0\.0\.1):%d" % port, self.server.encode(), line))
            elif name.startswith(b"mcp-"):
                kept.append(self._translated(line))
            elif name not in (b"connection", b"content-length"):
                kept.append(line)
        return [*kept, b"Connection: close", b"Authorization: Bearer " + self.token.encode()]

    def _translated(self, text: bytes) -> bytes:
        for theirs, ours in self.names.items():
            text = text.replace(theirs.encode(), ours.encode())
        return text


async def _copy(source: trio.SocketStream, sink: trio.SocketStream, both: trio.CancelScope) -> None:
    """Copy until one side closes; then cancel the other direction as well."""
    async for chunk in source:
        await sink.send_all(chunk)
    both.cancel(reason="one side has closed")
