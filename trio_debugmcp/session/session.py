"""`DebugSession`: one debug adapter from its start to its goodbye, and the verbs that move its program.

Theory of operation
-------------------
`run` is the whole life: open the adapter, shake hands, wait until it is over, say goodbye, clean up. It is started
with `nursery.start`, which returns when the program may run, or raises why it cannot.

A pump takes the adapter's events in order and has them merged. A `stopped` starts an examination, a task that fetches
what belongs to the stop and has it merged as a whole; the next stop or resume cancels an examination under way.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import msgspec
import trio

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.codec import decode_body, merge_capabilities
from trio_debugmcp.dap.connection import Connection, EndOfStream, open_connection
from trio_debugmcp.dap.messages import (
    BreakpointEvent,
    Capabilities,
    CapabilitiesEvent,
    Continued,
    EventBody,
    Exited,
    Initialized,
    LoadedSource,
    ModuleEvent,
    Output,
    Request,
    RunInTerminal,
    StartDebugging,
    Stopped,
    Terminated,
)
from trio_debugmcp.dap.profiles import Attach, Launch, Profile
from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.errors import (
    AdapterGone,
    AdapterRefused,
    CannotRun,
    DebugError,
    ProgramGone,
    ProtocolViolation,
    UsageError,
)
from trio_debugmcp.session.breakpoints import BreakpointSync
from trio_debugmcp.session.console import Console
from trio_debugmcp.session.examination import Examiner
from trio_debugmcp.session.execution import Execution
from trio_debugmcp.session.handshake import Handshake
from trio_debugmcp.session.host import Host, Opening
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.sources import Sources
from trio_debugmcp.session.start import ChildStart, Start, origin_of
from trio_debugmcp.session.terminal import DRAIN_SECONDS, Terminals
from trio_debugmcp.state.changes import (
    BreakpointFaulted,
    BreakpointLogged,
    EventReceived,
    OriginLearned,
    SessionClosed,
    SessionOpened,
    SessionStarted,
)
from trio_debugmcp.state.model import Snapshot

log = logging.getLogger(__name__)

REQUEST_SECONDS = 10.0
"""For an answer to a request that does not run user code. Healthy adapters take milliseconds; one that does not
answer by then will not answer at all."""

GOODBYE_SECONDS = 6.0
"""For the answer to `disconnect`; lldb takes 5.1 s to let go of a program that lives on."""

HASTY_GOODBYE_SECONDS = 1.0
"""The same for a session that never got going, whose adapter is likely to be stuck, and for a server that is leaving:
it has promised that nothing of it lives two seconds longer. What has not answered by then is killed."""

EXIT_SECONDS = 5.0
"""From `exited` to the end of a session whose adapter does not say `terminated`; the others say it at once."""

OWN_FAULT = "an internal error of the debugger, which its log describes"

T = TypeVar("T")


_OF_A_STOP = frozenset({"stackTrace", "scopes", "variables", "evaluate", "exceptionInfo", "completions"})
"""What these speak of is gone when the program goes on, which another client may have told it to. Asked while it runs,
adapters refuse, answer for another moment, or fall silent."""


def _has_gone_on(before: Snapshot | None, now: Snapshot | None) -> bool:
    return before is not None and (now is None or now.generation != before.generation)


def _gone_on(snapshot: Snapshot | None) -> UsageError:
    return UsageError(
        "NOT_PAUSED",
        "The program has gone on meanwhile, and what was asked about is no more. Use debug_state to see where it is "
        "now, or debug_wait to wait for the next stop.",
        {"currentState": snapshot.phase if snapshot is not None else "Disconnected"},
    )


class SharedContext(msgspec.Struct, frozen=True):
    """What a session shares with the other sessions of its tree."""

    merger: Merger
    clock: Clock
    console: Console
    sources: Sources
    watchdog: Watchdog
    host: Host
    open_child: Callable[["DebugSession", ChildStart], Awaitable[None]]


class DebugSession:
    """One session. Made by the debugger, alive while `run` runs."""

    capabilities = Capabilities()

    def __init__(
        self, session_id: str, profile: Profile, start: Start, shared: SharedContext, parent: str | None = None
    ) -> None:
        self.id = session_id
        self.profile = profile
        self.start = start
        self.parent = parent
        self.started = False
        self.closed = trio.Event()
        self.breakpoints = BreakpointSync(self, shared.merger, shared.sources)
        self.accepts_breakpoints = False
        self._shared = shared
        self._merger = shared.merger
        self._connection: Connection | None = None
        self._adapter: Adapter | None = None
        self._nursery: trio.Nursery | None = None
        self._handshake = Handshake(self)
        self._over = trio.Event()
        self._over_reason: str | None = None
        self._terminate: bool | None = None
        self._failed = False
        self._said_goodbye = False
        self._closing = False
        self._terminals = Terminals(session_id, shared.console, shared.watchdog, shared.host)
        self._exit_code: int | None = None
        self._examiner = Examiner(self, shared.merger, shared.clock, shared.sources)
        self.execution = Execution(self, shared.merger, self._examiner)

    @property
    def snapshot(self) -> Snapshot | None:
        """What is true of this session now; None when it is over."""
        return self._merger.state.snapshot(self.id)

    @property
    def tasks(self) -> trio.Nursery | None:
        """Where to start what ends with the session; None when that is too late, or too early."""
        return None if self._closing else self._nursery

    @property
    def exited(self) -> bool:
        """Whether the program has ended, as far as the adapter has said so."""
        return self._exit_code is not None

    # --- Life ------------------------------------------------------------------------------------------------

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Live. Reports started when the program may run; raises a `DebugError` if it never comes to that."""
        failure: DebugError | None = None
        origin = origin_of(self.profile, self.start, self._shared.clock.now())
        try:
            await self._merger.merge(SessionOpened(self.id, origin, self.parent))
            async with self._open_adapter() as self._adapter:
                failure = await self._converse(self._adapter, task_status)
        except (AdapterGone, CannotRun) as error:  # it was not even there
            failure = error
        except Exception:
            self._failed = True
            self._over_reason = self._over_reason or OWN_FAULT
            raise
        finally:
            with trio.CancelScope(shield=True):  # bounded: the merger never waits
                await self._close(self._over_reason or (str(failure) if failure else self._interruption()))
        if failure is not None:
            raise failure

    def _interruption(self) -> str:
        return "the server is shutting down" if self._handshake.done else "the start was cancelled"

    async def _close(self, reason: str) -> None:
        if not self.closed.is_set():
            await self.announce_output()
            exit_code = self._exit_code if self._exit_code is not None else self._terminals.exit_code
            await self._merger.merge(SessionClosed(self.id, reason, exit_code, failed=self._failed))
            self.closed.set()

    async def _converse(self, adapter: Adapter, task_status: trio.TaskStatus[None]) -> DebugError | None:
        """Everything between the opening and the closing of the adapter; returns why it failed to start, if it did."""
        async with (
            open_connection(adapter.stream, self._serve_reverse_request) as self._connection,
            trio.open_nursery() as self._nursery,
        ):
            self._nursery.start_soon(self._pump, self._connection)
            if self.parent is None:
                self._nursery.start_soon(self._shared.console.keep_announcing, self.id)
            try:
                failure = await self._try_to_start(self._nursery)
                if failure is None:
                    self.started = True
                    task_status.started()
                    await self._over.wait()
                    if self._terminate is False and isinstance(self.start, Launch):
                        await self._let_go()
            finally:
                self._closing = True
                with trio.CancelScope(shield=True):  # bounded: its parts are
                    await self._say_goodbye()
                self._nursery.cancel_scope.cancel(reason="the session is over")
        return failure

    async def _try_to_start(self, nursery: trio.Nursery) -> DebugError | None:
        """The handshake, and who we are talking to; returns why it failed."""
        try:
            await self._handshake.shake(nursery)
            await self._merger.merge(SessionStarted(self.id))
            await self._learn_origin()
        except AdapterGone as gone:
            if self._exit_code is None:  # otherwise the program has run, and has ended before the answers came
                return self._explained(gone)
        except DebugError as error:
            return error
        return None

    async def _let_go(self) -> None:
        """A launched program that shall live on keeps its adapter and its pipes until it ends, or the server does."""
        self._examiner.cancel()
        await self._close(self._over_reason or "disconnected")
        self._said_goodbye = True
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._request_quietly, "disconnect", {"terminateDebuggee": False})
            await self._terminals.wait_over()
            nursery.cancel_scope.cancel(reason="the program has ended")

    async def _request_quietly(self, command: str, arguments: object) -> None:
        """For requests whose answer nobody needs, and which may come only when the program ends."""
        if self._connection is not None:
            try:
                await self._connection.request(command, arguments)
            except DebugError as error:
                log.debug("%s: %s", command, error)

    def _open_adapter(self) -> AbstractAsyncContextManager[Adapter]:
        opening = Opening(self.id, self.parent, self.profile.name, self.start)
        return self._shared.host.open_adapter(opening, self._connect)

    def _connect(self) -> AbstractAsyncContextManager[Adapter]:
        match self.start:
            case Launch():
                return self.profile.open(self._shared.watchdog)
            case Attach() as attach:
                return self.profile.open_attached(attach, self._shared.watchdog)
            case ChildStart(configuration=configuration):
                return self.profile.open_child(configuration)

    async def _learn_origin(self) -> None:
        question = self.profile.dialect.runtime_request()
        if question is None:
            return
        try:
            body = await self.request(*question, dict[str, Any])
        except AdapterRefused as refusal:
            log.info("%s", refusal)
            return
        await self._merger.merge(OriginLearned(self.id, self.profile.dialect.runtime_version(body)))

    def _explained(self, gone: AdapterGone) -> AdapterGone:
        """That the adapter is gone, together with what it had to say."""
        return gone if self._adapter is None else AdapterGone(gone.reason, self._adapter.stderr_tail)

    # --- Goodbye ---------------------------------------------------------------------------------------------

    def end(self, reason: str, *, terminate: bool | None = None) -> None:
        """Begin the end: by default a launched program is terminated and one attached to lives on."""
        self._terminate = terminate
        self._finish(reason)

    def _finish(self, reason: str) -> None:
        if self._over_reason is None:
            self._over_reason = reason
        self._over.set()
        self._handshake.give_up(AdapterGone(reason))

    async def _say_goodbye(self) -> None:
        self._examiner.cancel()
        terminate = self._terminate if self._terminate is not None else isinstance(self.start, Launch)
        connection = self._connection
        if connection is not None and connection.ended is None and not self._said_goodbye:
            arguments = {"terminateDebuggee": terminate} if self.parent is None else {}
            at_leisure = self._handshake.done and self._over.is_set()
            with trio.move_on_after(GOODBYE_SECONDS if at_leisure else HASTY_GOODBYE_SECONDS):
                await self._request_quietly("disconnect", arguments)
        with trio.move_on_after(DRAIN_SECONDS):
            await self._terminals.wait_over()
        self._shared.console.disconnect_input()

    # --- Events ----------------------------------------------------------------------------------------------

    async def _pump(self, connection: Connection) -> None:
        async for event in connection.events:
            if isinstance(event, EndOfStream):
                await self._on_end(event)
                return
            await self._on_event(event)

    async def _on_end(self, end: EndOfStream) -> None:
        tail = self._adapter.stderr_tail if self._adapter is not None else ""
        self._handshake.give_up(AdapterGone(end.reason, tail))
        if not self._over.is_set():
            self._failed = self._exit_code is None  # after `exited`, some adapters just leave
            await self._merger.merge(EventReceived(self.id, Terminated(), self._shared.clock.now()))
        last_words = tail.rpartition("\n")[2]
        self._finish(f"{end.reason} ({last_words})" if last_words else end.reason)

    async def _on_event(self, event: EventBody) -> None:
        match event:
            case Output():
                await self._on_output(event)
                return
            case CapabilitiesEvent(capabilities=raw):
                self._learn_capabilities(raw)
                return
            case Initialized():
                self._handshake.initialized()
                return
            case ModuleEvent(module=module):
                self._shared.sources.learn(module.path, self.id)
            case LoadedSource(source=source):
                self._shared.sources.learn(source.path, self.id, source.source_reference or 0)
            case BreakpointEvent(breakpoint=breakpoint_) if breakpoint_.verified and breakpoint_.source is not None:
                self._shared.sources.learn(breakpoint_.source.path, self.id)
            case Stopped(reason=reason):
                if self.execution.is_echo(reason):
                    return
                self._examiner.cancel()
                self.execution.stopped(reason)
            case Continued():
                self._examiner.cancel()
                self.execution.resumed()
            case Exited(exit_code=exit_code):
                self._exit_code = exit_code
                if self._nursery is not None:
                    self._nursery.start_soon(self._follow_exit)
            case _:
                pass
        state = await self._merger.merge(EventReceived(self.id, event, self._shared.clock.now()))
        if isinstance(event, Stopped) and self._nursery is not None:
            snapshot = state.snapshot(self.id)
            if snapshot is not None:
                self._examiner.begin(self._nursery, event, snapshot)
        if isinstance(event, Terminated):
            self._finish("the program ended")

    async def _follow_exit(self) -> None:
        await trio.sleep(EXIT_SECONDS)
        await self._merger.wait_until(lambda state: all(each.parent != self.id for each in state.snapshots))
        self._finish("the program ended")

    def _learn_capabilities(self, raw: msgspec.Raw) -> None:
        try:
            self.capabilities = merge_capabilities(self.capabilities, raw)
        except ProtocolViolation as violation:
            log.warning("capabilities: %s", violation)

    async def _on_output(self, output: Output) -> None:
        category, text = output.category or "console", output.output
        if category == "telemetry":
            return
        for breakpoint_ in self._merger.state.breakpoints:
            mark = self.profile.dialect.log_message(breakpoint_.id, "")
            if breakpoint_.log_message is not None and text.startswith(mark):
                said = text.removeprefix(mark)
                self._shared.console.append("tracepoint", said)
                await self._merger.merge(BreakpointLogged(self.id, breakpoint_.id, said))
                return
        failed = self.profile.dialect.condition_failure(text)
        if failed is not None:
            condition, error = failed
            problem = f"the condition `{condition}` failed: {error}"
            self._examiner.explain_next_stop(problem)
            await self._merger.merge(BreakpointFaulted(self.id, condition, problem))
        self._shared.console.append(
            "stdout" if category == "stdout" else "stderr" if category == "stderr" else "console", text
        )

    async def announce_output(self) -> None:
        """What the program wrote before something happened is told of before it."""
        await self._shared.console.announce(self.id)

    # --- Requests --------------------------------------------------------------------------------------------

    async def request(
        self,
        command: str,
        arguments: object,
        kind: type[T],
        *,
        seconds: float = REQUEST_SECONDS,
    ) -> T:
        """Send a request, bounded in time.

        Raises:
            AdapterRefused: the adapter said no.
            AdapterGone: there is no adapter any more, with what it wrote to its standard error last.
            ProgramGone: the program, which was running, has ended, and the session ends in a moment.
            UsageError: `TIMEOUT`: it did not answer. `NOT_PAUSED`: the program has gone on meanwhile.
        """
        if self._connection is None:
            raise AdapterGone("the debug adapter is not connected")
        asked_at = self.snapshot
        if command in _OF_A_STOP and not self.execution.suspended:
            raise _gone_on(asked_at)
        try:
            with trio.fail_after(seconds):
                return await self._connection.request(command, arguments, kind)
        except trio.TooSlowError:
            raise UsageError(
                "TIMEOUT",
                f"{self.profile.name} did not answer '{command}' within {seconds:g} s. If it does not recover, use "
                "debug_disconnect and launch again.",
            ) from None
        except AdapterRefused as refusal:
            if self.started and self.profile.dialect.has_lost_program(refusal.reason):
                raise ProgramGone("the program has ended") from None
            if command in _OF_A_STOP and _has_gone_on(asked_at, self.snapshot):
                raise _gone_on(self.snapshot) from None
            raise
        except AdapterGone as gone:
            raise self._explained(gone) from None

    def refresh_locals(self) -> None:
        """An evaluation may have changed them."""
        snapshot = self.snapshot
        if self.tasks is not None and snapshot is not None:
            self._examiner.refresh_locals(self.tasks, snapshot)

    # --- Reverse requests ------------------------------------------------------------------------------------

    async def _serve_reverse_request(self, request: Request) -> object:
        match request.command:
            case "runInTerminal":
                wanted = decode_body(request.arguments, RunInTerminal)
                if self.tasks is None:
                    raise AdapterGone("the session is over")
                try:
                    pid: int = await self.tasks.start(self._terminals.run, wanted)
                except CannotRun as failure:  # some adapters wait on although they are told
                    reason = f"Cannot run {failure.program}: {failure.reason}. Correct it, and call debug_launch again."
                    self._handshake.give_up(UsageError("LAUNCH_FAILED", reason))
                    raise
                return {"processId": pid}
            case "startDebugging":
                if self._over.is_set():  # refused, a child runs on without a debugger
                    raise AdapterRefused(request.command, "the session is over")
                child = decode_body(request.arguments, StartDebugging)
                await self._shared.open_child(self, ChildStart(child.request, child.configuration))
                return {}
            case command:
                raise AdapterRefused(command, "this client does not serve that request")
