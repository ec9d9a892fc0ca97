"""The root of everything that runs: every long-running task is started from here.

    app
     ├─ hub and debounce tasks        outlive sessions and connections
     ├─ debugger                      one task tree per debug session, and the merger
     └─ connections                   one per MCP client; a crash in one is that one's end

Leaving goes the other way round: connections end, then every debug session says goodbye, then the hub.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import trio
from mcp.server.context import ServerMiddleware
from mcp.server.lowlevel import Server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.publish.debounce import MAX_WAIT_SECONDS, QUIET_SECONDS
from trio_debugmcp.publish.hub import Hub
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.clients import LINGER_SECONDS, Clients
from trio_debugmcp.server.logs import LogRelay, open_log_relay
from trio_debugmcp.server.server import ConnectionServer
from trio_debugmcp.server.tools import Toolbox, open_toolbox
from trio_debugmcp.session.debugger import Debugger, Settings, open_debugger

if TYPE_CHECKING:
    from trio_debugmcp.recording.recorder import Recorder
    from trio_debugmcp.replay.replay import Replay

Incoming = ReadStream[SessionMessage | Exception]
Outgoing = WriteStream[SessionMessage]
Streams = tuple[Incoming, Outgoing]


class Options(Struct, frozen=True):
    """How to serve: the debugger's settings, which tools to offer, and times in seconds.

    `quiet` and `max_wait` are for publishing; `linger` is how long a session goes on whose client has left.
    A `recorder` or a `replay` is the settings' `host` as well: see `recorded` and `replayed`.
    """

    settings: Settings = Settings()
    quiet: float = QUIET_SECONDS
    max_wait: float = MAX_WAIT_SECONDS
    core_tools_only: bool = False
    linger: float = LINGER_SECONDS
    recorder: "Recorder | None" = None
    replay: "Replay | None" = None

    def recorded(self, recorder: "Recorder") -> "Options":
        """The same, with all that crosses the edges written down."""
        return replace(self, recorder=recorder, settings=replace(self.settings, host=recorder))

    def replayed(self, replay: "Replay") -> "Options":
        """The same, with a recording in the world's place."""
        return replace(self, replay=replay, settings=replace(self.settings, host=replay))


class App:
    """A running server without transports. Made by `open_app`. `watch`: the SDK's middleware around every message."""

    def __init__(
        self,
        debugger: Debugger,
        hub: Hub,
        tools: Toolbox,
        clients: Clients,
        logs: LogRelay,
        *,
        recorder: "Recorder | None" = None,
        watch: ServerMiddleware[Any] | None = None,
    ) -> None:
        self.debugger = debugger
        self.hub = hub
        self.clients = clients
        self._tools = tools
        self._logs = logs
        self._recorder = recorder
        self._watch = watch

    @asynccontextmanager
    async def open_server(self, role: Role) -> AsyncIterator[Server[dict[str, Any]]]:
        """A client of the SDK's HTTP transport is connected for the length of the block; this is the server for it."""
        async with self._open_server(role) as server:
            if self._recorder is None:
                yield server
                return
            with self._recorder.overhear(role, "http") as overhear:
                server.middleware.append(overhear)
                yield server

    @asynccontextmanager
    async def _open_server(self, role: Role) -> AsyncIterator[Server[dict[str, Any]]]:
        async with (
            self.clients.connect(role) as client,
            ConnectionServer(self.debugger, self.hub, self._tools, self._logs, client).open() as server,
        ):
            if self._watch is not None:
                server.middleware.append(self._watch)
            yield server

    async def serve_connection(
        self,
        incoming: Incoming,
        outgoing: Outgoing,
        role: Role = "control",
        transport: str = "memory",
    ) -> None:
        """Serve one MCP client over a pair of message streams until it leaves."""
        with self._listened(incoming, outgoing, role, transport) as streams:
            async with self._open_server(role) as server:
                await server.run(*streams, server.create_initialization_options())

    @contextmanager
    def _listened(self, incoming: Incoming, outgoing: Outgoing, role: Role, transport: str) -> Iterator[Streams]:
        if self._recorder is None:
            yield incoming, outgoing
            return
        with self._recorder.listen(incoming, outgoing, role, transport) as streams:
            yield streams


def _replayed(app: App, replay: "Replay", options: Options, logs: LogRelay, nursery: trio.Nursery) -> App:
    """The server as those see it who watch a replay; `app` is what the recorded clients are connected to."""
    nursery.start_soon(replay.run, app.serve_connection)
    if replay.drive:
        return app
    tools = open_toolbox(core_only=options.core_tools_only, read_only=True)
    watching = Clients(app.debugger, options.linger, in_timeline=False)
    return App(app.debugger, app.hub, tools, watching, logs, watch=replay.accompany)


@asynccontextmanager
async def open_app(options: Options) -> AsyncIterator[App]:
    """Run the server for the length of the block; at its end no process of any debug session is left."""
    async with trio.open_nursery() as publishing:
        hub = Hub(publishing, quiet=options.quiet, max_wait=options.max_wait)
        with open_log_relay() as logs:
            async with open_debugger(options.settings, hub) as debugger, trio.open_nursery() as nursery:
                replay = options.replay
                clients = Clients(debugger, options.linger if replay is None or replay.drive else replay.linger)
                nursery.start_soon(clients.run)
                tools = open_toolbox(core_only=options.core_tools_only)
                app = App(debugger, hub, tools, clients, logs, recorder=options.recorder)
                yield app if replay is None else _replayed(app, replay, options, logs, nursery)
                nursery.cancel_scope.cancel(reason="the server is closing")
        publishing.cancel_scope.cancel(reason="the server is closed")
