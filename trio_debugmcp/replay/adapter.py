"""A recorded debug adapter, and the programs in its terminal, on the stage again: one `Stage` for each session.

What is due is said at its recorded moment, and never before the clients have made the move that it followed on. An
answer to a question that comes earlier than the recorded one takes as long as the recorded one took.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any

import msgspec
import trio

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.framing import FrameDecoder, encode_frame
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.errors import CannotRun
from trio_debugmcp.recording.format import (
    AdapterEntry,
    AnyEntry,
    ExitEntry,
    GarbageEntry,
    OutputEntry,
    ProgramEntry,
)
from trio_debugmcp.replay.debuggee import ReplayedProgram, launches
from trio_debugmcp.replay.playhead import Playhead
from trio_debugmcp.replay.tape import DapMessage, Due, MoveId, Reply, Said, Tape

_CHUNK_BYTES = 64 * 1024

PROMPT_SECONDS = 0.25
"""How much earlier than in the recording a question may be asked and still count as asked at the same time."""

Moved = Callable[[MoveId], None]
"""Told of every move that a client makes."""


class Stage:
    """One session's adapter and programs.

    Args:
        tape: what the adapter says.
        entries: those of the session, in order.
        playhead: when.
        stderr: what the adapter wrote to its standard error last.
    """

    def __init__(self, tape: Tape, entries: Sequence[AnyEntry], playhead: Playhead, stderr: str = "") -> None:
        self.stderr = stderr
        self._tape = tape
        self._script = _Script(playhead)
        self._launches = launches(entries)
        self._programs: dict[int, ReplayedProgram] = {}

    @asynccontextmanager
    async def open(self, moved: Moved) -> AsyncIterator[Adapter]:
        """A connection to the adapter."""
        ours, theirs = _stream_pair()
        # A real adapter is not cancelled with its session either: it hears the goodbye and answers it.
        playing = trio.CancelScope(shield=True)

        async def play() -> None:
            with playing:
                try:
                    await self._play(theirs, moved)
                finally:
                    self._script.end()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play)
            try:
                yield _ReplayedAdapter(ours, self)
            finally:
                playing.cancel(reason="the session is over")

    @asynccontextmanager
    async def open_program(self, wanted: RunInTerminal) -> AsyncIterator[ReplayedProgram]:
        """What became of the program that the adapter wanted to have run.

        Raises:
            CannotRun: it could not be started then, either.
        """
        outcome = next(self._launches, "the recording has no such program")
        if isinstance(outcome, str):
            raise CannotRun(wanted.args[0] if wanted.args else "", outcome)
        program = self._programs.setdefault(outcome, ReplayedProgram(outcome))
        await program.started.wait()
        yield program

    # --- Playing ---------------------------------------------------------------------------------------------

    async def _play(self, stream: trio.abc.Stream, moved: Moved) -> None:
        self._script.add(Reply(self._tape.opening()))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._speak, stream, nursery.cancel_scope)
            nursery.start_soon(self._script.watch)
            decoder = FrameDecoder()
            try:
                while data := await stream.receive_some(_CHUNK_BYTES):
                    for body in decoder.feed(bytes(data)):
                        reply = self._tape.take(msgspec.json.decode(body))
                        if reply.move is not None:
                            moved(reply.move)
                        self._script.add(reply)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            nursery.cancel_scope.cancel(reason="the client has hung up")

    async def _speak(self, stream: trio.abc.Stream, scope: trio.CancelScope) -> None:
        """Alone in writing to the stream."""
        try:
            while (message := await self._script.next()) is not None:
                await self._say(message, stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        await trio.aclose_forcefully(stream)
        scope.cancel(reason="the recorded adapter hung up here")

    async def _say(self, message: DapMessage, stream: trio.abc.Stream) -> None:
        match message.get("entry"):
            case None:
                await stream.send_all(encode_frame(msgspec.json.encode(message)))
                self._tape.sent(message)
            case GarbageEntry(text=text):
                await stream.send_all(text.encode("latin-1"))
            case ProgramEntry(pid=pid):
                self._programs.setdefault(pid, ReplayedProgram(pid)).started.set()
            case OutputEntry(pid=pid, stream=name, text=text) if pid in self._programs:
                self._programs[pid].write(name, text)
            case ExitEntry(pid=pid, exit_code=code) if pid in self._programs:
                self._programs[pid].exit(code)
            case _:
                pass


class _Script:
    """What is yet to be said: what follows on moves, strictly in order, and answers to questions, when they are due."""

    def __init__(self, playhead: Playhead) -> None:
        self._playhead = playhead
        self._lines: deque[Due] = deque()
        self._overdue = 0
        self._answers: list[tuple[float, int, DapMessage | None]] = []
        self._numbers = count()
        self._added = 0
        self._waking = trio.CancelScope()

    def add(self, reply: Reply) -> None:
        """Say these as well; after a move, nothing that came before it waits any longer."""
        if reply.move is not None:
            self._overdue = len(self._lines)
        self._added += 1
        for each in reply.due:
            if each.after is not None:
                self._lines.append(each)
            else:
                now = self._playhead.position
                early = now < each.t - each.delay - PROMPT_SECONDS
                heappush(self._answers, (now + each.delay if early else each.t, next(self._numbers), each.message))
        self._waking.cancel()

    def end(self) -> None:
        """Nobody listens any more."""
        self._playhead.has_more(self, False)

    async def watch(self) -> None:
        """Look again whenever recorded time has changed, or a move was made."""
        while True:
            await self._playhead.wait_change()
            self._waking.cancel()

    async def next(self) -> DapMessage | None:
        """Wait for the next message that is due; None: hang up."""
        while True:
            due = min(self._line_due(), self._answer_due())
            self._playhead.has_more(self, self._playhead.at_once and due[0] == -inf)
            added = self._added
            if due[0] > trio.current_time():
                with trio.CancelScope() as self._waking:
                    await trio.sleep_until(due[0])
                continue
            await self._playhead.wait_turn()
            if added == self._added:
                break
        self._playhead.passed(due[1])
        if self._line_due() > self._answer_due():
            return heappop(self._answers)[2]
        self._overdue = max(0, self._overdue - 1)
        return self._lines.popleft().message

    def _answer_due(self) -> tuple[float, float]:
        if not self._answers:
            return inf, inf
        moment = self._answers[0][0]
        return self._playhead.when(moment), moment

    def _line_due(self) -> tuple[float, float]:
        """When, by trio's clock, and the recorded moment."""
        if not self._lines:
            return inf, inf
        line = self._lines[0]
        if self._overdue or line.after is None:
            return -inf, line.t
        return (self._playhead.when(line.t) if self._playhead.made(line.after) else inf), line.t


class _ReplayedAdapter(Adapter):
    def __init__(self, stream: trio.abc.Stream, stage: Stage) -> None:
        super().__init__(stream)
        self._stage = stage

    @property
    def stderr_tail(self) -> str:
        return self._stage.stderr


class _Stream(trio.abc.Stream):
    """One end of a connection in memory."""

    def __init__(self, to: trio.MemorySendChannel[bytes], from_: trio.MemoryReceiveChannel[bytes]) -> None:
        self._to = to
        self._from = from_

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._to.send(bytes(data))

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        try:
            return await self._from.receive()
        except trio.EndOfChannel:
            return b""

    async def aclose(self) -> None:
        self._to.close()
        self._from.close()
        await trio.lowlevel.checkpoint()


def _stream_pair() -> tuple[_Stream, _Stream]:
    to_left, left = trio.open_memory_channel[bytes](inf)
    to_right, right = trio.open_memory_channel[bytes](inf)
    return _Stream(to_right, left), _Stream(to_left, right)


def said(entry: AnyEntry) -> Said | None:
    """An entry as the tape wants it; what is no DAP message goes along in the place where it happened."""
    match entry:
        case AdapterEntry(t=t, dir=direction, cut=cut):
            message: dict[str, Any] = msgspec.json.decode(entry.msg)
            if cut and message.get("type") == "response":
                message |= {"success": False, "message": f"its {cut} bytes were too many for the recording"}
            return Said(t, "client" if direction == "out" else "adapter", message)
        case GarbageEntry(t=t) | ProgramEntry(t=t) | OutputEntry(t=t) | ExitEntry(t=t):
            return Said(t, "adapter", {"type": "edge", "entry": entry})
        case _:
            return None
