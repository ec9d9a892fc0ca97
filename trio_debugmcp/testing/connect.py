"""Connects MCP clients to a server: in memory, with exact virtual times, or over any real transport.

    async with open_server() as server, server.connect() as client, server.connect("modern", "observe") as observer:
        ...

The server of `open_server` runs in this process, on the clock of the test.

`era` is the version of the protocol that a client speaks: "legacy" begins with a handshake (2025-11-25 and before),
"modern" has none. `extensions` are those that it declares.
"""

import os
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import trio
from mcp import StdioServerParameters
from mcp.client.extension import ClientExtension
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server as SdkServer
from mcp.shared._httpx_utils import create_mcp_http_client

from trio_debugmcp.app import App, open_app
from trio_debugmcp.own_command import own_command
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server_options import Options
from trio_debugmcp.testing.debug_client import DebugClient, Era, connect_streams, open_debug_client, over
from trio_debugmcp.transports.in_memory import memory_pair
from trio_debugmcp.transports.stdio import open_lines

__all__ = [
    "Era",
    "Server",
    "connect",
    "connect_http",
    "connect_process",
    "connect_stdio",
    "connect_streams",
    "connect_websocket",
    "open_server",
]


class Server:
    """A server in this process, to which any number of clients can connect. Made by `open_server`."""

    def __init__(self, app: App) -> None:
        self.app = app

    @asynccontextmanager
    async def connect(
        self,
        era: Era = "legacy",
        role: Role = "control",
        name: str = "mcp",
        *,
        extensions: Sequence[ClientExtension] = (),
    ) -> AsyncIterator[DebugClient]:
        """Connect a client over memory streams for the length of the block.

        Args:
            era: see the module.
            role: "observe" for a client that may only look.
            name: by which the server and its other clients know it.
            extensions: that the client declares.
        """
        with memory_pair() as (left, right):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.app.serve_connection, *left, role)
                async with open_debug_client(over(right), era, extensions, name) as client:
                    yield client
                nursery.cancel_scope.cancel(reason="the client has disconnected")

    def open_sdk_server(self, role: Role = "control") -> AbstractAsyncContextManager[SdkServer[dict[str, Any]]]:
        """Make the SDK's server for one further client, such as an `InspectorClient`, for the length of the block."""
        return self.app.open_server(role)


@asynccontextmanager
async def open_server(options: Options | None = None) -> AsyncIterator[Server]:
    """Run a server in this process for the length of the block."""
    async with open_app(options or Options()) as app:
        yield Server(app)


@asynccontextmanager
async def connect(era: Era = "legacy", *, options: Options | None = None) -> AsyncIterator[DebugClient]:
    """Run a server in this process, and connect a client to it over memory streams.

    Args:
        era: see the module.
        options: of the server, for example `FakeAdapter().options()`; by default it has the debug adapters of this
            machine.
    """
    async with open_server(options) as server, server.connect(era) as client:
        yield client


@asynccontextmanager
async def connect_stdio(
    era: Era = "legacy",
    *,
    arguments: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    extensions: Sequence[ClientExtension] = (),
) -> AsyncIterator[DebugClient]:
    """Start a server process, and connect the SDK's stdio client to it. The process ends with the block.

    Args:
        era: see the module.
        arguments: of the command `serve`, for example `["--root", "/src"]`.
        env: variables beside those of this process.
        extensions: that the client declares.
    """
    python, *words = own_command("serve", "--no-state", *arguments)
    parameters = StdioServerParameters(command=python, args=words, env={**os.environ, **(env or {})})
    async with open_debug_client(stdio_client(parameters), era, extensions) as client:
        yield client


@asynccontextmanager
async def connect_websocket(
    url: str,
    token: str | None,
    era: Era = "legacy",
    *,
    ssl_context: ssl.SSLContext | None = None,
    extensions: Sequence[ClientExtension] = (),
) -> AsyncIterator[DebugClient]:
    """Connect to a server that listens on a WebSocket.

    Args:
        url: for example `ws://127.0.0.1:4711/mcp`, as the server logs it.
        token: that of control or of observers, which decides what the client may do; None: the server needs none.
        era: see the module.
        ssl_context: for `wss://`; None: the certificate authorities of this machine.
        extensions: that the client declares.

    Raises:
        OSError: no server listens there.
        ExceptionGroup: of a `trio_websocket.ConnectionRejected`: the server has refused the token.
    """
    from trio_debugmcp.transports.websocket import open_websocket_client

    async with open_debug_client(open_websocket_client(url, token, ssl_context=ssl_context), era, extensions) as client:
        yield client


@asynccontextmanager
async def connect_http(
    url: str, token: str | None, era: Era = "legacy", *, extensions: Sequence[ClientExtension] = ()
) -> AsyncIterator[DebugClient]:
    """Connect to a server that listens for Streamable HTTP; its arguments are those of `connect_websocket`."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        open_debug_client(streamable_http_client(url, http_client=http), era, extensions) as client,
    ):
        yield client


@asynccontextmanager
async def connect_process(
    process: trio.Process, era: Era = "legacy", *, extensions: Sequence[ClientExtension] = ()
) -> AsyncIterator[DebugClient]:
    """Connect to a server process with pipes, which the caller has started, and ends.

    Raises:
        ValueError: its standard input or its standard output is not a pipe.
    """
    if process.stdin is None or process.stdout is None:
        raise ValueError("start the process with stdin=PIPE and stdout=PIPE")
    async with (
        open_lines(process.stdout, process.stdin) as end,
        open_debug_client(over(end), era, extensions) as client,
    ):
        yield client
