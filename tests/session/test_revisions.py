"""Revisions: counted for many URIs at once as they would be one by one, and without going through them."""

import gc
import weakref
from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

import trio
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.clock import Clock
from trio_debugmcp.session.event_ring import Timeline
from trio_debugmcp.session.merger import Merger, Revisions
from trio_debugmcp.state.changes import Change, SessionClosed, SessionOpened, SessionStarted
from trio_debugmcp.state.model import Origin
from trio_debugmcp.state.session_resources import RESOURCES_OF_SESSIONS, session_uri

ORIGIN = Origin("fake", "Fake", "Launch", 1000.0)
URIS = "abcdef"


class Closed(frozenset[str]):
    """A set that can be asked for what is in it, but not gone through."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("a thousand sessions are gone through")


def revisions_of(revisions: Revisions) -> dict[str, int]:
    return {uri: revisions[uri] for uri in URIS}


def test_a_resource_rises_by_one_each_time_that_it_is_counted() -> None:
    revisions = Revisions("ab")
    assert (revisions["a"], revisions["c"], revisions.counted()) == (0, 0, {"a", "b"})
    revisions.count({"a"})
    revisions.count({"a", "c"})
    assert (revisions["a"], revisions["b"], revisions["c"], revisions.counted()) == (2, 0, 1, {"a", "b", "c"})


def test_what_is_named_twice_is_counted_once_and_the_set_stays_as_it_is() -> None:
    revisions, alone = Revisions(()), {"a", "b"}
    revisions.count(alone, [frozenset("bc")])
    assert revisions_of(revisions) == {"a": 1, "b": 1, "c": 1, "d": 0, "e": 0, "f": 0}
    assert alone == {"a", "b"}


def test_those_counted_together_again_are_not_gone_through() -> None:
    revisions, many = Revisions(()), Closed("abc")
    for _ in range(3):
        revisions.count({"c", "d"}, [many])
    assert revisions_of(revisions) == {"a": 3, "b": 3, "c": 3, "d": 3, "e": 0, "f": 0}


def test_nothing_is_kept_of_what_is_forgotten_and_the_others_stay_as_they_were() -> None:
    revisions = Revisions("d")
    revisions.count({"a"}, [frozenset("abc")])
    revisions.count(set(), [frozenset("abc")])
    revisions.forget({"b", "e"})
    assert revisions.counted() == {"a", "c", "d"}
    assert revisions_of(revisions) == {"a": 2, "b": 0, "c": 2, "d": 0, "e": 0, "f": 0}
    assert repr(revisions) == "<Revisions of 3 resources>"


def test_of_a_set_that_grows_only_the_last_one_is_kept() -> None:
    revisions, kept = Revisions(()), []
    for size in range(1, len(URIS) + 1):
        tree = frozenset(URIS[:size])
        revisions.count(set(), [tree])
        kept.append(weakref.ref(tree))
    gc.collect()
    assert [each() is None for each in kept] == [True, True, True, True, True, False]
    assert revisions_of(revisions) == {"a": 6, "b": 5, "c": 4, "d": 3, "e": 2, "f": 1}


@st.composite
def counted(draw: st.DrawFn) -> tuple[set[str], list[frozenset[str]]]:
    """What is counted at once: some alone, and some in sets that have none in common."""
    place = {uri: draw(st.integers(0, 2)) for uri in URIS}
    sets = (frozenset(uri for uri in URIS if place[uri] == number) for number in (1, 2))
    return draw(st.sets(st.sampled_from(URIS))), [each for each in sets if each]


@given(st.lists(counted() | st.sets(st.sampled_from(URIS), max_size=2), max_size=20))
def test_revisions_are_as_if_each_were_counted_by_itself(
    steps: list[tuple[set[str], list[frozenset[str]]] | set[str]],
) -> None:
    revisions, plain = Revisions(()), Counter[str]()
    for step in steps:
        if isinstance(step, set):
            revisions.forget(step)
            for uri in step:
                del plain[uri]
        else:
            revisions.count(*step)
            plain.update(step[0].union(*step[1]))
        assert revisions_of(revisions) == {uri: plain[uri] for uri in URIS}
        assert revisions.counted() == {*plain}


class Published:
    """How often each resource was published."""

    def __init__(self) -> None:
        self.times = Counter[str]()

    def resources_updated(self, *uris: AbstractSet[str]) -> None:
        self.times.update(set[str]().union(*uris))

    def list_changed(self) -> None: ...


def stages() -> list[Change]:
    """Two programs whose processes come and go."""
    opened = [
        SessionOpened("s-1", ORIGIN, None),
        SessionOpened("s-2", ORIGIN, "s-1"),
        SessionOpened("s-3", ORIGIN, None),
    ]
    grown = [
        SessionOpened("s-4", ORIGIN, "s-2"),
        SessionOpened("s-5", ORIGIN, "s-3"),
        SessionOpened("s-6", ORIGIN, "s-1"),
    ]
    started = [SessionStarted(f"s-{number}") for number in (1, 2, 3, 4, 5, 6)]
    ended = [SessionClosed(id_, "over") for id_ in ("s-5", "s-2", "s-1", "s-3")]
    return [*opened, *started[:3], *grown, *started[3:], *ended]


async def test_the_revision_of_each_resource_is_how_often_it_was_published_as_sessions_come_and_go() -> None:
    published = Published()
    merger = Merger(published, Timeline(Clock()))
    risen = Counter[str]()
    async with trio.open_nursery() as nursery:
        await nursery.start(merger.run)
        for change in stages():
            was = {uri: merger.revisions[uri] for uri in published.times}
            state = await merger.merge(change)
            living = {session_uri(each.id, name) for each in state.snapshots for name in RESOURCES_OF_SESSIONS}
            assert {uri: merger.revisions[uri] for uri in living} == {uri: published.times[uri] for uri in living}
            assert all(merger.revisions[uri] >= was.get(uri, 0) for uri in living)
            assert {uri for uri in merger.revisions.counted() if "/s-" in uri} == living
            risen.update(uri for uri in living if merger.revisions[uri] > was.get(uri, 0))
        nursery.cancel_scope.cancel()
    assert risen[session_uri("s-1", "session")] == 9
