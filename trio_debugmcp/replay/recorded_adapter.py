"""`ReplayedSession`: the recorded debug adapter of one session, and the programs in its terminal.

Each message is sent at its recorded time, and never before the client has made the move that preceded it. The answer to
a question that is asked earlier than in the recording takes as long as it took then.

    session = ReplayedSession(tape, entries, playhead)
    async with session.open(playhead.make) as adapter:     # what a profile's `open` gives, without a process
        ...
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
from trio_debugmcp.dap.codec import FrameDecoder, encode_frame
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.errors import CannotRun
from trio_debugmcp.recording.format import (
    AdapterEntry,
    AnyEntry,
    ExitEntry,
    GarbageEntry,
    ProgramEntry,
    ProgramOutputEntry,
)
from trio_debugmcp.replay.debuggee import ReplayedProgram, launches
from trio_debugmcp.replay.playhead import Playhead
from trio_debugmcp.replay.recorded_questions import DapMessage, TapedMessage
from trio_debugmcp.replay.tape import Due, MoveId, RecordedReply, Tape
from trio_debugmcp.transports.in_memory import byte_stream_pair

_CHUNK_BYTES = 64 * 1024

PROMPT_SECONDS = 0.25
"""How much earlier than in the recording a question may be asked and still count as asked at the same time."""

Moved = Callable[[MoveId], None]
"""Called with every move that a client makes."""


class ReplayedSession:
    """One session's adapter and programs.

    Args:
        tape: the adapter's messages.
        entries: those of the session, in order.
        playhead: recorded time.
        stderr: the last lines of the adapter's standard error.

    Attributes:
        own_process: the adapter's process, if the program's streams were those of it; `is_program`: it was the program.
    """

    def __init__(self, tape: Tape, entries: Sequence[AnyEntry], playhead: Playhead, stderr: str = "") -> None:
        self.stderr = stderr
        self._tape = tape
        self._playhead = playhead
        self._script = _Script(playhead)
        self._launches = launches(entries)
        self._programs: dict[int, ReplayedProgram] = {}
        own = next(
            (entry for entry in entries if isinstance(entry, ProgramEntry) and entry.process != "terminal"), None
        )
        self.is_program = own is not None and own.process == "program"
        self.own_process = None if own is None else self._programs.setdefault(own.pid, ReplayedProgram(own.pid))

    def __repr__(self) -> str:
        return f"<ReplayedSession {self._tape!r}>"

    @asynccontextmanager
    async def open(self, moved: Moved) -> AsyncIterator[Adapter]:
        """Connect to the adapter for the length of the block."""
        ours, theirs = byte_stream_pair()
        # Shielded, as a real adapter is not cancelled with its session either: it answers the `disconnect`.
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
    async def open_program(self, request: RunInTerminal) -> AsyncIterator[ReplayedProgram]:
        """Return the recorded program for the adapter's next `runInTerminal`, once it has started.

        Raises:
            CannotRun: the program could not be started in the recording.
        """
        outcome = next(self._launches, "the recording has no such program")
        if isinstance(outcome, str):
            raise CannotRun(request.args[0] if request.args else "", outcome)
        program = self._programs.setdefault(outcome, ReplayedProgram(outcome))
        await program.started.wait()
        yield program

    def _expects_question(self, before: float) -> bool:
        return not self._script.over and self._tape.expects_question(before)

    # --- Playing ------------------------------------------------------------------------------------------------------

    async def _play(self, stream: trio.abc.Stream, moved: Moved) -> None:
        self._script.add(RecordedReply(self._tape.opening()))
        self._playhead.expect(self._expects_question)
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
                        self._playhead.asked()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            nursery.cancel_scope.cancel(reason="the client has hung up")

    async def _speak(self, stream: trio.abc.Stream, scope: trio.CancelScope) -> None:
        """Send what is due; the only task that writes to the stream."""
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
            case ProgramOutputEntry(pid=pid, stream=name, text=text) if pid in self._programs:
                self._programs[pid].write(name, text)
            case ExitEntry(pid=pid, exit_code=code) if pid in self._programs:
                self._programs[pid].exit(code)
            case _:
                pass


class _Script:
    """The messages yet to be sent: those that follow on moves, strictly in order, and answers to questions as due."""

    def __init__(self, playhead: Playhead) -> None:
        self._playhead = playhead
        self._lines: deque[Due] = deque()
        self._overdue = 0
        self._answers: list[tuple[float, int, DapMessage | None]] = []
        self._numbers = count()
        self._added = 0
        self._waking = trio.CancelScope()
        self.over = False

    def add(self, reply: RecordedReply) -> None:
        """Add what follows on a client's message. After a move, all that was due before it is sent without delay."""
        if reply.move is not None:
            # The real adapter had sent all this before the client made its move, so it must come first, and now.
            self._overdue = len(self._lines)
        self._added += 1
        for line in reply.due:
            if line.after is not None:
                self._lines.append(line)
            else:
                now = self._playhead.position
                # Asked at its recorded time, it is answered at the recorded time: a delay counted from now would add
                # the milliseconds by which this server differs from the recorded one.
                early = now < line.t - line.delay - PROMPT_SECONDS
                heappush(self._answers, (now + line.delay if early else line.t, next(self._numbers), line.message))
        self._waking.cancel()

    def end(self) -> None:
        """Report to the playhead that nothing more is sent: the connection is closed."""
        self.over = True
        self._playhead.has_more(self, False)
        self._playhead.asked()

    async def watch(self) -> None:
        """Have `next` look again whenever recorded time has changed, or a move was made."""
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
                # `add` and `watch` cancel the wait: something may be due earlier now.
                with trio.CancelScope() as self._waking:
                    await trio.sleep_until(due[0])
                continue
            await self._playhead.wait_turn()
            if added == self._added:  # else a message was added during the wait, and may be due before this one
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
        """When the next line is due: by Trio's clock, and in the recording."""
        if not self._lines:
            return inf, inf
        line = self._lines[0]
        if self._overdue or line.after is None:
            return -inf, line.t
        return (self._playhead.when(line.t) if self._playhead.made(line.after) else inf), line.t


class _ReplayedAdapter(Adapter):
    def __init__(self, stream: trio.abc.Stream, session: ReplayedSession) -> None:
        super().__init__(stream, process=session.own_process, is_program=session.is_program)
        self._session = session

    @property
    def stderr_tail(self) -> str:
        return self._session.stderr


def taped(entry: AnyEntry) -> TapedMessage | None:
    """Convert an entry for the tape. What is not a DAP message keeps its place among the adapter's messages."""
    match entry:
        case AdapterEntry(t=t, dir=direction, cut=cut):
            message: dict[str, Any] = msgspec.json.decode(entry.msg)
            if cut and message.get("type") == "response":
                message |= {"success": False, "message": f"its {cut} bytes were too many for the recording"}
            return TapedMessage(t, "client" if direction == "out" else "adapter", message)
        case GarbageEntry(t=t) | ProgramEntry(t=t) | ProgramOutputEntry(t=t) | ExitEntry(t=t):
            return TapedMessage(t, "adapter", {"type": "edge", "entry": entry})
        case _:
            return None
