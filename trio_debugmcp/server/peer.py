"""The client at the other end of a connection: who it is, and the log messages that it asks for with its requests."""

from typing import Any

import trio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import LOG_LEVEL_META_KEY, LoggingLevel
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from trio_debugmcp.publish.hub import Hub
from trio_debugmcp.server.access import Role
from trio_debugmcp.server.delivery import deliver
from trio_debugmcp.server.logs import LogRelay
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.changes import Happened, Happening
from trio_debugmcp.state.timeline import client_came, client_went

Context = ServerRequestContext[Any, Any]


MAX_NAMES = 100
"""Clients that are told of per connection. Over HTTP, those of the modern era share one."""


def client_name(ctx: Context) -> str | None:
    """As the client of a request calls itself."""
    client = ctx.session.client_params
    return None if client is None else client.client_info.name


class Peer:
    """It is known from its first message on, and leaves with its connection, in whose nursery it lives.

    Without a merger it stays unmentioned.
    """

    def __init__(self, merger: Merger | None, hub: Hub, logs: LogRelay, role: Role, nursery: trio.Nursery) -> None:
        self._merger = merger
        self._hub = hub
        self._logs = logs
        self._role = role
        self._nursery = nursery
        self._known: dict[tuple[str, str], None] = {}

    async def accompany(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """The SDK's middleware, around every message."""
        client = ctx.session.client_params
        if client is not None and ctx.method != "initialize":
            await self._meet(client.client_info.name, client.client_info.version)
        level = _requested_log_level(ctx)
        return await call_next(ctx) if level is None else await self._with_logs(level, ctx, call_next)

    async def leave(self) -> None:
        """It is gone. The caller bounds and shields this."""
        for name, version in self._known:
            await self._note(client_went(name, version, self._role))

    async def _meet(self, name: str, version: str) -> None:
        if (name, version) not in self._known and len(self._known) < MAX_NAMES:
            self._known[name, version] = None
            await self._note(client_came(name, version, self._role))

    async def _note(self, what: Happening) -> None:
        if self._merger is not None:
            await self._merger.merge(Happened(what))

    async def _with_logs(self, level: LoggingLevel, ctx: Context, call_next: CallNext) -> HandlerResult:
        """In the modern era log messages go out with the request that asked for them, and end before its answer."""
        subscriber, delivered, scope = self._hub.join(wants_list_changes=False), trio.Event(), trio.CancelScope()

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
            subscriber.end()
            await delivered.wait()
        finally:
            scope.cancel(reason="the request is answered")
            self._logs.forget(subscriber)
            subscriber.leave()
        return result


def _requested_log_level(ctx: Context) -> LoggingLevel | None:
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS or ctx.request_id is None:
        return None
    level: LoggingLevel | None = (ctx.meta or {}).get(LOG_LEVEL_META_KEY)  # type: ignore[assignment]
    return level
