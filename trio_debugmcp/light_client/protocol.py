"""MCP in numbers and names, and how a request fails, as the SDK has them.

Importing them from there would take longer than a whole command.
"""

from typing import Any, Literal

from trio_debugmcp.errors import DebugError

Json = dict[str, Any]

EraMode = Literal["auto", "legacy", "modern"]
"""`auto` tries `server/discover`, then `initialize`; `legacy` and `modern` accept only their own era."""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
CLIENT_NAME, CLIENT_VERSION = "trio-debugmcp-inspector", "0.1.0"

METHOD_NOT_FOUND = -32601
REQUEST_TIMEOUT = -32001
UNSUPPORTED_PROTOCOL_VERSION = -32022

LISTS = {
    "tools/list": ("tools", "tools", ("name", "inputSchema")),
    "resources/list": ("resources", "resources", ("uri", "name")),
    "resources/templates/list": ("resources", "resourceTemplates", ("uriTemplate", "name")),
    "prompts/list": ("prompts", "prompts", ("name",)),
}
"""The lists: the capability, the field of the items, and what each item must have."""

MAX_PAGES = 1000
"""Of one list: a server that always has a next cursor must not keep us for ever."""

MAX_REQUEST_SECONDS = 600.0
"""For one request, however much progress is reported: a server that only reports progress may be stuck."""


def not_supported(method: object) -> Json:
    """The error of a request that is not answered here."""
    return {"code": METHOD_NOT_FOUND, "message": f"{method} is not supported"}


def dict_of(value: object) -> Json:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


FailureKind = Literal["no handshake", "lost", "timeout", "refused", "protocol"]


class RequestFailed(DebugError):
    """There is no result.

    Attributes:
        kind: no handshake: there was none in time; lost: the connection ended first; timeout: no answer in time;
            refused: an error of JSON-RPC; protocol: not what the protocol or the tool's schema permits.
        method: of the request.
        code: of an error of JSON-RPC.
        result: a tool's result that does not fit its schema.
    """

    def __init__(
        self, kind: FailureKind, message: str, method: str, *, code: int | None = None, result: Json | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.method = method
        self.code = code
        self.result = result


def timed_out(method: str, seconds: float) -> RequestFailed:
    """The failure of a request that was not answered in time."""
    return RequestFailed("timeout", f"{method}: no answer within {seconds:g} s", method)


def no_handshake(method: str, seconds: float) -> RequestFailed:
    """The failure of a request before which no handshake was made in time."""
    return RequestFailed("no handshake", f"Cannot connect: no handshake within {seconds:g} s", method)


def malformed(method: str, reason: object) -> RequestFailed:
    """The failure of a request whose answer does not have the shape that the protocol prescribes."""
    return RequestFailed("protocol", f"{method}: the answer is not what the protocol says: {reason}", method)
