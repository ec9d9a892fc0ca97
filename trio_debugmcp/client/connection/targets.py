"""Turns a target, which is how a user names a server, into a transport. Only this module knows the kinds of target.

| target | transport |
| --- | --- |
| a list of strings, `StdioServerParameters` | `server_process.ServerProcess` |
| `http://`, `https://` | Streamable HTTP; the older SSE transport for a path that ends in `/sse` |
| `ws://`, `wss://` | MCP over WebSocket |
| an SDK `Server` or `MCPServer` | in-process, over memory streams, in either era |
| an async context manager that yields two streams | used as it is |
| a function that returns one of these | called for each connection, for transports that work once |
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from mcp import StdioServerParameters
from mcp.client._memory import InMemoryTransport
from mcp.client._transport import Transport, TransportStreams
from mcp.client.sse import sse_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from msgspec import Struct

from trio_debugmcp.client.connection.http_client import HttpWatch, open_http
from trio_debugmcp.client.connection.server_process import ServerProcess
from trio_debugmcp.client.oauth import OAuth
from trio_debugmcp.client.options import InspectorOptions
from trio_debugmcp.deadlines import Deadlines
from trio_debugmcp.errors import UsageError

Target: TypeAlias = (
    Sequence[str] | str | StdioServerParameters | Server[Any] | MCPServer | Transport | Callable[[], Any]
)


class Route(Struct, frozen=True):
    """A way to a server, good for one connection.

    Attributes:
        transport: to be entered once.
        process: the server process, if the client starts it.
        url: of a server that has one.
        watch: of Streamable HTTP, whose transport has no end that could be noticed.
    """

    transport: AbstractAsyncContextManager[TransportStreams]
    process: ServerProcess | None = None
    url: str | None = None
    watch: HttpWatch | None = None

    @property
    def exit_code(self) -> int | None:
        """Of the server process, None while it runs."""
        return self.process.exit_code if self.process is not None else None


def resolve_target(
    target: Target, options: InspectorOptions, on_stderr: Callable[[str], None], deadlines: Deadlines
) -> Route:
    """Find the way to `target`; nothing is started yet. `deadlines` stand still while a person authorises.

    Raises:
        UsageError: `target` is not one of the kinds above.
    """
    if isinstance(target, str):
        return _resolve_url(target, options, deadlines)
    if isinstance(target, Sequence) and target and all(isinstance(part, str) for part in target):
        env = dict(options.env) if options.env is not None else None
        target = StdioServerParameters(command=target[0], args=list(target[1:]), env=env, cwd=options.cwd)
    if isinstance(target, StdioServerParameters):
        process = ServerProcess(target, on_stderr)
        return Route(process.open(), process)
    if isinstance(target, Server | MCPServer):
        return Route(InMemoryTransport(target))
    if isinstance(target, AbstractAsyncContextManager):
        return Route(target)
    if callable(target):
        return resolve_target(target(), options, on_stderr, deadlines)
    raise UsageError("INVALID_PARAMETER", f"Not an MCP server that can be connected to: {target!r}")


def _resolve_url(url: str, options: InspectorOptions, deadlines: Deadlines) -> Route:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError("INVALID_PARAMETER", f"{url!r} is not a URL: {error}") from error
    headers = dict(options.headers or {})
    oauth = options.oauth if "authorization" not in map(str.lower, headers) else None
    match parts.scheme:
        case "http" | "https":
            by_path = "sse" if parts.path.rstrip("/").endswith("/sse") else "http"
            sse = (by_path if options.transport == "auto" else options.transport) == "sse"
            watch = None if sse else HttpWatch()
            return Route(_open_http(url, headers, oauth, deadlines, watch), url=url, watch=watch)
        case "ws" | "wss":
            # Here: it loads wsproto, which costs start-up time and is rarely wanted.
            from trio_debugmcp.transports.websocket import open_websocket_client

            return Route(open_websocket_client(url, headers=headers), url=url)
        case _:
            raise UsageError(
                "INVALID_PARAMETER",
                f"{url!r} is not an http://, https://, ws:// or wss:// URL; a command is a list of strings",
            )


@asynccontextmanager
async def _open_http(
    url: str, headers: dict[str, str], oauth: OAuth | None, deadlines: Deadlines, watch: HttpWatch | None
) -> AsyncGenerator[TransportStreams, None]:
    """Open Streamable HTTP, or the older SSE transport if there is no watch for it."""
    auth = None
    if oauth is not None:
        from trio_debugmcp.client.connection.authorization import authorization  # few servers want it

        auth = await authorization(url, oauth, deadlines)
    if watch is None:
        async with sse_client(url, headers=headers, auth=auth) as streams:
            yield streams
        return
    async with open_http(url, headers, watch, auth) as streams:
        yield streams
