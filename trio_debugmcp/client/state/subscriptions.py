"""Which resources the user wants to hear of, and which of them the server has confirmed.

Desired state, whatever the era. Owns the holders of each URI (an explicit `subscribe_to_resource`, any number
of `subscribed()` blocks), the confirmed set, and the mailboxes of the blocks. Asks nothing of the server: a
*keeper* task of the connection's era (`keepers`) brings the server to what is wanted and reports back here.

A URI counts from the moment it is wanted, which is before the request is written: an update that overtakes
the response is heard.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self

import trio

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.events import ResourceSubscriptionsChange, ResourceUpdated, UpdateCause

Holder = object
EXPLICIT: Holder = "subscribe_to_resource"
"""The holder of subscriptions that last until they are explicitly ended; there is one of it per URI."""


class Updates:
    """The updates of one resource, latest only: a slow reader misses all but the last, which is what matters.

    Iterating raises `ConnectionLost` when the connection is gone for good.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._pending: ResourceUpdated | None = None
        self._failure: Exception | None = None
        self._news = trio.lowlevel.ParkingLot()

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
        """No more updates will come."""
        self._failure = error
        self._news.unpark_all()


class _Wish:
    """Someone who waits for a subscription to be confirmed, or refused."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.failure: Exception | None = None


class Subscriptions:
    """See the module's docstring.

    Args:
        bus: where changes are announced.
        on_change: called with the confirmed URIs, for the cache to pin.
    """

    def __init__(self, bus: EventBus, on_change: Callable[[frozenset[str]], None]) -> None:
        self._bus = bus
        self._on_change = on_change
        self._holders: dict[str, set[Holder]] = {}
        self._confirmed: dict[str, None] = {}  # a set that keeps its order
        self._wishes: set[_Wish] = set()
        self._mailboxes: set[Updates] = set()
        self._news = trio.lowlevel.ParkingLot()

    @property
    def wanted(self) -> frozenset[str]:
        """URIs that someone holds."""
        return frozenset(self._holders)

    @property
    def confirmed(self) -> tuple[str, ...]:
        """URIs that the server has confirmed, in that order."""
        return tuple(self._confirmed)

    async def wait_news(self) -> None:
        """Until the wanted or the confirmed set changes.

        There is no await between a look at them and the wait, so none is missed.
        """
        await self._news.park()

    def poke(self) -> None:
        """Let the keeper look again: its own means have changed."""
        self._news.unpark_all()

    async def hold(self, uri: str, holder: Holder) -> None:
        """Want `uri` on behalf of `holder`, and wait until the server has confirmed it.

        Cancelled or refused, the holder does not want it any more.

        Raises:
            MCPError: the server refused.
            ConnectionLost: the connection is gone for good.
        """
        wish = _Wish(uri)
        self._wishes.add(wish)
        self._holders.setdefault(uri, set()).add(holder)
        self._news.unpark_all()
        try:
            while uri not in self._confirmed:
                if wish.failure is not None:
                    raise wish.failure
                await self._news.park()
        except BaseException:
            self.let_go(uri, holder)
            raise
        finally:
            self._wishes.discard(wish)

    def let_go(self, uri: str, holder: Holder) -> None:
        """`holder` does not want `uri` any more; the keeper tells the server when no one does."""
        holders = self._holders.get(uri, set())
        holders.discard(holder)
        if not holders and self._holders.pop(uri, None) is not None:
            self._news.unpark_all()

    async def wait_settled(self, uri: str) -> None:
        """Until the server does, or is known not to, serve `uri` as is wanted."""
        while (uri in self._holders) != (uri in self._confirmed):
            await self._news.park()

    @asynccontextmanager
    async def mailbox(self, uri: str) -> AsyncIterator[Updates]:
        """`uri`, held for the length of a block."""
        updates = Updates(uri)
        self._mailboxes.add(updates)
        try:
            await self.hold(uri, updates)
            yield updates
        finally:
            self._mailboxes.discard(updates)
            self.let_go(uri, updates)

    def updated(self, uri: str, cause: UpdateCause) -> None:
        """Announce that `uri` changed.

        The caller has seen to the cache, so that a listener finds it stale already.
        """
        event = ResourceUpdated(uri=uri, cause=cause)
        for updates in self._mailboxes:
            if updates.uri == uri:
                updates.put(event)
        self._bus.publish(event)

    # What a keeper reports.

    def confirm(self, uris: frozenset[str]) -> None:
        """Note that the server serves exactly `uris`."""
        if uris == self._confirmed.keys():
            return
        kept = [uri for uri in self._confirmed if uri in uris]
        self._confirmed = dict.fromkeys(kept + sorted(uris - self._confirmed.keys()))
        self._changed()

    def refuse(self, uri: str, error: Exception) -> bool:
        """Note that the server does not serve `uri`, and let no one hold it any more.

        Returns whether someone was waiting to be told.
        """
        waiting = [wish for wish in self._wishes if wish.uri == uri]
        for wish in waiting:
            wish.failure = error
        self._holders.pop(uri, None)
        for updates in self._mailboxes:
            if updates.uri == uri:
                updates.fail(error)
        self._news.unpark_all()
        return bool(waiting)

    def connection_over(self) -> None:
        """Take nothing as confirmed any more; what is wanted stays wanted, for the next connection."""
        if self._confirmed:
            self._confirmed = {}
            self._changed()

    def abandon(self, error: Exception) -> None:
        """Want nothing any more: there will be no next connection."""
        for uri in self.wanted:
            self.refuse(uri, error)

    def _changed(self) -> None:
        self._on_change(frozenset(self._confirmed))
        self._bus.publish(ResourceSubscriptionsChange(uris=self.confirmed))
        self._news.unpark_all()
