"""`SubscriptionRequests`: what one connection is subscribed to, in both protocol eras.

The handshake era subscribes with `resources/subscribe` and is notified on the connection; the modern era opens
`subscriptions/listen` streams. The same hub serves both: a connection is one subscriber, and each stream is another.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import mcp_types as types
import trio
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from msgspec import Struct

from trio_debugmcp.publish.hub import Hub, Subscriber, SubscriberStatistics, TooManySubscriptions
from trio_debugmcp.server.answers.resource_pages import page_named
from trio_debugmcp.server.delivery import acknowledge, deliver
from trio_debugmcp.server.logs import LogRelay
from trio_debugmcp.server.resource_templates import unknown_resource
from trio_debugmcp.state.resources import canonical, source_path
from trio_debugmcp.state.session_resources import find, resource_of
from trio_debugmcp.state.stop_resource import stop_number

MAX_STREAMS = 100
"""Open `subscriptions/listen` streams of a client, which needs one, or one for each thing that it watches. Over HTTP
all modern clients share a server; there each stream takes a connection, and these are bounded for each role."""

Context = ServerRequestContext[Any, Any]


class ConnectionStatistics(Struct, frozen=True):
    """How many `subscriptions/listen` streams are open, and what the connection itself is subscribed to, if at all."""

    streams: int
    subscriber: SubscriberStatistics | None


class SubscriptionRequests:
    """The requests about subscriptions on one connection, which `delivered` ends, and its log level."""

    def __init__(self, hub: Hub, logs: LogRelay, *, shared: bool) -> None:
        self._hub = hub
        self._logs = logs
        self._listening = 0
        self._max_streams = inf if shared else MAX_STREAMS
        self._subscriber: Subscriber | None = None
        self._nursery: trio.Nursery | None = None

    def __repr__(self) -> str:
        return f"<SubscriptionRequests: {self._listening} streams, subscriber={self._subscriber!r}>"

    def statistics(self) -> ConnectionStatistics:
        """Return what this connection is subscribed to at this moment."""
        subscriber = None if self._subscriber is None else self._subscriber.statistics()
        return ConnectionStatistics(streams=self._listening, subscriber=subscriber)

    @contextmanager
    def delivered(self, nursery: trio.Nursery) -> Iterator[None]:
        """Deliver notifications by tasks in the nursery; at the end of the block the subscriptions are closed."""
        self._nursery = nursery
        try:
            yield
        finally:
            if self._subscriber is not None:
                self._logs.forget(self._subscriber)
                self._subscriber.close()

    async def begin(self, ctx: Context, params: types.NotificationParams) -> None:
        """Start the notifications of a client of the handshake era, which is ready for them from this message on."""
        self._connection_subscriber(ctx.session)

    def _connection_subscriber(self, sdk_session: ServerSession) -> Subscriber:
        # Not made with the connection: one of the modern era gets notifications on its streams alone.
        if self._subscriber is None:
            self._subscriber = self._hub.open_subscriber()
            if self._nursery is not None:
                self._nursery.start_soon(deliver, self._subscriber, sdk_session)
        return self._subscriber

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        uri = str(params.uri)
        _check_uri(uri)
        try:
            self._connection_subscriber(ctx.session).subscribe(uri)
        except TooManySubscriptions:
            raise _too_many() from None
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        if self._subscriber is not None:
            self._subscriber.unsubscribe(str(params.uri))
        return types.EmptyResult()

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve one stream of the modern era, until its request is cancelled."""
        if ctx.request_id is None:
            raise MCPError(code=INVALID_REQUEST, message="subscriptions/listen must be a request with an id")
        if self._listening >= self._max_streams:
            raise _too_many()
        wanted = params.notifications
        subscriber = self._hub.open_subscriber(wants_list_changes=bool(wanted.resources_list_changed))
        self._listening += 1
        try:
            # Subscribe before the acknowledgement: a change that happens while that is sent is not lost.
            for uri in wanted.resource_subscriptions or ():
                _check_uri(str(uri))
                subscriber.subscribe(str(uri))
            await acknowledge(wanted, ctx.session, ctx.request_id)
            await deliver(subscriber, ctx.session, ctx.request_id, subscription=True)
        except TooManySubscriptions:
            raise _too_many() from None
        finally:
            self._listening -= 1
            subscriber.close()

    async def set_log_level(self, ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        self._logs.set_level(self._connection_subscriber(ctx.session), params.level)
        return types.EmptyResult()


def _check_uri(uri: str) -> None:
    """Refuse a subscription to a resource that can never exist; whether it exists now does not matter."""
    whole, _ = page_named(uri)
    known = resource_of(canonical(whole)), source_path(uri), find(whole), stop_number(whole)
    if all(each is None for each in known):
        raise MCPError(code=INVALID_PARAMS, message=unknown_resource(), data={"uri": uri})
    if whole != uri:
        raise MCPError(code=INVALID_PARAMS, message=f"Subscribe to {whole}, and read its pages", data={"uri": uri})


def _too_many() -> MCPError:
    return MCPError(
        code=INVALID_PARAMS, message="Too many subscriptions on this connection: unsubscribe from some first"
    )
