"""The root of everything that runs: every long-running task is started from here.

    app
     ├─ hub and debounce tasks        outlive sessions and connections
     ├─ debugger                      one task tree per debug session, and the merger
     └─ connections                   one per MCP client; a crash in one is that one's end

Leaving goes the other way round: connections end, then every debug session says goodbye, then the hub.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio
from mcp.server.lowlevel import Server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from msgspec import Struct

from trio_debugmcp.publish.debounce import MAX_WAIT_SECONDS, QUIET_SECONDS
from trio_debugmcp.publish.hub import Hub
from trio_debugmcp.server.access import Role
from trio_debugmcp.server.attendance import LINGER_SECONDS, Attendance
from trio_debugmcp.server.logs import LogRelay, open_log_relay
from trio_debugmcp.server.server import ConnectionServer
from trio_debugmcp.server.tools import Toolbox, open_toolbox
from trio_debugmcp.session.debugger import Debugger, Settings, open_debugger


class Options(Struct, frozen=True):
    """How to serve: the debugger's settings, which tools to offer, and times in seconds.

    `quiet` and `max_wait` are for publishing; `linger` is how long a session goes on whose client has left.
    """

    settings: Settings = Settings()
    quiet: float = QUIET_SECONDS
    max_wait: float = MAX_WAIT_SECONDS
    core_tools_only: bool = False
    linger: float = LINGER_SECONDS


class App:
    """A running server without transports. Made by `open_app`."""

    def __init__(self, debugger: Debugger, hub: Hub, tools: Toolbox, attendance: Attendance, logs: LogRelay) -> None:
        self.debugger = debugger
        self.hub = hub
        self.attendance = attendance
        self._tools = tools
        self._logs = logs

    @asynccontextmanager
    async def open_server(self, role: Role) -> AsyncIterator[Server[dict[str, Any]]]:
        """A client is connected for the length of the block, and this is the SDK's server for it."""
        async with (
            self.attendance.visit(role) as visitor,
            ConnectionServer(self.debugger, self.hub, self._tools, self._logs, visitor).open() as server,
        ):
            yield server

    async def serve_connection(
        self,
        incoming: ReadStream[SessionMessage | Exception],
        outgoing: WriteStream[SessionMessage],
        role: Role = "control",
    ) -> None:
        """Serve one MCP client over a pair of message streams until it leaves."""
        async with self.open_server(role) as server:
            await server.run(incoming, outgoing, server.create_initialization_options())


@asynccontextmanager
async def open_app(options: Options) -> AsyncIterator[App]:
    """Run the server for the length of the block; at its end no process of any debug session is left."""
    async with trio.open_nursery() as publishing:
        hub = Hub(publishing, quiet=options.quiet, max_wait=options.max_wait)
        with open_log_relay() as logs:
            async with open_debugger(options.settings, hub) as debugger, trio.open_nursery() as nursery:
                attendance = Attendance(debugger, options.linger)
                nursery.start_soon(attendance.run)
                yield App(debugger, hub, open_toolbox(core_only=options.core_tools_only), attendance, logs)
                nursery.cancel_scope.cancel(reason="the server is closing")
        publishing.cancel_scope.cancel(reason="the server is closed")
