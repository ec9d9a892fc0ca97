"""`Adoptions`: children that were announced to a session and are not in the state yet. It must not end meanwhile.

    with adoptions.one():
        await merger.merge(SessionOpened(...))

Who looks whether there are children waits until these are `settled`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import trio


class Adoptions:
    """How many children of one session are being adopted."""

    def __init__(self) -> None:
        self._count = 0
        self._waiting = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<Adoptions {self._count}>"

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count a child for the length of the block."""
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
            if not self._count:
                self._waiting.unpark_all()

    async def settled(self) -> None:
        """Wait until none is being adopted.

        A child that was announced before this is called counts: the task that adopts it has had its turn by then.
        """
        await trio.lowlevel.checkpoint()  # in one round of the scheduler tasks run in any order,
        await trio.lowlevel.checkpoint()  # so only in the second all those have run
        while self._count:
            await self._waiting.park()
