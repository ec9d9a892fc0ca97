"""The cache by itself: plain values, a clock that the test moves, no Trio; and once within a client."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import CallToolResult, GetPromptResult, ReadResourceResult, TextResourceContents
from trio.testing import MockClock

from tests.client.peer import Peer
from trio_debugmcp.client import (
    ContentCache,
    InspectorClient,
    InspectorOptions,
    PromptGetInvocation,
    ReadOnlyContentCache,
    ResourceReadInvocation,
    ResourceTemplateReadInvocation,
    ToolCallInvocation,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

KINDS = ("resource", "resource_template", "prompt", "tool_call_result")


def contents(uri: str, text: str = "", ttl_ms: int = 0) -> ReadResourceResult:
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, text=text)], ttl_ms=ttl_ms)


def read(uri: str, text: str = "", ttl_ms: int = 0) -> ResourceReadInvocation:
    return ResourceReadInvocation(uri=uri, result=contents(uri, text, ttl_ms), timestamp=NOON)


def template_read(uri_template: str, expanded_uri: str = "demo://1") -> ResourceTemplateReadInvocation:
    return ResourceTemplateReadInvocation(
        uri_template=uri_template,
        expanded_uri=expanded_uri,
        params={},
        result=contents(expanded_uri),
        timestamp=NOON,
    )


def prompt(name: str) -> PromptGetInvocation:
    return PromptGetInvocation(name=name, params={}, result=GetPromptResult(messages=[]), timestamp=NOON)


def called(name: str) -> ToolCallInvocation:
    return ToolCallInvocation(
        tool_name=name, params={}, result=CallToolResult(content=[]), success=True, timestamp=NOON
    )


MAKE: dict[str, Any] = dict(zip(KINDS, (read, template_read, prompt, called), strict=True))


def put(cache: ContentCache, kind: str, key: str) -> Any:
    invocation = MAKE[kind](key)
    getattr(cache, f"set_{kind}")(key, invocation)
    return invocation


def get(cache: ReadOnlyContentCache, kind: str, key: str) -> Any:
    return getattr(cache, f"get_{kind}")(key)


class ManualClock:
    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.mark.parametrize("kind", KINDS)
class TestEachKind:
    def test_a_new_cache_has_nothing(self, kind: str) -> None:
        assert get(ContentCache(), kind, "x") is None

    def test_the_object_that_was_put_in_comes_out(self, kind: str) -> None:
        cache = ContentCache()
        invocation = put(cache, kind, "x")
        assert get(cache, kind, "x") is invocation

    def test_an_unknown_key_is_a_miss_and_not_an_error(self, kind: str) -> None:
        cache = ContentCache()
        put(cache, kind, "x")
        assert get(cache, kind, "y") is None

    def test_a_second_entry_replaces_the_first(self, kind: str) -> None:
        cache = ContentCache()
        put(cache, kind, "x")
        second = put(cache, kind, "x")
        assert get(cache, kind, "x") is second
        assert cache.stats().entries == 1

    def test_clearing_one_leaves_the_others(self, kind: str) -> None:
        cache = ContentCache()
        put(cache, kind, "x")
        other = put(cache, kind, "y")
        getattr(cache, f"clear_{kind}")("x")
        assert get(cache, kind, "x") is None
        assert get(cache, kind, "y") is other

    def test_clearing_an_unknown_key_does_nothing(self, kind: str) -> None:
        cache = ContentCache()
        kept = put(cache, kind, "x")
        getattr(cache, f"clear_{kind}")("y")
        assert get(cache, kind, "x") is kept

    @pytest.mark.parametrize("key", ["", "a b#?%é/../", "demo://{+file}"])
    def test_any_string_is_a_key(self, kind: str, key: str) -> None:
        cache = ContentCache()
        invocation = put(cache, kind, key)
        assert get(cache, kind, key) is invocation

    def test_many_operations_on_one_key_leave_the_last(self, kind: str) -> None:
        cache = ContentCache()
        for _ in range(50):
            put(cache, kind, "x")
            getattr(cache, f"clear_{kind}")("x")
        last = put(cache, kind, "x")
        assert get(cache, kind, "x") is last

    def test_the_least_recently_used_goes_first(self, kind: str) -> None:
        cache = ContentCache(max_entries=2)
        put(cache, kind, "a")
        put(cache, kind, "b")
        get(cache, kind, "a")
        put(cache, kind, "c")
        assert get(cache, kind, "b") is None
        assert get(cache, kind, "a") is not None
        assert get(cache, kind, "c") is not None


def test_each_kind_has_bounds_of_its_own() -> None:
    cache = ContentCache(max_entries=1)
    for kind in KINDS:
        put(cache, kind, "x")
    assert cache.stats().entries == 4


def test_a_failed_tool_call_is_kept_with_its_error_and_no_result() -> None:
    cache = ContentCache()
    failed = ToolCallInvocation(tool_name="t", params={}, result=None, success=False, error="no", timestamp=NOON)
    cache.set_tool_call_result("t", failed)
    assert cache.get_tool_call_result("t") is failed
    assert failed.result is None


def test_clear_all_empties_every_kind_and_an_empty_cache_too() -> None:
    cache = ContentCache()
    cache.clear_all()
    for kind in KINDS:
        put(cache, kind, "x")
    cache.clear_all()
    assert cache.stats().entries == 0
    assert cache.stats().bytes == 0


def test_the_view_sees_the_same_entries_and_cannot_put_any() -> None:
    cache = ContentCache()
    view = cache.view()
    kept = put(cache, "resource", "x")
    assert view.get_resource("x") is kept
    assert not hasattr(view, "set_resource")
    assert isinstance(cache, ReadOnlyContentCache)
    view.clear_resource("x")
    assert cache.get_resource("x") is None


@pytest.mark.parametrize(
    ("uri", "left"),
    [("demo://1", {"r2", "t2"}), ("demo://2", {"r1", "t1"}), ("demo://3", {"r1", "t1", "r2", "t2"})],
)
def test_clearing_a_resource_with_its_templates_goes_by_the_expanded_uri(uri: str, left: set[str]) -> None:
    cache = ContentCache()
    for number in "12":
        cache.set_resource(f"demo://{number}", read(f"demo://{number}"))
        cache.set_resource_template(f"t{number}", template_read(f"t{number}", f"demo://{number}"))
    cache.clear_resource_and_resource_template(uri)
    found = {f"r{n}" for n in "12" if cache.get_resource(f"demo://{n}")}
    found |= {f"t{n}" for n in "12" if cache.get_resource_template(f"t{n}")}
    assert found == left


def test_of_two_overlapping_calls_the_later_one_stays_whichever_finishes_last() -> None:
    cache = ContentCache()
    first, second = cache.next_call(), cache.next_call()
    newer, older = read("x"), read("x")
    assert cache.set_resource("x", newer, call=second)
    assert not cache.set_resource("x", older, call=first)
    assert cache.get_resource("x") is newer


def test_ten_thousand_reads_of_100_kb_stay_within_the_bound() -> None:
    cache = ContentCache(max_bytes=10_000_000, max_entries=100_000)
    body = "x" * 100_000
    for number in range(10_000):
        cache.set_resource(f"demo://{number}", read(f"demo://{number}", body))
        assert cache.stats().bytes <= 10_000_000 or number % 1000
    stats = cache.stats().resources
    assert stats.bytes <= 10_000_000
    assert 90 <= stats.entries < 100
    assert stats.evictions == 10_000 - stats.entries


def test_what_would_not_fit_alone_is_not_kept_and_evicts_nothing() -> None:
    cache = ContentCache(max_bytes=10_000)
    small = put(cache, "resource", "small")
    assert not cache.set_resource("big", read("big", "x" * 20_000))
    assert cache.get_resource("big", allow_stale=True) is None
    assert cache.get_resource("small") is small


def test_pinned_entries_are_evicted_last() -> None:
    cache = ContentCache(max_entries=2)
    cache.pin(frozenset({"a"}))
    for key in "abc":
        put(cache, "resource", key)
    assert cache.get_resource("a") is not None
    assert cache.get_resource("b") is None
    assert cache.stats().resources.pinned == 1
    cache.pin(frozenset("acd"))
    put(cache, "resource", "d")
    assert cache.stats().entries == 2, "even pinned entries do not break the bound"


def test_the_newest_entry_is_kept_even_if_all_others_are_pinned() -> None:
    cache = ContentCache(max_entries=2)
    cache.pin(frozenset({"a", "b"}))
    for key in ("a", "b", "c"):
        put(cache, "resource", key)
    assert get(cache, "resource", "a") is None
    assert get(cache, "resource", "b") is not None
    assert get(cache, "resource", "c") is not None


def test_the_getter_returns_a_stale_entry_only_for_reading_offline() -> None:
    clock = ManualClock()
    cache = ContentCache(clock=clock)
    kept = put(cache, "resource", "x")
    cache.set_resource_template("t", template_read("t", "x"))
    clock.advance(5)
    cache.mark_resource_stale("x")
    clock.advance(5)
    assert cache.get_resource("x") is None
    assert cache.get_resource_template("t") is None
    assert cache.get_resource("x", allow_stale=True) is kept
    entry = cache.entry("resource", "x")
    assert entry is not None
    assert entry.stale_since(clock()) == NOON + timedelta(seconds=5)
    fresh = put(cache, "resource", "x")
    assert cache.get_resource("x") is fresh


@pytest.mark.parametrize(("ttl", "ttl_ms", "lifetime"), [(10, 0, 10), (None, 3000, 3), (10, 3000, 3), (2, 3000, 2)])
def test_the_shorter_lifetime_of_server_and_option_counts(ttl: float | None, ttl_ms: int, lifetime: float) -> None:
    clock = ManualClock()
    cache = ContentCache(ttl=ttl, clock=clock)
    cache.set_resource("x", read("x", ttl_ms=ttl_ms))
    clock.advance(lifetime - 0.001)
    assert cache.get_resource("x") is not None
    clock.advance(0.001)
    assert cache.get_resource("x") is None
    assert cache.get_resource("x", allow_stale=True) is not None


def test_a_ttl_of_zero_does_not_hide_what_was_just_read() -> None:
    cache = ContentCache()
    cache.set_resource("x", read("x", ttl_ms=0))
    assert cache.get_resource("x") is not None


def test_everything_that_is_removed_or_becomes_stale_is_reported() -> None:
    cache = ContentCache(max_entries=1)
    told: list[tuple[str, str, str]] = []
    cache.on_change(lambda *change: told.append(change))
    put(cache, "prompt", "a")
    put(cache, "prompt", "b")
    cache.mark_all_stale()
    cache.mark_all_stale()
    cache.clear_prompt("b")
    assert told == [("prompt", "a", "evicted"), ("prompt", "b", "stale"), ("prompt", "b", "cleared")]


def test_the_statistics_count_hits_misses_and_stale_entries() -> None:
    cache = ContentCache()
    put(cache, "resource", "x")
    cache.get_resource("x")
    cache.get_resource("y")
    cache.mark_resource_stale("x")
    cache.get_resource("x")
    stats = cache.stats().resources
    assert (stats.entries, stats.stale, stats.hits, stats.misses) == (1, 1, 1, 2)
    assert 100 < stats.bytes < 10_000


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 3000)), max_size=60))
def test_no_history_breaks_the_bounds_or_loses_the_count(history: list[tuple[str, int]]) -> None:
    cache = ContentCache(max_entries=3, max_bytes=8000)
    for key, size in history:
        cache.set_resource(key, read(key, "x" * size))
        stats = cache.stats().resources
        assert stats.entries <= 3
        assert stats.bytes <= 8000
    for key in "abcdef":
        cache.clear_resource(key)
    assert cache.stats().bytes == 0


async def test_the_cache_has_bounds_lifetimes_statistics_and_events(peer: Peer, autojump_clock: MockClock) -> None:
    options = InspectorOptions(cache_max_entries=2, cache_ttl=60)
    async with InspectorClient(peer, options) as client, client.events("cacheChange") as changes:
        for number in range(3):
            await client.read_resource(f"demo://{number}")
        assert client.cache.stats().resources.evictions == 1
        evicted: Any = await anext(changes)
        assert (evicted.content, evicted.key, evicted.reason) == ("resource", "demo://0", "evicted")
        await trio.sleep(60)
        assert client.cache.get_resource("demo://2") is None
        assert client.cache.stats().resources.stale == 2
