"""`ConnectionTap`: the seam at which a server lets a recorder or a replay tap its connections. Imports no SDK."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from mcp.server.context import ServerMiddleware

    from trio_debugmcp.transports.streams import Streams

Role = Literal["control", "observe"]
"""As `server.auth` has it, which is a floor above."""

Serve = Callable[..., Awaitable[None]]
"""Serves MCP on a pair of streams, with a role, until the client disconnects."""


class ConnectionTap:
    """Stands between the clients and the server. A recorder records what passes; a replay brings clients of its own.

    This one lets everything pass, so that the server never has to ask whether there is one.
    """

    watch_only = False
    """Whether the clients that connect from outside may only watch, as `run` serves those in control."""

    driven = False
    """Whether the clients make the calls of a recording, in the place of the recorded clients."""

    def streams(self, streams: "Streams", role: Role, transport: str) -> "AbstractContextManager[Streams]":
        """Put the tap on a client's streams for the length of the block."""
        return nullcontext(streams)

    def middleware(self, role: Role, transport: str) -> "AbstractContextManager[Sequence[ServerMiddleware[Any]]]":
        """Make the SDK's middleware for a client whose streams are the SDK's own, for the length of the block."""
        return nullcontext(())

    def linger(self, seconds: float) -> float:
        """Return how long a session outlives the client that used it, where `seconds` is what the options have."""
        return seconds

    async def run(self, serve: Serve) -> None:
        """Run beside the server; `serve` connects a client of the tap's own."""
