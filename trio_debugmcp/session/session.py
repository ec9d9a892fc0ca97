"""`DebugSession`: one debug adapter, from its start to its goodbye.

Theory of operation
-------------------
`run` is the whole life: open the adapter, shake hands, wait until the session is over, say goodbye, clean up. It is
started with `nursery.start`, which returns when the program may run, or raises why it cannot.

    run
     ├─ DAP reader and writer        in shielded scopes of their own: the goodbye needs them
     ├─ event pump                   the adapter's events, in order, into the state
     ├─ output announcer             what the program wrote, some twenty times a second; in the root session only
     ├─ start request                `launch` or `attach`, whose response comes after the configuration
     ├─ examination                  of the stop at hand; the next stop or resume cancels it
     ├─ verbs                        a resume or a pause, carried out even if its caller is cancelled
     ├─ exit follower                ends the session of a program that has exited, if the adapter does not
     └─ terminals                    the program, its pipes

The parts are made here and given what they need; none of them knows the session.
"""

import logging
from contextlib import nullcontext
from functools import partial

import msgspec
import trio

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.connection import open_connection
from trio_debugmcp.dap.profiles.profile import Profile, Runtime
from trio_debugmcp.dap.profiles.starts import Launch, Start
from trio_debugmcp.errors import AdapterGone, AdapterRefused, CannotRun, DebugError
from trio_debugmcp.session.breakpoints.breakpoint_sync import BreakpointSync
from trio_debugmcp.session.breakpoints.observing import StopObserver
from trio_debugmcp.session.breakpoints.program_hits import ProgramHits
from trio_debugmcp.session.breakpoints.registry import BreakpointRegistry
from trio_debugmcp.session.breakpoints.stop_judge import StopJudge
from trio_debugmcp.session.client_pauses import ClientPauses
from trio_debugmcp.session.ending import Ending
from trio_debugmcp.session.execution import Execution
from trio_debugmcp.session.goodbye import say_goodbye
from trio_debugmcp.session.handshake import Handshake, ended_early, wait_program
from trio_debugmcp.session.handshake_turns import TURN_SECONDS, HandshakeTurns
from trio_debugmcp.session.host import Host, Opening
from trio_debugmcp.session.looking.program import Looking, looking_into
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.output.terminal import DRAIN_SECONDS, Terminals
from trio_debugmcp.session.process_facts import learn_exit_signal, learn_launched, learn_origin, true_exit_code
from trio_debugmcp.session.process_labels import ProcessLabels
from trio_debugmcp.session.pump import EventPump
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.reverse_requests import OpenChild, ReverseRequests
from trio_debugmcp.session.start import is_guest, opened, origin_of, outlives_parent
from trio_debugmcp.session.stops.examination import Examiner
from trio_debugmcp.session.stops.failing_exceptions import FailingExceptions
from trio_debugmcp.session.stops.stop_locals import StopLocals
from trio_debugmcp.session.stops.stop_sources import StopSources
from trio_debugmcp.session.suspension import Suspension
from trio_debugmcp.session.verbs import Verbs
from trio_debugmcp.state.changes import SessionClosed, SessionOpened, SessionStarted
from trio_debugmcp.state.model import Origin, Snapshot

log = logging.getLogger(__name__)

OWN_FAULT = "an internal error of the debugger, which its log describes"


class SharedContext(msgspec.Struct, frozen=True):
    """What a session shares with the other sessions of its tree."""

    merger: Merger
    clock: Clock
    breakpoints: BreakpointRegistry
    console: Console
    sources: Sources
    runtime: Runtime
    host: Host
    turns: HandshakeTurns
    open_child: OpenChild


class DebugSession:
    """One session. Made by the debugger, alive while `run` runs.

    Attributes:
        requests: how its adapter is asked.
        execution: how its program is resumed; `pauses`: how it is paused.
        looking: what can be known of its program.
        labels: what tells its process from its siblings.
        is_ours: its program was launched here, or comes from one that was: it ends with that.
        changes: how often a client may have changed a value of it; what was read before may be old.
        opened: set when the session is in the state.
        closed: set when the session has left the state.
    """

    def __init__(
        self, session_id: str, profile: Profile, start: Start, shared: SharedContext, parent: "DebugSession | None"
    ) -> None:
        self.id = session_id
        self.profile = profile
        self.start = start
        self.parent = None if parent is None else parent.id
        outlives = outlives_parent(profile, start)
        self.is_ours: bool = isinstance(start, Launch) if parent is None else parent.is_ours and outlives
        self.changes, self._detached = 0, False
        self.opened, self.closed = trio.Event(), trio.Event()
        self._shared, patience, watchdog = shared, shared.runtime.patience, shared.runtime.watchdog
        self._merger = merger = shared.merger
        suspension = Suspension(patience.seconds(profile.dialect.pause_echo_seconds), profile.dialect.call_reason)
        self.requests = requests = Requests(session_id, profile, lambda: self.snapshot, suspension, patience)
        above = None if parent is None else parent.looking
        self.looking: Looking = looking_into(requests, start, merger, shared.sources, shared.host, above)
        probe = (looking := self.looking).ways.probe
        self.labels: ProcessLabels = ProcessLabels(start, probe.process, shared.host, parent.labels if parent else None)
        self._ending = ending = Ending()
        registry, console, sources, clock = shared.breakpoints, shared.console, shared.sources, shared.clock
        notify, observations = registry.syncs.take_notification, registry.runs.observations
        hits = ProgramHits(requests, merger, console, probe, notify, observations)
        judge = StopJudge(requests, merger, console)
        self._breakpoints = sync = BreakpointSync(requests, merger, sources, shared.host, hits, judge, start)
        observer = StopObserver(requests, merger, looking.evaluation, observations, hits, judge)
        known = None if parent is None else parent.requests.capabilities
        self._handshake = handshake = Handshake(requests, start, sync, known)
        texts = StopSources(sources, host := shared.host, requests)
        self._locals = locals_ = StopLocals(requests, merger, looking.ways.frames, looking.stop, sync.watched)
        failing = FailingExceptions(requests, host, looking.ways.frames, sync.hidden.class_path)
        self._examiner = examiner = Examiner(
            requests, suspension, merger, clock, sources, console, sync, looking, observer, texts, locals_, failing
        )
        self._verbs = verbs = Verbs(session_id, merger, ending)
        self.execution = Execution(requests, suspension, merger, examiner, sync.watched, verbs)
        self.pauses = ClientPauses(requests, suspension, probe, verbs)
        self._pump = EventPump(requests, suspension, handshake, examiner, ending, merger, console, sources, hits)
        stdin, own = (start.stdin if isinstance(start, Launch) else None), profile.habits.own_lines
        self._terminals = Terminals(self.id, console, watchdog, host, self._wait_children, stdin=stdin, own_lines=own)
        self._reverse_requests = ReverseRequests(
            requests, merger, start, self.parent, handshake, ending, self._terminals, verbs, shared.open_child
        )

    def __repr__(self) -> str:
        snapshot = self.snapshot
        return f"<DebugSession {self.id} {self.profile.name} {'over' if snapshot is None else snapshot.phase}>"

    @property
    def snapshot(self) -> Snapshot | None:
        """What is true of this session now; None when it has ended."""
        return self._merger.state.snapshot(self.id)

    # --- Life ------------------------------------------------------------------------------------------------

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run the session; reports started when the program may run.

        Error handling: raises a `DebugError` if the program never runs. An exception of another kind is a bug of ours;
        the session ends as failed, and the exception is raised.
        """
        failure: DebugError | None = None
        self._shared.breakpoints.syncs.add(self._breakpoints)
        try:
            try:
                outlives = outlives_parent(self.profile, self.start)
                await self._merger.merge(SessionOpened(self.id, self._origin(), self.parent, outlives))
            finally:
                self.opened.set()
            opening, shared = Opening(self.id, self.parent, self.profile.name, self.start), self._shared
            adapter_of = partial(opened, self.profile, self.start, shared.runtime)
            async with shared.host.open_adapter(opening, adapter_of) as adapter:
                failure = await self._converse(adapter, task_status)
        except (AdapterGone, CannotRun) as error:  # the adapter could not be opened at all
            failure = error
        except Exception:
            self._ending.failed = True
            self._ending.reason = self._ending.reason or OWN_FAULT
            raise
        finally:
            with trio.CancelScope(shield=True):  # bounded: the merger never waits
                interruption = "the server is shutting down" if self._handshake.done else "the start was cancelled"
                await self._close(self._ending.reason or (str(failure) if failure else interruption))
        if failure is not None:
            raise failure

    def _origin(self) -> Origin:
        parent = None if self.parent is None else self._merger.state.snapshot(self.parent)
        return origin_of(self.profile, self.start, self._shared.clock.now(), None if parent is None else parent.origin)

    @property
    def is_terminated(self) -> bool:
        """Whether its program is ended, or has been, once the session is over."""
        return self._ending.terminate is not False and (isinstance(self.start, Launch) or bool(self._ending.terminate))

    async def _close(self, reason: str) -> None:
        self._shared.breakpoints.syncs.remove(self._breakpoints)
        if not self.closed.is_set():
            await self._shared.console.announcements.announce(self.id)  # what was written before the end precedes it
            known = true_exit_code(self._ending.exit_code, self._terminals.exit_code)
            killed, failed = self._ending.killed, self._ending.failed
            exit_code = None if killed else self.labels.exit_code() if known is None else known
            why = reason if killed else self.labels.end_reason(reason, exit_code)
            await self._merger.merge(SessionClosed(self.id, why, exit_code, failed=failed, killed=killed))
            self.closed.set()

    async def _converse(self, adapter: Adapter, task_status: trio.TaskStatus[None]) -> DebugError | None:
        """Everything between the opening and the closing of the adapter; returns why the start failed, if it did."""
        async with (
            open_connection(adapter.stream, self._reverse_requests.serve) as connection,
            trio.open_nursery() as nursery,
        ):
            self.requests.connect(adapter, connection)
            self._verbs.tasks = nursery
            await self._terminals.attend_adapter(adapter, self._ending, nursery)
            nursery.start_soon(self._pump.run, connection, nursery)
            if self.parent is None:
                nursery.start_soon(self._shared.console.announcements.keep_announcing, self.id)
            try:
                failure = await self._try_to_start(nursery)
                if failure is None:
                    self.requests.started = True
                    task_status.started()
                    await self._ending.wait()
                    await learn_exit_signal(self.requests, self._ending, self._examiner.last_signal)
                    if self._ending.terminate is False and isinstance(self.start, Launch):
                        await self._detach()
            except trio.Cancelled:  # the server shuts down
                self._ending.terminate = self.is_ours or None
                raise
            finally:
                self._verbs.tasks = None
                # The goodbye comes before the nursery is cancelled: the pump must keep taking events, or the reader
                # could not deliver the response to `disconnect`.
                with trio.CancelScope(shield=True):  # bounded: its parts are
                    await self._say_goodbye()
                nursery.cancel_scope.cancel(reason="the session is over")
        return failure

    async def _try_to_start(self, nursery: trio.Nursery) -> DebugError | None:
        """Shake hands and ask what runs the program; returns why that failed."""
        seconds = self.requests.patience.seconds(TURN_SECONDS)
        try:
            # Of guests any number may come, some hundred of them at once.
            async with self._shared.turns.turn(nursery, seconds) if is_guest(self.start) else nullcontext():
                await self._handshake.run(nursery)
            if self.profile.habits.launches_only and self.parent is None:
                await wait_program(self._merger, self.id, self._ending, self.requests.patience)
            await self._merger.merge(SessionStarted(self.id))
            await learn_origin(self.requests, self._merger, self._terminals.pid, self.labels)
            if isinstance(self.start, Launch) and not self.profile.habits.launches_only:
                await learn_launched(self.requests, self._merger, self._shared.host)
        except AdapterGone as gone:
            if not self._ending.exited:  # otherwise the program has run, and has ended before the responses came
                return self.requests.explained(gone)
        except AdapterRefused as refusal:
            if self.parent is not None and self.profile.dialect.has_lost_program(refusal.reason):
                return AdapterGone(refusal.reason)  # a child that did little: it has run, and answered too late
            return await ended_early(self._terminals, self._ending, self._shared.console) or refusal
        except DebugError as error:
            return error
        return None

    # --- Goodbye ---------------------------------------------------------------------------------------------

    def expect_end(self, reason: str) -> None:
        """Keep the reason of an end that is about to begin with the children's."""
        self._ending.expect(reason)

    def end(self, reason: str, *, terminate: bool | None = None) -> None:
        """Begin the end. By default a launched program is terminated, and one that was attached to is detached from."""
        self._ending.terminate = terminate
        if not self._ending.over and not self._ending.exited and self._terminals.exit_code is None:
            # What the debugger ends has no exit code of its own: pydevd lets it exit with 0, or it is killed.
            self._ending.killed = terminate if terminate is not None else isinstance(self.start, Launch)
        self._pump.finish(reason)

    async def _detach(self) -> None:
        """Leave a launched program running; it keeps its adapter and its pipes until it ends, or the server does."""
        self._examiner.cancel()
        await self._close(self._ending.reason or "disconnected")
        self._detached = True
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.requests.request_quietly, "disconnect", {"terminateDebuggee": False})
            await self._terminals.wait_over()
            nursery.cancel_scope.cancel(reason="the program has ended")

    async def _say_goodbye(self) -> None:
        self._examiner.cancel()
        if self.requests.connected and not self._detached:
            await say_goodbye(
                self.requests,
                self._breakpoints,
                self._terminals,
                self.start,
                terminate=self._ending.terminate,
                is_child=self.parent is not None,
                hasty=not (self._handshake.done and self._ending.over),
            )
        with trio.move_on_after(self.requests.patience.seconds(DRAIN_SECONDS)):
            await self._terminals.wait_over()
        self._shared.console.input.disconnect()

    async def _wait_children(self) -> None:
        await self._merger.wait_until(lambda state: not state.has_lasting_children(self.id))

    # --- While it runs ---------------------------------------------------------------------------------------

    def refresh_locals(self) -> None:
        """Fetch the locals of the top frame again: an evaluation may have changed them."""
        self.changes += 1
        tasks, snapshot = self._verbs.tasks, self.snapshot
        # What asks while an evaluation is unfinished waits behind that, and a move would wait behind what asks.
        if tasks is not None and snapshot is not None and self.requests.evaluations.unfinished is None:
            self._locals.refresh(tasks, snapshot)
