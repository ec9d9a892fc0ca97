"""Deadlines that stand still while a person is asked."""

import trio
from trio.testing import MockClock

from trio_debugmcp.patience import Patience


async def test_a_deadline_moves_by_the_length_of_each_pause(autojump_clock: MockClock) -> None:
    patience = Patience()
    began = trio.current_time()
    with patience.until(patience.now() + 3) as scope:
        await trio.sleep(1)
        with patience.paused():
            await trio.sleep(10)
            assert patience.now() == began + 1
        await trio.sleep(1)
        with patience.paused():
            await trio.sleep(4)
            with patience.paused():
                await trio.sleep(6)
        await trio.sleep(1000)
    assert scope.cancelled_caught
    assert trio.current_time() == began + 23


async def test_a_deadline_that_is_set_during_a_pause_runs_from_its_end(autojump_clock: MockClock) -> None:
    patience = Patience()
    began = trio.current_time()
    with patience.paused():
        with patience.until(patience.now() + 3) as short:
            await trio.sleep(5)
        patience.now()
    assert not short.cancelled_caught
    with patience.until(patience.now() + 1) as scope:
        with patience.paused():
            patience.extend(scope, patience.now() + 2)
            await trio.sleep(5)
        await trio.sleep(1000)
    assert scope.cancelled_caught
    assert trio.current_time() == began + 12
