"""Handshakes of many programs at once: so many at a time, in order, and one that takes long holds up no other."""

import trio
import trio.testing
from trio.testing import MockClock

from trio_debugmcp.session.handshake_turns import MOST_AT_A_TIME, HandshakeTurns


async def test_only_so_many_have_a_turn_and_the_others_have_it_in_order(autojump_clock: MockClock) -> None:
    turns, began = HandshakeTurns(), list[int]()
    async with trio.open_nursery() as nursery:

        async def shake(number: int) -> None:
            async with turns.turn(nursery, 60):
                began.append(number)
                await trio.sleep(1 + number / 1000)

        for number in range(MOST_AT_A_TIME + 3):
            nursery.start_soon(shake, number)
            await trio.testing.wait_all_tasks_blocked()
        assert began == [*range(MOST_AT_A_TIME)]
    assert began == [*range(MOST_AT_A_TIME + 3)]
    assert trio.current_time() < 3
    assert repr(turns) == f"<HandshakeTurns: 0 of {MOST_AT_A_TIME} taken>"


async def test_one_that_takes_long_gives_its_place_to_the_next_and_is_not_ended(autojump_clock: MockClock) -> None:
    turns, ended = HandshakeTurns(), list[float]()
    async with trio.open_nursery() as nursery:

        async def shake(seconds: float) -> None:
            async with turns.turn(nursery, 1):
                await trio.sleep(seconds)
                ended.append(trio.current_time())

        began = trio.current_time()
        for _ in range(MOST_AT_A_TIME):
            nursery.start_soon(shake, 10)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(shake, 0)
    assert ended[0] - began == 1
    assert ended[-1] - began == 10


async def test_a_turn_that_is_cancelled_is_given_back(autojump_clock: MockClock) -> None:
    turns = HandshakeTurns()
    async with trio.open_nursery() as nursery, turns.turn(nursery, 60):
        nursery.cancel_scope.cancel()
    async with trio.open_nursery() as nursery, turns.turn(nursery, 60):
        assert repr(turns) == f"<HandshakeTurns: 1 of {MOST_AT_A_TIME} taken>"
