"""Subscribes and unsubscribes until the server has what is wanted, also after a reconnect: one reconciler per era.

A reconciler compares the wanted subscriptions with the confirmed ones whenever either changes, and acts on the
difference, whatever its cause. So a new subscription, a cancelled one and re-subscribing after a reconnect are the same
code.

- Handshake era, `reconcile_subscriptions`: one `resources/subscribe` or `unsubscribe` per URI, one request at a time
  for each URI, some URIs at once.
- Modern era, `ListenReconciler`: one `subscriptions/listen` stream for all URIs and `list_changed` opt-ins. To change
  the filter a new stream is opened and acknowledged *before* the old one is closed, so that there is no gap; a change
  in between may be reported twice. A stream that is lost is opened again, and everything that it covered is taken as
  changed.
"""

from collections.abc import Callable

import trio
from mcp import Client, MCPError, types
from mcp.client.subscriptions import Subscription, SubscriptionLost
from mcp.shared.dispatcher import ProgressFnT
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.connection.client_connection import ClientConnection
from trio_debugmcp.client.events import ErrorEvent
from trio_debugmcp.client.options import Reconnect
from trio_debugmcp.client.state.lists import FETCH_ERRORS
from trio_debugmcp.client.state.subscriptions import Subscriptions

MAX_SUBSCRIBES = 8
"""Requests in flight when many URIs are subscribed to again; a server should not be flooded as soon as it is up."""

LISTEN_RETRY = Reconnect(first_delay=0.5, max_delay=15.0, attempts=8)
"""When a lost listen stream is opened again."""

STABLE_SECONDS = 30.0
"""After a stream that has lasted longer than this, the attempts are counted from the first again."""


# --- Handshake era ----------------------------------------------------------------------------------------------------


async def reconcile_subscriptions(connection: ClientConnection, subscriptions: Subscriptions, bus: EventBus) -> None:
    """Subscribe and unsubscribe with the requests of the handshake era, until cancelled.

    Error handling: a refusal is raised to the caller that waits for the subscription; if there is none, as after a
    reconnect, it is an `error` event.
    """
    limiter = trio.CapacityLimiter(MAX_SUBSCRIBES)
    busy: set[str] = set()

    async def converge(uri: str) -> None:
        async with limiter:
            # A loop: what is wanted may change while the request is under way, and a second request for the same URI
            # must not overtake the first.
            while (subscribe := uri in subscriptions.wanted) != (uri in subscriptions.confirmed):
                await _request(connection, subscriptions, bus, uri, subscribe=subscribe)
            busy.discard(uri)

    async with trio.open_nursery() as nursery:
        while True:
            for uri in (subscriptions.wanted ^ frozenset(subscriptions.confirmed)) - busy:
                busy.add(uri)
                nursery.start_soon(converge, uri, name=f"subscription of {uri}")
            await subscriptions.wait_changed()


async def _request(
    connection: ClientConnection, subscriptions: Subscriptions, bus: EventBus, uri: str, *, subscribe: bool
) -> None:
    request: types.SubscribeRequest | types.UnsubscribeRequest
    if subscribe:
        request = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
    else:
        request = types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri))
    try:
        await connection.call(request.method, lambda sdk, _: sdk.session.send_request(request, types.EmptyResult))
    except FETCH_ERRORS as error:
        # A refused subscription is raised to the caller that waits for it. A refused `unsubscribe` counts as done:
        # repeating it would not help, and updates of what is not wanted are ignored.
        if not subscribe or not subscriptions.refuse(uri, error):
            bus.publish(ErrorEvent(message=f"{request.method} {uri} failed: {error}", error=error))
        if subscribe:
            return
    confirmed = frozenset(subscriptions.confirmed)
    subscriptions.confirm(confirmed | {uri} if subscribe else confirmed - {uri})


# --- Modern era -------------------------------------------------------------------------------------------------------


class ListenFilter(Struct, frozen=True):
    """What one listen stream is asked to report."""

    uris: frozenset[str] = frozenset()
    tools: bool = False
    resources: bool = False
    prompts: bool = False

    def __bool__(self) -> bool:
        return bool(self.uris or self.tools or self.resources or self.prompts)


class _Stream:
    """One listen stream: `honored` is set once it is acknowledged, `end` once it has ended by itself."""

    def __init__(self, opened: float) -> None:
        self.opened = opened
        self.scope = trio.CancelScope()
        self.honored: frozenset[str] | None = None
        self.end: Exception | None = None


class ListenReconciler:
    """Keeps one `subscriptions/listen` stream open, with the filter that is wanted.

    Args:
        connection: of the modern era.
        subscriptions: what is wanted, and where the result is recorded.
        bus: where a lost stream is reported.
        opt_ins: the `list_changed` flags that the filter always has.
        on_gap: called when notifications may have been missed, after the stream is open again.
    """

    def __init__(
        self,
        connection: ClientConnection,
        subscriptions: Subscriptions,
        bus: EventBus,
        *,
        opt_ins: ListenFilter,
        on_gap: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._subscriptions = subscriptions
        self._bus = bus
        self._opt_ins = opt_ins
        self._on_gap = on_gap
        self._stream: _Stream | None = None
        self._filter = ListenFilter()
        """What the open stream reports, or what was given up on: nothing is done while it equals what is wanted."""
        self._gap = False
        self._failures = 0
        self._not_before = float("-inf")

    def __repr__(self) -> str:
        state = "listening" if self._stream is not None and self._stream.end is None else "not listening"
        return f"<ListenReconciler, {state}, {len(self._filter.uris)} URIs>"

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled; started when the first attempt to listen is over, with or without success.

        Resource handling: the tasks that hold the streams end with this one.

        Error handling: a lost stream is opened again with backoff; when that is given up, what was to be added is
        refused, and an `error` event gives the reason.
        """
        async with trio.open_nursery() as nursery:
            await self._step(nursery)
            task_status.started()
            while True:
                # No checkpoint between the comparison and the wait, so that no change is missed.
                if self._settled():
                    await self._subscriptions.wait_changed()
                else:
                    await self._step(nursery)

    def _settled(self) -> bool:
        if (goal := self._wanted()) != self._filter:
            return False
        return not goal or (self._stream is not None and self._stream.end is None)

    def _wanted(self) -> ListenFilter:
        flags = self._opt_ins
        return ListenFilter(self._subscriptions.wanted, flags.tools, flags.resources, flags.prompts)

    async def _step(self, nursery: trio.Nursery) -> None:
        """Try once to replace the open stream by the one that is wanted."""
        self._record_loss()
        await trio.sleep_until(self._not_before)
        goal = self._wanted()  # only now: more may be wanted after the pause
        if not goal:
            self._take_over(None, goal)
            self._subscriptions.confirm(frozenset())
            return
        try:
            await self._replace(nursery, goal)
        except FETCH_ERRORS as error:
            self._failed(goal, error)

    async def _replace(self, nursery: trio.Nursery, goal: ListenFilter) -> None:
        stream = _Stream(opened=trio.current_time())

        async def listen(_sdk: Client, _progress: ProgressFnT) -> None:
            await nursery.start(self._hold, stream, goal)

        await self._connection.call("subscriptions/listen", listen)
        self._take_over(stream, goal)  # not before the acknowledgement: until then the old stream reports
        honored = stream.honored or frozenset()
        self._subscriptions.confirm(honored & self._subscriptions.wanted)
        for uri in goal.uris - honored:
            self._subscriptions.refuse(uri, _not_honored(uri))
        self._filter = replace(goal, uris=honored & goal.uris)
        if self._gap:
            self._gap = False
            self._on_gap()

    def _take_over(self, stream: _Stream | None, goal: ListenFilter) -> None:
        old, self._stream, self._filter = self._stream, stream, goal
        if old is not None:
            old.scope.cancel("a stream with another filter took over")

    async def _hold(
        self,
        stream: _Stream,
        goal: ListenFilter,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Listen until the stream ends or is cancelled; started when it is acknowledged."""
        with stream.scope:
            try:
                async with self._connection.sdk.listen(
                    tools_list_changed=goal.tools,
                    prompts_list_changed=goal.prompts,
                    resources_list_changed=goal.resources,
                    resource_subscriptions=sorted(goal.uris),
                ) as subscription:
                    if not any(subscription.honored.model_dump().values()):
                        # This is how the SDK presents a stream that was closed before its acknowledgement: it is
                        # lost, to be opened again, and not refused.
                        raise SubscriptionLost("it was closed at once, or reports nothing of what was asked for")
                    stream.honored = frozenset(subscription.honored.resource_subscriptions or ())
                    task_status.started()
                    await _exhaust(subscription)
                stream.end = SubscriptionLost("the server closed it")
            except SubscriptionLost as error:
                if stream.honored is None:
                    raise  # to `_replace`, which still waits for the acknowledgement
                stream.end = error
        self._subscriptions.wake()

    def _record_loss(self) -> None:
        stream = self._stream
        if stream is None or stream.end is None:
            return
        self._stream = None
        self._gap = True
        # Only a stream that has lasted resets the count; one that is closed at once, again and again, backs off.
        if trio.current_time() - stream.opened > STABLE_SECONDS:
            self._failures = 0
        self._back_off()
        self._bus.publish(
            ErrorEvent(message=f"The listen stream ended and will be opened again: {stream.end}", error=stream.end)
        )

    def _back_off(self) -> None:
        self._not_before = trio.current_time() + LISTEN_RETRY.delay(self._failures)
        self._failures += 1

    def _failed(self, goal: ListenFilter, error: Exception) -> None:
        """Accept a refusal of what was added as final; after any other failure retry, a limited number of times."""
        self._gap = self._gap or self._stream is None
        refused = isinstance(error, MCPError) and error.code != types.REQUEST_TIMEOUT
        if not refused and self._failures < LISTEN_RETRY.attempts:
            self._back_off()
            return
        self._bus.publish(ErrorEvent(message=f"subscriptions/listen failed: {error}", error=error))
        self._failures = 0
        kept = self._filter.uris if self._stream is not None else frozenset()
        for uri in goal.uris - kept:
            self._subscriptions.refuse(uri, error)
        if self._stream is None:
            self._opt_ins = ListenFilter()  # the lists are not followed from now on; they can still be fetched
            self._subscriptions.confirm(frozenset())
        self._filter = self._wanted()  # an open stream that reports too much does no harm


async def _exhaust(stream: Subscription) -> None:
    """Wait until the server ends the stream. What it reports has been seen by the tap already."""
    async for _ in stream:
        pass


def _not_honored(uri: str) -> Exception:
    return MCPError(types.INVALID_PARAMS, f"The server does not report updates of {uri}", {"uri": uri})
