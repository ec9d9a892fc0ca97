"""How a request of the light client fails."""

from typing import Literal

from trio_debugmcp.errors import DebugError
from trio_debugmcp.light_client.protocol import Json

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
