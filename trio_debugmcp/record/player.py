"""A recorded debug adapter that speaks again, over any stream."""

from collections import deque
from heapq import heappop, heappush
from itertools import count
from math import inf

import msgspec
import trio

from trio_debugmcp.dap.framing import FrameDecoder, encode_frame
from trio_debugmcp.record.tape import DapMessage, Due, MoveId, Reply, Tape

_CHUNK_BYTES = 64 * 1024


class Progress:
    """Which moves the clients of one recorded session have made, and when. Shared by the players of its tapes."""

    def __init__(self) -> None:
        self._made: dict[MoveId, float] = {}
        self._changed = trio.lowlevel.ParkingLot()

    def made(self, move: MoveId) -> None:
        """That move is made now."""
        self._made.setdefault(move, trio.current_time())
        self._changed.unpark_all()

    def time_of(self, move: MoveId) -> float:
        """When it was made; infinity if it is yet to come."""
        return self._made.get(move, -inf if move.number == 0 else inf)

    async def wait_change(self) -> None:
        """Wait for the next move."""
        await self._changed.park()


async def play(tape: Tape, stream: trio.abc.Stream, progress: Progress, *, speed: float = 1.0) -> None:
    """Be the adapter at this end of `stream`, until either end hangs up or the caller cancels.

    Args:
        tape: what to say; used up by this.
        stream: stays the caller's to close, but is closed when the recording says that the adapter hung up.
        progress: shared with the other tapes of the session.
        speed: 1 keeps the recorded delays, 2 halves them; at 0 there are none.
    """
    script = _Script(progress, speed)
    script.add(Reply(tape.opening()))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_speak, tape, script, stream, nursery.cancel_scope)
        nursery.start_soon(script.watch)
        decoder = FrameDecoder()
        try:
            while data := await stream.receive_some(_CHUNK_BYTES):
                for body in decoder.feed(bytes(data)):
                    script.add(tape.take(msgspec.json.decode(body)))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        nursery.cancel_scope.cancel(reason="the client has hung up")


async def _speak(tape: Tape, script: "_Script", stream: trio.abc.Stream, scope: trio.CancelScope) -> None:
    """Alone in writing to the stream."""
    try:
        while (message := await script.next()) is not None:
            await stream.send_all(encode_frame(msgspec.json.encode(message)))
            tape.sent(message)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
    await trio.aclose_forcefully(stream)
    scope.cancel(reason="the recorded adapter hung up here")


class _Script:
    """What is yet to be said: what follows on moves, strictly in order, and answers to questions, when they are due."""

    def __init__(self, progress: Progress, speed: float) -> None:
        self._progress = progress
        self._pace = 1 / speed if speed else 0.0
        self._lines: deque[Due] = deque()
        self._overdue = 0
        self._answers: list[tuple[float, int, DapMessage | None]] = []
        self._numbers = count()
        self._waking = trio.CancelScope()

    def add(self, reply: Reply) -> None:
        """Say these as well; after a move, nothing that came before it waits any longer."""
        if reply.move is not None:
            self._overdue = len(self._lines)
            self._progress.made(reply.move)
        for each in reply.due:
            if each.after is not None:
                self._lines.append(each)
            else:
                at = trio.current_time() + each.delay * self._pace
                heappush(self._answers, (at, next(self._numbers), each.message))
        self._waking.cancel()

    async def watch(self) -> None:
        """Look again whenever a move is made on another connection."""
        while True:
            await self._progress.wait_change()
            self._waking.cancel()

    async def next(self) -> DapMessage | None:
        """Wait for the next message that is due; None: hang up."""
        while (at := min(self._line_due(), self._answer_due())) > trio.current_time():
            with trio.CancelScope() as self._waking:
                await trio.sleep_until(at)
        if self._line_due() > self._answer_due():
            return heappop(self._answers)[2]
        self._overdue = max(0, self._overdue - 1)
        return self._lines.popleft().message

    def _answer_due(self) -> float:
        return self._answers[0][0] if self._answers else inf

    def _line_due(self) -> float:
        if not self._lines:
            return inf
        line = self._lines[0]
        if self._overdue or line.after is None:
            return -inf
        return self._progress.time_of(line.after) + line.delay * self._pace
