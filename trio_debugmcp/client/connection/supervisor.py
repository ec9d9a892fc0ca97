"""The connections of a client, one after the other: connect, disconnect, reconnect. Owns the status.

    disconnected ──connect()──► connecting ──handshake──► connected ──disconnect()──► disconnected
                                    │                         │
                                    └──failed──► error ◄──lost┘
                                            (with a policy: back to connecting)

One task, the *supervisor*, lives from `connect()` until there is nothing more to connect to. Only it changes
the status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import trio

from trio_debugmcp.client.errors import ConnectFailed, NotConnected
from trio_debugmcp.client.events import ConnectionStatus, ErrorEvent, StatusChange

if TYPE_CHECKING:
    from collections.abc import Callable

    from trio_debugmcp.client.bus import EventBus
    from trio_debugmcp.client.connection.connection import ClientConnection, Ending
    from trio_debugmcp.client.options import Reconnect

STABLE_TIME = 30.0
"""Seconds that a connection must have lasted for its loss to count as the first."""


class ConnectionObserver(Protocol):
    """The client's state: told when there is a connection and when there is none."""

    async def on_connected(
        self, connection: ClientConnection, nursery: trio.Nursery, opened: Callable[[], None]
    ) -> None:
        """Fill the state. Calls `opened()` at the moment from which the client counts as connected."""

    def on_disconnected(self, ending: Ending) -> None:
        """Clear the state; the connection is closed."""

    def on_abandoned(self, error: Exception) -> None:
        """There will be no attempt to come back: nothing is to be replayed any more."""


class Supervisor:
    """See the module's docstring.

    Args:
        open_connection: makes a connection, not yet served.
        observer: what lives on it.
        policy: whether and how to come back.
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
        self._idle = trio.Event()
        self._idle.set()

    @property
    def connection(self) -> ClientConnection:
        """The connection on which requests can be made.

        Raises:
            NotConnected: there is none.
        """
        if self._connection is None or self.status != "connected" or not self._connection.alive:
            raise NotConnected
        return self._connection

    @property
    def reconnecting(self) -> bool:
        """Whether a lost connection is being replaced."""
        return self._attempts is not None and self.status != "connected"

    async def connect(self) -> None:
        """Start the supervisor and wait for the first connection; nothing happens when there is one.

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
        """End the connection, or the attempts to come back, and wait until everything is closed."""
        if self._attempts is not None and self.status != "connected":
            self._attempts.cancel(reason)
        if self._connection is not None:
            self._connection.end(reason, requested=True)
        await self._idle.wait()

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
                self._attempts = None
                self._idle.set()
                if self.status == "connecting":
                    self._set_status("disconnected")
                self._observer.on_abandoned(reason)
        if attempts.cancelled_caught:  # by disconnect()
            self._set_status("disconnected")
            if not settled:
                raise reason

    async def _serve_one(self, started: Callable[[], None]) -> Ending:
        """One connection, from connecting to its end."""
        progress: list[Literal["opened", "settled"]] = []

        async def live(connection: ClientConnection, nursery: trio.Nursery) -> None:
            def opened() -> None:
                progress.append("opened")
                self._set_status("connected")

            await self._observer.on_connected(connection, nursery, opened)
            progress.append("settled")
            started()

        self._set_status("connecting")
        self._connection = connection = self._open_connection()
        try:
            await connection.serve(live)
        except ConnectFailed:
            self._set_status("error")
            raise
        finally:
            self._connection = None
            if "opened" in progress:
                self._leave(connection.ending())
        ending = connection.ending()
        if "settled" not in progress:
            self._set_status("disconnected" if ending.requested else "error")
            raise ConnectFailed(ending.reason, ending.exit_code, ending.stderr_tail)
        return ending

    def _leave(self, ending: Ending) -> None:
        self._set_status("disconnected" if ending.requested else "error")
        self._observer.on_disconnected(ending)

    async def _reconnect(self, policy: Reconnect) -> None:
        attempt = 0
        while self.status == "error" and attempt < policy.attempts:
            await trio.sleep(policy.delay(attempt))
            attempt += 1
            start = trio.current_time()
            try:
                await self._serve_one(lambda: None)
            except ConnectFailed as error:
                self._bus.publish(ErrorEvent(message=f"Reconnect attempt {attempt} failed: {error}", error=error))
            if trio.current_time() - start > STABLE_TIME:
                attempt = 0

    def _set_status(self, status: ConnectionStatus) -> None:
        if status != self.status:
            self.status = status
            self._bus.publish(StatusChange(status=status))
