"""The hub: who is subscribed to what, and the delivery to each client at its own pace.

Publishing never waits for a client. Resource updates are level-triggered, so a client's mailbox holds each URI once,
however often it was published; `list_changed` is an edge and is queued every time. Log messages come last, and the
oldest give way. A client that does not read holds up its own mailbox and nobody else's.

A notification carries the URI as the client spelled it; spellings of the same resource share one debounce.
"""

from collections import deque

import trio
from mcp_types import LoggingLevel
from msgspec import Struct

from trio_debugmcp.publish.debounce import MAX_WAIT_SECONDS, QUIET_SECONDS, Debouncer
from trio_debugmcp.state.resources import canonical

MAX_QUEUED_EDGES = 64
"""`list_changed` notifications queued for a client that does not read; past that it learns nothing new from another."""

MAX_SUBSCRIPTIONS = 1000
"""Per client; a session has a handful of resources and some hundred sources."""

MAX_QUEUED_LOGS = 100
"""Log messages queued for a client that does not read; past that the oldest are dropped, and it is told how many."""


class ListChanged(Struct, frozen=True):
    """The list of resources has changed."""


class Updated(Struct, frozen=True):
    """A subscribed resource has changed."""

    uri: str


class Logged(Struct, frozen=True):
    """A log message; `level` is MCP's word for it."""

    level: LoggingLevel
    logger: str
    text: str


Notice = ListChanged | Updated | Logged


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
        self._logs: deque[Logged] = deque()
        self._logs_dropped = 0
        self._ending = False
        self._mail = trio.Event()

    def subscribe(self, uri: str) -> None:
        """Tell this client of changes of `uri`; doing it twice is the same as once.

        Raises:
            TooManySubscriptions: the bound per client is reached.
        """
        if sum(map(len, self._spellings.values())) >= MAX_SUBSCRIPTIONS and uri not in self.spellings(canonical(uri)):
            raise TooManySubscriptions
        key = canonical(uri)
        self._spellings.setdefault(key, set()).add(uri)
        self._hub.gained_interest(self, key)

    def unsubscribe(self, uri: str) -> None:
        """Tell this client nothing more of `uri`, not even what is waiting in its mailbox."""
        key = canonical(uri)
        spellings = self._spellings.get(key, set())
        spellings.discard(uri)
        if uri in self._updates_queued:
            self._updates_queued.discard(uri)
            self._mailbox.remove(Updated(uri))
        if not spellings and self._spellings.pop(key, None) is not None:
            self._hub.lost_interest(self, key)

    def spellings(self, key: str) -> set[str]:
        """How this client spelled the resource with that canonical URI; empty if it is not subscribed."""
        return self._spellings.get(key, set())

    def leave(self) -> None:
        """The client is gone."""
        keys = list(self._spellings)
        self._spellings.clear()
        self._mailbox.clear()
        self._updates_queued.clear()
        self._logs.clear()
        self._hub.forget(self, keys)

    def end(self) -> None:
        """Whoever takes shall take what is there, and then no more."""
        self._ending = True
        self._mail.set()

    def put(self, notice: Notice) -> None:
        """Queue a notice; called by the hub, and with log messages by the log relay."""
        match notice:
            case Updated(uri=uri):
                if uri in self._updates_queued:
                    return
                self._updates_queued.add(uri)
            case ListChanged():
                if self._edges_queued >= MAX_QUEUED_EDGES:
                    return
                self._edges_queued += 1
            case Logged():
                self._put_log(notice)
                return
        self._mailbox.append(notice)
        self._mail.set()

    def _put_log(self, logged: Logged) -> None:
        if len(self._logs) >= MAX_QUEUED_LOGS:
            self._logs.popleft()
            self._logs_dropped += 1
        self._logs.append(logged)
        self._mail.set()

    async def take(self) -> Notice:
        """Wait for the next notice. One task per client takes.

        Raises:
            trio.EndOfChannel: there is nothing left, and `end` was called.
        """
        while not self._mailbox:
            if self._logs:
                return self._take_log()
            if self._ending:
                raise trio.EndOfChannel
            self._mail = trio.Event()
            await self._mail.wait()
        notice = self._mailbox.popleft()
        match notice:
            case Updated(uri=uri):
                self._updates_queued.discard(uri)
            case ListChanged():
                self._edges_queued -= 1
            case Logged():
                pass
        return notice

    def _take_log(self) -> Logged:
        if self._logs_dropped:
            dropped, self._logs_dropped = self._logs_dropped, 0
            return Logged(
                "warning", __name__, f"{dropped} earlier log messages were dropped: they were not read in time"
            )
        return self._logs.popleft()


class Hub:
    """Publishes to the subscribers; it is the merger's listener."""

    def __init__(
        self, nursery: trio.Nursery, *, quiet: float = QUIET_SECONDS, max_wait: float = MAX_WAIT_SECONDS
    ) -> None:
        self._subscribers: dict[Subscriber, None] = {}
        self._audiences: dict[str, dict[Subscriber, None]] = {}
        self._debouncer = Debouncer(nursery, self._publish, quiet=quiet, max_wait=max_wait)

    def join(self, *, wants_list_changes: bool = True) -> Subscriber:
        """A new client; it must `leave`."""
        subscriber = Subscriber(self, wants_list_changes=wants_list_changes)
        self._subscribers[subscriber] = None
        return subscriber

    def resources_updated(self, uris: set[str]) -> None:
        """Resources changed: those with a subscriber will be published when they have settled."""
        self._debouncer.poke(*(uri for uri in sorted(uris) if uri in self._audiences))

    def list_changed(self) -> None:
        """The resources appeared or disappeared: pending updates first, then the edge, at once."""
        self._debouncer.flush()
        for subscriber in self._subscribers:
            if subscriber.wants_list_changes:
                subscriber.put(ListChanged())

    def gained_interest(self, subscriber: Subscriber, key: str) -> None:
        """A client has subscribed."""
        self._audiences.setdefault(key, {})[subscriber] = None

    def lost_interest(self, subscriber: Subscriber, key: str) -> None:
        """A client has unsubscribed: if it was the last, nothing is pending any more."""
        audience = self._audiences[key]
        del audience[subscriber]
        if not audience:
            del self._audiences[key]
            self._debouncer.drop(key)

    def forget(self, subscriber: Subscriber, keys: list[str]) -> None:
        """A client is gone, with these subscriptions."""
        self._subscribers.pop(subscriber, None)
        for key in keys:
            self.lost_interest(subscriber, key)

    def _publish(self, key: str) -> None:
        for subscriber in self._audiences.get(key, ()):
            for uri in sorted(subscriber.spellings(key)):
                subscriber.put(Updated(uri))
