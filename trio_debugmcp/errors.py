"""Errors that a user may see, by who caused them. server/failures.py turns each of them into one MCP error.

- `AdapterRefused`: the debug adapter answered a request with `success: false`.
- `AdapterGone`: the debug adapter, or the connection to it, ended.
- `ProgramGone`: the adapter has lost its program; the session's end follows as an event.
- `CannotRun`: the system refused to start a program.
- `ProtocolViolation`: the peer broke framing or schema; the connection has ended.
- `UsageError`: the caller requested something that cannot be done now, or at all.
"""

import json
import re
from collections.abc import Mapping

NO_SESSION = "No active debug session: start one with the tool debug_launch or debug_attach"
"""For every read and every tool call that needs a session while there is none."""

_NOT_RECORDED = re.compile(r"the recording does not hold .*?: the recorded session [^:]*? here", re.DOTALL)


def leaf(error: BaseException) -> BaseException:
    """Return an error itself; of a group, as nurseries make one around an error, the first error in it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class DebugError(Exception):
    """The base class of all errors that a user may see."""


class ProtocolViolation(DebugError):
    """The peer sent bytes that do not follow the protocol.

    Attributes:
        head: the first of the offending bytes, for the log and the error message.
    """

    def __init__(self, reason: str, head: bytes = b"") -> None:
        super().__init__(f"{reason} (received {_quoted(head)})" if head else reason)
        self.reason = reason
        self.head = head


class CannotRun(DebugError):
    """The system could not start a program: an adapter or the debuggee."""

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(f"cannot run {program}: {reason}")
        self.program = program
        self.reason = reason


class AdapterGone(DebugError):
    """The adapter's side of the connection ended.

    Attributes:
        stderr_tail: the last lines that the adapter wrote to its standard error, possibly empty.
    """

    def __init__(self, reason: str, stderr_tail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.stderr_tail = stderr_tail


class ProgramGone(AdapterGone):
    """The program ended during a request to the adapter; the session's end follows as an event."""


class AdapterRefused(DebugError):
    """The adapter answered `command` with a failure; `reason` is the text of its response."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(f"{command}: {reason}")
        self.command = command
        self.reason = reason


class UsageError(DebugError):
    """A request that cannot be served: a public error code, and a message that names what to do next."""

    def __init__(self, code: str, message: str, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = dict(details or {})


def no_session() -> UsageError:
    """A tool call that needs a debug session while there is none, or whose session has ended meanwhile."""
    return UsageError("NO_SESSION", f"{NO_SESSION}.")


def _quoted(data: bytes) -> str:
    """Bytes as one printable line, undecodable bytes replaced."""
    return json.dumps(data.decode(errors="replace"), ensure_ascii=False)


def not_recorded(what: str, instead: str = "the recorded session did not ask for it") -> str:
    """Return how an adapter of a replay refuses what is not in its recording; `what` is in the user's words."""
    return f"the recording does not hold {what}: {instead} here"


def as_not_recorded(text: str) -> str | None:
    """Return the sentence of `not_recorded` that an error contains, which may say more in the words of a debugger."""
    found = _NOT_RECORDED.search(text)
    return found and f"T{found[0][1:]}."
