"""`LivingSessions`: the sessions that have not ended: how each is started, adopts children, and ends with them.

A root session was launched or attached to, or listens; its adapter announces children. All run in `LivingSessions.run`.
"""

import logging
from collections.abc import Collection, Iterator
from functools import partial
from itertools import count

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.profiles import Attach, Launch, Listen, Profile, Runtime
from trio_debugmcp.dap.profiles.starts import ChildStart, RootStart, Start
from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, UsageError
from trio_debugmcp.session.before.builds import Builds
from trio_debugmcp.session.before.configured_tasks import TaskRunner
from trio_debugmcp.session.breakpoints.registry import BreakpointRegistry
from trio_debugmcp.session.handshake import LAST_OUTPUT_LENGTH
from trio_debugmcp.session.handshake_turns import HandshakeTurns
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.program_at_hand import DebuggedProgram
from trio_debugmcp.session.programs import Programs
from trio_debugmcp.session.run_store import RunStore
from trio_debugmcp.session.session import OWN_FAULT, DebugSession, SharedContext
from trio_debugmcp.session.start import FAILURES, start_failure

log = logging.getLogger(__name__)

CLOSE_SECONDS = 15.0
"""For a session to end in good order; every step of its end is bounded, and they add up to less."""


class SessionsContext(Struct, frozen=True):
    """What the sessions of a server share; `max_guests` may be adopted by one that listens."""

    merger: Merger
    clock: Clock
    breakpoints: BreakpointRegistry
    programs: Programs
    builds: Builds
    runtime: Runtime
    host: Host
    runs: RunStore
    max_guests: int


class LivingSessions:
    """Those of one server, by their ids, parents before their children.

    Attributes:
        tasks: what is run around them.
    """

    def __init__(self, context: SessionsContext) -> None:
        self._context = context
        self._sessions: dict[str, DebugSession] = {}
        self._numbers = count(1)
        self._turns = HandshakeTurns()
        self.tasks = TaskRunner(context.host, context.runtime.watchdog, self.running)
        self._nursery: trio.Nursery | None = None

    def __repr__(self) -> str:
        return f"<LivingSessions {list(self._sessions)}>"

    def __iter__(self) -> Iterator[DebugSession]:
        return iter([*self._sessions.values()])

    def is_living(self, session_id: str) -> bool:
        """Return whether a session has not ended; one may be about to."""
        session = self._sessions.get(session_id)
        return session is not None and not session.closed.is_set()

    def find(self, session_id: str | None) -> DebugSession | None:
        """Return the session with that id."""
        return None if session_id is None else self._sessions.get(session_id)

    def begin(self, profile: Profile, start: RootStart, new_session: bool, owner: object) -> DebuggedProgram:
        """Add a program that is about to be started; at once, so that of two starts without `new_session` one fails."""
        self._context.programs.check_free(new_session=new_session)
        session_id = f"s-{next(self._numbers)}"
        if isinstance(start, Launch) and start.recording is not None:  # of a restart, too: it is another run
            recording = self._context.runs.planned(session_id, start.what, start.recording)
            start = replace(start, recording=recording)
        program = self._context.programs.add(session_id, profile, start, owner)
        self._add(program.id, profile, start, program)
        return program

    async def start(self, program: DebuggedProgram) -> DebugSession:
        """Start a program that was begun; returns when it may run. Cancelling ends the session again."""
        session = self._sessions[program.id]
        try:
            self.tasks.connect(program.start, program.console)
            await self.running().start(self._live, session)
            program.able = session.requests.capabilities
            self._context.programs.started(program)
        except FAILURES as error:
            output = "".join(entry.text for entry in program.console.entries())[-LAST_OUTPUT_LENGTH:]
            raise start_failure(program.profile, program.start, error, output) from error
        finally:
            program.start_over.set()
        return session

    def running(self) -> trio.Nursery:
        """Return the nursery of all sessions."""
        if self._nursery is None:
            raise AssertionError("the debugger is not running")
        return self._nursery

    def _add(
        self, session_id: str, profile: Profile, start: Start, program: DebuggedProgram, parent: str | None = None
    ) -> DebugSession:
        shared = SharedContext(
            merger=self._context.merger,
            clock=self._context.clock,
            breakpoints=self._context.breakpoints,
            console=program.console,
            sources=program.sources,
            runtime=self._context.runtime,
            host=self._context.host,
            turns=self._turns,
            open_child=self._open_child,
        )
        session = DebugSession(session_id, profile, start, shared, self._sessions.get(parent or ""))
        program.sessions.add(session_id)
        self._sessions[session.id] = session
        return session

    async def _live(
        self, session: DebugSession, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        try:
            await self._context.runs.begin(session.id)
            await session.run(task_status=task_status)
        except DebugError:
            raise
        except Exception as error:  # a bug of ours costs this session, and no other
            log.exception("session %s", session.id)
            if not session.requests.started:
                raise UsageError(
                    "ADAPTER_FAILED",
                    f"{session.profile.name} was not started: {OWN_FAULT}. Call debug_launch again.",
                ) from error
        finally:
            for child in self._children(session):
                ends = session.is_terminated and child.is_ours
                child.end("the parent session is over", terminate=True if ends else None)
            del self._sessions[session.id]
            await self._context.runs.end(session.id, discard=not session.requests.started)  # noqa: ASYNC102 (it shields itself)
            self._context.builds.discard(session.start)
            await self.tasks.run_after(session.start)  # noqa: ASYNC102 (it shields and bounds itself)

    async def _open_child(self, parent_id: str, profile: Profile, start: ChildStart) -> None:
        """Adopt a child session. Called from the parent's reverse request, which must be answered at once."""
        bound = self._context.max_guests
        if len(self._sessions) > bound and isinstance(self._sessions[parent_id].start, Listen):
            raise AdapterRefused("startDebugging", f"{bound} programs are being debugged already")
        if not profile.serves_child(start.configuration):
            raise AdapterRefused("startDebugging", f"child sessions of {profile.name} are not supported")
        program = self._context.programs.of(parent_id)
        if program is None:
            raise AdapterRefused("startDebugging", "the session is over")
        child = self._add(f"s-{next(self._numbers)}", profile, start, program, parent_id)
        self.running().start_soon(self._live_child, child)
        await child.opened.wait()  # its parent must not end before it is there

    async def _live_child(self, session: DebugSession) -> None:
        try:
            await self._live(session)
        except AdapterGone as error:  # most children end soon
            log.info("child session %s: %s", session.id, error)
        except DebugError as error:
            log.warning("child session %s: %s", session.id, error)

    async def end(self, session: DebugSession, *, terminate: bool | None, reason: str) -> None:
        """End a session with its children, and wait until it has ended with its processes."""
        if terminate is False or isinstance(session.start, Listen if terminate else Listen | Attach):
            session.expect_end(reason)  # js-debug reports the end of its program once the children are detached from
            # The children first: one that is left paused when its parent detaches would never end.
            async with trio.open_nursery() as nursery:
                for child in self._children(session):
                    nursery.start_soon(partial(self.end, child, terminate=terminate, reason=reason))
        children = [child for child in _below(session, [*self]) if child.is_ours]
        session.end(reason, terminate=terminate)
        with trio.move_on_after(self._context.runtime.patience.seconds(CLOSE_SECONDS)):
            await session.closed.wait()
            for child in children if session.is_terminated else ():  # daemons, which are not in its process session
                await child.closed.wait()

    def _children(self, session: DebugSession) -> list[DebugSession]:
        return [child for child in self._sessions.values() if child.parent == session.id]

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Hold the sessions; when cancelled, each says goodbye first."""
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            await trio.sleep_forever()


def _below(session: DebugSession, sessions: Collection[DebugSession]) -> list[DebugSession]:
    """Return those of the sessions that are its children, and theirs."""
    children = [child for child in sessions if child.parent == session.id]
    return [below for child in children for below in (child, *_below(child, sessions))]
