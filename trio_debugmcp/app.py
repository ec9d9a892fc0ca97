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

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio
from mcp.server.lowlevel import Server as SdkServer

from trio_debugmcp.publish.hub import Hub
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.clients import Clients
from trio_debugmcp.server.logs import LogRelay, open_log_relay
from trio_debugmcp.server.people.presence import serve_presence
from trio_debugmcp.server.server import ConnectionServer
from trio_debugmcp.server.tools import Toolbox, open_toolbox
from trio_debugmcp.server_options import Options
from trio_debugmcp.session.debugger import Debugger, open_debugger
from trio_debugmcp.transports.streams import Incoming, Outgoing
from trio_debugmcp.transports.tap import ConnectionTap

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
    async def open_server(self, role: Role, shared: bool = False) -> AsyncIterator[SdkServer[dict[str, Any]]]:
        """Make the server for a client of the SDK's HTTP transport, which is connected for the length of the block.

        A `shared` one serves all clients of the modern era that have this role.
        """
        async with self._open_server(role, shared) as server:
            with self.tap.middleware(role, "http") as middleware:
                server.middleware.extend(middleware)
                yield server

    @asynccontextmanager
    async def _open_server(self, role: Role, shared: bool = False) -> AsyncIterator[SdkServer[dict[str, Any]]]:
        async with self.clients.connect(role) as client:
            connection = ConnectionServer(self.debugger, self.hub, self.tools, self._logs, client, shared=shared)
            async with connection.open() as server:
                yield server

    async def serve_connection(
        self, incoming: Incoming, outgoing: Outgoing, role: Role = "control", transport: str = "memory"
    ) -> None:
        """Serve one MCP client over a pair of message streams until it disconnects."""
        with self.tap.streams((incoming, outgoing), role, transport) as streams:
            async with self._open_server(role) as server:
                await server.run(*streams, server.create_initialization_options())


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
