"""How a connection ended, for its requests and for the state of the client."""

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
