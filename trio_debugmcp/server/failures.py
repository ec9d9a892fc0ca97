"""The one place where exceptions become what an MCP client receives."""

import errno
import json
import logging

import msgspec
import trio

from trio_debugmcp.errors import AdapterGone, AdapterRefused, CannotRun, DebugError, ProtocolViolation, UsageError
from trio_debugmcp.server.answers.last_bounds import MAX_ERROR_BYTES, bounded
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.state.payloads import shortened

log = logging.getLogger(__name__)

_MOST_BYTES_OF_A_CHARACTER = 4

_FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""This machine or process has no descriptor, buffer or memory left: another path would not help."""


def only_cancelled(group: BaseExceptionGroup[BaseException]) -> BaseExceptionGroup[BaseException]:
    """Return what a nursery has raised as it was cancelled; the group itself if it was not.

    What was ended may have failed as it ended; nothing waits for its result any more.
    """
    cancelled, rest = group.split(trio.Cancelled)
    if cancelled is None:
        return group
    log.info("while it was cancelled: %r", rest)
    return cancelled


def usage_error(error: DebugError | OSError | msgspec.ValidationError) -> UsageError:
    """Translate any error of ours into a public code and a sentence that says what to do next."""
    match error:
        case UsageError():
            return error
        case AdapterGone(reason=reason, stderr_tail=tail):
            return UsageError(
                "ADAPTER_GONE",
                f"The debug session is over: {reason}. Look at the program's last output with process_read_output, "
                "then start again with debug_launch.",
                {"stderr": tail} if tail else {},
            )
        case AdapterRefused(command=command, reason=reason):
            return UsageError(
                "ADAPTER_FAILED",
                f"The debug adapter refused '{command}': {reason.rstrip('. ')}. Look at debug_state, and try again.",
                {"command": command},
            )
        case CannotRun(program=program, reason=reason):
            return UsageError("ADAPTER_FAILED", f"Cannot run {program}: {reason}.", {"program": program})
        case ProtocolViolation():
            return UsageError(
                "ADAPTER_FAILED",
                f"The debug adapter broke the protocol: {error}. Restart with debug_restart.",
                {},
            )
        case OSError(errno=number, strerror=reason) if number in _FULL:
            return UsageError(
                "ADAPTER_FAILED",
                f"The server is out of resources: {reason}. Have other clients disconnect, or start the server with a "
                "higher limit (ulimit -n); then try again.",
                {},
            )
        case OSError(strerror=reason, filename=filename):  # a path that the system refuses
            return UsageError("INVALID_PATH", f"{reason or error}: {shortened(str(filename))}. Pass another path.")
        case msgspec.ValidationError():
            return UsageError("INVALID_PARAMETER", f"{error}. See the tool's input schema.", {})
        case _:
            return UsageError("ADAPTER_FAILED", str(error), {})


def failed_result(error: UsageError) -> ToolResult:
    """Return a tool's failure: `isError`, and one text block with code, message and details."""
    body = {"error": {"code": error.code, "message": error.message, "details": error.details}}
    text = json.dumps(body, ensure_ascii=False, default=str)
    if len(text) * _MOST_BYTES_OF_A_CHARACTER > MAX_ERROR_BYTES:
        text = json.dumps(bounded(json.loads(text), MAX_ERROR_BYTES), ensure_ascii=False)
    return ToolResult(text=text, is_error=True)
