"""What can go wrong between the client and its server.

A JSON-RPC error keeps its code and data: it travels as the SDK's `MCPError`.

- `NotConnected`: the caller asked for something that needs a connection, and there is none.
- `ConnectFailed`: the server could not be reached, or did not complete the handshake.
- `ConnectionLost`: the connection ended while something was waiting on it.
"""

from trio_debugmcp.errors import DebugError, UsageError


class NotConnected(UsageError):
    """The method needs a connection; call `connect()` first."""

    def __init__(self, message: str = "Not connected to an MCP server; call connect() first") -> None:
        super().__init__("NOT_CONNECTED", message)


class ConnectFailed(DebugError):
    """No connection came about; `reason` is a sentence that a person can act on.

    Attributes:
        exit_code: of a server process that ended instead of answering, else None.
        stderr_tail: the last lines that it wrote to its standard error, possibly empty.
    """

    def __init__(self, reason: str, exit_code: int | None = None, stderr_tail: str = "") -> None:
        super().__init__(_explain(reason, exit_code, stderr_tail))
        self.reason = reason
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail


class ConnectionLost(DebugError):
    """The connection ended, by our own `disconnect()` or not, before the answer came.

    Attributes:
        reason: a sentence.
        exit_code: of the server process, None when it had none or was still running.
        stderr_tail: the last lines that the server wrote to its standard error, possibly empty.
    """

    def __init__(self, reason: str, exit_code: int | None = None, stderr_tail: str = "") -> None:
        super().__init__(_explain(reason, exit_code, stderr_tail))
        self.reason = reason
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail


def _explain(reason: str, exit_code: int | None, stderr_tail: str) -> str:
    if exit_code is not None:
        reason = f"{reason} (exit code {exit_code})"
    return f"{reason}\n{stderr_tail}" if stderr_tail else reason
