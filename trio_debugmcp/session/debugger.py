"""`Debugger`: all debug sessions of this server, and what users do with them.

It owns the tree of sessions (one root that was launched or attached to, and the children that its adapter announced),
the book of breakpoints and the program's console. Every session runs in the nursery of `Debugger.run`.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import TypeVar

import trio
from msgspec import Struct

from trio_debugmcp.dap.profiles import PROFILES, Attach, Launch, Profile, profile_for_file, profile_named
from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.errors import AdapterGone, AdapterRefused, CannotRun, DebugError, ProtocolViolation, UsageError
from trio_debugmcp.session.breakpoints import BreakpointBook
from trio_debugmcp.session.console import Console
from trio_debugmcp.session.execution import not_paused
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.merger import Merger, ResourceListener
from trio_debugmcp.session.session import OWN_FAULT, DebugSession, SharedContext
from trio_debugmcp.session.sources import Sources
from trio_debugmcp.session.start import ChildStart
from trio_debugmcp.session.timeline import Timeline
from trio_debugmcp.state.model import Breakpoint, Snapshot, State
from trio_debugmcp.state.payloads import OutputPayload, TimelinePayload, shortened

log = logging.getLogger(__name__)

T = TypeVar("T")

UNDO_SECONDS = 1.0
"""To take a temporary breakpoint away; a program that does not answer by then does not reach it either."""

CLOSE_SECONDS = 15.0
"""For a session to end in good order; every rung of its ladder is bounded, and they add up to less."""


class Settings(Struct, frozen=True):
    """What the person who starts the server decides. `roots` empty: programs and sources may be anywhere.

    `host`: this machine, a recorder in front of it, or a replay in its place.
    """

    directory: str = "."
    roots: tuple[str, ...] = ()
    profiles: tuple[Profile, ...] = PROFILES
    host: Host = Host()


class Outcome(Struct, frozen=True):
    """How a wait for a stop ended: with a paused session, with the end of the tree (`ended`), or neither in time."""

    paused: Snapshot | None = None
    ended: Snapshot | None = None


class Debugger:
    """Made by `open_debugger`."""

    def __init__(self, settings: Settings, listener: ResourceListener) -> None:
        self.settings = settings
        self.clock = settings.host.clock()
        self.timeline = Timeline(self.clock)
        self.merger = Merger(listener, self.timeline)
        self.book = BreakpointBook(self.merger)
        self.console = Console(self.clock, self.merger)
        self.sources = Sources()
        self.last_start: tuple[Profile, Launch | Attach] | None = None
        self._watchdog = Watchdog()
        self._sessions: dict[str, DebugSession] = {}
        self._numbers = count(1)
        self._nursery: trio.Nursery | None = None
        self._starting = False

    @property
    def state(self) -> State:
        """What is true now."""
        return self.merger.state

    def output_payload(self, revision: int) -> OutputPayload:
        """`debugger://output`."""
        return self.console.payload(revision)

    def timeline_payload(self, revision: int) -> TimelinePayload:
        """`debugger://timeline`."""
        return self.timeline.payload(revision)

    # --- Finding things --------------------------------------------------------------------------------------

    def session(self, session_id: str | None = None) -> DebugSession:
        """The focused session, or the one with that id.

        Raises:
            UsageError: `NO_SESSION`.
        """
        wanted = session_id or self.state.focus
        session = self._sessions.get(wanted) if wanted is not None else None
        if session is None or session.snapshot is None:
            known = ", ".join(each.id for each in self.state.snapshots) or "none"
            raise UsageError(
                "NO_SESSION",
                f"There is no debug session '{session_id}'. Sessions: {known}."
                if session_id is not None and self.state.snapshots
                else "There is no debug session. Start one with debug_launch or debug_attach.",
            )
        return session

    def paused(self, session_id: str | None = None) -> tuple[DebugSession, Snapshot]:
        """That session, when it is paused.

        Raises:
            UsageError: `NO_SESSION`, or `NOT_PAUSED` with the state it is in.
        """
        session = self.session(session_id)
        snapshot = session.snapshot
        if snapshot is None or snapshot.phase != "Paused":
            raise not_paused(snapshot)
        return session, snapshot

    def profile_for(self, adapter: str | None, program: str | None) -> Profile:
        """The adapter's profile, by name or by the kind of the program's file.

        Raises:
            UsageError: `ADAPTER_NOT_FOUND`: no such adapter, or it is not installed; says how to install it.
        """
        profiles = self.settings.profiles
        if adapter is not None:
            profile = profile_named(adapter, profiles)
        else:
            profile = profile_for_file(program, profiles) if program is not None else profiles[0]
        names = ", ".join(f"{each.name} ({each.language})" for each in profiles)
        if profile is None:
            what = f"named '{adapter}'" if adapter is not None else f"for '{program}'"
            raise UsageError(
                "ADAPTER_NOT_FOUND", f"There is no debug adapter {what}. Pass `adapter`, one of: {names}.", {}
            )
        if self.query(f"adapter {profile.name}", profile.locate) is None:
            raise UsageError(
                "ADAPTER_NOT_FOUND",
                f"The debug adapter {profile.name} is not installed. Install it with: {profile.install_hint}",
                {"adapter": profile.name, "install": profile.install_hint},
            )
        return profile

    def query(self, question: str, ask: Callable[[], T]) -> T:
        """What `ask` finds out about this machine and its files; in a replay the recording answers."""
        return self.settings.host.query(question, ask)

    def language_of(self, file: str | None) -> Profile | None:
        """The profile that knows a file's language; without a file, that of the session, or else the first one."""
        if file is not None:
            return profile_for_file(file, self.settings.profiles)
        focused = self._sessions.get(self.state.focus or "")
        return focused.profile if focused is not None else self.settings.profiles[0]

    def resolve(self, path: str, *, base: str | None = None) -> str:
        """An absolute path, relative ones seen from the server's directory, inside the roots if there are any.

        Raises:
            UsageError: `INVALID_PATH` or `PERMISSION_DENIED`.
        """
        if "\0" in path or not path:
            raise UsageError("INVALID_PATH", "A path must not be empty nor contain a NUL character.")
        try:
            return self._resolve(path, base or self.settings.directory)
        except (OSError, RuntimeError) as error:
            raise UsageError("INVALID_PATH", f"'{shortened(path)}' is no path that can be used: {error}.") from None

    def _resolve(self, path: str, base: str) -> str:
        full = Path(base, path).absolute()
        normal = Path(*(part for part in full.parts if part != "."))
        if ".." in normal.parts:
            normal = normal.resolve()
        if self.settings.roots and not any(normal.resolve().is_relative_to(root) for root in self.settings.roots):
            allowed = ", ".join(self.settings.roots)
            raise UsageError(
                "PERMISSION_DENIED",
                f"'{path}' is outside the allowed roots ({allowed}).",
                {"path": str(normal)},
            )
        return str(normal)

    # --- Starting and ending ---------------------------------------------------------------------------------

    async def start(self, profile: Profile, start: Launch | Attach) -> DebugSession:
        """Launch or attach; returns when the program may run. Cancelling takes the session down again.

        Raises:
            UsageError: `SESSION_ACTIVE`, `LAUNCH_FAILED`, `ATTACH_FAILED`, `ADAPTER_FAILED` or `TIMEOUT`.
        """
        self.check_free()
        if self._nursery is None:
            raise AssertionError("the debugger is not running")
        self._starting = True
        launching = isinstance(start, Launch)
        again = f"call {'debug_launch' if launching else 'debug_attach'} again"
        try:
            self.console, self.sources = Console(self.clock, self.merger), Sources(self.settings.roots)
            if isinstance(start, Launch):
                self.sources.learn(start.program, "")
            session = self._add(profile, start, None)
            await self._nursery.start(self._live, session)
            self.last_start = (profile, start)
        except AdapterRefused as refusal:
            code = "LAUNCH_FAILED" if launching else "ATTACH_FAILED"
            sentence = f"{profile.name} refused: {refusal.reason.rstrip('. ')}. Correct what it names, and {again}."
            raise UsageError(code, sentence, self._last_words()) from refusal
        except CannotRun as error:
            raise UsageError(
                "ADAPTER_FAILED",
                f"The debug adapter {profile.name} does not start: {error.reason} ({error.program}). Correct it, and "
                f"{again}.",
            ) from error
        except (AdapterGone, ProtocolViolation) as error:
            raise UsageError(
                "ADAPTER_FAILED" if launching else "ATTACH_FAILED",
                f"{profile.name} did not {'launch' if launching else 'attach'}: {error}. Look at the details, "
                f"and {again}.",
                {"stderr": error.stderr_tail if isinstance(error, AdapterGone) else "", **self._last_words()},
            ) from error
        finally:
            self._starting = False
        return session

    def check_free(self) -> None:
        """Whether a session may be started.

        Raises:
            UsageError: `SESSION_ACTIVE`.
        """
        if self._starting or self.state.root is not None:
            raise UsageError(
                "SESSION_ACTIVE",
                "A debug session is already active. End it with debug_disconnect, or use debug_restart.",
                {"session": self.state.focus},
            )

    async def end(self, session: DebugSession, *, terminate: bool | None, reason: str) -> None:
        """End a session with its children and wait until it has ended, with its processes.

        A program that shall live on is let go child by child first: a child that is left paused would never end.
        """
        if terminate is False:
            children = [each for each in self._sessions.values() if each.parent == session.id]
            for child in children:
                await self.end(child, terminate=False, reason=reason)
        session.end(reason, terminate=terminate)
        with trio.move_on_after(CLOSE_SECONDS):
            await session.closed.wait()

    def root_session(self) -> DebugSession | None:
        """The session that was launched or attached to."""
        root = self.state.root
        return None if root is None else self._sessions.get(root.id)

    def _last_words(self) -> dict[str, object]:
        text = "".join(entry.text for entry in self.console.entries())[-2000:]
        return {"output": text} if text else {}

    def _add(self, profile: Profile, start: Launch | Attach | ChildStart, parent: str | None) -> DebugSession:
        shared = SharedContext(
            self.merger, self.clock, self.console, self.sources, self._watchdog, self.settings.host, self._open_child
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
        except Exception as error:  # a fault of ours costs this session, and no other
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

    async def _open_child(self, parent: DebugSession, start: ChildStart) -> None:
        """Adopt a child session. Called from its parent's reverse request, which must be answered at once."""
        if not parent.profile.serves_child(start.configuration):
            raise AdapterRefused("startDebugging", f"child sessions of {parent.profile.name} are not supported")
        if self._nursery is None:
            raise AssertionError("the debugger is not running")
        self._nursery.start_soon(self._live_child, self._add(parent.profile, start, parent.id))

    async def _live_child(self, session: DebugSession) -> None:
        try:
            await self._live(session)
        except DebugError as error:
            log.warning("child session %s: %s", session.id, error)

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Hold the sessions; when cancelled, each says goodbye first."""
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            await trio.sleep_forever()

    # --- Breakpoints -----------------------------------------------------------------------------------------

    async def sync_breakpoints(self, files: Iterable[str | None] = (), *, exceptions: bool = False) -> None:
        """Send what changed to every session that takes breakpoints by now; None among the files: the functions.

        Raises:
            DebugError: an adapter did not take them; the others have.
        """
        touched = set(files)
        failures: list[DebugError] = []

        async def sync(session: DebugSession) -> None:
            try:
                await session.breakpoints.send(file for file in touched if file is not None)
                if None in touched:
                    await session.breakpoints.send_functions()
                if exceptions:
                    await session.breakpoints.send_exceptions()
            except AdapterGone as gone:  # then it has no breakpoints any more, either
                log.debug("breakpoints of %s: %s", session.id, gone)
            except DebugError as error:
                failures.append(error)

        async with trio.open_nursery() as nursery:
            for session in list(self._sessions.values()):
                if session.accepts_breakpoints and not session.closed.is_set():
                    nursery.start_soon(sync, session)
        if failures:
            raise failures[0]

    def breakpoint_problem(self, wanted: Breakpoint) -> str | None:
        """Why no session has a breakpoint that stops at that line; None if one has."""
        there = [each for each in self.state.breakpoints if (each.file, each.line) == (wanted.file, wanted.line)]
        bindings = [binding for each in there if each.always_stops for binding in each.bindings]
        if any(binding.verified for binding in bindings):
            return None
        return next((binding.message for binding in bindings if binding.message), "there is no code at that line")

    @asynccontextmanager
    async def temporary_breakpoint(self, file: str, line: int) -> AsyncIterator[Breakpoint]:
        """A breakpoint for one run, which nobody sees and which leaves the user's own ones as they are."""
        temporary = await self.book.put(Breakpoint(id="", file=file, line=line, temporary=True))
        try:
            await self.sync_breakpoints([file])
            yield temporary
        finally:
            with trio.CancelScope(shield=True):  # bounded: the merger never waits
                await self.book.forget(temporary)
            with trio.move_on_after(UNDO_SECONDS, shield=True):
                await self.sync_breakpoints([file])

    # --- Execution -------------------------------------------------------------------------------------------

    async def wait_stop(self, session_id: str | None = None) -> Outcome:
        """Wait until a session of the tree is paused, or the whole tree has ended. The caller bounds the wait.

        With `session_id`, as for a step, only that session's stop counts while it lives. A session counts as running
        from the moment that it is told to resume, so there is no old stop to be mistaken for the new one.
        """
        root = self.state.root

        def tree_ended(state: State) -> bool:
            return root is None or state.root is None or state.root.id != root.id

        def stopped(state: State) -> Snapshot | None:
            named = state.snapshot(session_id) if session_id is not None else None
            candidates = [named] if named is not None else [state.focused, *state.snapshots]
            return next((each for each in candidates if each is not None and each.phase == "Paused"), None)

        state = await self.merger.wait_until(lambda now: tree_ended(now) or stopped(now) is not None)
        paused = stopped(state)
        if tree_ended(state) or paused is None:
            return Outcome(ended=state.last)
        return Outcome(paused=paused)

    async def wait_locals(self, paused: Snapshot) -> Snapshot:
        """The same stop, with the locals of its top frame once they are there. The caller bounds the wait."""
        state = await self.merger.wait_until(lambda now: _has_locals(now, paused))
        current = state.snapshot(paused.id)
        return current if current is not None and current.stop == paused.stop else paused

    # --- Shutting down ---------------------------------------------------------------------------------------

    def close(self) -> None:
        """After the sessions have ended: let the watchdog process go."""
        self._watchdog.close()


def _has_locals(state: State, stopped: Snapshot) -> bool:
    now = state.snapshot(stopped.id)
    if now is None or now.generation != stopped.generation or not now.stack.frames:
        return True
    return now.stack.locals is not None


@asynccontextmanager
async def open_debugger(settings: Settings, listener: ResourceListener) -> AsyncIterator[Debugger]:
    """A debugger for the length of the block; at its end every session has said goodbye and no process is left."""
    debugger = Debugger(settings, listener)
    try:
        async with trio.open_nursery() as nursery:
            # The merger outlives the sessions, whose last messages it still has to merge.
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
        debugger.close()
