"""What can go wrong between a client and its server.

- `NotConnected`: the method needs a connection, and there is none.
- `ConnectFailed`: the server could not be reached, or did not complete the handshake.
- `NotAuthorized`: a `ConnectFailed`: the server wants an authorisation, or does not accept the one that was given.
- `ConnectionLost`: the connection ended while something was waiting on it.
- `AuthorizationLost`: a `ConnectionLost`: the server denies access now, to a client that it had admitted.

A JSON-RPC error is raised as the SDK's `MCPError`, with the server's code and data.
"""

from trio_debugmcp.errors import DebugError, UsageError


class NotConnected(UsageError):
    """The method needs a connection; call `connect()` first."""

    def __init__(self, message: str = "Not connected to an MCP server; call connect() first") -> None:
        super().__init__("NOT_CONNECTED", message)


class _ConnectionError(DebugError):
    """A reason, and what is known of the server process."""

    def __init__(self, reason: str, exit_code: int | None = None, stderr_tail: str = "") -> None:
        explained = reason if exit_code is None else f"{reason} (exit code {exit_code})"
        super().__init__(f"{explained}\n{stderr_tail}" if stderr_tail else explained)
        self.reason = reason
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail


class ConnectFailed(_ConnectionError):
    """No connection could be made.

    Attributes:
        reason: a sentence that a person can act on.
        exit_code: of a server process that ended instead of answering, else None.
        stderr_tail: the last lines of its standard error, possibly empty.
    """


class NotAuthorized(ConnectFailed):
    """The server denied access: there was no authorisation, or it was refused, or not given in time."""


class ConnectionLost(_ConnectionError):
    """The connection ended before the answer came, whether `disconnect()` ended it or not.

    Attributes:
        reason: a sentence.
        exit_code: of the server process; None if there is no process, or it still ran.
        stderr_tail: the last lines of the server's standard error, possibly empty.
    """


class AuthorizationLost(ConnectionLost):
    """The server does not accept the authorisation any more: it has expired, or was revoked."""
