"""The clients at the other end of a connection: their names in the timeline, and the logs that their requests ask for.

Owns the list of the clients that have introduced themselves on one connection. A `Peer` is the SDK's middleware, around
every message:

    peer = Peer(merger, hub, logs, "control", nursery)
    server.middleware[:] = [peer.middleware]
    ...
    await peer.disconnect()
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import inf
from typing import Any

import trio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import LOG_LEVEL_META_KEY, LoggingLevel
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from trio_debugmcp.publish.hub import Hub
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.clients import known_name
from trio_debugmcp.server.delivery import deliver
from trio_debugmcp.server.logs import LogRelay
from trio_debugmcp.server.people.presence import Presence
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.changes import Happened, Happening
from trio_debugmcp.state.timeline_events import client_joined, client_left

Context = ServerRequestContext[Any, Any]

MAX_NAMES = 100
"""Clients per connection that the timeline records. Over HTTP, all clients of the modern era share a connection."""

ABSENT_SECONDS = 600.0
"""A client with no request or stream for this long counts as disconnected: as long as an HTTP session may be idle."""


def client_name(ctx: Context) -> str | None:
    """Return the name with which the client of a request has introduced itself."""
    client = ctx.session.client_params
    return None if client is None else known_name(client.client_info.name)


class _KnownClient:
    """A client that has introduced itself. `absence` is cancelled when it has sent no request for long enough."""

    def __init__(self) -> None:
        self.absence = trio.CancelScope()
        self._requests = 0

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Count a request of this client as being served; it is not absent meanwhile."""
        self._requests += 1
        self.absence.deadline = inf
        try:
            yield
        finally:
            self._requests -= 1
            if not self._requests:
                self.absence.deadline = trio.current_time() + ABSENT_SECONDS


class Peer:
    """The clients of one connection, in whose nursery it runs: usually one, which disconnects with the connection.

    Over HTTP, the requests of the modern era carry their client's name and share one connection. Such a client counts
    as disconnected when it has sent no request for `ABSENT_SECONDS`. With `merger=None` the timeline records none.
    `presence`: records those in control as agents.
    """

    def __init__(
        self,
        merger: Merger | None,
        hub: Hub,
        logs: LogRelay,
        role: Role,
        nursery: trio.Nursery,
        presence: Presence | None = None,
    ) -> None:
        self._merger = merger
        self._presence = presence
        self._hub = hub
        self._logs = logs
        self._role = role
        self._nursery = nursery
        self._known: dict[tuple[str, str], _KnownClient] = {}

    def __repr__(self) -> str:
        return f"<Peer role={self._role!r}: {', '.join(name for name, _ in self._known) or 'no client yet'}>"

    async def middleware(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Serve one message: record a client that is new, and send the log messages that the message asks for."""
        client, known = ctx.session.client_params, None
        # None while `initialize` is served, which may still be refused: the client counts from its next message on.
        if client is not None:
            info = client.client_info
            known = await self._introduce(known_name(info.name), known_name(info.version), ctx)
        level = _requested_log_level(ctx)
        with known.serving() if known is not None else nullcontext():
            return await call_next(ctx) if level is None else await self._with_logs(level, ctx, call_next)

    async def disconnect(self) -> None:
        """Record that every client of this connection has disconnected. The caller bounds and shields this."""
        for name, version in self._known:
            await self._left(name, version)

    async def _introduce(self, name: str, version: str, ctx: Context) -> _KnownClient | None:
        known = self._known.get((name, version))
        if known is None and len(self._known) < MAX_NAMES:
            known = self._known[name, version] = _KnownClient()
            # Only HTTP has a `request`. In the modern era it has no session either, whose end would be the client's.
            if ctx.request is not None and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
                self._nursery.start_soon(self._wait_absence, name, version, known)
            await self._record(client_joined(name, version, self._role))
            if self._presence is not None:
                await self._presence.arrived(name)
        return known

    async def _wait_absence(self, name: str, version: str, known: _KnownClient) -> None:
        with known.absence:
            await trio.sleep_forever()
        # Deleted first: a request that arrives while this is recorded introduces the client again.
        del self._known[name, version]
        await self._left(name, version)

    async def _left(self, name: str, version: str) -> None:
        await self._record(client_left(name, version, self._role))
        if self._presence is not None:
            await self._presence.left(name)

    async def _record(self, what: Happening) -> None:
        if self._merger is not None:
            await self._merger.merge(Happened(what))

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
