"""The supervisor of a client's connections, one after the other: connect, disconnect, reconnect. Owns the status.

    disconnected ──connect()──► connecting ──handshake──► connected ──disconnect()──► disconnected
                                    │                         │
                                    └──failed──► error ◄──lost┘
                                            (with a policy: back to connecting)

One task, `_supervise`, runs from `connect()` until there is nothing more to connect to; only that task changes the
status. What the client knows of the server is not kept here: a `ConnectionObserver` is called when a connection begins
and when it ends. Re-subscribing after a reconnect is done in `state.reconcile`.
"""

from collections.abc import Callable
from typing import Literal, Protocol

import trio

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.client_errors import ConnectFailed, NotAuthorized, NotConnected
from trio_debugmcp.client.connection.client_connection import ClientConnection
from trio_debugmcp.client.connection.connection_end import ConnectionEnding
from trio_debugmcp.client.connection.connection_requests import ConnectionRequests
from trio_debugmcp.client.connection.connection_wire import ConnectionWire, OnNotification
from trio_debugmcp.client.connection.targets import Target, resolve_target
from trio_debugmcp.client.events import ConnectionStatus, ErrorEvent, StatusChange
from trio_debugmcp.client.options import InspectorOptions, Reconnect, Roots
from trio_debugmcp.client.state.message_log import MessageLog
from trio_debugmcp.client.statistics import SupervisorStatistics
from trio_debugmcp.deadlines import Deadlines

__all__ = ["ClientConnection", "Target", "open_connection"]


def open_connection(
    target: Target,
    options: InspectorOptions,
    *,
    log: MessageLog,
    bus: EventBus,
    on_notification: OnNotification,
    on_stderr: Callable[[str], None],
    stderr_tail: Callable[[], str],
    roots: Callable[[], Roots | None],
) -> ClientConnection:
    """Make a connection to `target`, which `serve()` opens.

    Args:
        target: of the client.
        options: of the client.
        log: where messages are logged.
        bus: where they are announced.
        on_notification: called with each notification, in wire order; returns whether the SDK needs it too.
        on_stderr: called with each line of standard error of a server process.
        stderr_tail: returns the last lines of standard error of this connection.
        roots: returns the roots that the server may list, None to have no such capability.

    Raises:
        UsageError: `target` is not one of the kinds that there are.
    """
    deadlines = Deadlines()
    route = resolve_target(target, options, on_stderr, deadlines)
    watch = route.watch
    last_failure = (lambda: watch.last_failure) if watch is not None else (lambda: None)
    wire = ConnectionWire(log, bus, on_notification, last_failure)
    return ClientConnection(ConnectionRequests(route, options, deadlines, wire, stderr_tail), options, roots)


STABLE_SECONDS = 30.0
"""After a connection that has lasted longer than this, the attempts to reconnect are counted from the first again."""


class ConnectionObserver(Protocol):
    """What the supervisor calls when a connection begins and ends: the client's state."""

    async def on_connected(
        self, connection: ClientConnection, nursery: trio.Nursery, opened: Callable[[], None]
    ) -> None:
        """Fill the state. Call `opened()` at the moment from which the client counts as connected."""

    def on_disconnected(self, ending: ConnectionEnding) -> None:
        """Clear the state: the connection is closed."""

    def on_abandoned(self, error: Exception) -> None:
        """Give up what was to be restored: there is no further attempt to reconnect."""


class Supervisor:
    """See the module's docstring.

    Args:
        open_connection: makes a connection, not yet served.
        observer: called when a connection begins and ends.
        bus: where changes of the status and failed attempts are announced.
        policy: whether and when to reconnect.

    Resource handling: `nursery` is set by the client when its block is entered; the supervising task and everything
    that belongs to a connection runs in it.
    """

    def __init__(
        self,
        open_connection: Callable[[], ClientConnection],
        observer: ConnectionObserver,
        bus: EventBus,
        policy: Reconnect | None,
    ) -> None:
        self.status: ConnectionStatus = "disconnected"
        self.nursery: trio.Nursery | None = None
        self._open_connection = open_connection
        self._observer = observer
        self._bus = bus
        self._policy = policy
        self._connection: ClientConnection | None = None
        self._attempts: trio.CancelScope | None = None
        """The scope of the supervising task, while it runs."""
        self._idle = trio.Event()
        self._idle.set()
        self._connected_since: float | None = None
        self._connections = 0
        self._failed_attempts = 0

    def __repr__(self) -> str:
        return f"<Supervisor: {self.status}, {self._connections} connections so far>"

    @property
    def connection(self) -> ClientConnection:
        """The connection on which requests can be made.

        Raises:
            NotConnected: there is none.
        """
        # The status follows the connection's end by a task switch or more: processes are waited for, and so on.
        # `alive` is already False then, and a request would only wait for an answer that cannot come.
        if self._connection is None or self.status != "connected" or not self._connection.alive:
            raise NotConnected
        return self._connection

    @property
    def reconnecting(self) -> bool:
        """Whether a connection is being made, or a lost one is being replaced."""
        return self._attempts is not None and self.status != "connected"

    def statistics(self) -> SupervisorStatistics:
        """The status, and how many attempts were made."""
        return SupervisorStatistics(self.status, self._connections, self._failed_attempts)

    async def connect(self) -> None:
        """Start the supervising task and wait for the first connection; does nothing when the task runs already.

        Raises:
            ConnectFailed: the first attempt failed.
        """
        if self.nursery is None:
            raise NotConnected("The client has no nursery; use `async with InspectorClient(...)`")
        if self._attempts is None:
            await self.nursery.start(self._supervise)
        else:
            await trio.lowlevel.checkpoint()

    async def disconnect(self, reason: str = "disconnected") -> None:
        """End the connection, or the attempts to reconnect, and wait until everything is closed."""
        # An open connection is not cancelled but ended: its requests then fail with the reason, and its last events
        # are published. Only what has not come so far, an attempt or a pause between two, is cancelled.
        if self._attempts is not None and self.status != "connected":
            self._attempts.cancel(reason)
        if self._connection is not None:
            self._connection.end(reason, requested=True)
        await self._idle.wait()

    # --- The supervising task -----------------------------------------------------------------------------------------

    async def _supervise(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self._idle = trio.Event()
        reason: Exception = ConnectFailed("disconnected while connecting")
        settled = False

        def started() -> None:
            nonlocal settled
            settled = True
            task_status.started()

        self._attempts = trio.CancelScope()
        with self._attempts as attempts:
            try:
                reason = (await self._serve_one(started)).as_error()
                if self._policy is not None and self.status == "error":
                    await self._reconnect(self._policy)
            finally:
                # Also after a cancellation from outside. The next connect() may come right after `_idle`.
                self._attempts = None
                self._idle.set()
                if self.status == "connecting":
                    self._set_status("disconnected")
                self._observer.on_abandoned(reason)
        if attempts.cancelled_caught:  # by disconnect()
            self._set_status("disconnected")
            if not settled:  # connect() still waits in nursery.start(), and gets the error from here
                raise reason

    async def _serve_one(self, started: Callable[[], None]) -> ConnectionEnding:
        """Make one connection and serve it to its end; calls `started` when the state is filled.

        Raises:
            ConnectFailed: the handshake failed, or the connection ended before the state was filled.
        """
        progress: list[Literal["opened", "settled"]] = []

        async def live(connection: ClientConnection, nursery: trio.Nursery) -> None:
            def opened() -> None:
                progress.append("opened")
                self._connected_since = trio.current_time()
                self._set_status("connected")

            await self._observer.on_connected(connection, nursery, opened)
            progress.append("settled")
            started()

        self._set_status("connecting")
        self._connections += 1
        self._connected_since = None
        self._connection = connection = self._open_connection()
        try:
            await connection.serve(live)
        except ConnectFailed:
            self._set_status("error")
            raise
        finally:
            self._connection = None
            if "opened" in progress:  # exactly one `disconnect` event per `connect` event, whatever happened between
                self._set_ended_status(connection.ending())
                self._observer.on_disconnected(connection.ending())
        ending = connection.ending()
        if "settled" not in progress:
            self._set_ended_status(ending)
            kind = NotAuthorized if ending.unauthorized else ConnectFailed
            raise kind(ending.reason, ending.exit_code, ending.stderr_tail)
        return ending

    async def _reconnect(self, policy: Reconnect) -> None:
        """Reconnect after a lost connection until the policy's attempts have failed or `disconnect()` is called.

        The observer re-subscribes, since `Subscriptions` keeps what is wanted across connections.
        """
        self._failed_attempts = 0
        while self.status == "error" and self._failed_attempts < policy.attempts:
            await trio.sleep(policy.delay(self._failed_attempts))
            attempt = self._failed_attempts + 1
            try:
                await self._serve_one(lambda: None)
            except ConnectFailed as error:
                self._failed_attempts = attempt
                message = f"Reconnect attempt {attempt} failed: {error}"
                self._bus.publish(ErrorEvent(message=message, error=error))
            # A server that crashes soon after each handshake has not recovered: its connections count as failures.
            # The time that it took to connect does not count: a server that never answers is given up, too.
            since = self._connected_since
            lasted = 0.0 if since is None else trio.current_time() - since
            self._failed_attempts = 0 if lasted > STABLE_SECONDS else attempt

    def _set_ended_status(self, ending: ConnectionEnding) -> None:
        self._set_status("disconnected" if ending.requested else "error")

    def _set_status(self, status: ConnectionStatus) -> None:
        if status != self.status:
            self.status = status
            self._bus.publish(StatusChange(status=status))
