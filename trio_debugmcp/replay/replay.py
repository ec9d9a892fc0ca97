"""`Replay`: the edges of a server that replays a recording, and the clients that drive it.

The server above is the real one. It starts no process, reads no file of this machine, and lives in recorded time:
adapters and programs do as they did, and so do the recorded clients, unless somebody drives in their place.
"""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

import trio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.dap.profiles import Launch
from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.errors import UsageError
from trio_debugmcp.recording.format import HangUpEntry, LookEntry, NotARecording, Recording, SessionEntry
from trio_debugmcp.replay.adapter import PROMPT_SECONDS, Stage, said
from trio_debugmcp.replay.clients import Answer, Ghosts, Serve
from trio_debugmcp.replay.playhead import Playhead, settle
from trio_debugmcp.replay.tape import Said, tapes
from trio_debugmcp.session.host import Host, Opening, Program

log = logging.getLogger(__name__)

GREETING_SECONDS = 1.0
"""After the handshake of the first client, for it to say what it wants; then the recording is played without that."""

_WISHES = ("resources/", "subscriptions/", "tools/call")

T = TypeVar("T")


class Replay(Host):
    """Plays a recording once.

    Args:
        recording: what to play.
        speed: recorded seconds per second; 0: as fast as can be.
        drive: the clients make the recorded moves themselves, and there are no others.
        tell: told in a sentence when the recording is over.

    Raises:
        NotARecording: what it says of adapters makes no sense.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        speed: float = 1.0,
        drive: bool = False,
        tell: Callable[[str], None] = log.info,
    ) -> None:
        self.drive = drive
        self.over = False
        self.linger = recording.header.linger
        self._recording = recording
        self._tell = tell
        self._sessions = {each.session: each for each in recording.entries if isinstance(each, SessionEntry)}
        try:
            self._stages, self._playhead = _staged(recording, speed, following=drive)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise NotARecording(f"a message of an adapter in it is none: {error!r}") from error
        self._ghosts = Ghosts([] if drive else recording.entries, self._playhead)
        self._looks: dict[str, list[LookEntry]] = {}
        for entry in recording.entries:
            if isinstance(entry, LookEntry):
                self._looks.setdefault(entry.question, []).append(entry)
        self._greeted, self._wished = trio.Event(), trio.Event()

    @property
    def answers(self) -> list[Answer]:
        """What the recorded clients were answered, now and then."""
        return self._ghosts.answers

    async def run(self, serve: Serve) -> None:
        """Play the recording when the first client has said what it wants, or a little after it has come."""
        if self.drive:
            self._playhead.begin()
            return
        await self._greeted.wait()
        with trio.move_on_after(GREETING_SECONDS):
            await self._wished.wait()
        await settle()  # what it wants is not done yet: its subscription
        self._playhead.begin()
        await self._ghosts.play(serve, self._recording.length, over=self._end)

    def _end(self) -> None:
        self.over = True
        torn = " It was torn off there." if self._recording.torn or not self._recording.complete else ""
        self._tell(f"the recording is over, after {self._recording.length:.1f} s.{torn}")

    async def accompany(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """The SDK's middleware on the connections of clients that watch."""
        self._greeted.set()
        if ctx.method.startswith(_WISHES):
            self._wished.set()
        return await call_next(ctx)

    # --- Host -----------------------------------------------------------------------------------------------

    def clock(self) -> Clock:
        """Recorded time."""
        return _RecordedClock(self._recording.header.anchor, self._playhead)

    def open_adapter(
        self, opening: Opening, connect: Callable[[], AbstractAsyncContextManager[Adapter]]
    ) -> AbstractAsyncContextManager[Adapter]:
        """The recorded one."""
        session, stage = self._sessions.get(opening.session), self._stages.get(opening.session)
        if session is None or stage is None:
            raise _unknown("there is no further debug session in it")
        if isinstance(opening.start, Launch) and opening.start.program != session.target:
            what = "launches" if session.start == "launch" else "attaches to"
            raise _unknown(f"it {what} {session.target} here")
        self._playhead.follow(session.t)
        return stage.open(self._playhead.make)

    def open_program(
        self, session: str, wanted: RunInTerminal, watchdog: Watchdog
    ) -> AbstractAsyncContextManager[Program]:
        """The recorded one."""
        return self._open_program(session, wanted)

    @asynccontextmanager
    async def _open_program(self, session: str, wanted: RunInTerminal) -> AsyncIterator[Program]:
        async with self._stages[session].open_program(wanted) as program:
            yield program

    def query(self, question: str, ask: Callable[[], T]) -> T:
        """What was found out then."""
        known = self._looks.get(question)
        if known is None:
            raise _unknown(f"it does not tell of: {question}")
        now = self._playhead.position + PROMPT_SECONDS
        entry = next((each for each in reversed(known) if each.t <= now), known[0])
        if entry.error is not None:
            raise UsageError(entry.error.code, entry.error.message, entry.error.details)
        answer: T = entry.answer
        return answer


class _RecordedClock(Clock):
    def __init__(self, anchor: float, playhead: Playhead) -> None:
        super().__init__(anchor)
        self._begin = anchor
        self._playhead = playhead

    def now(self) -> float:
        return self._begin + self._playhead.position


def _staged(recording: Recording, speed: float, *, following: bool) -> tuple[dict[str, Stage], Playhead]:
    """The stages of all sessions, and the time that they share."""
    entries = recording.entries
    names = [each.session for each in entries if isinstance(each, SessionEntry)]
    hang_ups = {each.session: each for each in entries if isinstance(each, HangUpEntry)}
    spoken: list[tuple[str, Said]] = [
        (session, line) for each in entries if (session := getattr(each, "session", None)) and (line := said(each))
    ]
    ended = {session: each.t for session, each in hang_ups.items() if any(session == name for name, _ in spoken)}
    made = tapes(spoken, ended)
    moves = {move: t for tape in made.values() for move, t in tape.moves.items()}
    playhead = Playhead(speed, moves, following=following)
    stages = {}
    for name in names:
        if name in made:
            mine = [each for each in entries if getattr(each, "session", None) == name]
            stages[name] = Stage(made[name], mine, playhead, hang_ups[name].stderr if name in hang_ups else "")
    return stages, playhead


def _unknown(what: str) -> UsageError:
    return UsageError("NOT_SUPPORTED", f"This is a replay of a recording, and {what}.", {"replay": True})
