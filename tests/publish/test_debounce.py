"""The debouncer on a virtual clock: every time is exact."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from trio_debugmcp.publish.debounce import Debouncer, DebouncerStatistics


class Published:
    """What was published, and when."""

    def __init__(self) -> None:
        self.all: list[tuple[str, float]] = []

    def __call__(self, uri: str) -> None:
        self.all.append((uri, round(trio.current_time(), 6)))

    def times(self, uri: str = "a") -> list[float]:
        return [at for each, at in self.all if each == uri]


@asynccontextmanager
async def debouncing(quiet: float = 0.3, max_wait: float = 0.9) -> AsyncIterator[tuple[Debouncer, Published]]:
    published = Published()
    async with trio.open_nursery() as nursery:
        yield Debouncer(nursery, published, quiet=quiet, max_wait=max_wait), published
        nursery.cancel_scope.cancel(reason="the test is over")


async def test_one_change_is_published_when_it_has_been_quiet(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        await trio.sleep(1)
        debouncer.changed("a")
        await trio.sleep(10)
        assert published.all == [("a", 1.3)]


async def test_a_burst_is_published_once_counted_from_its_last_change(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        for _ in range(5):
            debouncer.changed("a")
            await trio.sleep(0.1)
        await trio.sleep(10)
        assert published.times() == [0.7]


async def test_many_changes_in_one_tick_are_published_once(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        for _ in range(1000):
            debouncer.changed("a")
        await trio.sleep(10)
        assert published.times() == [0.3]


async def test_a_storm_that_never_pauses_is_published_every_max_wait(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        for _ in range(50):  # at 0.0, 0.1, … 4.9
            debouncer.changed("a")
            await trio.sleep(0.1)
        await trio.sleep(10)
        times = published.times()
        gaps = [later - earlier for earlier, later in zip([0.0, *times], times, strict=False)]
        assert times[0] == 0.9
        assert max(gaps) <= 1.0 + 1e-6  # 0.9 from the first unpublished change, which comes 0.1 after the last
        assert times[-1] == pytest.approx(5.2)


async def test_a_storm_of_a_change_every_millisecond_is_published_every_max_wait(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        for _ in range(3000):
            debouncer.changed("a")
            await trio.sleep(0.001)
        times = published.times()
        assert len(times) == 3
        for number, at in enumerate(times):
            assert at == pytest.approx(0.9 + number * 0.901, abs=0.002)


async def test_a_change_in_the_tick_in_which_its_uri_is_published_is_not_lost(autojump_clock: MockClock) -> None:
    for _ in range(20):  # in either order of the two tasks
        async with debouncing() as (debouncer, published):
            start = trio.current_time()
            debouncer.changed("a")
            await trio.sleep_until(start + 0.3)
            published.all.append(("changed", start + 0.3))
            debouncer.changed("a")
            await trio.sleep(10)
            assert published.all[-1][0] == "a"
            assert published.times()[-1] in (pytest.approx(start + 0.3), pytest.approx(start + 0.6))


async def test_the_last_change_is_always_published(autojump_clock: MockClock) -> None:
    for gap in (0.05, 0.1, 0.29, 0.3, 0.31, 0.45, 0.9, 1.0):
        async with debouncing() as (debouncer, published):
            for _ in range(20):
                debouncer.changed("a")
                last = trio.current_time()
                await trio.sleep(gap)
            await trio.sleep(2)
            assert last < published.times()[-1] <= last + 0.9 + 1e-6


async def test_each_uri_has_its_own_window(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        debouncer.changed("a")
        await trio.sleep(0.2)
        debouncer.changed("b")
        await trio.sleep(10)
        assert published.all == [("a", 0.3), ("b", 0.5)]


async def test_a_flush_publishes_pending_changes_at_once_and_only_once(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        debouncer.changed("a")
        debouncer.changed("b")
        await trio.sleep(0.1)
        debouncer.flush()
        assert published.all == [("a", 0.1), ("b", 0.1)]
        await trio.sleep(10)
        debouncer.flush()
        assert len(published.all) == 2


async def test_a_flush_in_the_tick_of_a_change_publishes_it(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        debouncer.changed("a")
        debouncer.flush()
        assert published.all == [("a", 0)]
        await trio.sleep(10)
        assert len(published.all) == 1


@pytest.mark.parametrize("before", [0.0, 0.1])
async def test_a_change_right_after_a_flush_gets_a_whole_window(before: float, autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        debouncer.changed("a")
        await trio.sleep(before)
        debouncer.flush()
        debouncer.changed("a")
        await trio.sleep(10)
        assert published.times() == [before, round(before + 0.3, 6)]


async def test_a_storm_after_a_flush_is_bounded_from_its_own_first_change(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        debouncer.changed("a")
        await trio.sleep(0.25)
        debouncer.flush()
        for _ in range(20):
            debouncer.changed("a")
            await trio.sleep(0.1)
        assert published.times()[:2] == [0.25, 1.15]


async def test_a_change_of_a_dropped_uri_is_not_published(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        debouncer.changed("a")
        debouncer.changed("b")
        await trio.sleep(0.1)
        debouncer.drop("a")
        debouncer.drop("never heard of")
        await trio.sleep(10)
        debouncer.flush()
        assert published.all == [("b", 0.3)]


@pytest.mark.parametrize("before", [0.0, 0.1])
async def test_a_uri_that_is_dropped_and_changes_again_in_the_same_tick_gets_a_whole_window(
    before: float, autojump_clock: MockClock
) -> None:
    async with debouncing() as (debouncer, published):
        debouncer.changed("a")
        await trio.sleep(before)
        debouncer.drop("a")
        await trio.lowlevel.checkpoint()
        debouncer.changed("a")
        await trio.sleep(10)
        assert published.times() == [round(before + 0.3, 6)]


async def test_dropped_uris_leave_neither_a_pending_change_nor_a_task_behind(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, published):
        tasks = trio.lowlevel.current_statistics().tasks_living
        uris = [str(number) for number in range(100)]
        debouncer.changed(*uris)
        assert debouncer.statistics() == DebouncerStatistics(watched=100, pending=100)
        await trio.sleep(1)
        assert debouncer.statistics() == DebouncerStatistics(watched=100, pending=0)
        debouncer.changed(*uris[:50])
        for uri in uris:
            debouncer.drop(uri)
        assert debouncer.statistics() == DebouncerStatistics(watched=0, pending=0)
        await trio.sleep(1)
        assert len(published.all) == 100
        assert trio.lowlevel.current_statistics().tasks_living == tasks


async def test_the_representation_says_how_much_is_pending(autojump_clock: MockClock) -> None:
    async with debouncing() as (debouncer, _):
        debouncer.changed("a", "b")
        await trio.sleep(0.2)
        debouncer.changed("b")
        await trio.sleep(0.2)
        assert repr(debouncer) == "<Debouncer quiet=0.3 max_wait=0.9: 1 of 2 URIs pending>"


async def test_a_window_of_zero_seconds_publishes_in_the_same_instant(autojump_clock: MockClock) -> None:
    async with debouncing(quiet=0, max_wait=0) as (debouncer, published):
        debouncer.changed("a")
        await trio.testing.wait_all_tasks_blocked()
        debouncer.changed("a")
        await trio.testing.wait_all_tasks_blocked()
        assert published.times() == [0, 0]


async def test_a_bound_below_the_quiet_window_wins(autojump_clock: MockClock) -> None:
    async with debouncing(quiet=0.5, max_wait=0.2) as (debouncer, published):
        debouncer.changed("a")
        await trio.sleep(10)
        assert published.times() == [0.2]


def test_uris_that_change_together_are_published_in_one_tick_although_the_clock_advances_meanwhile() -> None:
    """On a clock that advances whenever it is read, as real ones do."""

    class Ticking(trio.abc.Clock):
        now = 0.0

        def start_clock(self) -> None:
            pass

        def current_time(self) -> float:
            self.now += 0.001
            return self.now

        def deadline_to_sleep_time(self, deadline: float) -> float:
            return 0

    async def main() -> None:
        ticks, published = 0, list[tuple[str, int]]()

        async def count_ticks() -> None:
            nonlocal ticks
            while True:
                await trio.lowlevel.checkpoint()
                ticks += 1

        async with trio.open_nursery() as nursery:
            debouncer = Debouncer(nursery, lambda uri: published.append((uri, ticks)))
            nursery.start_soon(count_ticks)
            for _ in range(3):
                debouncer.changed("a", "b", "c")
                while len(published) < 3:
                    await trio.lowlevel.checkpoint()
                assert {uri for uri, _ in published} == {"a", "b", "c"}
                assert max(tick for _, tick in published) - min(tick for _, tick in published) <= 1
                published.clear()
            nursery.cancel_scope.cancel(reason="seen enough")

    trio.run(main, clock=Ticking())
