"""The root of everything that runs: every long-running task is started from here.

    app
     ├─ hub and debounce tasks        outlive sessions and connections
     ├─ debugger                      one task tree per debug session, and the merger
     └─ connections                   one per MCP client; a crash in one is that one's end

Leaving goes the other way round: connections end, then every debug session says goodbye, then the hub.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from msgspec import Struct

from trio_debugmcp.publish.debounce import MAX_WAIT_SECONDS, QUIET_SECONDS
from trio_debugmcp.publish.hub import Hub
from trio_debugmcp.server.access import Role
from trio_debugmcp.server.logs import LogRelay, open_log_relay
from trio_debugmcp.server.server import ConnectionServer
from trio_debugmcp.server.tools import Toolbox, open_toolbox
from trio_debugmcp.session.debugger import Debugger, Settings, open_debugger


class Options(Struct, frozen=True):
    """How to serve: the debugger's settings, the publishing times in seconds, and which tools to offer."""

    settings: Settings = Settings()
    quiet: float = QUIET_SECONDS
    max_wait: float = MAX_WAIT_SECONDS
    core_tools_only: bool = False


class App:
    """A running server without transports. Made by `open_app`."""

    def __init__(self, debugger: Debugger, hub: Hub, tools: Toolbox, logs: LogRelay) -> None:
        self.debugger = debugger
        self.hub = hub
        self._tools = tools
        self._logs = logs

    async def serve_connection(
        self,
        incoming: ReadStream[SessionMessage | Exception],
        outgoing: WriteStream[SessionMessage],
        role: Role = "control",
    ) -> None:
        """Serve one MCP client over a pair of message streams until it leaves."""
        await ConnectionServer(self.debugger, self.hub, self._tools, self._logs, role).serve(incoming, outgoing)


@asynccontextmanager
async def open_app(options: Options) -> AsyncIterator[App]:
    """Run the server for the length of the block; at its end no process of any debug session is left."""
    async with trio.open_nursery() as publishing:
        hub = Hub(publishing, quiet=options.quiet, max_wait=options.max_wait)
        with open_log_relay() as logs:
            async with open_debugger(options.settings, hub) as debugger:
                yield App(debugger, hub, open_toolbox(core_only=options.core_tools_only), logs)
        publishing.cancel_scope.cancel(reason="the server is closed")


async def serve_stdio(options: Options) -> None:
    """Serve the client on standard input and output until it closes its end, or SIGINT or SIGTERM arrives.

    The second signal ends the process's patience with goodbyes: everything left is killed.
    """
    import signal

    from trio_debugmcp.transports.stdio import open_stdio

    async with open_app(options) as app, trio.open_nursery() as nursery:

        async def watch_signals(*, task_status: trio.TaskStatus[None]) -> None:
            with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                task_status.started()
                async for _ in signals:
                    nursery.cancel_scope.cancel(reason="told to stop by a signal")

        await nursery.start(watch_signals)
        async with open_stdio() as (incoming, outgoing):
            await app.serve_connection(incoming, outgoing)
        nursery.cancel_scope.cancel(reason="the client has left")
