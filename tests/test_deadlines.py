"""Deadlines that stand still while a person is asked."""

import trio
from trio.testing import MockClock

from trio_debugmcp.deadlines import Deadlines


async def test_a_deadline_moves_by_the_length_of_each_pause(autojump_clock: MockClock) -> None:
    deadlines = Deadlines()
    began = trio.current_time()
    with deadlines.until(deadlines.now() + 3) as scope:
        await trio.sleep(1)
        with deadlines.paused():
            await trio.sleep(10)
            assert deadlines.now() == began + 1
        await trio.sleep(1)
        with deadlines.paused():
            await trio.sleep(4)
            with deadlines.paused():
                await trio.sleep(6)
        await trio.sleep(1000)
    assert scope.cancelled_caught
    assert trio.current_time() == began + 23


async def test_a_deadline_that_is_set_during_a_pause_runs_from_its_end(autojump_clock: MockClock) -> None:
    deadlines = Deadlines()
    began = trio.current_time()
    with deadlines.paused():
        with deadlines.until(deadlines.now() + 3) as short:
            await trio.sleep(5)
        deadlines.now()
    assert not short.cancelled_caught
    with deadlines.until(deadlines.now() + 1) as scope:
        with deadlines.paused():
            deadlines.extend(scope, deadlines.now() + 2)
            await trio.sleep(5)
        await trio.sleep(1000)
    assert scope.cancelled_caught
    assert trio.current_time() == began + 12
