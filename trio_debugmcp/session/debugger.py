"""`Debugger`: the tree of debug sessions of this server. It starts sessions, ends them, and waits for their stops.

One session, the root, was launched or attached to, or listens for programs that dial in; its children were announced
by its adapter. Every session runs in the nursery of `Debugger.run`.

    async with open_debugger(Settings(), listener) as debugger:
        session = await debugger.start(profile, Launch(program="/src/app.py"))
        outcome = await debugger.wait_stop()
        await debugger.end(session, terminate=True, reason="done")
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count

import trio
from msgspec import Struct

from trio_debugmcp.dap.dial_in import open_dial_ins
from trio_debugmcp.dap.profiles import Launch, Listen, Profile, Runtime, profile_for_file, profile_of_python
from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.errors import (
    AdapterGone,
    AdapterRefused,
    CannotRun,
    DebugError,
    ProtocolViolation,
    UsageError,
    no_session,
)
from trio_debugmcp.session.background import finished_within
from trio_debugmcp.session.breakpoints import BreakpointRegistry
from trio_debugmcp.session.console import Console
from trio_debugmcp.session.execution import not_paused, only_listens
from trio_debugmcp.session.merger import Merger, ResourceListener
from trio_debugmcp.session.session import LAST_OUTPUT_LENGTH, OWN_FAULT, DebugSession, SharedContext
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.session.sources import Sources
from trio_debugmcp.session.start import ChildStart, RootStart, Start, session_active, start_failure
from trio_debugmcp.session.timeline import Timeline
from trio_debugmcp.session.workspace import Workspace
from trio_debugmcp.state.model import Snapshot, State
from trio_debugmcp.state.payloads import OutputPayload, TimelinePayload

log = logging.getLogger(__name__)

CLOSE_SECONDS = 15.0
"""For a session to end in good order; every step of its end is bounded, and they add up to less."""


class Outcome(Struct, frozen=True):
    """How a wait for a stop ended: with a paused session, with the end of the tree (`ended`), or neither in time."""

    paused: Snapshot | None = None
    ended: Snapshot | None = None


class Debugger:
    """The sessions of one server, and what they share. Made by `open_debugger`.

    Attributes:
        host: the seam to this machine.
        breakpoints: the user's breakpoints, which outlive sessions.
        console: the program's streams, of the current or last root session.
        sources: the source files that may be read, of the current or last root session.
        workspace: where relative paths start, and where paths must stay.
        last_start: how the last root session was started.
        start_over: set unless one is being started; `late_failures`: why that failed after the wait for it.
    """

    def __init__(self, settings: Settings, listener: ResourceListener, runtime: Runtime) -> None:
        self.settings = settings
        self.host = settings.host
        self.clock = self.host.clock()
        self.timeline = Timeline(self.clock)
        self.merger = Merger(listener, self.timeline)
        self.breakpoints = BreakpointRegistry(self.merger)
        self.console = self._new_console()
        self.sources = Sources()
        self.workspace = Workspace(settings.directory, settings.roots)
        self.late_failures: list[DebugError] = []
        self.last_start: tuple[Profile, RootStart] | None = None
        self._runtime = runtime
        self._sessions: dict[str, DebugSession] = {}
        self._numbers = count(1)
        self._nursery: trio.Nursery | None = None
        self.start_over = trio.Event()
        self.start_over.set()

    def __repr__(self) -> str:
        return f"<Debugger sessions={list(self._sessions)} focus={self.state.focus!r}>"

    @property
    def state(self) -> State:
        """What is true now."""
        return self.merger.state

    def output_payload(self, revision: int) -> OutputPayload:
        """Return the resource `debugger://output`."""
        return self.console.payload(revision)

    def timeline_payload(self, revision: int) -> TimelinePayload:
        """Return the resource `debugger://timeline`."""
        return self.timeline.payload(revision)

    def _new_console(self) -> Console:
        return Console(self.clock, self.merger, show_secrets=self.settings.show_secrets)

    # --- Finding ---------------------------------------------------------------------------------------------

    def session(self, session_id: str | None = None) -> DebugSession:
        """Return the session with that id, or without an id the one in focus.

        Raises:
            UsageError: `NO_SESSION`.
        """
        wanted = session_id or self.state.focus
        session = self._sessions.get(wanted) if wanted is not None else None
        if session is not None and session.snapshot is not None:
            return session
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
        """Return the sessions of the tree, parents before their children."""
        return [each for each in self._sessions.values() if each.snapshot is not None]

    def root_session(self) -> DebugSession | None:
        """Return the session that was launched or attached to."""
        root = self.state.root
        return None if root is None else self._sessions.get(root.id)

    def language_of(self, file: str | None) -> Profile | None:
        """Return the profile that knows a file's language; without a file, of the session at hand or the last one."""
        if file is not None:
            return profile_for_file(file, self.settings.profiles)
        focused = self._sessions.get(self.state.focus or "")
        started = profile_of_python(self.settings.profiles) if self.last_start is None else self.last_start[0]
        return focused.profile if focused is not None else started

    # --- Starting --------------------------------------------------------------------------------------------

    async def start(self, profile: Profile, start: RootStart) -> DebugSession:
        """Launch, attach or listen; returns when the program may run. Cancelling ends the session again.

        Raises:
            UsageError: `SESSION_ACTIVE`, `LAUNCH_FAILED`, `ATTACH_FAILED`, `ADAPTER_FAILED` or `TIMEOUT`.
        """
        self.check_free()
        self.late_failures.clear()
        self.start_over = trio.Event()  # set when the root is in the state: of two starts at once one is refused
        try:
            self.console, self.sources = self._new_console(), Sources(self.settings.roots)
            if isinstance(start, Launch):
                self.sources.learn(start.program, "")
                code = profile.programs.given_code(start.options)
                if code is not None and profile.programs.code_file is not None:
                    self.sources.learn_code(profile.programs.code_file, code)
            session = self._add(profile, start, None)
            await self._running().start(self._live, session)
            self.last_start = (profile, start)
        except (AdapterRefused, CannotRun, AdapterGone, ProtocolViolation) as error:
            output = "".join(entry.text for entry in self.console.entries())[-LAST_OUTPUT_LENGTH:]
            raise start_failure(profile, start, error, output) from error
        finally:
            self.start_over.set()
        return session

    async def start_within(self, profile: Profile, start: RootStart, seconds: float) -> DebugSession | None:
        """Start as `start` does; None if it takes longer than `seconds`, and then it continues. Cancelling ends it."""
        return await finished_within(self._running(), lambda: self.start(profile, start), seconds, self.late_failures)

    def check_free(self) -> None:
        """Raise unless a session may be started.

        Raises:
            UsageError: `SESSION_ACTIVE`.
        """
        if not self.start_over.is_set():
            raise UsageError(
                "SESSION_ACTIVE",
                "Another call is just starting a debug session. See it with debug_state, or end it with replace=true.",
                {"session": self.state.focus},
            )
        if self.state.root is not None:
            raise session_active(self.state)

    def _running(self) -> trio.Nursery:
        if self._nursery is None:
            raise AssertionError("the debugger is not running")
        return self._nursery

    def _add(self, profile: Profile, start: Start, parent: str | None) -> DebugSession:
        shared = SharedContext(
            merger=self.merger,
            clock=self.clock,
            breakpoints=self.breakpoints,
            console=self.console,
            sources=self.sources,
            runtime=self._runtime,
            host=self.host,
            open_child=self._open_child,
        )
        session = DebugSession(f"s-{next(self._numbers)}", profile, start, shared, parent)
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

    async def _open_child(self, parent_id: str, profile: Profile, start: ChildStart) -> None:
        """Adopt a child session. Called from the parent's reverse request, which must be answered at once."""
        bound = self.settings.max_guests
        if len(self._sessions) > bound and isinstance(self._sessions[parent_id].start, Listen):
            raise AdapterRefused("startDebugging", f"{bound} programs are being debugged already")
        if not profile.serves_child(start.configuration):
            raise AdapterRefused("startDebugging", f"child sessions of {profile.name} are not supported")
        self._running().start_soon(self._live_child, self._add(profile, start, parent_id))

    async def _live_child(self, session: DebugSession) -> None:
        try:
            await self._live(session)
        except DebugError as error:
            log.warning("child session %s: %s", session.id, error)

    # --- Ending ----------------------------------------------------------------------------------------------

    async def end(self, session: DebugSession, *, terminate: bool | None, reason: str) -> None:
        """End a session with its children, and wait until it has ended with its processes."""
        if terminate is False or isinstance(session.start, Listen):
            # The children first: one that is left paused when its parent detaches would never end.
            async with trio.open_nursery() as nursery:
                for child in [each for each in self._sessions.values() if each.parent == session.id]:
                    nursery.start_soon(partial(self.end, child, terminate=terminate, reason=reason))
        session.end(reason, terminate=terminate)
        with trio.move_on_after(CLOSE_SECONDS):
            await session.closed.wait()

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Hold the sessions; when cancelled, each says goodbye first."""
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            await trio.sleep_forever()

    # --- Waiting ---------------------------------------------------------------------------------------------

    async def wait_stop(self, session_id: str | None = None) -> Outcome:
        """Wait until a session of the tree is paused, or the whole tree has ended. The caller bounds the wait.

        With `session_id`, as for a step, only that session's stop counts while it lives.
        """
        root = self.state.root

        def tree_ended(state: State) -> bool:
            return root is None or state.root is None or state.root.id != root.id

        def stopped(state: State) -> Snapshot | None:
            named = state.snapshot(session_id) if session_id is not None else None
            candidates = [named] if named is not None else [state.focused, *state.snapshots]
            return next((each for each in candidates if each is not None and each.phase == "Paused"), None)

        # No old stop can be mistaken for the new one: a session counts as running before its resume is written.
        state = await self.merger.wait_until(lambda now: tree_ended(now) or stopped(now) is not None)
        paused = stopped(state)
        if tree_ended(state) or paused is None:
            return Outcome(ended=state.last)
        return Outcome(paused=paused)

    async def wait_locals(self, paused: Snapshot) -> Snapshot:
        """Wait for the locals of a stop's top frame; return the stop with them. The caller bounds the wait."""
        state = await self.merger.wait_until(lambda now: _has_locals(now, paused))
        current = state.snapshot(paused.id)
        return current if current is not None and current.stop == paused.stop else paused


def _has_locals(state: State, stopped: Snapshot) -> bool:
    now = state.snapshot(stopped.id)
    if now is None or now.generation != stopped.generation or not now.stack.frames:
        return True
    return now.stack.locals is not None


@asynccontextmanager
async def open_debugger(settings: Settings, listener: ResourceListener) -> AsyncIterator[Debugger]:
    """Run a debugger for the length of the block; at its end every session has said goodbye and no process is left."""
    watchdog = Watchdog()
    try:
        async with trio.open_nursery() as nursery, open_dial_ins() as dial_ins:
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
