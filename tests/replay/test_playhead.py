"""The playhead: what a replay waits for, and for how long."""

import trio
from trio.testing import MockClock

from trio_debugmcp.replay.playhead import ASKING_SECONDS, Playhead


async def test_a_replay_waits_for_the_questions_of_the_recording_before_it_continues(autojump_clock: MockClock) -> None:
    playhead = Playhead(0, {})
    to_come = [3.0, 5.0]
    playhead.expect(lambda before: any(t < before for t in to_come))

    async def ask() -> None:
        await trio.sleep(0.25)
        to_come.remove(3.0)
        playhead.asked()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await playhead.wait_asked(4.0)
        assert trio.current_time() == 0.25
        await playhead.wait_asked(4.0)
        assert trio.current_time() == 0.25


async def test_a_server_that_does_not_ask_is_waited_for_once(autojump_clock: MockClock) -> None:
    playhead = Playhead(0, {})
    playhead.expect(lambda _: True)
    for _ in range(3):
        await playhead.wait_asked(4.0)
    assert trio.current_time() == ASKING_SECONDS
