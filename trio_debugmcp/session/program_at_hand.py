"""`ProgramAtHand`: the program that a call is about: of the session that it names, or in focus, or the last one.

    at_hand.program()                       # in focus
    with chosen("s-2"):
        at_hand.program()                   # that of session s-2, in this task

So what a call needs of it is not passed from one function to the next. A program is a root session with those that come
from it, with its streams and its sources: a `DebuggedProgram`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

import trio

from trio_debugmcp.dap.messages import Capabilities
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import RootStart
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.state.model import Snapshot, State


class DebuggedProgram:
    """A root session with those that come from it, and what they share. Made by `Programs.add`.

    Attributes:
        id: of the root session.
        console: the streams of its processes.
        sources: the source files that it is known to consist of.
        sessions: the ids of its sessions, also of those that have ended.
        owner: the client that controls it, if any; `orphaned_at`: when the last owner disconnected, by Trio's clock.
        was_started: it was allowed to run.
        able: what its adapter declared, once it was.
        start_over: set unless it is being started; `late_failures`: why that failed after the wait for it.
    """

    def __init__(self, root_id: str, profile: Profile, start: RootStart, console: Console, sources: Sources) -> None:
        self.id, self.profile, self.start = root_id, profile, start
        self.console, self.sources = console, sources
        self.sessions = {root_id}
        self.owner: object = None
        self.orphaned_at = inf
        self.was_started = False
        self.able = Capabilities()
        self.start_over = trio.Event()
        self.late_failures = list[DebugError]()

    def __repr__(self) -> str:
        return f"<DebuggedProgram {self.id} {self.profile.name} of {len(self.sessions)} sessions>"


_CHOSEN: ContextVar[str | None] = ContextVar("CHOSEN", default=None)
"""The session that the call of this task has named; None: it is about the one in focus."""


@contextmanager
def chosen(session_id: str | None) -> Iterator[None]:
    """Make the call of this task one about that session, wherever nothing else is said."""
    token = _CHOSEN.set(session_id)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


class ProgramAtHand:
    """The program at hand, among all that are known.

    Args:
        programs: by the ids of their root sessions, in the order in which they were started.
        no_console: what there is without any program, and `no_sources`.
    """

    def __init__(
        self,
        programs: dict[str, DebuggedProgram],
        state: Callable[[], State],
        no_console: Console,
        no_sources: Sources,
    ) -> None:
        self._programs = programs
        self._state = state
        self._no_console = no_console
        self._no_sources = no_sources

    def __repr__(self) -> str:
        return f"<ProgramAtHand {self.program()!r}>"

    @property
    def chosen(self) -> str | None:
        """The id of the session that the call of this task has named."""
        return _CHOSEN.get()

    def program(self) -> DebuggedProgram | None:
        """Return the program that this call is about: that of the named session, or in focus, or the last one."""
        named, programs = _CHOSEN.get() or self._state().focus, self._programs.values()
        found = next((program for program in programs if named in program.sessions), None)
        return found or next(reversed(programs), None)

    def started(self) -> DebuggedProgram | None:
        """Return the same, but of those that have ended the last one that was allowed to run."""
        found = self.program()
        if found is None or found.was_started or found.id in self._state().roots():
            return found if found is not None and found.was_started else None
        return next((program for program in reversed(self._programs.values()) if program.was_started), None)

    def root(self) -> Snapshot | None:
        """Return the root session at hand; None if it has ended, and is no longer known."""
        state, found = self._state(), self.program()
        return None if found is None else state.snapshot(found.id) or state.end_of(found.id)

    def ended(self) -> Snapshot | None:
        """Return the root session at hand as it was at its end; None while it lives."""
        state = self._state()
        if _CHOSEN.get() is None:
            return state.last if state.focus is None else None
        found = self.program()
        return None if found is None else state.end_of(found.id)

    @property
    def console(self) -> Console:
        """The streams of the program at hand; without any program an empty one."""
        found = self.program()
        return self._no_console if found is None else found.console

    @property
    def sources(self) -> Sources:
        """The sources of the program at hand; without any program none."""
        found = self.program()
        return self._no_sources if found is None else found.sources
