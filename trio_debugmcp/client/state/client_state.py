"""The state of a client: filled when a connection opens, kept up to date by its notifications, cleared when it ends.

Owns everything that the client knows of its server; the `Supervisor` owns the connection and calls this as its
`ConnectionObserver`.
"""

from collections.abc import Callable

import trio

from trio_debugmcp.client.connection.client_connection import ClientConnection
from trio_debugmcp.client.connection.connection_end import ConnectionEnding
from trio_debugmcp.client.events import Connect, Disconnect, ErrorEvent
from trio_debugmcp.client.state.lists import FETCH_ERRORS
from trio_debugmcp.client.state.reconcile import ListenReconciler, reconcile_subscriptions
from trio_debugmcp.client.state.server_changes import ServerChanges
from trio_debugmcp.client.state.server_description import ServerDescription, announce_server
from trio_debugmcp.client.state.state_parts import StateParts


class ClientState:
    """See the module's docstring."""

    def __init__(self, parts: StateParts) -> None:
        self.messages = parts.messages
        self.stderr = parts.stderr
        self.calls = parts.calls
        self.catalog = parts.catalog
        self.subscriptions = parts.subscriptions
        self._parts = parts
        self._changes = ServerChanges(parts)
        self.on_notification = self._changes.on_notification
        self.on_stderr = self._changes.on_stderr

    def __repr__(self) -> str:
        return f"<ClientState: {self.catalog}, {self.subscriptions}>"

    @property
    def server(self) -> ServerDescription:
        """What the server reported in the handshake; everything is None when disconnected."""
        return self._changes.server

    # --- As the supervisor's observer ---------------------------------------------------------------------------------

    async def on_connected(
        self, connection: ClientConnection, nursery: trio.Nursery, opened: Callable[[], None]
    ) -> None:
        """Follow an open connection, announce it, fetch the lists, and re-subscribe to what was wanted before."""
        sdk = connection.sdk
        before, self._changes.server = self.server, ServerDescription(
            sdk.server_capabilities, sdk.server_info, sdk.instructions, sdk.protocol_version
        )  # fmt: skip
        wanted_before = self.subscriptions.wanted
        # Listening starts before fetching: what changes from here on is noticed.
        if connection.modern:
            reconciler = ListenReconciler(
                connection,
                self.subscriptions,
                self._parts.bus,
                opt_ins=self._changes.opt_ins(),
                on_gap=self._changes.resync,
            )
            await nursery.start(reconciler.run)
        else:
            connection.on_gap(self._changes.resync)
            nursery.start_soon(reconcile_subscriptions, connection, self.subscriptions, self._parts.bus)
        opened()
        self._parts.bus.publish(Connect(protocol_version=sdk.protocol_version))
        announce_server(self._parts.bus, before, self.server)
        nursery.start_soon(self._changes.rereads.run, connection)
        for group in self.catalog.groups.values():
            nursery.start_soon(group.follow, connection)
        for uri in wanted_before:
            nursery.start_soon(self._changes.resubscribed, uri)
        await self._first_requests(connection)

    def on_disconnected(self, ending: ConnectionEnding) -> None:
        """Clear the state of a closed connection, whatever ended it."""
        before, self._changes.server = self.server, ServerDescription()
        error = ending.as_error()
        if not ending.requested:
            self._parts.bus.publish(ErrorEvent(message=f"The connection was lost: {ending.reason}", error=error))
        self._parts.cache.mark_all_stale()
        announce_server(self._parts.bus, before, self.server)
        self.catalog.reset()
        self.subscriptions.confirm(frozenset())
        # Last: a caller that waits for this event finds the state cleared.
        self._parts.bus.publish(
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

    # --- The first requests of a connection ---------------------------------------------------------------------------

    async def _first_requests(self, connection: ClientConnection) -> None:
        async with trio.open_nursery() as nursery:
            for group in self.catalog.groups.values() if self._parts.options.auto_sync_lists else ():
                nursery.start_soon(group.sync, connection, "connect")
            nursery.start_soon(self._first_log_level, connection)

    async def _first_log_level(self, connection: ClientConnection) -> None:
        capabilities, level = self.server.capabilities, self._parts.options.log_level
        if level is None or capabilities is None or capabilities.logging is None:
            return
        try:
            await self.calls.set_logging_level(connection, level)
        except FETCH_ERRORS as error:
            self._parts.bus.publish(ErrorEvent(message=f"logging/setLevel failed: {error}", error=error))
