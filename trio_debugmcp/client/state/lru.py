"""A least-recently-used cache of one kind of content: entries by key, bounded in entries and in bytes.

    cache = LruCache("resource", max_entries=100, max_bytes=1_000_000, clock=clock.utc)
    cache.put(uri, CacheEntry(invocation=read, call=1, size=500))
    cache.get(uri, allow_stale=False)

Pure. Owns lifetimes, pins and statistics; which calls are kept, and under which keys, is decided in `cache`.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Generic, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.client.invocations import Invocation

CacheKind = Literal["resource", "template", "prompt", "tool"]
CacheChangeReason = Literal["stale", "cleared", "evicted"]
OnChange = Callable[[CacheKind, str, CacheChangeReason], None]

T = TypeVar("T", bound=Invocation)


class CacheEntry(Struct, Generic[T], frozen=True, kw_only=True, eq=False):
    """A cached call, and how far it can be trusted.

    Attributes:
        invocation: the object that the call returned.
        call: its place in the order of calls.
        size: the bytes that it holds, estimated.
        expires_at: when it becomes stale by itself, or None.
        marked_stale: when it was announced to be out of date, or None.
    """

    invocation: T
    call: int
    size: int
    expires_at: datetime | None = None
    marked_stale: datetime | None = None

    def stale_since(self, now: datetime) -> datetime | None:
        """Since when the server may have something else, or None while the entry is current."""
        if self.marked_stale is not None:
            return self.marked_stale
        return self.expires_at if self.expires_at is not None and self.expires_at <= now else None


class LruCacheStatistics(Struct, frozen=True, kw_only=True):
    """`LruCache.statistics()`: what one kind holds now, and counters that only grow.

    Attributes:
        entries: held now.
        bytes: held now, estimated.
        stale: how many of the entries are stale.
        pinned: how many of the entries are evicted last.
        hits: calls of `get` that found an entry.
        misses: calls of `get` that found none.
        evictions: entries removed to make room, and those that were too large to be kept.
    """

    entries: int
    bytes: int
    stale: int
    pinned: int
    hits: int
    misses: int
    evictions: int


class LruCache(Generic[T]):
    """The entries of one kind, least recently used first."""

    def __init__(self, kind: CacheKind, max_entries: int, max_bytes: int, clock: Callable[[], datetime]) -> None:
        self.kind = kind
        self.pinned: frozenset[str] = frozenset()
        self.on_change: OnChange | None = None
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._clock = clock
        self._entries: dict[str, CacheEntry[T]] = {}
        self._bytes = 0
        self._hits = self._misses = self._evictions = 0

    def __repr__(self) -> str:
        return f"<LruCache of kind {self.kind}: {len(self._entries)} entries, {self._bytes} bytes>"

    def entry(self, key: str) -> CacheEntry[T] | None:
        """The entry of `key`, current or stale; does not count as use."""
        return self._entries.get(key)

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys, least recently used first."""
        return tuple(self._entries)

    def items(self) -> Iterator[tuple[str, CacheEntry[T]]]:
        """Iterate over a copy of the entries."""
        return iter(tuple(self._entries.items()))

    def get(self, key: str, allow_stale: bool) -> T | None:
        """The invocation of `key`, if it is current or `allow_stale`; counts as use."""
        entry = self._entries.get(key)
        if entry is None or not (allow_stale or entry.stale_since(self._clock()) is None):
            self._misses += 1
            return None
        self._hits += 1
        self._entries[key] = self._entries.pop(key)  # a dict keeps its order: the most recently used is last
        return entry.invocation

    def put(self, key: str, entry: CacheEntry[T]) -> bool:
        """Keep `entry`, unless a later call is there or it would not fit alone; evict others to make room."""
        held = self._entries.get(key)
        # Of two overlapping calls the one made later is the newer, whichever is answered first.
        if held is not None and held.call > entry.call:
            return False
        if held is not None:
            self._drop(key)
        if entry.size > self._max_bytes or self._max_entries < 1:
            self._evictions += 1
            return False
        self._entries[key] = entry
        self._bytes += entry.size
        self._make_room(newest=key)
        return True

    def clear(self, key: str) -> None:
        """Remove `key`, if it is there."""
        if key in self._entries:
            self._drop(key)
            self._notify(key, "cleared")

    def mark_stale(self, key: str) -> None:
        """Mark `key`, if it is there, as out of date from now on."""
        entry = self._entries.get(key)
        if entry is not None and entry.marked_stale is None:
            self._entries[key] = replace(entry, marked_stale=self._clock())
            self._notify(key, "stale")

    def statistics(self) -> LruCacheStatistics:
        """What is held now, and the hits, misses and evictions so far."""
        now = self._clock()
        return LruCacheStatistics(
            entries=len(self._entries),
            bytes=self._bytes,
            stale=sum(entry.stale_since(now) is not None for entry in self._entries.values()),
            pinned=sum(key in self.pinned for key in self._entries),
            hits=self._hits,
            misses=self._misses,
            evictions=self._evictions,
        )

    def _make_room(self, newest: str) -> None:
        while len(self._entries) > self._max_entries or self._bytes > self._max_bytes:
            # The newest is kept, even before pinned ones: a caller that has just read something looks at it next.
            others = (key for key in self._entries if key != newest)
            victim = next((key for key in others if key not in self.pinned), None) or next(iter(self._entries))
            self._drop(victim)
            self._evictions += 1
            self._notify(victim, "evicted")

    def _drop(self, key: str) -> None:
        self._bytes -= self._entries.pop(key).size

    def _notify(self, key: str, reason: CacheChangeReason) -> None:
        if self.on_change is not None:
            self.on_change(self.kind, key, reason)
