"""The server's lists (tools, resources, resource templates, prompts), and fetching them again when they change.

A `SyncedList` owns one list as it was last committed: all pages or nothing, and the newest fetch wins. A `ListGroup`
owns the lists that one `list_changed` notification announces (resources and their templates share one), and the task
that follows it:

    announce() ──► quiet window, at most MAX_WAIT_SECONDS ──► *ListChanged event
                   ──► backoff ──► fetch all pages ──► commit ──► *Change event

`announce()` only counts. However many announcements arrive during a fetch, one further fetch follows it.

A server may announce changes faster than its list can be fetched, or announce one *because* its list was fetched. Hence
the `Backoff`: fetches start at least `MIN_INTERVAL_SECONDS` apart, and each one that finds nothing new doubles the
interval, up to `MAX_INTERVAL_SECONDS`. A change, or a calm of twice the interval, resets it. An explicit `list_*()` of
the user is never delayed.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import trio
from mcp import Client, MCPError, types
from msgspec import Struct

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.connection.client_connection import ClientConnection
from trio_debugmcp.client.events import ErrorEvent, Event, ListChangeReason
from trio_debugmcp.errors import DebugError, ProtocolViolation
from trio_debugmcp.light_client.protocol import MAX_PAGES

QUIET_SECONDS = 0.1
"""Without a further announcement before the change is taken to be complete."""

MAX_WAIT_SECONDS = 0.5
"""From the first announcement to the reaction, however many follow it."""

MAX_RELOADS = 5
"""Attempts of an automatic reload before the next announcement is waited for."""

MIN_INTERVAL_SECONDS = 1.0
"""Between automatic fetches: a person cannot follow a list that changes faster."""

MAX_INTERVAL_SECONDS = 30.0
"""Between automatic fetches: the longest delay for a server that has announced many changes and made none."""

FETCH_ERRORS = (MCPError, DebugError, RuntimeError)
"""How a fetch may fail on a connection that continues: refused, malformed, endless. The SDK raises
RuntimeError for an answer that it cannot use."""

T = TypeVar("T")
Meta = Mapping[str, Any] | None
FetchPage = Callable[[Client, str | None, Any], Awaitable[types.PaginatedResult]]


class ListDiff(Struct, frozen=True):
    """The keys that differ between two lists, in the order of the list that has them."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def compare(old: Iterable[T], new: Iterable[T], key: Callable[[T], str]) -> ListDiff:
    """The difference between two lists; of several items with one key the last counts."""
    before = {key(item): item for item in old}
    after = {key(item): item for item in new}
    return ListDiff(
        added=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
        changed=tuple(name for name in after if name in before and after[name] != before[name]),
    )


class ListSpec(Struct, Generic[T], frozen=True, kw_only=True):
    """The properties of one list.

    Attributes:
        method: of the request.
        fetch_page: requests one page, with the SDK's client, the cursor and `_meta`.
        items: returns the items of a page.
        key: returns the identity of an item.
        change: builds the event from the items and the fields of `ListChange`.
        forget: called with the key of a removed item, to clear it from the cache.
    """

    method: str
    fetch_page: FetchPage
    items: Callable[[Any], Sequence[T]]
    key: Callable[[T], str]
    change: Callable[..., Event]
    forget: Callable[[str], None]


class SyncedList(Generic[T]):
    """One list, as it was last committed."""

    def __init__(self, spec: ListSpec[T], bus: EventBus) -> None:
        self.spec = spec
        self.items: tuple[T, ...] = ()
        self.loaded = False
        self.seen = 0
        """The announcements that the committed fetch covers; if the group counts more, the list is out of date."""
        self._bus = bus
        self._started = 0
        self._committed = 0
        """The number of the newest committed fetch; of two overlapping fetches the one started later is the newer."""

    def __repr__(self) -> str:
        return f"<SyncedList of {self.spec.method}: {len(self.items)} items{'' if self.loaded else ', not loaded'}>"

    async def fetch(
        self, connection: ClientConnection, reason: ListChangeReason, announced: int, meta: Meta = None
    ) -> tuple[tuple[T, ...], bool]:
        """Fetch all pages and commit them, unless a later fetch was faster or the connection is over.

        Returns:
            The items of this fetch, and whether the commit changed anything.

        Raises:
            MCPError, ConnectionLost: as in `ClientConnection.call`.
            ProtocolViolation: the pages go in a circle or never end.
        """
        self._started += 1
        number = self._started
        items = await self._walk(connection, meta)
        # A later fetch has committed already, or the state was cleared while this one waited for its answer.
        if not connection.alive or number < self._committed:
            return items, False
        self._committed = number
        self.seen = announced
        self.loaded = True
        return items, self._commit(items, reason)

    def reset(self, reason: ListChangeReason = "disconnect") -> None:
        """Empty the list, and publish that its items are removed."""
        # A fetch that is still running cannot commit: its connection is not alive.
        self.loaded = False
        self.seen = 0
        if self.items:
            self._publish((), compare(self.items, (), self.spec.key), reason)

    async def page(self, connection: ClientConnection, cursor: str | None, meta: Meta) -> Any:
        """Fetch one page, which commits nothing; the result as the server sent it."""
        return await connection.call(self.spec.method, self._page_request(cursor, meta))

    async def _walk(self, connection: ClientConnection, meta: Meta) -> tuple[T, ...]:
        items: list[T] = []
        cursors: set[Hashable] = set()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self.page(connection, cursor, meta)
            items += self.spec.items(page)
            cursor = page.next_cursor
            if cursor is None:
                return tuple(items)
            if cursor in cursors:
                raise ProtocolViolation(f"{self.spec.method}: the cursor {cursor!r} came twice, the pages have no end")
            cursors.add(cursor)
        raise ProtocolViolation(f"{self.spec.method}: more than {MAX_PAGES} pages")

    def _page_request(self, cursor: str | None, meta: Meta) -> Callable[..., Awaitable[types.PaginatedResult]]:
        return lambda sdk, _progress: self.spec.fetch_page(sdk, cursor, dict(meta) if meta else None)

    def _commit(self, items: tuple[T, ...], reason: ListChangeReason) -> bool:
        diff = compare(self.items, items, self.spec.key)
        for key in diff.removed:
            self.spec.forget(key)
        reordered = items != self.items
        if reordered or reason == "list":  # an explicit `list_*()` is always answered by an event
            self._publish(items, diff, reason)
        return reordered

    def _publish(self, items: tuple[T, ...], diff: ListDiff, reason: ListChangeReason) -> None:
        self.items = items
        self._bus.publish(
            self.spec.change(items, added=diff.added, removed=diff.removed, changed=diff.changed, reason=reason)
        )


class Backoff:
    """When the next automatic fetch of a list may start, given the last ones. Pure: times are numbers of seconds."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._interval = MIN_INTERVAL_SECONDS

    def earliest(self) -> float:
        """The time from which the next fetch may start."""
        return self._last + self._interval

    def fetched(self, start: float, *, fruitful: bool) -> None:
        """Record a finished fetch that began at `start`; `fruitful` if it found something new."""
        calm = start - self._last > 2 * self._interval
        self._interval = MIN_INTERVAL_SECONDS if fruitful or calm else min(self._interval * 2, MAX_INTERVAL_SECONDS)
        self._last = start


class ListGroup:
    """The lists that one notification announces, and the task that follows it.

    Args:
        lists: in the order in which they are fetched.
        declared: whether the connected server has the capability.
        changed: builds the `*ListChanged` event from the number of announcements.
        auto_sync: whether an announcement is followed by a fetch.
    """

    def __init__(
        self,
        lists: Sequence[SyncedList[Any]],
        *,
        declared: Callable[[ClientConnection], bool],
        changed: Callable[[int], Event],
        bus: EventBus,
        auto_sync: bool,
    ) -> None:
        self.lists = lists
        self._declared = declared
        self._changed = changed
        self._bus = bus
        self._auto_sync = auto_sync
        self._announced = 0
        self._reported = 0
        """How many of the announcements were published as `*ListChanged` events."""
        self._announcement = trio.lowlevel.ParkingLot()
        self._backoff = Backoff()

    def announce(self) -> None:
        """Count a change that the server announced, or whose announcement may have been missed; never waits."""
        self._announced += 1
        self._announcement.unpark_all()

    async def fetch(self, connection: ClientConnection, which: SyncedList[T], meta: Meta) -> tuple[T, ...]:
        """Fetch one list now, for a `list_*()` of the user; without the capability it is empty, without a request."""
        if not self._declared(connection):
            await trio.lowlevel.checkpoint()
            return ()
        items, _ = await which.fetch(connection, "list", self._announced, meta)
        return items

    async def sync(self, connection: ClientConnection, reason: ListChangeReason) -> bool:
        """Fetch what is out of date, and return whether anything changed.

        Error handling: a failure is published as an `error` event and leaves the list as it was.
        """
        changed = False
        for which in self.lists if self._declared(connection) else ():
            if which.loaded and which.seen == self._announced:
                continue
            try:
                changed |= (await which.fetch(connection, reason, self._announced))[1]
            except FETCH_ERRORS as error:
                self._bus.publish(ErrorEvent(message=f"{which.spec.method} failed: {error}", error=error))
        return changed

    async def follow(self, connection: ClientConnection) -> None:
        """Fetch the lists again when they are announced as changed, until cancelled at the end of the connection.

        Error handling: a fetch that fails is an `error` event, and is tried again with backoff, `MAX_RELOADS` times.
        """
        self._backoff = Backoff()
        while True:
            while self._announced == self._reported:
                await self._announcement.park()
            await self._wait_quiet()
            count, self._reported = self._announced - self._reported, self._announced
            self._bus.publish(self._changed(count))
            if self._auto_sync:
                await self._reload(connection)

    def reset(self) -> None:
        """Empty the lists: the connection has ended."""
        self._announced = self._reported = 0
        for which in self.lists:
            which.reset()

    async def _wait_quiet(self) -> None:
        latest = trio.current_time() + MAX_WAIT_SECONDS
        with trio.CancelScope(deadline=trio.current_time() + QUIET_SECONDS) as window:
            while True:
                await self._announcement.park()
                window.deadline = min(trio.current_time() + QUIET_SECONDS, latest)

    async def _reload(self, connection: ClientConnection) -> None:
        for _ in range(MAX_RELOADS):
            if self._has(self._announced):
                return
            await trio.sleep_until(self._backoff.earliest())
            start, covered = trio.current_time(), self._announced  # what is announced during the fetch is not covered
            changed = await self.sync(connection, "notification")
            self._backoff.fetched(start, fruitful=changed)
            if self._has(covered):  # for what was announced during the fetch, `follow` publishes an event first
                return

    def _has(self, announced: int) -> bool:
        return all(which.loaded and which.seen >= announced for which in self.lists)
