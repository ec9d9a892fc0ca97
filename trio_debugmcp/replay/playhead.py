"""`Playhead`: which moment of the recording it is. The one place where recorded time and Trio's time meet.

    playhead = Playhead(1.0, {})
    playhead.begin()
    await playhead.reach(2.5)       # 2.5 s of recorded time later

At speed 0 no time passes: a moment is reached as soon as the server has settled.
"""

from collections.abc import Callable, Mapping
from math import inf

import trio
import trio.testing  # for `wait_all_tasks_blocked`, which Trio has nowhere else

from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.replay.tape import MoveId

SETTLE_SECONDS = 1.0
"""For the server to do what it is about to do. After that it is not waited for: something keeps it busy."""

ASKING_SECONDS = 1.0
"""For the server to ask what it asked in the recording after a pause of a quarter of a second. A server that does not
ask is of another version, and is not waited for again."""


class Playhead:
    """Recorded time, in seconds from the recording's start. It stands at 0 until `begin` is called.

    It is used from both sides, by what plays and by what waits for time, hence so many methods.

    Args:
        speed: recorded seconds per second; 0: as fast as possible, up to the moment that was `release`d.
        moves: the recorded moves, and when they were made.
        following: clients make the moves themselves: time is that of the latest move plus what has passed since, and
            waits for the next move.

    Attributes:
        patience: with the server that plays its part again, and with what was recorded.
    """

    def __init__(
        self,
        speed: float,
        moves: Mapping[MoveId, float],
        *,
        following: bool = False,
        patience: Patience = USUAL,
    ) -> None:
        self.patience = patience
        self._speed = speed or inf
        self._moves = moves
        self._following = following
        self._made: set[MoveId] = set()
        self._hold = -inf if not speed and not following else inf
        self._ceiling = min(moves.values(), default=inf) if following else inf
        self._at = 0.0
        self._since: float | None = None
        self._talkative: set[object] = set()
        self._expecting: list[Callable[[float], bool]] = []
        self._passed = 0
        self._changed = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<Playhead at {self.position:.3f} s>"

    @property
    def at_once(self) -> bool:
        """Whether nothing waits for its time: the speed is 0."""
        return self._speed == inf

    @property
    def position(self) -> float:
        """The present moment of the recording."""
        if self._since is None or self._speed == inf:
            return self._at
        return max(self._at, min(self._at + (trio.current_time() - self._since) * self._speed, self._ceiling))

    def begin(self) -> None:
        """Let time pass from now on; a second call has no effect."""
        if self._since is None:
            self._since = trio.current_time()
            self._changed.unpark_all()

    def release(self, moment: float) -> None:
        """Let recorded time reach this moment, with speed 0."""
        self._hold = max(self._hold, moment)
        self._changed.unpark_all()

    def passed(self, moment: float) -> None:
        """Count that something due at this moment happens."""
        self._passed += 1
        if self._speed == inf and moment != inf:
            self._at = max(self._at, moment)

    def make(self, move: MoveId) -> None:
        """Count that a client has made that move, and follow it."""
        self._made.add(move)
        moment = self._moves.get(move)
        if moment is not None:
            self.follow(moment)
        self._changed.unpark_all()

    def follow(self, moment: float) -> None:
        """Move to that moment: a client has done what was done then. Without `following`, this has no effect."""
        if self._following:
            self._at, self._since = max(self.position, moment), trio.current_time()
            # Time stops at the next move, which the client may make much later than the recorded one.
            self._ceiling = min((t for t in self._moves.values() if t > moment), default=inf)
            self._changed.unpark_all()

    def made(self, move: MoveId) -> bool:
        """Whether that move was made. Number 0, the beginning of a connection, counts as made."""
        return move.number == 0 or move in self._made

    def when(self, moment: float) -> float:
        """Return when that moment will come, by Trio's clock; infinity: not before something changes."""
        if self._since is None or moment > self._hold or moment == inf:
            return inf
        if self._speed == inf:
            return -inf
        return self._since + (moment - self._at) / self._speed

    def has_more(self, who: object, more: bool) -> None:
        """Register whether `who` has a message that is due now (speed 0 only). `wait_quiet` waits for those."""
        (self._talkative.add if more else self._talkative.discard)(who)

    async def wait_turn(self) -> None:
        """Wait, with speed 0, until the message that was sent last has had its effects."""
        if self.at_once:
            await settle(self.patience)

    async def wait_quiet(self) -> None:
        """Wait until all messages that are due have been sent and have had their effects."""
        while True:
            passed = self._passed
            await settle(self.patience)
            if passed == self._passed and not self._talkative:
                return

    def expect(self, expects: Callable[[float], bool]) -> None:
        """Have `wait_asked` wait while this returns true for its moment; `asked` is called when that may change."""
        self._expecting.append(expects)

    def asked(self) -> None:
        """Report that an adapter was asked something."""
        self._changed.unpark_all()

    async def wait_asked(self, moment: float) -> None:
        """Wait until the server has asked the adapters what they were asked before that moment of the recording."""
        with trio.move_on_after(self.patience.seconds(ASKING_SECONDS)) as limit:
            while any(expects(moment) for expects in self._expecting):
                await self.wait_change()
        if limit.cancelled_caught:
            self._expecting.clear()

    async def reach(self, moment: float) -> None:
        """Wait until that moment has come."""
        while (at := self.when(moment)) > trio.current_time():
            with trio.move_on_at(at):
                await self.wait_change()
        self.passed(moment)

    async def wait_change(self) -> None:
        """Wait until time has begun or jumped, or a move was made."""
        await self._changed.park()


async def settle(patience: Patience) -> None:
    """Wait until all other tasks wait for something, within bounds."""
    with trio.move_on_after(patience.seconds(SETTLE_SECONDS)):
        await trio.testing.wait_all_tasks_blocked()
