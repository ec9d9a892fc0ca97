"""The wall clock: anchored once, exact on a virtual clock, readable without Trio."""

import time
from datetime import UTC, datetime, timedelta

import pytest
import trio
from trio.testing import MockClock

from trio_debugmcp.clock import Clock


async def test_it_follows_trios_clock_exactly(autojump_clock: MockClock) -> None:
    clock = Clock(anchor=1_767_225_600.25)
    start = clock.utc()
    assert (clock.now(), start) == (1_767_225_600.25, datetime(2026, 1, 1, 0, 0, 0, 250_000, tzinfo=UTC))
    await trio.sleep(0.1)
    assert clock.utc() - start == timedelta(seconds=0.1)
    await trio.sleep(86400)
    assert clock.now() == pytest.approx(1_767_225_600.25 + 86400.1)


async def test_a_system_clock_that_is_set_changes_nothing(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    before = clock.utc()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    await trio.sleep(1)
    assert clock.utc() - before == timedelta(seconds=1)


def test_a_clock_that_is_made_before_trio_runs_is_anchored_when_it_is_first_read_within() -> None:
    clock = Clock()
    before = datetime.now(UTC)
    assert timedelta(0) <= clock.utc() - before < timedelta(seconds=10)

    async def elapsed() -> tuple[datetime, timedelta]:
        first = clock.utc()
        await trio.sleep(3600)
        return first, clock.utc() - first

    first, took = trio.run(elapsed, clock=MockClock(autojump_threshold=0))
    assert timedelta(0) <= first - before < timedelta(seconds=10)
    assert took == timedelta(hours=1)
