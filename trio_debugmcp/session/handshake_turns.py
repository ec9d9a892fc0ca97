"""`HandshakeTurns`: of programs that dial in at once, so many shake hands at a time, in the order in which they came.

    async with turns.turn(nursery, seconds):    # waits until it is this one's turn
        ...                                     # after so many seconds the next one has its turn, too

A thousand at once would share the time of this server, so that each of them waited for as long as all need, and the
last had no answer in time. What does not answer holds up the others only for its turn.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

MOST_AT_A_TIME = 64
"""What a handshake costs is shared best by many."""

TURN_SECONDS = 1.0
"""For a handshake while others wait; it takes milliseconds."""


class HandshakeTurns:
    """The turns of the programs of one server."""

    def __init__(self) -> None:
        self._places = trio.CapacityLimiter(MOST_AT_A_TIME)

    def __repr__(self) -> str:
        return f"<HandshakeTurns: {self._places.borrowed_tokens} of {MOST_AT_A_TIME} taken>"

    @asynccontextmanager
    async def turn(self, nursery: trio.Nursery, seconds: float) -> AsyncIterator[None]:
        """Wait for a turn, and have it for the block, or for so many seconds; a task of `nursery` ends it."""
        over = trio.Event()
        await self._places.acquire_on_behalf_of(over)
        nursery.start_soon(self._hold, over, seconds)
        try:
            yield
        finally:
            over.set()

    async def _hold(self, over: trio.Event, seconds: float) -> None:
        try:
            with trio.move_on_after(seconds):
                await over.wait()
        finally:
            self._places.release_on_behalf_of(over)
