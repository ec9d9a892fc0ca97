"""The client at the other end of a connection: who it is, and the log messages that it asks for with its requests."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import inf
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
from trio_debugmcp.state.timeline import client_joined, client_left

Context = ServerRequestContext[Any, Any]


MAX_NAMES = 100
"""Clients that are told of per connection. Over HTTP, those of the modern era share one."""

ABSENT_SECONDS = 600.0
"""Without a request or a stream, after which such a client has left: as long as an HTTP session may be idle."""


def client_name(ctx: Context) -> str | None:
    """As the client of a request calls itself."""
    client = ctx.session.client_params
    return None if client is None else client.client_info.name


class _KnownClient:
    """A client that has introduced itself. `absence` ends when nothing has been heard of it for long enough."""

    def __init__(self) -> None:
        self.absence = trio.CancelScope()
        self._requests = 0

    @contextmanager
    def heard(self) -> Iterator[None]:
        """One of its requests is being served."""
        self._requests += 1
        self.absence.deadline = inf
        try:
            yield
        finally:
            self._requests -= 1
            if not self._requests:
                self.absence.deadline = trio.current_time() + ABSENT_SECONDS


class Peer:
    """It is known from its first message on, and leaves with its connection, in whose nursery it lives.

    Requests of the modern era over HTTP come on no connection that means anything: whoever sent them has left when
    nothing has been heard of it for some time. Without a merger it stays unmentioned.
    """

    def __init__(self, merger: Merger | None, hub: Hub, logs: LogRelay, role: Role, nursery: trio.Nursery) -> None:
        self._merger = merger
        self._hub = hub
        self._logs = logs
        self._role = role
        self._nursery = nursery
        self._known: dict[tuple[str, str], _KnownClient] = {}

    async def accompany(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """The SDK's middleware, around every message."""
        client = ctx.session.client_params
        known = None
        if client is not None and ctx.method != "initialize":
            known = await self._meet(client.client_info.name, client.client_info.version, ctx)
        level = _requested_log_level(ctx)
        with known.heard() if known is not None else nullcontext():
            return await call_next(ctx) if level is None else await self._with_logs(level, ctx, call_next)

    async def leave(self) -> None:
        """It is gone. The caller bounds and shields this."""
        for name, version in self._known:
            await self._note(client_left(name, version, self._role))

    async def _meet(self, name: str, version: str, ctx: Context) -> _KnownClient | None:
        known = self._known.get((name, version))
        if known is None and len(self._known) < MAX_NAMES:
            known = self._known[name, version] = _KnownClient()
            if ctx.request is not None and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
                self._nursery.start_soon(self._miss, name, version, known)
            await self._note(client_joined(name, version, self._role))
        return known

    async def _miss(self, name: str, version: str, known: _KnownClient) -> None:
        with known.absence:
            await trio.sleep_forever()
        del self._known[name, version]
        await self._note(client_left(name, version, self._role))

    async def _note(self, what: Happening) -> None:
        if self._merger is not None:
            await self._merger.merge(Happened(what))

    async def _with_logs(self, level: LoggingLevel, ctx: Context, call_next: CallNext) -> HandlerResult:
        """In the modern era log messages go out with the request that asked for them, and end before its answer."""
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
            await delivered.wait()
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
