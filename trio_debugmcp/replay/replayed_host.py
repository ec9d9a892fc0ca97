"""`ReplayedHost`: the machine of a server that replays a recording: it has what the recorded one had."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.dap.process import Program, Watchdog
from trio_debugmcp.dap.profiles import Launch, Profile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.recording.format import QueryEntry, Recording, SessionEntry
from trio_debugmcp.replay.playhead import Playhead
from trio_debugmcp.replay.recorded_adapter import PROMPT_SECONDS, ReplayedSession
from trio_debugmcp.session.host import Host, Opening
from trio_debugmcp.session.looking.from_outside.py_spy import CannotLook

T = TypeVar("T")


class ReplayedHost(Host):
    """Adapters, programs and answers of one recording, in recorded time."""

    def __init__(self, recording: Recording, sessions: Mapping[str, ReplayedSession], playhead: Playhead) -> None:
        self._recording = recording
        self._sessions = sessions
        self._playhead = playhead
        self._openings = {entry.session: entry for entry in recording.entries if isinstance(entry, SessionEntry)}
        self._queries: dict[str, list[QueryEntry]] = {}
        for entry in recording.entries:
            if isinstance(entry, QueryEntry):
                self._queries.setdefault(entry.question, []).append(entry)

    def __repr__(self) -> str:
        return f"<ReplayedHost of {len(self._sessions)} sessions>"

    def clock(self) -> Clock:
        """Make a wall clock that shows recorded time."""
        return _RecordedClock(self._recording.header.anchor, self._playhead)

    def open_adapter(
        self, opening: Opening, connect: Callable[[], AbstractAsyncContextManager[Adapter]]
    ) -> AbstractAsyncContextManager[Adapter]:
        """Open the recorded adapter of that session.

        Raises:
            UsageError: the recording has no such session, or another program in it.
        """
        entry, session = self._openings.get(opening.session_id), self._sessions.get(opening.session_id)
        if entry is None or session is None:
            raise _unknown("there is no further debug session in it")
        if isinstance(opening.start, Launch) and opening.start.program != entry.target:
            what = "launches" if entry.start == "launch" else "attaches to"
            raise _unknown(f"it {what} {entry.target} here")
        self._playhead.follow(entry.t)
        return session.open(self._playhead.make)

    def open_program(
        self, session_id: str, request: RunInTerminal, watchdog: Watchdog
    ) -> AbstractAsyncContextManager[Program]:
        """Open the recorded program. Raises as `ReplayedSession.open_program`."""
        return self._open_program(session_id, request)

    @asynccontextmanager
    async def _open_program(self, session_id: str, request: RunInTerminal) -> AsyncIterator[Program]:
        async with self._sessions[session_id].open_program(request) as program:
            yield program

    async def look_into(self, pid: int, patience: Patience) -> bytes:
        """Refuse: the process is not there any more."""
        raise CannotLook("a replay has no process to look into")

    def processor_seconds(self, pid: int) -> None:
        """Return nothing: a process of that id is another one."""

    def sample(self, pid: int) -> None:
        """Return nothing, as above."""

    def kernel_threads(self, pid: int) -> None:
        """Return nothing, as above."""

    async def locate(self, profile: Profile, patience: Patience) -> str | None:
        """Return where an adapter was; none is looked for."""
        return self.query(f"adapter {profile.name}", profile.locate)

    async def find_out(self, question: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the recorded answer, at once. Raises as `query`."""

        def never() -> T:
            raise AssertionError("a replay has the answer")

        return self.query(question, never)

    def query(self, question: str, ask: Callable[[], T]) -> T:
        """Return the recorded answer: the latest at this moment, or else the first.

        Raises:
            UsageError: the recorded answer was one, or the question was not asked then.
        """
        answers = self._queries.get(question)
        if answers is None:
            raise _unknown(f"it has no answer to: {question}")
        # A little ahead: what follows on a message is asked here some milliseconds before or after it was asked then.
        now = self._playhead.position + PROMPT_SECONDS
        entry = next((answer for answer in reversed(answers) if answer.t <= now), answers[0])
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


def _unknown(what: str) -> UsageError:
    return UsageError("NOT_SUPPORTED", f"This is a replay of a recording, and {what}.", {"replay": True})
