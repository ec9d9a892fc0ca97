"""The results of a client's last calls: resources, template reads, prompts and tool results.

Owns four `LruCache`s, one per kind. Knows nothing of connections and never fetches.

    cache = ContentCache(max_entries=1000)
    cache.set_resource(uri, invocation, call=cache.next_call())
    cache.view().get_resource(uri)      # the same object

- One entry per key, and the *latest call* wins: an older call that finishes later does not replace a newer one.
- An entry is **current** or **stale**. A getter returns current entries only, hence None for what must be read again;
  with `allow_stale=True` it returns stale ones too, for reading offline. An entry becomes stale when its resource is
  announced as changed, when its time to live is over, or when the connection ends.
- Each kind is bounded in entries and in bytes. The least recently used entry is evicted first, pinned ones (subscribed
  URIs) last; an entry that would not fit alone is not kept at all.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar, cast

from msgspec import Struct

from trio_debugmcp.client.invocations import (
    Invocation,
    PromptGetInvocation,
    ResourceReadInvocation,
    ResourceTemplateReadInvocation,
    ToolCallInvocation,
)
from trio_debugmcp.client.state.lru import CacheEntry, CacheKind, LruCache, LruCacheStatistics, OnChange
from trio_debugmcp.client.state.memory_size import memory_size

DEFAULT_MAX_ENTRIES = 1000
"""Entries per kind: more than anyone looks at in one sitting."""

DEFAULT_MAX_BYTES = 64 * 1024 * 1024
"""Bytes per kind: a few large files, or thousands of small ones."""

T = TypeVar("T", bound=Invocation)


class CacheStatistics(Struct, frozen=True, kw_only=True):
    """`ContentCache.statistics()`: one `LruCacheStatistics` per kind, and their sums."""

    resources: LruCacheStatistics
    resource_templates: LruCacheStatistics
    prompts: LruCacheStatistics
    tool_call_results: LruCacheStatistics

    @property
    def entries(self) -> int:
        """The sum over all kinds."""
        return sum(kind.entries for kind in self._kinds())

    @property
    def bytes(self) -> int:
        """The sum over all kinds, estimated."""
        return sum(kind.bytes for kind in self._kinds())

    def _kinds(self) -> tuple[LruCacheStatistics, ...]:
        return (self.resources, self.resource_templates, self.prompts, self.tool_call_results)


class _Kinds(Struct, frozen=True):
    resource: LruCache[ResourceReadInvocation]
    template: LruCache[ResourceTemplateReadInvocation]
    prompt: LruCache[PromptGetInvocation]
    tool: LruCache[ToolCallInvocation]

    def all(self) -> tuple[LruCache[Invocation], ...]:
        return cast("tuple[LruCache[Invocation], ...]", (self.resource, self.template, self.prompt, self.tool))


class ReadOnlyContentCache:
    """The cache as a user of `InspectorClient` has it: entries can be read and removed, but not added.

    Getters return the very object that the call returned, or None on a miss; they never raise and never fetch.
    """

    def __init__(self, kinds: _Kinds) -> None:
        self._kinds = kinds

    def __repr__(self) -> str:
        statistics = self.stats()
        return f"<{type(self).__name__}: {statistics.entries} entries, {statistics.bytes} bytes>"

    def get_resource(self, uri: str, *, allow_stale: bool = False) -> ResourceReadInvocation | None:
        """Get the last read of `uri`, while it is current."""
        return self._kinds.resource.get(uri, allow_stale)

    def get_resource_template(
        self, uri_template: str, *, allow_stale: bool = False
    ) -> ResourceTemplateReadInvocation | None:
        """Get the last read through `uri_template`, whatever its parameters were, while it is current."""
        return self._kinds.template.get(uri_template, allow_stale)

    def get_prompt(self, name: str, *, allow_stale: bool = False) -> PromptGetInvocation | None:
        """Get the last `prompts/get` of `name`, whatever its arguments were, while it is current."""
        return self._kinds.prompt.get(name, allow_stale)

    def get_tool_call_result(self, tool_name: str, *, allow_stale: bool = False) -> ToolCallInvocation | None:
        """Get the last call of `tool_name`, successful or not, while it is current; also after the tool is removed."""
        return self._kinds.tool.get(tool_name, allow_stale)

    def entry(self, kind: CacheKind, key: str) -> CacheEntry[Invocation] | None:
        """Get the entry itself, current or stale, with its size and lifetime. Does not count as use.

        Args:
            kind: `resource`, `template`, `prompt` or `tool`, as in `cacheChange` events.
            key: the URI, the URI template or the name.
        """
        caches = {cache.kind: cache for cache in self._kinds.all()}
        if kind not in caches:
            raise ValueError(f"no such kind of content: {kind!r}; there are {', '.join(caches)}")
        return caches[kind].entry(key)

    def clear_resource(self, uri: str) -> None:
        """Remove the read of `uri`, if there is one."""
        self._kinds.resource.clear(uri)

    def clear_resource_template(self, uri_template: str) -> None:
        """Remove the read through `uri_template`, if there is one."""
        self._kinds.template.clear(uri_template)

    def clear_resource_and_resource_template(self, uri: str) -> None:
        """Remove the read of `uri`, and every template read that expanded to it."""
        self._kinds.resource.clear(uri)
        for uri_template in self._templates_of(uri):
            self._kinds.template.clear(uri_template)

    def clear_prompt(self, name: str) -> None:
        """Remove the last `prompts/get` of `name`, if there is one."""
        self._kinds.prompt.clear(name)

    def clear_tool_call_result(self, tool_name: str) -> None:
        """Remove the last call of `tool_name`, if there is one."""
        self._kinds.tool.clear(tool_name)

    def clear_all(self) -> None:
        """Remove all entries, stale ones too."""
        for cache in self._kinds.all():
            for key in cache.keys:
                cache.clear(key)

    def stats(self) -> CacheStatistics:
        """Entries, bytes, hits, misses and evictions, per kind."""
        return CacheStatistics(
            resources=self._kinds.resource.statistics(),
            resource_templates=self._kinds.template.statistics(),
            prompts=self._kinds.prompt.statistics(),
            tool_call_results=self._kinds.tool.statistics(),
        )

    def _templates_of(self, uri: str) -> list[str]:
        return [key for key, entry in self._kinds.template.items() if entry.invocation.expanded_uri == uri]


class ContentCache(ReadOnlyContentCache):
    """The cache as the client itself has it: with setters.

    Args:
        max_entries: per kind.
        max_bytes: per kind, counted with `memory_size`.
        ttl: seconds after which an entry is stale, or None; the shorter of this and the server's `ttlMs` applies.
        clock: returns the time of day; a test passes its own.
    """

    def __init__(
        self,
        *,
        max_entries: int = DEFAULT_MAX_ENTRIES,
        max_bytes: int = DEFAULT_MAX_BYTES,
        ttl: float | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(
            _Kinds(
                LruCache("resource", max_entries, max_bytes, clock),
                LruCache("template", max_entries, max_bytes, clock),
                LruCache("prompt", max_entries, max_bytes, clock),
                LruCache("tool", max_entries, max_bytes, clock),
            )
        )
        self._ttl = ttl
        self._clock = clock
        self._calls = 0

    def view(self) -> ReadOnlyContentCache:
        """The same entries, without the setters."""
        return ReadOnlyContentCache(self._kinds)

    def next_call(self) -> int:
        """Number a call that is made now; pass the number to the setter when the call is answered."""
        self._calls += 1
        return self._calls

    def on_change(self, listener: OnChange) -> None:
        """Call `listener(kind, key, reason)`, synchronously, for each entry that is removed or becomes stale."""
        for cache in self._kinds.all():
            cache.on_change = listener

    def set_resource(
        self, uri: str, invocation: ResourceReadInvocation, *, call: int | None = None, stale: bool = False
    ) -> bool:
        """Keep `invocation`, unless a later call is already there; `stale` if it was outdated before it arrived."""
        return self._kinds.resource.put(uri, self._entry(invocation, call, stale))

    def set_resource_template(
        self,
        uri_template: str,
        invocation: ResourceTemplateReadInvocation,
        *,
        call: int | None = None,
        stale: bool = False,
    ) -> bool:
        return self._kinds.template.put(uri_template, self._entry(invocation, call, stale))

    def set_prompt(self, name: str, invocation: PromptGetInvocation, *, call: int | None = None) -> bool:
        return self._kinds.prompt.put(name, self._entry(invocation, call))

    def set_tool_call_result(self, tool_name: str, invocation: ToolCallInvocation, *, call: int | None = None) -> bool:
        return self._kinds.tool.put(tool_name, self._entry(invocation, call))

    def pin(self, uris: frozenset[str]) -> None:
        """Evict reads of `uris` last."""
        self._kinds.resource.pinned = uris

    def mark_resource_stale(self, uri: str) -> None:
        """Mark the read of `uri` as stale, and every template read that expanded to it."""
        self._kinds.resource.mark_stale(uri)
        for uri_template in self._templates_of(uri):
            self._kinds.template.mark_stale(uri_template)

    def mark_all_stale(self) -> None:
        """Mark all entries as stale; they can still be read with `allow_stale`."""
        for cache in self._kinds.all():
            for key in cache.keys:
                cache.mark_stale(key)

    def stale_templates(self, uri: str) -> list[ResourceTemplateReadInvocation]:
        """The stale template reads that expanded to `uri`, which a fresh read of `uri` can renew."""
        entries = (entry for _, entry in self._kinds.template.items() if entry.invocation.expanded_uri == uri)
        return [entry.invocation for entry in entries if entry.stale_since(self._clock()) is not None]

    def _entry(self, invocation: T, call: int | None, stale: bool = False) -> CacheEntry[T]:
        now = self._clock()
        lifetimes = [seconds for seconds in (self._ttl, _server_ttl(invocation)) if seconds is not None]
        return CacheEntry(
            invocation=invocation,
            call=self.next_call() if call is None else call,
            size=memory_size(invocation),
            expires_at=now + timedelta(seconds=min(lifetimes)) if lifetimes else None,
            marked_stale=now if stale else None,
        )


def _server_ttl(invocation: Invocation) -> float | None:
    # `ttlMs: 0` forbids answering a later request from the cache, which no method of the client does. A person may
    # still look at what was read. Only a positive lifetime states when the entry stops being current.
    milliseconds = getattr(invocation.result, "ttl_ms", 0)
    return milliseconds / 1000 if milliseconds > 0 else None
