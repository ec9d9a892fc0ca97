"""The error of a resource that is not there, in both protocol eras."""

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import signal_name

RESOURCE_NOT_FOUND_HANDSHAKE = -32002
"""Up to protocol revision 2025-11-25; later revisions retired the number and use INVALID_PARAMS."""


def resource_not_found(uri: str, sentence: str, protocol_version: str) -> MCPError:
    """Return the error *resource not found* with the code of the connection's protocol era; the data names the URI."""
    modern = protocol_version in MODERN_PROTOCOL_VERSIONS
    return MCPError(
        code=INVALID_PARAMS if modern else RESOURCE_NOT_FOUND_HANDSHAKE, message=sentence, data={"uri": uri}
    )


def without_session(sentence: str, last: Snapshot | None) -> str:
    """Return the sentence for a read while there is no session, with how the last one has ended.

    Its end is notified, and a client that reads then finds the resources gone.
    """
    return (
        sentence if last is None else f"{sentence.rstrip('.')}. {ended_sentence(last)} debug_state has its last state."
    )


def ended_sentence(ended: Snapshot) -> str:
    """Say how a session has ended."""
    signal = signal_name(ended.exit_code)
    if isinstance(signal, str):
        return f"{ended.id} has ended: {signal}."
    how = ended.end_reason if ended.exit_code is None else f"exit code {ended.exit_code}"
    return f"{ended.id} has ended: {how}." if how else f"{ended.id} has ended."
