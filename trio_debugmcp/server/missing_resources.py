"""The error of a resource that is not there, in both protocol eras."""

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

RESOURCE_NOT_FOUND_HANDSHAKE = -32002
"""Up to protocol revision 2025-11-25; later revisions retired the number and use INVALID_PARAMS."""


def resource_not_found(uri: str, sentence: str, protocol_version: str) -> MCPError:
    """Return the error *resource not found* with the code of the connection's protocol era; the data names the URI."""
    modern = protocol_version in MODERN_PROTOCOL_VERSIONS
    return MCPError(
        code=INVALID_PARAMS if modern else RESOURCE_NOT_FOUND_HANDSHAKE, message=sentence, data={"uri": uri}
    )
