"""How a connection ended: the first reason counts, for its requests and for the state of the client."""

import trio
from msgspec import Struct

from trio_debugmcp.client.client_errors import AuthorizationLost, ConnectionLost


class ConnectionEnding(Struct, frozen=True, kw_only=True):
    """How a connection ended; fields as in the `disconnect` event."""

    reason: str
    requested: bool
    exit_code: int | None = None
    stderr_tail: str = ""
    unauthorized: bool = False

    def as_error(self) -> ConnectionLost:
        """The error for callers whose requests were still open."""
        kind = AuthorizationLost if self.unauthorized else ConnectionLost
        return kind(self.reason, self.exit_code, self.stderr_tail)


class ConnectionEnd:
    """The end of one connection, which may begin anywhere.

    Attributes:
        reason: why it ends; None while it does not.
        requested: whether the user wanted it to end.
        unauthorized: whether the server denied access.
        reading: False once nothing more will arrive.
        begun: set when the end begins.
        closed: set when everything is closed.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.requested = self.unauthorized = False
        self.reading = True
        self.begun = trio.Event()
        self.closed = trio.Event()

    @property
    def alive(self) -> bool:
        """False from the moment that the end is known; nothing may be committed from then on."""
        return self.reason is None and self.reading

    def begin(self, reason: str, *, requested: bool, unauthorized: bool = False) -> None:
        """Begin to end the connection; the first reason counts. Never waits."""
        if self.reason is None:
            self.reason = reason
            self.requested = requested
            self.unauthorized = unauthorized
            self.begun.set()

    async def cancel_when_begun(self, scope: trio.CancelScope) -> None:
        """Wait for the end to begin, and cancel what lives as long as the connection."""
        await self.begun.wait()
        scope.cancel(self.reason)
