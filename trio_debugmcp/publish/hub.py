"""The hub: who is subscribed to what, and the delivery to each client at its own pace.

Owns the subscriptions and one mailbox for each subscriber. The merger reports changed resources to it; each subscriber
receives the notices that concern it:

    hub = Hub(nursery)
    subscriber = hub.open_subscriber()
    subscriber.subscribe("debugger://session")
    hub.resources_updated({"debugger://session"})
    await subscriber.receive()  # Updated("debugger://session"), after the quiet window
    subscriber.close()

Publishing never waits for a client: one that does not read fills its own mailbox and delays no other. Every mailbox is
bounded, in the way that suits what it holds:

- Resource updates are level-triggered: a mailbox holds each URI once, however often it was published.
- `list_changed` is edge-triggered: each one is queued, up to a limit.
- Log messages are delivered after everything else, and the oldest are dropped first.

A notification carries the URI as the client spelled it; all spellings of a resource share one quiet window.
"""

from collections import deque
from collections.abc import Set as AbstractSet
from typing import Literal

import trio
from msgspec import Struct

from trio_debugmcp.publish.debounce import MAX_WAIT_SECONDS, QUIET_SECONDS, Debouncer, DebouncerStatistics
from trio_debugmcp.state.resources import canonical

LoggingLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""The levels of log messages in MCP, from the least important."""

MAX_QUEUED_LIST_CHANGES = 64
"""`list_changed` notifications queued for a client that does not read; another one beyond these would add nothing."""

MAX_SUBSCRIPTIONS = 1000
"""Per client; a session has a handful of resources and some hundred sources."""

MAX_QUEUED_LOGS = 100
"""Log messages queued for a client that does not read; beyond that the oldest are dropped, and it learns how many."""


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


class SubscriberStatistics(Struct, frozen=True):
    """What one subscriber is subscribed to (URIs as spelled), and how many notices wait in its mailbox."""

    subscriptions: int
    updates_queued: int
    list_changes_queued: int
    logs_queued: int
    logs_dropped: int
    """Since the client was last notified of dropped ones."""


class HubStatistics(Struct, frozen=True):
    """How many subscribers there are, how many resources have at least one, and what the debouncer holds."""

    subscribers: int
    resources: int
    debouncer: DebouncerStatistics


class Subscriber:
    """The subscriptions and the mailbox of one client, or of one stream of it. Made by `Hub.open_subscriber`."""

    def __init__(self, hub: "Hub", *, wants_list_changes: bool) -> None:
        self.wants_list_changes = wants_list_changes
        self._hub = hub
        self._spellings: dict[str, set[str]] = {}
        self._mailbox: deque[Updated | ListChanged] = deque()
        self._updates_queued: set[str] = set()
        self._list_changes_queued = 0
        self._logs: deque[Logged] = deque()
        self._logs_dropped = 0
        self._finished = False
        self._mail = trio.Event()

    def __repr__(self) -> str:
        now = self.statistics()
        return f"<Subscriber: {now.subscriptions} subscriptions, {len(self._mailbox) + now.logs_queued} notices queued>"

    def statistics(self) -> SubscriberStatistics:
        """Return what is subscribed and queued at this moment."""
        return SubscriberStatistics(
            subscriptions=sum(map(len, self._spellings.values())),
            updates_queued=len(self._updates_queued),
            list_changes_queued=self._list_changes_queued,
            logs_queued=len(self._logs),
            logs_dropped=self._logs_dropped,
        )

    # --- Subscriptions ------------------------------------------------------------------------------------------------

    def subscribe(self, uri: str) -> None:
        """Notify this client of changes of `uri`; doing it twice is the same as once.

        Raises:
            TooManySubscriptions: the bound per client is reached.
        """
        key = canonical(uri)
        if uri not in self.spellings(key) and self.statistics().subscriptions >= MAX_SUBSCRIPTIONS:
            raise TooManySubscriptions
        self._spellings.setdefault(key, set()).add(uri)
        self._hub.gained_interest(self, key)

    def unsubscribe(self, uri: str) -> None:
        """Notify this client no more of `uri`, not even of the change that is waiting in its mailbox."""
        key = canonical(uri)
        spellings = self._spellings.get(key, set())
        spellings.discard(uri)
        if uri in self._updates_queued:
            self._updates_queued.discard(uri)
            self._mailbox.remove(Updated(uri))
        if not spellings and self._spellings.pop(key, None) is not None:
            self._hub.lost_interest(self, key)

    def spellings(self, key: str) -> set[str]:
        """Return how this client spelled the resource with that canonical URI; empty if it is not subscribed."""
        return self._spellings.get(key, set())

    def close(self) -> None:
        """Drop all subscriptions and everything that is queued: the client has disconnected."""
        keys = list(self._spellings)
        self._spellings.clear()
        self._mailbox.clear()
        self._updates_queued.clear()
        self._list_changes_queued = 0
        self._logs.clear()
        self._logs_dropped = 0
        self._hub.forget(self, keys)

    # --- Mailbox ------------------------------------------------------------------------------------------------------

    def put(self, notice: Notice) -> None:
        """Queue a notice; called by the hub, and with log messages by the log relay."""
        match notice:
            case Updated(uri=uri):
                if uri in self._updates_queued:
                    return
                self._updates_queued.add(uri)
                self._mailbox.append(notice)
            case ListChanged():
                if self._list_changes_queued >= MAX_QUEUED_LIST_CHANGES:
                    return
                self._list_changes_queued += 1
                self._mailbox.append(notice)
            case Logged():
                if len(self._logs) >= MAX_QUEUED_LOGS:
                    self._logs.popleft()
                    self._logs_dropped += 1
                self._logs.append(notice)
        self._mail.set()

    def finish(self) -> None:
        """Make `receive` raise `EndOfChannel` once it has returned everything that is queued."""
        self._finished = True
        self._mail.set()

    async def receive(self) -> Notice:
        """Wait for the next notice. Only one task may receive.

        Raises:
            trio.EndOfChannel: nothing is queued, and `finish` was called.
        """
        while not (self._mailbox or self._logs or self._finished):
            # A new event for each wait: one that an earlier notice has set would not make this one wait.
            self._mail = trio.Event()
            await self._mail.wait()
        return self.receive_nowait()

    def receive_nowait(self) -> Notice:
        """Return the next notice, without waiting.

        Raises:
            trio.WouldBlock: nothing is queued.
            trio.EndOfChannel: nothing is queued, and `finish` was called.
        """
        if self._mailbox:
            notice = self._mailbox.popleft()
            # From here on the same URI is queued again: the client may read before the change that is still to come.
            if isinstance(notice, Updated):
                self._updates_queued.discard(notice.uri)
            else:
                self._list_changes_queued -= 1
            return notice
        if self._logs:
            return self._next_log()
        if self._finished:
            raise trio.EndOfChannel
        raise trio.WouldBlock

    def _next_log(self) -> Logged:
        if self._logs_dropped:
            dropped, self._logs_dropped = self._logs_dropped, 0
            return Logged(
                "warning", __name__, f"{dropped} earlier log messages were dropped: they were not read in time"
            )
        return self._logs.popleft()


class Hub:
    """Publishes to the subscribers what the merger reports: it is the merger's `ResourceListener`.

    The nursery is that of the debounce tasks, and must outlive the hub's users.
    """

    def __init__(
        self, nursery: trio.Nursery, *, quiet: float = QUIET_SECONDS, max_wait: float = MAX_WAIT_SECONDS
    ) -> None:
        # Dictionaries are used as ordered sets here, so that clients are served in the order in which they connected.
        self._subscribers: dict[Subscriber, None] = {}
        self._interested: dict[str, dict[Subscriber, None]] = {}
        self._debouncer = Debouncer(nursery, self._publish, quiet=quiet, max_wait=max_wait)

    def __repr__(self) -> str:
        return f"<Hub: {len(self._subscribers)} subscribers, {len(self._interested)} resources, {self._debouncer!r}>"

    def statistics(self) -> HubStatistics:
        """Return what is subscribed and pending at this moment."""
        return HubStatistics(
            subscribers=len(self._subscribers),
            resources=len(self._interested),
            debouncer=self._debouncer.statistics(),
        )

    def open_subscriber(self, *, wants_list_changes: bool = True) -> Subscriber:
        """Add a subscriber, without subscriptions yet. The caller must `close` it."""
        subscriber = Subscriber(self, wants_list_changes=wants_list_changes)
        self._subscribers[subscriber] = None
        return subscriber

    # --- What the merger calls ----------------------------------------------------------------------------------------

    def resources_updated(self, *uris: AbstractSet[str]) -> None:
        """Publish the resources of all these sets when their windows end, as far as they have subscribers."""
        interesting: set[str] = set()
        for changed in uris:  # of thousands that differ few are subscribed; `&` would go through all in a frozenset
            few, many = sorted((changed, self._interested.keys()), key=len)
            interesting.update(uri for uri in few if uri in many)
        self._debouncer.changed(*sorted(interesting))

    def list_changed(self) -> None:
        """Publish at once that resources appeared or disappeared, behind all updates that are pending."""
        # The last update of a session must reach its subscribers before they learn that it cannot be read any more.
        self._debouncer.flush()
        for subscriber in self._subscribers:
            if subscriber.wants_list_changes:
                subscriber.put(ListChanged())

    # --- What subscribers call ----------------------------------------------------------------------------------------

    def gained_interest(self, subscriber: Subscriber, key: str) -> None:
        """Record that the subscriber is subscribed to the resource with that canonical URI."""
        self._interested.setdefault(key, {})[subscriber] = None

    def lost_interest(self, subscriber: Subscriber, key: str) -> None:
        """Record that it is not subscribed any more; if it was the last one, discard a pending change."""
        interested = self._interested[key]
        del interested[subscriber]
        if not interested:
            del self._interested[key]
            self._debouncer.drop(key)

    def forget(self, subscriber: Subscriber, keys: list[str]) -> None:
        """Remove a subscriber that held these subscriptions; doing it twice is the same as once."""
        self._subscribers.pop(subscriber, None)
        for key in keys:
            self.lost_interest(subscriber, key)

    def _publish(self, key: str) -> None:
        for subscriber in self._interested.get(key, ()):
            for uri in sorted(subscriber.spellings(key)):
                subscriber.put(Updated(uri))
