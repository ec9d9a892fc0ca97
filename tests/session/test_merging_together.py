"""What is sent to the merger at once is published together, and no session's wait is asked about another."""

import gc
from collections.abc import AsyncIterator, Callable, Iterable
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from functools import partial

import trio
import trio.testing

from trio_debugmcp.clock import Clock
from trio_debugmcp.session.event_ring import Timeline
from trio_debugmcp.session.merger import MOST_IN_A_TURN, Merger, Revisions
from trio_debugmcp.state.changes import OriginLearned, Resumed, SessionClosed, SessionOpened, SessionStarted
from trio_debugmcp.state.model import Origin, State
from trio_debugmcp.state.session_resources import SESSIONS, session_uri

ORIGIN = Origin("fake", "Fake", "Launch", 1000.0)


class Published:
    """What the merger has published, call by call."""

    def __init__(self) -> None:
        self.updates: list[set[str]] = []
        self.lists = 0

    def resources_updated(self, *uris: AbstractSet[str]) -> None:
        self.updates.append(set[str]().union(*uris))

    def list_changed(self) -> None:
        self.lists += 1


@asynccontextmanager
async def merging(published: Published, sessions: int = 0) -> AsyncIterator[Merger]:
    merger = Merger(published, Timeline(Clock()))
    async with trio.open_nursery() as nursery:
        await nursery.start(merger.run)
        for number in range(1, sessions + 1):
            await merger.merge(SessionOpened(f"s-{number}", ORIGIN, None if number == 1 else "s-1"))
            await merger.merge(SessionStarted(f"s-{number}"))
        published.updates.clear()
        yield merger
        nursery.cancel_scope.cancel()


async def test_what_is_sent_at_once_is_published_once_with_one_revision() -> None:
    published = Published()
    async with merging(published, sessions=20) as merger:
        before, revision = published.lists, merger.revisions[SESSIONS]
        async with trio.open_nursery() as nursery:
            for number in range(1, 21):
                nursery.start_soon(merger.merge, SessionClosed(f"s-{number}", "over"))
        [uris] = published.updates
        assert session_uri("s-20", "stack") in uris
        assert merger.revisions[SESSIONS] == revision + 1
        assert published.lists == before + 1
        assert merger.state.focus is None


async def test_other_tasks_have_a_turn_between_many_changes() -> None:
    published = Published()
    async with merging(published, sessions=MOST_IN_A_TURN + 2) as merger:
        async with trio.open_nursery() as nursery:
            for number in range(2, MOST_IN_A_TURN + 3):
                nursery.start_soon(merger.merge, SessionClosed(f"s-{number}", "over"))
        assert len(published.updates) == 2


async def test_a_wait_sees_a_state_between_two_that_are_published_together() -> None:
    async with merging(Published(), sessions=1) as merger:
        seen = trio.Event()

        async def wait() -> None:
            await merger.wait_until(lambda state: state.snapshot("s-2") is not None)
            seen.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(merger.merge, SessionOpened("s-2", ORIGIN, None))
            nursery.start_soon(merger.merge, SessionClosed("s-2", "over"))
            await seen.wait()


async def test_waits_do_not_keep_the_states_in_which_they_began() -> None:
    async with merging(Published(), sessions=1) as merger, trio.open_nursery() as nursery:
        for _ in range(20):
            for of in ("s-1", None):
                nursery.start_soon(partial(merger.wait_until, lambda state: state.focus is None, of=of))
            await trio.testing.wait_all_tasks_blocked()
            await merger.merge(Resumed("s-1", "step"))
            await merger.merge(Resumed("s-1", "continue"))
        gc.collect()
        kept = {id(each.snapshots) for each in gc.get_objects() if isinstance(each, State) and each.snapshots}
        assert len(kept) < 5
        await merger.merge(SessionClosed("s-1", "over"))


async def test_a_wait_for_a_session_is_not_asked_about_what_happens_to_another() -> None:
    async with merging(Published(), sessions=3) as merger:
        asked: dict[str, int] = {"s-2": 0, "s-3": 0}

        def counting(session_id: str) -> Callable[[State], bool]:
            def condition(state: State) -> bool:
                asked[session_id] += 1
                return state.snapshot(session_id) is None

            return condition

        async with trio.open_nursery() as nursery:
            for session_id in asked:
                nursery.start_soon(partial(merger.wait_until, counting(session_id), of=session_id))
            await trio.testing.wait_all_tasks_blocked()
            assert asked == {"s-2": 1, "s-3": 1}
            await merger.merge(Resumed("s-2", "step"))
            assert asked == {"s-2": 2, "s-3": 1}
            merger.look_again("s-3")
            assert asked == {"s-2": 2, "s-3": 2}
            await merger.merge(SessionClosed("s-2", "over"))
            await merger.merge(SessionClosed("s-3", "over"))


async def test_a_change_in_a_fleet_is_counted_and_published_with_its_tree_as_the_very_same_set() -> None:
    heard: list[tuple[AbstractSet[str], ...]] = []
    counted: list[int] = []

    class Listening(Published):
        def resources_updated(self, *uris: AbstractSet[str]) -> None:
            heard.append(uris)

    class Counting(Revisions):
        def count(self, alone: AbstractSet[str], together: Iterable[frozenset[str]] = ()) -> None:
            counted.append(len(alone))
            super().count(alone, together)

    async with merging(Listening(), sessions=20) as merger:
        heard.clear()
        merger.revisions = Counting(())
        for number in (3, 4):
            await merger.merge(OriginLearned(f"s-{number}", process_id=number))
        (few, tree), (_, again) = heard
        assert tree == {session_uri(f"s-{number}", "session") for number in range(1, 21)}
        assert tree is again
        assert counted == [len(few)] * 2
        assert len(few) < 10
        assert merger.revisions[session_uri("s-20", "session")] == 2
