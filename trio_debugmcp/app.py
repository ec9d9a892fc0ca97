"""The root of everything that runs: every long-running task is started from here.

    app
     ├─ hub and debounce tasks        outlive sessions and connections
     ├─ debugger                      one task tree per debug session, and the merger
     ├─ tap                           a replay's recorded clients; with a recorder, or without, nothing
     └─ connections                   one per MCP client; a crash in one ends only that one

They end in the reverse order: first the connections, then every debug session with its goodbye, then the hub.

    async with open_app(Options()) as app:
        await app.serve_connection(incoming, outgoing)
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import trio

from trio_debugmcp.publish.hub import Hub
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.clients import Clients
from trio_debugmcp.server.known_clients import open_known_clients
from trio_debugmcp.server.logs import LogRelay, open_log_relay
from trio_debugmcp.server.people.presence import serve_presence
from trio_debugmcp.server.shell_requests import ShellRequests, first_line
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.server.tools.toolbox import Toolbox
from trio_debugmcp.server_options import Options
from trio_debugmcp.session.debugger import Debugger, open_debugger
from trio_debugmcp.transports.connection_tap import ConnectionTap
from trio_debugmcp.transports.early_stdio import Handover

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server as SdkServer

    from trio_debugmcp.transports.streams import Incoming, Outgoing

__all__ = ["App", "Options", "open_app"]


class App:
    """A running server without transports. Made by `open_app`."""

    def __init__(
        self, debugger: Debugger, hub: Hub, tools: Toolbox, clients: Clients, logs: LogRelay, tap: ConnectionTap
    ) -> None:
        self.debugger = debugger
        self.hub = hub
        self.clients = clients
        self.tools = tools
        self._logs = logs
        self.tap = tap

    def __repr__(self) -> str:
        return f"<App with {len(self.clients)} clients>"

    @asynccontextmanager
    async def open_server(self, role: Role, shared: bool = False) -> "AsyncIterator[SdkServer[dict[str, Any]]]":
        """Make the server for a client of the SDK's HTTP transport, which is connected for the length of the block.

        A `shared` one serves all clients of the modern era that have this role.
        """
        async with self._open_server(role, shared) as server:
            with self.tap.middleware(role, "http") as middleware:
                server.middleware.extend(middleware)
                yield server

    @asynccontextmanager
    async def _open_server(self, role: Role, shared: bool = False) -> "AsyncIterator[SdkServer[dict[str, Any]]]":
        from trio_debugmcp.sdk_import import import_sdk

        import_sdk()  # by the first client that needs it: calls of shells do not
        from trio_debugmcp.server.server import ConnectionServer

        async with self.clients.connect(role) as client:
            connection = ConnectionServer(self.debugger, self.hub, self.tools, self._logs, client, shared=shared)
            async with connection.open() as server:
                yield server

    @asynccontextmanager
    async def open_shells(self) -> AsyncIterator[Callable[[trio.abc.Stream], Awaitable[None]]]:
        """Make what serves the calls of a project's shells, for the length of the block. They are all one client."""
        if type(self.tap) is not ConnectionTap:  # a recording has the messages that pass the SDK
            async with self.open_server("control", shared=True) as server:
                yield partial(_serve_by_sdk, server)
            return
        async with self.clients.connect("control") as client, trio.open_nursery() as nursery:
            async with open_known_clients(self.debugger, client, nursery) as known:
                shells = ShellRequests(self.debugger, self.tools, client, known)

                async def serve(stream: trio.abc.Stream) -> None:
                    data = await first_line(stream)
                    if shells.serves(data):
                        await shells.serve(stream, data)
                    else:  # some other client of MCP
                        from trio_debugmcp.transports.stdio import open_lines

                        async with open_lines(stream, stream, Handover(data)) as (incoming, outgoing):
                            await self.serve_connection(incoming, outgoing, transport="unix socket")

                yield serve
            nursery.cancel_scope.cancel(reason="no call comes any more")

    async def serve_connection(
        self, incoming: "Incoming", outgoing: "Outgoing", role: Role = "control", transport: str = "memory"
    ) -> None:
        """Serve one MCP client over a pair of message streams until it disconnects."""
        with self.tap.streams((incoming, outgoing), role, transport) as streams:
            async with self._open_server(role) as server:
                await server.run(*streams, server.create_initialization_options())


async def _serve_by_sdk(server: "SdkServer[dict[str, Any]]", stream: trio.abc.Stream) -> None:
    from trio_debugmcp.transports.stdio import open_lines

    async with open_lines(stream, stream) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


@asynccontextmanager
async def open_app(options: Options) -> AsyncIterator[App]:
    """Run the server for the length of the block.

    Resource handling: at the end of the block no task and no process of any debug session is left.
    """
    tap, core_only = options.tap, options.core_tools_only
    async with trio.open_nursery() as publishing:
        hub = Hub(publishing, quiet=options.quiet, max_wait=options.max_wait)
        with open_log_relay(show_secrets=options.settings.show_secrets) as logs:
            async with open_debugger(options.settings, hub) as debugger, trio.open_nursery() as nursery:
                clients = Clients(debugger, tap.linger(options.linger))
                nursery.start_soon(clients.run)
                nursery.start_soon(serve_presence, debugger)
                tools = open_toolbox(core_only=core_only, replay="driven" if tap.driven else None)
                app = App(debugger, hub, tools, clients, logs, tap)
                nursery.start_soon(tap.run, app.serve_connection)
                if tap.watch_only:  # the tap's own clients use `app`; all others see it, and leave no trace in it
                    watching = Clients(debugger, options.linger, in_timeline=False)
                    app = App(debugger, hub, open_toolbox(core_only=core_only, replay="watched"), watching, logs, tap)
                yield app
                nursery.cancel_scope.cancel(reason="the server is closing")
        publishing.cancel_scope.cancel(reason="the server is closed")
