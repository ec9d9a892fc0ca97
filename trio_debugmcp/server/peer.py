"""The clients at the other end of a connection: their names in the timeline, and the logs that their requests ask for.

A `Peer` is the SDK's middleware, around every message; `known_clients.py` has the clients:

    peer = Peer(clients, hub, logs, nursery)
    server.middleware[:] = [peer.middleware]
"""

from contextlib import nullcontext
from typing import Any

import trio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import LOG_LEVEL_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from trio_debugmcp.publish.hub import Hub, LoggingLevel
from trio_debugmcp.server.connected_client import known_name
from trio_debugmcp.server.delivery import deliver
from trio_debugmcp.server.known_clients import KnownClients
from trio_debugmcp.server.logs import LogRelay

Context = ServerRequestContext[Any, Any]


def client_name(ctx: Context) -> str | None:
    """Return the name with which the client of a request has introduced itself."""
    client = ctx.session.client_params
    return None if client is None else known_name(client.client_info.name)


class Peer:
    """The middleware of one connection, in whose nursery it runs.

    Over HTTP, the requests of the modern era carry their client's name and share one connection. Such a client counts
    as disconnected when it has sent no request for a while.
    """

    def __init__(self, clients: KnownClients, hub: Hub, logs: LogRelay, nursery: trio.Nursery) -> None:
        self._clients = clients
        self._hub = hub
        self._logs = logs
        self._nursery = nursery

    def __repr__(self) -> str:
        return f"<Peer {self._clients!r}>"

    async def middleware(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Serve one message: record a client that is new, and send the log messages that the message asks for."""
        client, known = ctx.session.client_params, None
        # None while `initialize` is served, which may still be refused: the client counts from its next message on.
        if client is not None:
            info = client.client_info
            # Only HTTP has a `request`. In the modern era it has no session either, whose end would be the client's.
            without_end = ctx.request is not None and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            name, version = known_name(info.name), known_name(info.version)
            known = await self._clients.introduce(name, version, may_be_absent=without_end)
        level = _requested_log_level(ctx)
        with known.serving() if known is not None else nullcontext():
            return await call_next(ctx) if level is None else await self._with_logs(level, ctx, call_next)

    async def _with_logs(self, level: LoggingLevel, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Serve a request of the modern era with the log messages that it asked for, all sent before its answer."""
        subscriber = self._hub.open_subscriber(wants_list_changes=False)
        delivered, scope = trio.Event(), trio.CancelScope()

        async def send() -> None:
            with scope:
                try:
                    await deliver(subscriber, ctx.session, ctx.request_id)
                except trio.EndOfChannel:
                    delivered.set()

        self._logs.set_level(subscriber, level)
        self._nursery.start_soon(send)
        try:
            result = await call_next(ctx)
            subscriber.finish()
            await delivered.wait()  # a notification that follows the answer would belong to no request
        finally:
            scope.cancel(reason="the request is answered")
            self._logs.forget(subscriber)
            subscriber.close()
        return result


def _requested_log_level(ctx: Context) -> LoggingLevel | None:
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS or ctx.request_id is None:
        return None
    level: LoggingLevel | None = (ctx.meta or {}).get(LOG_LEVEL_META_KEY)  # type: ignore[assignment]
    return level
