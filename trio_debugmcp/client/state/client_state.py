"""The state of a client: filled when a connection opens, kept up to date by its notifications, cleared when it ends.

Owns everything that the client knows of its server; the `Supervisor` owns the connection and calls this as its
`ConnectionObserver`. Notifications arrive here synchronously and in wire order; whatever takes time is a task in the
connection's nursery.
"""

from collections.abc import Callable

import trio
from mcp import types
from msgspec import Struct

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.calls import Calls
from trio_debugmcp.client.connection.client_connection import ClientConnection, Params
from trio_debugmcp.client.connection.disconnection import ConnectionEnding
from trio_debugmcp.client.events import (
    CapabilitiesChange,
    Connect,
    Disconnect,
    ErrorEvent,
    InstructionsChange,
    Progress,
    ServerInfoChange,
    StderrLogEvent,
    UpdateCause,
)
from trio_debugmcp.client.options import InspectorOptions
from trio_debugmcp.client.state.cache import ContentCache
from trio_debugmcp.client.state.catalog import open_catalog
from trio_debugmcp.client.state.lists import FETCH_ERRORS
from trio_debugmcp.client.state.message_log import MessageLog, StderrLog
from trio_debugmcp.client.state.reconcile import ListenFilter, ListenReconciler, reconcile_subscriptions
from trio_debugmcp.client.state.rereads import Rereads
from trio_debugmcp.client.state.subscriptions import Subscriptions
from trio_debugmcp.clock import Clock

LIST_CHANGED = {f"notifications/{name}/list_changed": name for name in ("tools", "resources", "prompts")}
RESOURCE_UPDATED = "notifications/resources/updated"
PROGRESS = "notifications/progress"


class ServerDescription(Struct, frozen=True):
    """What the server reported in the handshake; everything is None when disconnected."""

    capabilities: types.ServerCapabilities | None = None
    info: types.Implementation | None = None
    instructions: str | None = None
    protocol_version: str | None = None


class ClientState:
    """See the module's docstring."""

    def __init__(self, options: InspectorOptions, bus: EventBus, clock: Clock, cache: ContentCache) -> None:
        self.server = ServerDescription()
        self.messages = MessageLog(options.max_messages, options.max_message_bytes, clock.utc)
        self.stderr = StderrLog(clock.utc)
        self.calls = Calls(cache, bus, clock, options.metadata)
        self.catalog = open_catalog(bus, cache, auto_sync=options.auto_sync_lists)
        self.subscriptions = Subscriptions(bus, cache.pin)
        self._rereads = Rereads(self.calls.reread, bus)
        self._options = options
        self._bus = bus
        self._cache = cache

    def __repr__(self) -> str:
        return f"<ClientState: {self.catalog}, {self.subscriptions}>"

    # --- As the supervisor's observer ---------------------------------------------------------------------------------

    async def on_connected(
        self, connection: ClientConnection, nursery: trio.Nursery, opened: Callable[[], None]
    ) -> None:
        """Follow an open connection, announce it, fetch the lists, and re-subscribe to what was wanted before."""
        sdk = connection.sdk
        before, self.server = self.server, ServerDescription(
            sdk.server_capabilities, sdk.server_info, sdk.instructions, sdk.protocol_version
        )  # fmt: skip
        wanted_before = self.subscriptions.wanted
        # Listening starts before fetching: what changes from here on is noticed.
        if connection.modern:
            reconciler = ListenReconciler(
                connection, self.subscriptions, self._bus, opt_ins=self._opt_ins(), on_gap=self._resync
            )
            await nursery.start(reconciler.run)
        else:
            connection.on_gap(self._resync)
            nursery.start_soon(reconcile_subscriptions, connection, self.subscriptions, self._bus)
        opened()
        self._bus.publish(Connect(protocol_version=sdk.protocol_version))
        self._announce_server(before)
        nursery.start_soon(self._rereads.run, connection)
        for group in self.catalog.groups.values():
            nursery.start_soon(group.follow, connection)
        for uri in wanted_before:
            nursery.start_soon(self._resubscribed, uri)
        await self._first_requests(connection)

    def on_disconnected(self, ending: ConnectionEnding) -> None:
        """Clear the state of a closed connection, whatever ended it."""
        before, self.server = self.server, ServerDescription()
        error = ending.as_error()
        if not ending.requested:
            self._bus.publish(ErrorEvent(message=f"The connection was lost: {ending.reason}", error=error))
        self._cache.mark_all_stale()
        self._announce_server(before)
        self.catalog.reset()
        self.subscriptions.disconnected()
        # Last: a caller that waits for this event finds the state cleared.
        self._bus.publish(
            Disconnect(
                reason=ending.reason,
                requested=ending.requested,
                exit_code=ending.exit_code,
                stderr_tail=ending.stderr_tail,
                unauthorized=ending.unauthorized,
            )
        )

    def on_abandoned(self, error: Exception) -> None:
        """Give up all subscriptions: no connection will follow."""
        self.subscriptions.abandon(error)

    # --- Notifications, in wire order ---------------------------------------------------------------------------------

    def on_notification(self, method: str, params: Params) -> bool:
        """Act on a notification; False if the SDK has no use for it."""
        if (name := LIST_CHANGED.get(method)) is not None:
            if self._follows(name):
                self.catalog.groups[name].announce()
            return False
        if method == RESOURCE_UPDATED:
            if isinstance(uri := params.get("uri"), str) and uri in self.subscriptions.wanted:
                self._record_update(uri, "notification")
            return False
        if method == PROGRESS:
            self._record_progress(params)
        return True

    def on_stderr(self, line: str) -> None:
        """Log a line of standard error."""
        self._bus.publish(StderrLogEvent(line=self.stderr.record(line)))

    def _record_update(self, uri: str, cause: UpdateCause) -> None:
        self.calls.invalidate(uri)  # first: a listener finds what is cached stale already
        self.subscriptions.updated(uri, cause)
        if self._options.auto_reread:
            self._rereads.want(uri)

    def _record_progress(self, params: Params) -> None:
        token, progress = params.get("progressToken"), params.get("progress")
        if not isinstance(token, str | int) or not isinstance(progress, int | float):
            return
        request = self.messages.request("client", token)  # the SDK takes the request's id as its token
        request_params = (request.message.get("params") or {}) if request is not None else {}
        self._bus.publish(
            Progress(
                token=token,
                progress=progress,
                total=params.get("total"),
                message=params.get("message"),
                method=request.message.get("method") if request is not None else None,
                name=request_params.get("name") or request_params.get("uri"),
            )
        )

    async def _resubscribed(self, uri: str) -> None:
        """Take `uri` as changed once its subscription is confirmed again: until then changes may be missed."""
        await self.subscriptions.wait_settled(uri)
        if uri in self.subscriptions.wanted:
            self._record_update(uri, "resync")

    def _resync(self) -> None:
        """Take as changed whatever a missed notification may have announced."""
        for name, group in self.catalog.groups.items():
            if self._follows(name):
                group.announce()
        for uri in self.subscriptions.confirmed:
            self._record_update(uri, "resync")

    def _follows(self, capability: str) -> bool:
        """Whether `list_changed` of this capability counts."""
        if not getattr(self._options.list_changed_notifications, capability):
            return False
        capabilities = self.server.capabilities
        declared = getattr(capabilities, capability, None)
        # A notification may arrive before the handshake is over, when it is not known what the server declares.
        return capabilities is None or bool(declared and declared.list_changed)

    def _opt_ins(self) -> ListenFilter:
        followed = {name: self._follows(name) for name in self.catalog.groups}
        return ListenFilter(tools=followed["tools"], resources=followed["resources"], prompts=followed["prompts"])

    # --- The first requests of a connection ---------------------------------------------------------------------------

    async def _first_requests(self, connection: ClientConnection) -> None:
        async with trio.open_nursery() as nursery:
            for group in self.catalog.groups.values() if self._options.auto_sync_lists else ():
                nursery.start_soon(group.sync, connection, "connect")
            nursery.start_soon(self._first_log_level, connection)

    async def _first_log_level(self, connection: ClientConnection) -> None:
        capabilities, level = self.server.capabilities, self._options.log_level
        if level is None or capabilities is None or capabilities.logging is None:
            return
        try:
            await self.calls.set_logging_level(connection, level)
        except FETCH_ERRORS as error:
            self._bus.publish(ErrorEvent(message=f"logging/setLevel failed: {error}", error=error))

    def _announce_server(self, before: ServerDescription) -> None:
        server = self.server
        if server.capabilities != before.capabilities:
            self._bus.publish(CapabilitiesChange(capabilities=server.capabilities))
        if server.info != before.info:
            self._bus.publish(ServerInfoChange(server_info=server.info))
        if server.instructions != before.instructions:
            self._bus.publish(InstructionsChange(instructions=server.instructions))
