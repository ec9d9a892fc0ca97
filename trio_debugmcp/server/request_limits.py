"""`RequestLimits`: what no client may ask of a connection: very many calls at a time, and pages that there are not.

server.middleware[:] = [RequestLimits().middleware, …]
"""

from math import inf
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.failures import failed_result
from trio_debugmcp.server.sdk_results import sdk_result

MAX_CALLS = 100
"""Calls of one connection that are under way. An agent has one, or one for each session that it waits for; each that
waits takes a look at every change of the state."""

_LISTS = frozenset({"tools/list", "resources/list", "resources/templates/list", "prompts/list"})


class RequestLimits:
    """The limits of one connection. `shared`: it is that of all modern clients over HTTP, whose number is bounded."""

    def __init__(self, *, shared: bool) -> None:
        self._most = inf if shared else MAX_CALLS
        self._under_way = 0

    def __repr__(self) -> str:
        return f"<RequestLimits: {self._under_way} calls under way>"

    async def middleware(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Serve one message, if it keeps to the limits.

        Raises:
            MCPError: a list is asked for from a page on that no answer has named.
        """
        if ctx.method in _LISTS and (ctx.params or {}).get("cursor") is not None:
            message = "There is no such page: each list is whole in its first answer. Leave `cursor` out."
            raise MCPError(code=INVALID_PARAMS, message=message)
        if ctx.method != "tools/call":
            return await call_next(ctx)
        if self._under_way >= self._most:
            sentence = f"{MAX_CALLS} calls of this connection are under way: wait for one of them, or cancel one."
            return sdk_result(failed_result(UsageError("TOO_MANY_CALLS", sentence, {"underWay": self._under_way})))
        self._under_way += 1
        try:
            return await call_next(ctx)
        finally:
            self._under_way -= 1
