"""The server's lists: tools, resources, resource templates, prompts.

A `SyncedList` owns one list as it was last committed: all pages or nothing, and the newest fetch wins. A
`ListGroup` owns what one `list_changed` notification is about (resources and their templates share one) and
the task that follows it:

    announce() ──► quiet window, at most MAX_WAIT ──► *ListChanged event
                   ──► pace ──► fetch all pages ──► commit ──► *Change event

Announcing only counts. However many announcements come while a fetch is running, one further fetch follows
it.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import trio
from mcp import Client, types
from msgspec import Struct

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.connection.connection import ClientConnection
from trio_debugmcp.client.events import ErrorEvent, Event, ListChangeReason
from trio_debugmcp.errors import DebugError, ProtocolViolation

QUIET = 0.1
"""Seconds without a further announcement before the change is taken to be over."""

MAX_WAIT = 0.5
"""Seconds from the first announcement to the reaction, however many follow it."""

MAX_PAGES = 1000
"""Pages of one list: a server that always has a next cursor must not keep us for ever."""

RETRIES = 5
"""Attempts of an automatic reload before the next announcement is waited for."""

MIN_INTERVAL = 1.0
"""Seconds: a person cannot follow a list that changes faster."""

MAX_INTERVAL = 30.0
"""Seconds: how late a change may be seen of a server that cries wolf."""

T = TypeVar("T")
Meta = Mapping[str, Any] | None
FetchPage = Callable[["Client", str | None, Any], Awaitable["types.PaginatedResult"]]


class ListDiff(Struct, frozen=True):
    """Keys, in the order of the list that has them."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def compare(old: Iterable[T], new: Iterable[T], key: Callable[[T], str]) -> ListDiff:
    """Tell what has to be done to `old` to make it `new`; of several items with one key the last counts."""
    before = {key(item): item for item in old}
    after = {key(item): item for item in new}
    return ListDiff(
        added=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
        changed=tuple(name for name in after if name in before and after[name] != before[name]),
    )


class ListSpec(Struct, Generic[T], frozen=True, kw_only=True):
    """What is particular to one list.

    Attributes:
        method: the request.
        fetch_page: makes it: client, cursor, `_meta`.
        items: takes the items out of a page.
        key: what an item is known by.
        change: builds the event from the items and the fields of `ListChange`.
        forget: removes what the cache has of a key that is gone.
    """

    method: str
    fetch_page: FetchPage
    items: Callable[[Any], Sequence[T]]
    key: Callable[[T], str]
    change: Callable[..., Event]
    forget: Callable[[str], None]


class SyncedList(Generic[T]):
    """One list, as the last commit left it."""

    def __init__(self, spec: ListSpec[T], bus: EventBus) -> None:
        self.spec = spec
        self.items: tuple[T, ...] = ()
        self.loaded = False
        self.seen = 0
        """The group's announcements before the committed fetch: fewer than there are means out of date."""
        self._bus = bus
        self._started = 0
        self._committed = 0

    async def fetch(
        self, connection: ClientConnection, reason: ListChangeReason, announced: int, meta: Meta = None
    ) -> tuple[tuple[T, ...], bool]:
        """Fetch all pages and commit them, unless a later fetch was faster or the connection is over.

        Returns:
            The items of this fetch, and whether the commit changed anything.

        Raises:
            MCPError, ConnectionLost: as `Connection.call`.
            ProtocolViolation: the pages go in a circle or never end.
        """
        self._started += 1
        number = self._started
        items = await self._walk(connection, meta)
        if not connection.alive or number < self._committed:
            return items, False
        self._committed = number
        self.seen = announced
        self.loaded = True
        return items, self._commit(items, reason)

    def reset(self, reason: ListChangeReason = "disconnect") -> None:
        """Forget the list; none of the fetches still running may commit."""
        self._committed = self._started
        self.loaded = False
        self.seen = 0
        if self.items:
            self._publish((), compare(self.items, (), self.spec.key), reason)

    async def _walk(self, connection: ClientConnection, meta: Meta) -> tuple[T, ...]:
        items: list[T] = []
        cursors: set[Hashable] = set()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await connection.call(self.spec.method, self._page_request(cursor, meta))
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
        if reordered or reason == "list":  # who asked for it is told, even when nothing changed
            self._publish(items, diff, reason)
        return reordered

    def _publish(self, items: tuple[T, ...], diff: ListDiff, reason: ListChangeReason) -> None:
        self.items = items
        self._bus.publish(
            self.spec.change(items, added=diff.added, removed=diff.removed, changed=diff.changed, reason=reason)
        )


class Pace:
    """Remembers the fetches of one list and says when the next may start."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._interval = MIN_INTERVAL

    def earliest(self) -> float:
        """Tell the time from which on the next fetch may start."""
        return self._last + self._interval

    def fetched(self, start: float, *, fruitful: bool) -> None:
        """Note that a fetch which began at `start` is over; `fruitful`: it found something new."""
        calm = start - self._last > 2 * self._interval
        self._interval = MIN_INTERVAL if fruitful or calm else min(self._interval * 2, MAX_INTERVAL)
        self._last = start


class ListGroup:
    """The lists that one notification is about.

    Args:
        lists: in the order in which they are fetched.
        declared: whether the connected server has the capability at all.
        changed: builds the `*ListChanged` event from the number of announcements.
        auto_sync: whether a change is followed by a fetch.
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
        self._news = trio.lowlevel.ParkingLot()
        self._pace = Pace()

    def announce(self) -> None:
        """Count a change that the server announced, or that may have happened while nobody was listening."""
        self._announced += 1
        self._news.unpark_all()

    async def fetch(self, connection: ClientConnection, which: SyncedList[T], meta: Meta) -> tuple[T, ...]:
        """One list, now, on a user's behalf.

        Of a server without the capability it is empty, and nothing is asked.
        """
        if not self._declared(connection):
            await trio.lowlevel.checkpoint()
            return ()
        items, _ = await which.fetch(connection, "list", self._announced, meta)
        return items

    async def sync(self, connection: ClientConnection, reason: ListChangeReason) -> bool:
        """Fetch what is out of date.

        Returns whether anything changed; a failure is reported as an event and leaves the list as it was.
        """
        changed = False
        for which in self.lists if self._declared(connection) else ():
            if which.loaded and which.seen == self._announced:
                continue
            try:
                changed |= (await which.fetch(connection, reason, self._announced))[1]
            except fetch_errors() as error:
                self._bus.publish(ErrorEvent(message=f"{which.spec.method} failed: {error}", error=error))
        return changed

    async def follow(self, connection: ClientConnection) -> None:
        """React to announcements until cancelled, at the end of the connection."""
        self._pace = Pace()
        while True:
            while self._announced == self._reported:
                await self._news.park()
            await self._settle()
            count, self._reported = self._announced - self._reported, self._announced
            self._bus.publish(self._changed(count))
            if self._auto_sync:
                await self._reload(connection)

    def reset(self) -> None:
        """Forget everything: the connection ended."""
        self._announced = self._reported = 0
        for which in self.lists:
            which.reset()

    async def _settle(self) -> None:
        latest = trio.current_time() + MAX_WAIT
        with trio.CancelScope(deadline=trio.current_time() + QUIET) as window:
            while True:
                await self._news.park()
                window.deadline = min(trio.current_time() + QUIET, latest)

    async def _reload(self, connection: ClientConnection) -> None:
        for _ in range(RETRIES):
            if self._has(self._announced):
                return
            await trio.sleep_until(self._pace.earliest())
            start, covered = trio.current_time(), self._announced
            changed = await self.sync(connection, "notification")
            self._pace.fetched(start, fruitful=changed)
            if self._has(covered):
                return

    def _has(self, announced: int) -> bool:
        return all(which.loaded and which.seen >= announced for which in self.lists)


def fetch_errors() -> tuple[type[Exception], ...]:
    """List what a fetch may fail with on a connection that goes on: refused, malformed, endless."""
    from mcp import MCPError

    return (MCPError, DebugError, RuntimeError)
