"""`Debugger`: the debug sessions of this server. It starts sessions, ends them, and waits for their stops.

A root session was launched or attached to, or listens; its adapter announces children. All run in `Debugger.run`.

    async with open_debugger(Settings(), listener) as debugger:
        session = await debugger.start(profile, Launch(program="/src/app.py"))
        outcome = await debugger.wait_stop()
        await debugger.end(session, terminate=True, reason="done")
"""

import logging
from collections.abc import AsyncIterator, Collection, Container
from contextlib import asynccontextmanager
from functools import partial
from itertools import count

import trio

from trio_debugmcp.dap.dial_in import open_dial_ins
from trio_debugmcp.dap.profiles import Attach, Listen, Profile, Runtime, profile_for_file, profile_of_python
from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.errors import AdapterRefused, DebugError, UsageError, no_session
from trio_debugmcp.session.background import finished_within
from trio_debugmcp.session.before.builds import Builds
from trio_debugmcp.session.before.configured_tasks import TaskRunner
from trio_debugmcp.session.breakpoints.registry import BreakpointRegistry
from trio_debugmcp.session.event_ring import Timeline
from trio_debugmcp.session.execution import not_paused, only_listens
from trio_debugmcp.session.handshake import LAST_OUTPUT_LENGTH
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.merger import Merger, ResourceListener
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.programs import DebuggedProgram, Programs
from trio_debugmcp.session.session import OWN_FAULT, DebugSession, SharedContext
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.session.start import FAILURES, ChildStart, RootStart, Start, start_failure
from trio_debugmcp.session.waiting import Outcome, wait_locals, wait_outcome
from trio_debugmcp.session.workspace import Workspace
from trio_debugmcp.state.model import Snapshot, State
from trio_debugmcp.state.payloads import OutputPayload, TimelinePayload

__all__ = ["Debugger", "Outcome", "open_debugger"]

log = logging.getLogger(__name__)

CLOSE_SECONDS = 15.0
"""For a session to end in good order; every step of its end is bounded, and they add up to less."""


class Debugger:
    """The sessions of one server, and what they share. Made by `open_debugger`.

    Attributes:
        host: the seam to this machine.
        breakpoints: the user's breakpoints, which outlive sessions.
        programs: the root sessions, each with its streams and its sources, and which of them a call is about.
        workspace: where relative paths start, and where paths must stay.
        builds: programs that were built to be launched; `tasks`: what is run around sessions.
    """

    def __init__(self, settings: Settings, listener: ResourceListener, runtime: Runtime) -> None:
        self.settings, self.patience = settings, settings.patience
        self.host = settings.host
        self.clock = self.host.clock()
        self.timeline = Timeline(self.clock)
        self.merger = Merger(listener, self.timeline)
        self.breakpoints = BreakpointRegistry(self.merger, self.patience)
        self.workspace = Workspace(settings.directory, settings.roots)
        self.programs = Programs(lambda: self.merger.state, self._is_living, self._new_console, settings.roots)
        self.builds = Builds(self.host, runtime.watchdog)
        self.tasks = TaskRunner(self.host, runtime.watchdog, self._running)
        self._runtime = runtime
        self._sessions: dict[str, DebugSession] = {}
        self._numbers = count(1)
        self._nursery: trio.Nursery | None = None

    def __repr__(self) -> str:
        return f"<Debugger sessions={list(self._sessions)} focus={self.state.focus!r}>"

    @property
    def state(self) -> State:
        """What is true now."""
        return self.merger.state

    @property
    def console(self) -> Console:
        """The streams of the program at hand, which may have ended."""
        return self.programs.console

    @property
    def sources(self) -> Sources:
        """The source files that may be read, of the program at hand."""
        return self.programs.sources

    @property
    def last_start(self) -> tuple[Profile, RootStart] | None:
        """How the program at hand was started, or that of the last one that was."""
        found = self.programs.started_at_hand()
        return None if found is None else (found.profile, found.start)

    def output_payload(self, session_id: str, revision: int) -> OutputPayload:
        """Return the resource `debugger://output`, of the program that a session belongs to."""
        return (self.programs.of(session_id) or self.programs).console.payload(revision)

    def timeline_payload(self, revision: int) -> TimelinePayload:
        """Return the resource `debugger://timeline`."""
        return self.timeline.payload(revision)

    def _new_console(self) -> Console:
        return Console(self.clock, self.merger, self.patience, show_secrets=self.settings.show_secrets)

    def _is_living(self, session_id: str) -> bool:
        session = self._sessions.get(session_id)
        return session is not None and not session.closed.is_set()

    # --- Finding ---------------------------------------------------------------------------------------------

    def session(self, session_id: str | None = None) -> DebugSession:
        """Return the session with that id, or without an id that of the call, or else the one in focus.

        Raises:
            UsageError: `NO_SESSION`.
        """
        session_id = session_id or self.programs.chosen
        wanted = session_id or self.state.focus
        session = self._sessions.get(wanted) if wanted is not None else None
        if session is not None and session.snapshot is not None:
            return self._sessions.get(self.state.program_of(session.id), session)
        if session_id is None or not self.state.snapshots:
            raise no_session()
        known = ", ".join(each.id for each in self.state.snapshots)
        raise UsageError("NO_SESSION", f"There is no debug session '{session_id}'. Sessions: {known}.")

    def program(self, session_id: str | None = None) -> DebugSession:
        """Return that session, if it has a program.

        Raises:
            UsageError: `NO_SESSION`, or `NOT_PAUSED`: it only listens for programs.
        """
        session = self.session(session_id)
        snapshot = session.snapshot
        if snapshot is not None and snapshot.origin.listens:
            raise only_listens(snapshot, [each for each in self.state.snapshots if each.parent == session.id])
        return session

    def paused(self, session_id: str | None = None) -> tuple[DebugSession, Snapshot]:
        """Return that session and its snapshot, if it is paused.

        Raises:
            UsageError: `NO_SESSION`, or `NOT_PAUSED` with the state it is in.
        """
        session = self.program(session_id)
        snapshot = session.snapshot
        if snapshot is None or snapshot.phase != "Paused":
            raise not_paused(snapshot, probe=session.profile.has_probe)
        return session, snapshot

    def living_sessions(self) -> list[DebugSession]:
        """Return the sessions, parents before their children; of a call that names one, those of its program."""
        living = [each for each in self._sessions.values() if each.snapshot is not None]
        program = None if self.programs.chosen is None else self.programs.at_hand()
        return living if program is None else [each for each in living if each.id in program.sessions]

    def root_session(self) -> DebugSession | None:
        """Return the session at hand that was launched or attached to; None if it has ended, or there is none."""
        program = self.programs.at_hand()
        root = None if program is None else self._sessions.get(program.id)
        return None if root is None or root.snapshot is None else root

    def language_of(self, file: str | None) -> Profile | None:
        """Return the profile that knows a file's language; without a file, of the session at hand or the last one.

        None: none is known, or programs of several languages are debugged, and neither is named.
        """
        if file is not None:
            return profile_for_file(file, self.settings.profiles)
        if self.programs.are_of_several_languages():
            return None
        focused = self._sessions.get(self.programs.chosen or self.state.focus or "")
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
        return await self._start(self._begin(profile, start, new_session, owner))

    async def start_within(
        self, profile: Profile, start: RootStart, seconds: float, *, new_session: bool = False, owner: object = None
    ) -> tuple[DebuggedProgram, DebugSession | None]:
        """Start as `start` does; without a session if it takes longer than `seconds`, and then it continues."""
        program = self._begin(profile, start, new_session, owner)
        work = partial(self._start, program)
        return program, await finished_within(self._running(), work, seconds, program.late_failures)

    def _begin(self, profile: Profile, start: RootStart, new_session: bool, owner: object) -> DebuggedProgram:
        """Add a program that is about to be started; at once, so that of two starts without `new_session` one fails."""
        self.programs.check_free(new_session=new_session)
        program = self.programs.add(f"s-{next(self._numbers)}", profile, start, owner)
        self._add(program.id, profile, start, program)
        return program

    async def _start(self, program: DebuggedProgram) -> DebugSession:
        session = self._sessions[program.id]
        try:
            self.tasks.connect(program.start, program.console)
            await self._running().start(self._live, session)
            self.programs.started(program)
        except FAILURES as error:
            output = "".join(entry.text for entry in program.console.entries())[-LAST_OUTPUT_LENGTH:]
            raise start_failure(program.profile, program.start, error, output) from error
        finally:
            program.start_over.set()
        return session

    def _running(self) -> trio.Nursery:
        if self._nursery is None:
            raise AssertionError("the debugger is not running")
        return self._nursery

    def _add(
        self, session_id: str, profile: Profile, start: Start, program: DebuggedProgram, parent: str | None = None
    ) -> DebugSession:
        shared = SharedContext(
            merger=self.merger,
            clock=self.clock,
            breakpoints=self.breakpoints,
            console=program.console,
            sources=program.sources,
            runtime=self._runtime,
            host=self.host,
            open_child=self._open_child,
        )
        session = DebugSession(session_id, profile, start, shared, parent)
        program.sessions.add(session_id)
        self._sessions[session.id] = session
        return session

    async def _live(
        self, session: DebugSession, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        try:
            await session.run(task_status=task_status)
        except DebugError:
            raise
        except Exception as error:  # a bug of ours costs this session, and no other
            log.exception("session %s", session.id)
            if not session.started:
                raise UsageError(
                    "ADAPTER_FAILED",
                    f"{session.profile.name} was not started: {OWN_FAULT}. Call debug_launch again.",
                ) from error
        finally:
            for child in [each for each in self._sessions.values() if each.parent == session.id]:
                child.end("the parent session is over")
            del self._sessions[session.id]
            self.builds.discard(session.start)
            await self.tasks.run_after(session.start)  # noqa: ASYNC102 (it shields and bounds itself)

    async def _open_child(self, parent_id: str, profile: Profile, start: ChildStart) -> None:
        """Adopt a child session. Called from the parent's reverse request, which must be answered at once."""
        bound = self.settings.max_guests
        if len(self._sessions) > bound and isinstance(self._sessions[parent_id].start, Listen):
            raise AdapterRefused("startDebugging", f"{bound} programs are being debugged already")
        if not profile.serves_child(start.configuration):
            raise AdapterRefused("startDebugging", f"child sessions of {profile.name} are not supported")
        program = self.programs.of(parent_id)
        if program is None:
            raise AdapterRefused("startDebugging", "the session is over")
        child = self._add(f"s-{next(self._numbers)}", profile, start, program, parent_id)
        self._running().start_soon(self._live_child, child)

    async def _live_child(self, session: DebugSession) -> None:
        try:
            await self._live(session)
        except DebugError as error:
            log.warning("child session %s: %s", session.id, error)

    # --- Ending ----------------------------------------------------------------------------------------------

    async def end(self, session: DebugSession, *, terminate: bool | None, reason: str) -> None:
        """End a session with its children, and wait until it has ended with its processes."""
        if terminate is False or isinstance(session.start, Listen if terminate else Listen | Attach):
            session.expect_end(reason)  # js-debug reports the end of its program once the children are detached from
            # The children first: one that is left paused when its parent detaches would never end.
            async with trio.open_nursery() as nursery:
                for child in [each for each in self._sessions.values() if each.parent == session.id]:
                    nursery.start_soon(partial(self.end, child, terminate=terminate, reason=reason))
        session.end(reason, terminate=terminate)
        with trio.move_on_after(self.patience.seconds(CLOSE_SECONDS)):
            await session.closed.wait()

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Hold the sessions; when cancelled, each says goodbye first."""
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            await trio.sleep_forever()

    # --- Waiting ---------------------------------------------------------------------------------------------

    async def wait_stop(
        self, session_id: str | None = None, *, of: Collection[str] | None = None, seen: Container[int] = ()
    ) -> Outcome:
        """Wait until a session of the program at hand is paused, or the program has ended. The caller bounds the wait.

        With `session_id`, as for a step, only that session's stop counts while it lives. `of`: the stops of these
        programs count, by the ids of their root sessions, and the end of any of them. Stops `seen` before do not count.
        """
        own = self.programs.at_hand() if session_id is None else self.programs.of(session_id)
        wanted = of if of is not None else [] if own is None else [own.id]
        return await wait_outcome(self.merger, wanted, session_id, seen=seen)

    async def wait_locals(self, paused: Snapshot) -> Snapshot:
        """Wait for the locals of a stop's top frame; return the stop with them. The caller bounds the wait."""
        return await wait_locals(self.merger, paused)


@asynccontextmanager
async def open_debugger(settings: Settings, listener: ResourceListener) -> AsyncIterator[Debugger]:
    """Run a debugger for the length of the block; at its end every session has said goodbye and no process is left."""
    watchdog = Watchdog(settings.patience)
    try:
        async with trio.open_nursery() as nursery, open_dial_ins(settings.patience) as dial_ins:
            debugger = Debugger(settings, listener, Runtime(watchdog, dial_ins))
            # Shielded: the merger outlives the sessions, whose last changes it must still merge.
            merging = trio.CancelScope(shield=True)

            async def merge(*, task_status: trio.TaskStatus[None]) -> None:
                with merging:
                    await debugger.merger.run(task_status=task_status)

            await nursery.start(merge)
            try:
                async with trio.open_nursery() as sessions:
                    await sessions.start(debugger.run)
                    yield debugger
                    sessions.cancel_scope.cancel(reason="the debugger is closing")
            finally:
                merging.cancel(reason="the debugger is closed")
    finally:
        watchdog.close()
