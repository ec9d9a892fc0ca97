"""`Debugger`: the debug sessions of this server. It starts sessions, finds them, and waits for their stops.

What a call is about is found here: the session that it names, or else the one in focus.

    async with open_debugger(Settings(), listener) as debugger:
        session = await debugger.start(profile, Launch(program="/src/app.py"))
        outcome = await debugger.wait_stop()
        await debugger.sessions.end(session, terminate=True, reason="done")

Who gets the answer of the call that this task runs is known, too: `Toolbox.call` sets it.

    READER.set((client, "claude-code"))
    client, name = current_reader()
"""

import logging
from collections.abc import AsyncIterator, Collection, Container, Hashable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial

import trio
from msgspec import Struct

from trio_debugmcp.dap.dial_in import open_dial_ins
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.profiles import profile_for_file, profile_of_python
from trio_debugmcp.dap.profiles.profile import Profile, Runtime
from trio_debugmcp.dap.profiles.starts import RootStart
from trio_debugmcp.errors import UsageError, no_session
from trio_debugmcp.session.background import finished_within
from trio_debugmcp.session.before.builds import Builds
from trio_debugmcp.session.breakpoints.registry import BreakpointRegistry
from trio_debugmcp.session.earlier_server import EarlierServer
from trio_debugmcp.session.event_ring import Timeline
from trio_debugmcp.session.hunting.hunts import Hunts
from trio_debugmcp.session.living_sessions import LivingSessions, SessionsContext
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.merger import Merger, ResourceListener
from trio_debugmcp.session.not_paused import not_paused, only_listens
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.program_at_hand import DebuggedProgram
from trio_debugmcp.session.programs import Programs
from trio_debugmcp.session.project_file import ProjectFile
from trio_debugmcp.session.run_store import RunStore
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.session.waiting import Outcome, wait_outcome
from trio_debugmcp.session.workspace import Workspace
from trio_debugmcp.state.model import Snapshot, State
from trio_debugmcp.state.payloads import OutputPayload, TimelinePayload

__all__ = ["Debugger", "Outcome", "open_debugger"]

log = logging.getLogger(__name__)


class DebuggerRings(Struct, frozen=True):
    """The ring buffers of one server: of the output of each program, and the timeline."""

    programs: Programs
    timeline: Timeline

    def output_payload(self, session_id: str, revision: int) -> OutputPayload:
        """Return the resource `debugger://output`, of the program that a session belongs to."""
        return (self.programs.of(session_id) or self.programs.at_hand).console.payload(revision)

    def timeline_payload(self, revision: int) -> TimelinePayload:
        """Return the resource `debugger://timeline`."""
        return self.timeline.payload(revision)


class Debugger:
    """The sessions of one server, and what they share. Made by `open_debugger`.

    Attributes:
        host: the seam to this machine.
        breakpoints: the user's breakpoints, which outlive sessions.
        programs: the root sessions, each with its streams and its sources, and which of them a call is about.
        sessions: those that have not ended; `rings`: what they wrote, and what happened.
        workspace: where relative paths start, and where paths must stay.
        builds: programs that were built to be launched; `tasks`: what is run around sessions.
        earlier: what the server before this one was used for.
        runs: those that were recorded, also of sessions that have ended.
        hunts: programs that are run again and again, without a session.
    """

    def __init__(self, settings: Settings, listener: ResourceListener, runtime: Runtime) -> None:
        self.settings, self.patience = settings, settings.patience
        self.host = settings.host
        self.clock = self.host.clock()
        self.timeline = Timeline(self.clock)
        self.merger = Merger(listener, self.timeline)
        self.breakpoints = BreakpointRegistry(self.merger, self.patience)
        self.workspace = Workspace(settings.directory, settings.roots)
        file = ProjectFile(settings.project_file)
        self.earlier = EarlierServer(file, settings.directory, self.merger, self.breakpoints, self.clock)
        console = partial(Console, self.clock, self.merger, self.patience, show_secrets=settings.show_secrets)

        def is_living(session_id: str) -> bool:
            return self.sessions.is_living(session_id)

        self.programs = Programs(lambda: self.merger.state, is_living, console, settings.roots)
        self.builds = Builds(self.host, runtime.watchdog)
        self.runs = RunStore(self.merger, self.clock, self.host)
        self.hunts = Hunts(runtime.watchdog, self.runs)
        self.rings = DebuggerRings(self.programs, self.timeline)
        self.sessions = LivingSessions(
            SessionsContext(
                merger=self.merger,
                clock=self.clock,
                breakpoints=self.breakpoints,
                programs=self.programs,
                builds=self.builds,
                runtime=runtime,
                host=self.host,
                runs=self.runs,
                max_guests=settings.max_guests,
            )
        )
        self.tasks = self.sessions.tasks

    def __repr__(self) -> str:
        return f"<Debugger sessions={[session.id for session in self.sessions]} focus={self.state.focus!r}>"

    @property
    def state(self) -> State:
        """What is true now."""
        return self.merger.state

    @property
    def console(self) -> Console:
        """The streams of the program at hand, which may have ended."""
        return self.programs.at_hand.console

    @property
    def sources(self) -> Sources:
        """The source files that may be read, of the program at hand."""
        return self.programs.at_hand.sources

    @property
    def last_start(self) -> tuple[Profile, RootStart] | None:
        """How the program at hand was started, or that of the last one that was."""
        found = self.programs.at_hand.started()
        return None if found is None else (found.profile, found.start)

    # --- Finding ---------------------------------------------------------------------------------------------

    def session(self, session_id: str | None = None) -> DebugSession:
        """Return the session with that id, or without an id that of the call, or else the one in focus.

        Raises:
            UsageError: `NO_SESSION`.
        """
        session_id = session_id or self.programs.at_hand.chosen
        wanted = session_id or self.state.focus
        session = self.sessions.find(wanted)
        if session is not None and session.snapshot is not None:
            return self.sessions.find(self.state.program_of(session.id)) or session
        if session_id is None or not self.state.snapshots:
            raise no_session()
        known = ", ".join(snapshot.id for snapshot in self.state.snapshots)
        raise UsageError("NO_SESSION", f"There is no debug session '{session_id}'. Sessions: {known}.")

    def program(self, session_id: str | None = None) -> DebugSession:
        """Return that session, if it has a program.

        Raises:
            UsageError: `NO_SESSION`, or `NOT_PAUSED`: it only listens for programs.
        """
        session = self.session(session_id)
        snapshot = session.snapshot
        if snapshot is not None and snapshot.origin.listens:
            raise only_listens(
                snapshot, [snapshot for snapshot in self.state.snapshots if snapshot.parent == session.id]
            )
        return session

    def paused(self, session_id: str | None = None) -> tuple[DebugSession, Snapshot]:
        """Return that session and its snapshot, if it is paused.

        Raises:
            UsageError: `NO_SESSION`, or `NOT_PAUSED` with the state it is in.
        """
        session = self.program(session_id)
        snapshot = session.snapshot
        if snapshot is None or snapshot.phase != "Paused":
            raise not_paused(snapshot, probe=session.looking.is_python)
        return session, snapshot

    def living_sessions(self) -> list[DebugSession]:
        """Return the sessions, parents before their children; of a call that names one, those of its program."""
        sessions = [session for session in self.sessions if session.snapshot is not None]
        program = None if self.programs.at_hand.chosen is None else self.programs.at_hand.program()
        return sessions if program is None else [session for session in sessions if session.id in program.sessions]

    def root_session(self) -> DebugSession | None:
        """Return the session at hand that was launched or attached to; None if it has ended, or there is none."""
        program = self.programs.at_hand.program()
        root = None if program is None else self.sessions.find(program.id)
        return None if root is None or root.snapshot is None else root

    def language_of(self, file: str | None) -> Profile | None:
        """Return the profile that knows a file's language; without a file, of the session at hand or the last one.

        None: none is known, or programs of several languages are debugged, and neither is named.
        """
        if file is not None:
            return profile_for_file(file, self.settings.profiles)
        if self.programs.are_of_several_languages():
            return None
        focused = self.sessions.find(self.programs.at_hand.chosen or self.state.focus)
        started = profile_of_python(self.settings.profiles) if self.last_start is None else self.last_start[0]
        return focused.profile if focused is not None else started

    # --- Starting --------------------------------------------------------------------------------------------

    async def start(
        self, profile: Profile, start: RootStart, *, new_session: bool = False, owner: object = None
    ) -> DebugSession:
        """Launch, attach or listen; returns when the program may run. Cancelling ends the session again.

        `new_session`: beside the programs that there are. `owner`: the client that is to control it.

        Raises:
            UsageError: `SESSION_ACTIVE`, `LAUNCH_FAILED`, `ATTACH_FAILED`, `ADAPTER_FAILED` or `TIMEOUT`.
        """
        return await self.sessions.start(self.sessions.begin(profile, start, new_session, owner))

    async def start_within(
        self, profile: Profile, start: RootStart, seconds: float, *, new_session: bool, owner: object
    ) -> tuple[DebuggedProgram, DebugSession | None]:
        """Start as `start` does; without a session if it takes longer than `seconds`, and then it continues."""
        program = self.sessions.begin(profile, start, new_session, owner)
        work = partial(self.sessions.start, program)
        return program, await finished_within(self.sessions.running(), work, seconds, program.late_failures)

    # --- Waiting ---------------------------------------------------------------------------------------------

    async def wait_stop(
        self, session_id: str | None = None, *, of: Collection[str] | None = None, seen: Container[int] = ()
    ) -> Outcome:
        """Wait until a session of the program at hand is paused, or the program has ended. The caller bounds the wait.

        With `session_id`, as for a step, only that session's stop counts while it lives. `of`: the stops of these
        programs count, by the ids of their root sessions, and the end of any of them. Stops `seen` before do not count.
        """
        own = self.programs.at_hand.program() if session_id is None else self.programs.of(session_id)
        wanted = of if of is not None else [] if own is None else [own.id]
        return await wait_outcome(self.merger, wanted, session_id, seen=seen)


@asynccontextmanager
async def open_debugger(settings: Settings, listener: ResourceListener) -> AsyncIterator[Debugger]:
    """Run a debugger for the length of the block; at its end every session has said goodbye and no process is left."""
    watchdog = Watchdog(settings.patience)
    try:
        async with trio.open_nursery() as nursery, open_dial_ins(settings.patience, watchdog) as dial_ins:
            debugger = Debugger(settings, listener, Runtime(watchdog, dial_ins, settings.engine))
            # Shielded: the merger outlives the sessions, whose last changes it must still merge; the watchdog, too.
            serving = trio.CancelScope(shield=True)

            async def serve(*, task_status: trio.TaskStatus[None]) -> None:
                with serving:
                    async with trio.open_nursery() as services:
                        services.start_soon(watchdog.keep)
                        await debugger.merger.run(task_status=task_status)

            await nursery.start(serve)
            try:
                async with trio.open_nursery() as sessions:
                    await sessions.start(debugger.sessions.run)
                    sessions.start_soon(debugger.runs.indexing.run)
                    yield debugger
                    sessions.cancel_scope.cancel(reason="the debugger is closing")
            finally:
                serving.cancel(reason="the debugger is closed")
                debugger.runs.close()
    finally:
        watchdog.close()


READER: ContextVar[tuple[Hashable, str | None] | None] = ContextVar("READER", default=None)
"""A client and its name. What is new in the output is kept apart for each client."""


def current_reader() -> tuple[Hashable, str | None]:
    """Return the client and its name; both None where no client has called."""
    return READER.get() or (None, None)
