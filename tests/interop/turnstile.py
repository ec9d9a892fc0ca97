"""A way in for the conformance suite: a proxy on loopback that adds the token, and translates the suite's own names.

The suite takes no header from its user, and its scenarios name tools, prompts and resources of a test server. The
proxy adds the token and says `debugger://session` where the suite says `test://watched-resource`; so the suite runs
unchanged, on what we have. Hosts and Origins that the suite forges arrive as they are; only where it names the proxy,
it means the server. Answers pass untouched. One connection carries one request.
"""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import trio
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

MAX_HEAD = 64 * 1024
END_OF_HEAD = b"\r\n\r\n"


class Turnstile(Struct, frozen=True):
    """The server, `host:port`, its token, and names with what the server calls that."""

    server: str
    token: str
    names: Mapping[str, str]

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[str, None]:
        """Let everybody on this machine in, for the length of the block; yields `host:port`."""
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
        """One request, as it goes to the server; nothing if the client has thought better of it."""
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
    """Until one side is done: then the other has nothing to wait for."""
    async for chunk in source:
        await sink.send_all(chunk)
    both.cancel(reason="one side has closed")
