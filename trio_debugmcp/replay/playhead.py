"""`Playhead`: which moment of the recording it is. The one place where recorded time and trio's time meet."""

from collections.abc import Mapping
from math import inf

import trio
import trio.testing

from trio_debugmcp.replay.tape import MoveId

SETTLE_SECONDS = 1.0
"""For the server to do what it is about to do; one that is busy for so long is not waited for."""


class Playhead:
    """Recorded time, in seconds from the recording's start. It stands at 0 until `begin`.

    Recorded time passes at a speed, or as fast as can be up to where it is released. When clients make the moves
    themselves (`following`), it is the moment of the move that was made last, and what passed since, and waits for the
    next one.
    """

    def __init__(self, speed: float, moves: Mapping[MoveId, float], *, following: bool = False) -> None:
        self._speed = speed or inf
        self._moves = moves
        self._following = following
        self._made: set[MoveId] = set()
        self._hold = -inf if not speed and not following else inf
        self._ceiling = min(moves.values(), default=inf) if following else inf
        self._at = 0.0
        self._since: float | None = None
        self._talkative: set[object] = set()
        self._passed = 0
        self._changed = trio.lowlevel.ParkingLot()

    @property
    def at_once(self) -> bool:
        """Whether nothing waits for its time: the speed is 0."""
        return self._speed == inf

    @property
    def position(self) -> float:
        """The moment that it is now."""
        if self._since is None or self._speed == inf:
            return self._at
        return max(self._at, min(self._at + (trio.current_time() - self._since) * self._speed, self._ceiling))

    def begin(self) -> None:
        """From now on time passes."""
        if self._since is None:
            self._since = trio.current_time()
            self._changed.unpark_all()

    def release(self, moment: float) -> None:
        """With speed 0, recorded time may come to this moment."""
        self._hold = max(self._hold, moment)
        self._changed.unpark_all()

    def passed(self, moment: float) -> None:
        """What was due at this moment happens."""
        self._passed += 1
        if self._speed == inf and moment != inf:
            self._at = max(self._at, moment)

    def make(self, move: MoveId) -> None:
        """A client has made that move."""
        self._made.add(move)
        moment = self._moves.get(move)
        if moment is not None:
            self.follow(moment)
        self._changed.unpark_all()

    def follow(self, moment: float) -> None:
        """A client has done what was done at that moment."""
        if self._following:
            self._at, self._since = max(self.position, moment), trio.current_time()
            self._ceiling = min((t for t in self._moves.values() if t > moment), default=inf)
            self._changed.unpark_all()

    def made(self, move: MoveId) -> bool:
        """Whether that move was made; the beginning of a connection, which has number 0, always was."""
        return move.number == 0 or move in self._made

    def when(self, moment: float) -> float:
        """When it will be that moment, by trio's clock, as far as it can be said now."""
        if self._since is None or moment > self._hold or moment == inf:
            return inf
        if self._speed == inf:
            return -inf
        return self._since + (moment - self._at) / self._speed

    def has_more(self, who: object, more: bool) -> None:
        """Whether somebody has something to say at once, with speed 0."""
        (self._talkative.add if more else self._talkative.discard)(who)

    async def wait_turn(self) -> None:
        """With speed 0, what is said next waits until what was said last has had its effects."""
        if self.at_once:
            await settle()

    async def wait_quiet(self) -> None:
        """Wait until all that is due has been said, and has had its effects."""
        while True:
            passed = self._passed
            await settle()
            if passed == self._passed and not self._talkative:
                return

    async def reach(self, moment: float) -> None:
        """Wait until it is that moment."""
        while (at := self.when(moment)) > trio.current_time():
            with trio.move_on_at(at):
                await self.wait_change()
        self.passed(moment)

    async def wait_change(self) -> None:
        """Wait until time has begun or jumped, or a move was made."""
        await self._changed.park()


async def settle() -> None:
    """Until all tasks wait for something, within bounds."""
    with trio.move_on_after(SETTLE_SECONDS):
        await trio.testing.wait_all_tasks_blocked()
