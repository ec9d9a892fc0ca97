"""Which resources the user wants to subscribe to, and which subscriptions the server has confirmed.

Desired state, the same in both eras. Owns the holders of each URI (an explicit `subscribe_to_resource`, any number of
`subscribed()` blocks), the confirmed set, and the mailboxes of the blocks. Sends nothing: a task of the connection, in
`reconcile`, subscribes and unsubscribes until the server has what is wanted, and records the result here.

    await subscriptions.hold(uri, EXPLICIT)     # returns when the server has confirmed it
    subscriptions.release(uri, EXPLICIT)

What is wanted outlives a lost connection. So re-subscribing after a reconnect needs no code of its own: on a new
connection nothing is confirmed, and `reconcile` sees the difference.

A URI counts from the moment it is wanted, which is before the request is written: an update that overtakes the response
is not missed.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self

import trio
from msgspec import Struct

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.events import ResourceSubscriptionsChange, ResourceUpdated, UpdateCause

Holder = object
EXPLICIT: Holder = "subscribe_to_resource"
"""The holder of subscriptions that last until they are explicitly ended; at most one per URI."""


class Updates:
    """The updates of one resource, latest only: a slow reader gets the last one, which is what matters.

    Iterating raises `ConnectionLost` when the connection is lost for good.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._pending: ResourceUpdated | None = None
        self._failure: Exception | None = None
        self._news = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<Updates of {self.uri}{', one waiting' if self._pending is not None else ''}>"

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ResourceUpdated:
        await trio.lowlevel.checkpoint()
        while self._pending is None:
            if self._failure is not None:
                raise self._failure
            await self._news.park()
        update, self._pending = self._pending, None
        return update

    def put(self, update: ResourceUpdated) -> None:
        """Replace what was not read yet."""
        self._pending = update
        self._news.unpark_all()

    def fail(self, error: Exception) -> None:
        """End with `error`, after an update that was not read yet."""
        self._failure = error
        self._news.unpark_all()


class _Waiter:
    """A caller that waits for a subscription to be confirmed or refused."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.failure: Exception | None = None


class SubscriptionsStatistics(Struct, frozen=True):
    """`Subscriptions.statistics()`.

    Attributes:
        wanted: URIs that are held.
        confirmed: URIs that the server has confirmed.
        waiting: callers that wait for a confirmation.
        blocks: open `subscribed()` blocks.
    """

    wanted: int
    confirmed: int
    waiting: int
    blocks: int


class Subscriptions:
    """See the module's docstring. It has methods for users, and for `reconcile`.

    Args:
        bus: where changes are announced.
        on_change: called with the confirmed URIs, for the cache to pin.
    """

    def __init__(self, bus: EventBus, on_change: Callable[[frozenset[str]], None]) -> None:
        self._bus = bus
        self._on_change = on_change
        self._holders: dict[str, set[Holder]] = {}
        self._confirmed: dict[str, None] = {}  # a set that keeps its order
        self._waiters: set[_Waiter] = set()
        self._mailboxes: set[Updates] = set()
        self._news = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<Subscriptions: {len(self._holders)} wanted, {len(self._confirmed)} confirmed>"

    @property
    def wanted(self) -> frozenset[str]:
        """URIs that have a holder."""
        return frozenset(self._holders)

    @property
    def confirmed(self) -> tuple[str, ...]:
        """URIs that the server has confirmed, in that order."""
        return tuple(self._confirmed)

    def statistics(self) -> SubscriptionsStatistics:
        """How many URIs are wanted and confirmed, and how many tasks wait for it."""
        return SubscriptionsStatistics(
            len(self._holders), len(self._confirmed), len(self._waiters), len(self._mailboxes)
        )

    # --- What the user wants ------------------------------------------------------------------------------------------

    async def hold(self, uri: str, holder: Holder) -> None:
        """Want `uri` on behalf of `holder`, and wait until the server has confirmed it.

        If this is cancelled or refused, the holder does not want it any more.

        Raises:
            MCPError: the server refused.
            ConnectionLost: the connection is lost for good.
        """
        waiter = _Waiter(uri)
        self._waiters.add(waiter)
        self._holders.setdefault(uri, set()).add(holder)
        self._news.unpark_all()
        try:
            while uri not in self._confirmed:
                # Of this waiter only: an earlier refusal of the same URI must not end a new attempt.
                if waiter.failure is not None:
                    raise waiter.failure
                await self._news.park()
        except BaseException:
            self.release(uri, holder)
            raise
        finally:
            self._waiters.discard(waiter)

    def release(self, uri: str, holder: Holder) -> None:
        """Stop wanting `uri` on behalf of `holder`; without holders it is unsubscribed."""
        holders = self._holders.get(uri, set())
        holders.discard(holder)
        if not holders and self._holders.pop(uri, None) is not None:
            self._news.unpark_all()

    @asynccontextmanager
    async def mailbox(self, uri: str) -> AsyncIterator[Updates]:
        """Hold `uri` for the length of a block, and yield its updates."""
        updates = Updates(uri)
        self._mailboxes.add(updates)  # first: an update may overtake the confirmation
        try:
            await self.hold(uri, updates)
            yield updates
        finally:
            self._mailboxes.discard(updates)
            self.release(uri, updates)

    def updated(self, uri: str, cause: UpdateCause) -> None:
        """Announce that `uri` changed. The caller has marked the cache, so that a listener finds it stale already."""
        event = ResourceUpdated(uri=uri, cause=cause)
        for updates in self._mailboxes:
            if updates.uri == uri:
                updates.put(event)
        self._bus.publish(event)

    # --- What `reconcile` waits for, and records ----------------------------------------------------------------------

    async def wait_changed(self) -> None:
        """Wait until the wanted or the confirmed set changes.

        No change is missed if there is no checkpoint between reading the sets and calling this.
        """
        await self._news.park()

    async def wait_settled(self, uri: str) -> None:
        """Wait until the server serves `uri` if it is wanted, or does not if it is not."""
        while (uri in self._holders) != (uri in self._confirmed):
            await self._news.park()

    def wake(self) -> None:
        """Wake `wait_changed` although neither set changed: something else did."""
        self._news.unpark_all()

    def confirm(self, uris: frozenset[str]) -> None:
        """Record that the server serves exactly `uris`. What is wanted stays wanted."""
        if uris == self._confirmed.keys():
            return
        kept = [uri for uri in self._confirmed if uri in uris]
        self._confirmed = dict.fromkeys(kept + sorted(uris - self._confirmed.keys()))
        self._on_change(uris)
        self._bus.publish(ResourceSubscriptionsChange(uris=self.confirmed))
        self._news.unpark_all()

    def refuse(self, uri: str, error: Exception) -> bool:
        """Record that the server does not serve `uri`, and remove all its holders.

        Returns:
            Whether a caller waited for the confirmation, and so gets the error.
        """
        waiting = [waiter for waiter in self._waiters if waiter.uri == uri]
        for waiter in waiting:
            waiter.failure = error
        self._holders.pop(uri, None)
        for updates in self._mailboxes:
            if updates.uri == uri:
                updates.fail(error)
        self._news.unpark_all()
        return bool(waiting)

    def abandon(self, error: Exception) -> None:
        """Refuse everything that is wanted: there will be no next connection."""
        for uri in self.wanted:
            self.refuse(uri, error)
