"""What is fetched at a stop, and when."""

from functools import partial
from typing import Any

import trio
from trio.testing import MockClock

from tests.server.scene import paused
from tests.session.answers import stop
from trio_debugmcp.testing import FakeAdapter


async def test_a_step_right_after_a_stop_does_not_wait_for_places_of_other_threads(
    autojump_clock: MockClock,
) -> None:
    """For a thread that waits, debugpy answers after half a second, and serves nothing else until then."""
    adapter = FakeAdapter()
    adapter.threads = [(number, f"worker {number}") for number in range(1, 6)]
    frames = adapter.answer_to("stackTrace")

    async def slowly(arguments: dict[str, Any]) -> object:
        if arguments["threadId"] in (2, 3):
            await trio.sleep(0.5)
            return {"stackFrames": [], "totalFrames": 0}
        return await frames(arguments)

    adapter.answer("stackTrace", slowly)
    adapter.answer("next", partial(stop, adapter))

    def asked_for() -> list[int]:
        return [arguments["threadId"] for arguments in adapter.sent("stackTrace")]

    async with paused("legacy", adapter) as (client, _):
        assert asked_for() == [1, 2]
        for _ in range(3):
            await client.call("debug_step")
        assert asked_for() == [1, 2, 1, 1, 1]
        await trio.sleep(5)
        assert asked_for()[5:] == [3]
        await client.call("debug_step")
        await trio.sleep(5)
        assert asked_for()[6:] == [1, 4, 5, 2]
        await client.call("debug_step")
        await trio.sleep(5)
        assert asked_for()[10:] == [1, 4, 5, 3]
        places = [thread["location"] is not None for thread in (await client.call("threads_list"))["threads"]]
        assert places == [True, False, False, True, True]
