"""The hub: who is subscribed to what, and the delivery to each client at its own pace.

Publishing never waits for a client. Resource updates are level-triggered, so a client's mailbox holds each URI once,
however often it was published; `list_changed` is an edge and is queued every time. A client that does not read holds
up its own mailbox and nobody else's.

A notification carries the URI as the client spelled it; spellings of the same resource share one debounce.
"""

from collections import deque

import trio
from msgspec import Struct

from trio_debugmcp.publish.debounce import MAX_WAIT_SECONDS, QUIET_SECONDS, Debouncer
from trio_debugmcp.state.resources import canonical

MAX_QUEUED_EDGES = 64
"""`list_changed` notifications queued for a client that does not read; past that it learns nothing new from another."""

MAX_SUBSCRIPTIONS = 1000
"""Per client; a session has a handful of resources and some hundred sources."""


class ListChanged(Struct, frozen=True):
    """The list of resources has changed."""


class Updated(Struct, frozen=True):
    """A subscribed resource has changed."""

    uri: str


Notice = ListChanged | Updated


class TooManySubscriptions(Exception):
    """The client holds `MAX_SUBSCRIPTIONS` already."""


class Subscriber:
    """One client: its subscriptions and its mailbox. Made by `Hub.join`."""

    def __init__(self, hub: "Hub", *, wants_list_changes: bool) -> None:
        self.wants_list_changes = wants_list_changes
        self._hub = hub
        self._spellings: dict[str, set[str]] = {}
        self._mailbox: deque[Notice] = deque()
        self._updates_queued: set[str] = set()
        self._edges_queued = 0
        self._mail = trio.Event()

    def subscribe(self, uri: str) -> None:
        """Tell this client of changes of `uri`; doing it twice is the same as once.

        Raises:
            TooManySubscriptions: the bound per client is reached.
        """
        if sum(map(len, self._spellings.values())) >= MAX_SUBSCRIPTIONS and uri not in self.spellings(canonical(uri)):
            raise TooManySubscriptions
        self._spellings.setdefault(canonical(uri), set()).add(uri)

    def unsubscribe(self, uri: str) -> None:
        """Tell this client nothing more of `uri`, not even what is waiting in its mailbox."""
        key = canonical(uri)
        spellings = self._spellings.get(key, set())
        spellings.discard(uri)
        if not spellings:
            self._spellings.pop(key, None)
        if uri in self._updates_queued:
            self._updates_queued.discard(uri)
            self._mailbox.remove(Updated(uri))
        self._hub.lost_interest(key)

    def spellings(self, key: str) -> set[str]:
        """How this client spelled the resource with that canonical URI; empty if it is not subscribed."""
        return self._spellings.get(key, set())

    def leave(self) -> None:
        """The client is gone."""
        keys = list(self._spellings)
        self._spellings.clear()
        self._mailbox.clear()
        self._updates_queued.clear()
        self._hub.forget(self, keys)

    def put(self, notice: Notice) -> None:
        """Queue a notice; called by the hub."""
        match notice:
            case Updated(uri=uri):
                if uri in self._updates_queued:
                    return
                self._updates_queued.add(uri)
            case ListChanged():
                if self._edges_queued >= MAX_QUEUED_EDGES:
                    return
                self._edges_queued += 1
        self._mailbox.append(notice)
        self._mail.set()

    async def take(self) -> Notice:
        """Wait for the next notice. One task per client takes."""
        while not self._mailbox:
            self._mail = trio.Event()
            await self._mail.wait()
        notice = self._mailbox.popleft()
        match notice:
            case Updated(uri=uri):
                self._updates_queued.discard(uri)
            case ListChanged():
                self._edges_queued -= 1
        return notice


class Hub:
    """Publishes to the subscribers; it is the merger's audience."""

    def __init__(
        self, nursery: trio.Nursery, *, quiet: float = QUIET_SECONDS, max_wait: float = MAX_WAIT_SECONDS
    ) -> None:
        self._subscribers: dict[Subscriber, None] = {}
        self._debouncer = Debouncer(nursery, self._publish, quiet=quiet, max_wait=max_wait)

    def join(self, *, wants_list_changes: bool = True) -> Subscriber:
        """A new client; it must `leave`."""
        subscriber = Subscriber(self, wants_list_changes=wants_list_changes)
        self._subscribers[subscriber] = None
        return subscriber

    def touched(self, uris: set[str]) -> None:
        """Resources changed: those with a subscriber will be published when they have settled."""
        for uri in sorted(uris):
            if self._interested(uri):
                self._debouncer.poke(uri)

    def listed(self) -> None:
        """The resources appeared or disappeared: pending updates first, then the edge, at once."""
        self._debouncer.flush()
        for subscriber in self._subscribers:
            if subscriber.wants_list_changes:
                subscriber.put(ListChanged())

    def lost_interest(self, key: str) -> None:
        """A client has unsubscribed: if it was the last, nothing is pending any more."""
        if not self._interested(key):
            self._debouncer.drop(key)

    def forget(self, subscriber: Subscriber, keys: list[str]) -> None:
        """A client is gone, with these subscriptions."""
        self._subscribers.pop(subscriber, None)
        for key in keys:
            self.lost_interest(key)

    def _interested(self, key: str) -> bool:
        return any(subscriber.spellings(key) for subscriber in self._subscribers)

    def _publish(self, key: str) -> None:
        for subscriber in self._subscribers:
            for uri in sorted(subscriber.spellings(key)):
                subscriber.put(Updated(uri))
