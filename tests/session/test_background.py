"""`finished_within`: a caller waits for work for some time, and the work continues without it."""

import logging

import pytest
import trio
from trio.testing import MockClock

from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.background import finished_within


async def slow(seconds: float, done: list[str], error: UsageError | None = None) -> str:
    await trio.sleep(seconds)
    if error is not None:
        raise error
    done.append("done")
    return "done"


async def test_what_takes_longer_than_the_wait_continues(autojump_clock: MockClock) -> None:
    done: list[str] = []
    async with trio.open_nursery() as nursery:
        assert await finished_within(nursery, lambda: slow(2, done), 3) == "done"
        assert await finished_within(nursery, lambda: slow(4, done), 3) is None
        assert (trio.current_time(), done) == (5, ["done"])
    assert (trio.current_time(), done) == (6, ["done", "done"])


async def test_a_failure_is_the_callers_as_long_as_it_waits(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    error = UsageError("LAUNCH_FAILED", "no such thing")
    async with trio.open_nursery() as nursery:
        with pytest.raises(UsageError, match="no such thing"):
            await finished_within(nursery, lambda: slow(1, [], error), 3)
        with caplog.at_level(logging.WARNING):
            assert await finished_within(nursery, lambda: slow(4, [], error), 3) is None
            await trio.sleep(2)
    assert "no such thing" in caplog.text


async def test_cancelling_the_caller_cancels_the_work(autojump_clock: MockClock) -> None:
    done: list[str] = []
    async with trio.open_nursery() as nursery:
        with trio.move_on_after(1):
            await finished_within(nursery, lambda: slow(2, done), 3)
        await trio.sleep(5)
    assert done == []
