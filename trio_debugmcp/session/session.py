"""`DebugSession`: one debug adapter from its start to its goodbye, and the verbs that move its program.

Theory of operation
-------------------
`run` is the whole life: open the adapter, shake hands, wait until it is over, say goodbye, clean up. It is started
with `nursery.start`, which returns when the program may run, or raises why it cannot.

The handshake is the one form that every adapter understands: `launch` is sent without waiting for its answer, which
may come before or after `initialized` and, with some adapters, only after `configurationDone`.

A pump takes the adapter's events in order and has them merged. A `stopped` starts an examination, a task that fetches
what belongs to the stop and has it merged as a whole; the next stop or resume cancels an examination under way.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

import msgspec
import trio

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.connection import Connection, EndOfStream, open_connection
from trio_debugmcp.dap.messages import (
    BreakpointEvent,
    Capabilities,
    CapabilitiesEvent,
    EventBody,
    Exited,
    Initialized,
    LoadedSource,
    ModuleEvent,
    Nothing,
    Output,
    Request,
    RunInTerminal,
    StartDebugging,
    Stopped,
    Terminated,
    ThreadsBody,
    decode_body,
    merge_capabilities,
)
from trio_debugmcp.dap.process import Guard, environment, open_process
from trio_debugmcp.dap.profiles import Attach, Launch, Profile
from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, UsageError
from trio_debugmcp.session.breakpoints import BreakpointSync
from trio_debugmcp.session.clock import Clock
from trio_debugmcp.session.console import Console
from trio_debugmcp.session.examination import Examiner
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.sources import Sources
from trio_debugmcp.state.model import Origin, ResumeKind, Snapshot
from trio_debugmcp.state.reduce import (
    AdapterSaid,
    BreakpointFaulted,
    BreakpointLogged,
    OriginLearned,
    Resumed,
    ResumeRefused,
    SessionClosed,
    SessionOpened,
    SessionStarted,
)

log = logging.getLogger(__name__)

REQUEST_SECONDS = 10.0
"""For an answer to a request that does not run user code. Healthy adapters take milliseconds; one that does not
answer by then will not answer at all."""

HANDSHAKE_SECONDS = 60.0
"""From the adapter's start to a program that may run, when the caller gives no bound; delve compiles first."""

GOODBYE_SECONDS = 6.0
"""For the answer to `disconnect`; lldb takes 5.1 s to let go of a program that lives on."""

FAILED_GOODBYE_SECONDS = 1.0
"""The same for a session that never got going: its adapter is likely to be stuck, and will be killed."""

DRAIN_SECONDS = 1.0
"""For the program's last output after its end; a grandchild that holds the pipe must not hold us."""

CLIENT_CAPABILITIES = {
    "clientID": "trio-debugmcp",
    "clientName": "trio_debugmcp",
    "locale": "en",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "pathFormat": "path",
    "supportsVariableType": True,
    "supportsVariablePaging": True,
    "supportsRunInTerminalRequest": True,
    "supportsMemoryReferences": True,
    "supportsProgressReporting": False,
    "supportsInvalidatedEvent": False,
    "supportsStartDebuggingRequest": True,
}

T = TypeVar("T")

StepMode = Literal["over", "in", "out", "back"]

_STEP_COMMANDS: dict[StepMode, str] = {"over": "next", "in": "stepIn", "out": "stepOut", "back": "stepBack"}


class ChildStart(msgspec.Struct, frozen=True):
    """A child session that the adapter announced: the request to make, and its arguments."""

    request: str
    configuration: dict[str, Any]


Start = Launch | Attach | ChildStart


class Surroundings(msgspec.Struct, frozen=True):
    """What a session shares with the other sessions of its tree."""

    merger: Merger
    clock: Clock
    console: Console
    sources: Sources
    guard: Guard
    open_child: Callable[["DebugSession", ChildStart], Awaitable[None]]


class DebugSession:
    """One session. Made by the debugger, alive while `run` runs."""

    capabilities = Capabilities()

    def __init__(
        self, session_id: str, profile: Profile, start: Start, shared: Surroundings, parent: str | None = None
    ) -> None:
        self.id = session_id
        self.profile = profile
        self.start = start
        self.parent = parent
        self.closed = trio.Event()
        self.breakpoints = BreakpointSync(self, shared.merger, shared.sources)
        self.accepts_breakpoints = False
        self._shared = shared
        self._merger = shared.merger
        self._connection: Connection | None = None
        self._adapter: Adapter | None = None
        self._nursery: trio.Nursery | None = None
        self._initialized = trio.Event()
        self._answered = trio.Event()
        self._refusal: DebugError | None = None
        self._over = trio.Event()
        self._over_reason: str | None = None
        self._terminate: bool | None = None
        self._failed = False
        self._terminals: list[trio.Event] = []
        self._exit_code: int | None = None
        self._examiner = Examiner(self, shared.merger, shared.clock, shared.sources)

    @property
    def snapshot(self) -> Snapshot | None:
        """What is true of this session now; None when it is over."""
        return self._merger.state.session(self.id)

    # --- Life ------------------------------------------------------------------------------------------------

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Live. Reports started when the program may run; raises a `DebugError` if it never comes to that."""
        failure: DebugError | None = None
        await self._merger.merge(SessionOpened(self.id, self._origin(), self.parent))
        try:
            async with self._open_adapter() as self._adapter:
                failure = await self._converse(self._adapter, task_status)
        except AdapterGone as gone:  # it could not even be started
            failure = gone
        finally:
            with trio.CancelScope(shield=True):  # bounded: the merger never waits
                await self._close(self._over_reason or (str(failure) if failure else "the server is shutting down"))
        if failure is not None:
            raise failure

    async def _close(self, reason: str) -> None:
        if not self.closed.is_set():
            await self._merger.merge(SessionClosed(self.id, reason, self._exit_code, failed=self._failed))
            self.closed.set()

    async def _converse(self, adapter: Adapter, task_status: trio.TaskStatus[None]) -> DebugError | None:
        """Everything between the opening and the closing of the adapter; returns why it failed to start, if it did."""
        async with (
            open_connection(adapter.stream, self._serve_reverse_request) as self._connection,
            trio.open_nursery() as self._nursery,
        ):
            self._nursery.start_soon(self._pump, self._connection)
            try:
                try:
                    with trio.fail_after(HANDSHAKE_SECONDS):
                        await self._shake_hands()
                except trio.TooSlowError:
                    return UsageError(
                        "TIMEOUT",
                        f"{self.profile.name} did not get the program going within {HANDSHAKE_SECONDS:g} s.",
                    )
                except DebugError as error:
                    return self._explained(error)
                task_status.started()
                await self._over.wait()
                if self._terminate is False and isinstance(self.start, Launch):
                    await self._let_go(self._connection)
            finally:
                with trio.CancelScope(shield=True):
                    await self._say_goodbye()
                self._nursery.cancel_scope.cancel(reason="the session is over")
        return None

    async def _let_go(self, connection: Connection) -> None:
        """A launched program that shall live on keeps its adapter and its pipes until it ends, or the server does."""
        self._examiner.cancel()
        await self._close(self._over_reason or "disconnected")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._request_quietly, "disconnect", {"terminateDebuggee": False})
            for terminal in list(self._terminals):
                await terminal.wait()
            nursery.cancel_scope.cancel(reason="the program has ended")

    async def _request_quietly(self, command: str, arguments: object) -> None:
        """For requests whose answer nobody needs, and which may come only when the program ends."""
        if self._connection is not None:
            try:
                await self._connection.request(command, arguments)
            except DebugError as error:
                log.debug("%s: %s", command, error)

    def _open_adapter(self) -> Any:
        match self.start:
            case Launch():
                return self.profile.open(self._shared.guard)
            case Attach() as attach:
                return self.profile.open_attached(attach, self._shared.guard)
            case ChildStart(configuration=configuration):
                opening = self.profile.open_child(configuration)
                if opening is None:
                    raise AdapterGone("the announced child session cannot be reached")
                return opening

    def _origin(self) -> Origin:
        name, language, now = self.profile.name, self.profile.language, self._shared.clock.now()
        match self.start:
            case Launch() as launch:
                return Origin(
                    adapter=name,
                    language=language,
                    launch_mode="Launch",
                    attached_at=now,
                    process_name=launch.program.rpartition("/")[2],
                    executable_path=launch.program,
                    command_line_args=launch.args,
                    working_directory=launch.cwd,
                )
            case Attach() as attach:
                return Origin(
                    adapter=name, language=language, launch_mode="Attach", attached_at=now, process_id=attach.pid
                )
            case ChildStart(configuration=configuration):
                pid = configuration.get("subProcessId")
                return Origin(
                    adapter=name,
                    language=language,
                    launch_mode="Launch",
                    attached_at=now,
                    process_id=pid if isinstance(pid, int) else None,
                    working_directory=configuration.get("cwd"),
                )

    async def _shake_hands(self) -> None:
        initialize = {**CLIENT_CAPABILITIES, "adapterID": self.profile.name}
        self.capabilities = await self.request("initialize", initialize, Capabilities)
        if self._nursery is None:
            raise AssertionError("only called from within the session")
        self._nursery.start_soon(self._send_start)
        await self._initialized.wait()
        self._raise_if_refused()
        await self._configure()
        await self._answered.wait()
        self._raise_if_refused()
        await self._merger.merge(SessionStarted(self.id))
        await self._learn_origin()

    async def _send_start(self) -> None:
        match self.start:
            case Launch() as launch:
                command, arguments = "launch", self.profile.launch_arguments(launch)
            case Attach() as attach:
                command, arguments = "attach", self.profile.attach_arguments(attach)
            case ChildStart(request=command, configuration=arguments):
                pass
        try:
            await self.request(command, arguments, Nothing, seconds=HANDSHAKE_SECONDS)
        except DebugError as error:
            self._refuse_start(error)
        else:
            self._answered.set()

    def _refuse_start(self, error: DebugError) -> None:
        """The handshake has failed; the first reason is the one that counts."""
        if self._refusal is None:
            self._refusal = error
        self._answered.set()
        self._initialized.set()

    def _raise_if_refused(self) -> None:
        if self._refusal is not None:
            raise self._refusal

    async def _configure(self) -> None:
        for command, arguments in self.profile.settings_requests(self.capabilities):
            try:
                await self.request(command, arguments, Nothing)
            except AdapterRefused as refusal:
                log.info("%s", refusal)
        self.accepts_breakpoints = True
        await self.breakpoints.send_all()
        if self.capabilities.supports_configuration_done_request:
            await self.request("configurationDone", None, Nothing)

    async def _learn_origin(self) -> None:
        question = self.profile.runtime_request()
        if question is None:
            return
        try:
            body = await self.request(*question, dict[str, Any])
        except AdapterRefused as refusal:
            log.info("%s", refusal)
            return
        await self._merger.merge(OriginLearned(self.id, self.profile.runtime_version(body)))

    def _explained(self, error: DebugError) -> DebugError:
        """What ended the handshake, together with what the adapter had to say."""
        if isinstance(error, AdapterGone) and self._adapter is not None:
            return AdapterGone(error.reason, self._adapter.stderr_tail)
        return error

    # --- Goodbye ---------------------------------------------------------------------------------------------

    def end(self, reason: str, *, terminate: bool | None = None) -> None:
        """Begin the end: by default a launched program is terminated and one attached to lives on."""
        self._terminate = terminate
        self._finish(reason)

    def _finish(self, reason: str) -> None:
        if self._over_reason is None:
            self._over_reason = reason
        self._over.set()
        if not self._answered.is_set():
            self._refuse_start(AdapterGone(reason))

    async def _say_goodbye(self) -> None:
        self._examiner.cancel()
        terminate = self._terminate if self._terminate is not None else isinstance(self.start, Launch)
        connection = self._connection
        if connection is not None and connection.ended is None:
            arguments = {"terminateDebuggee": terminate} if self.parent is None else {}
            with trio.move_on_after(FAILED_GOODBYE_SECONDS if self._refusal is not None else GOODBYE_SECONDS):
                await self._request_quietly("disconnect", arguments)
        with trio.move_on_after(DRAIN_SECONDS):
            for terminal in self._terminals:
                await terminal.wait()
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
        if not self._answered.is_set():
            self._refuse_start(AdapterGone(end.reason, tail))
        if not self._over.is_set():
            self._failed = True
            await self._merger.merge(AdapterSaid(self.id, Terminated(), self._shared.clock.now()))
        self._finish(end.reason)

    async def _on_event(self, event: EventBody) -> None:
        match event:
            case Output():
                await self._on_output(event)
                return
            case CapabilitiesEvent(capabilities=raw):
                self.capabilities = merge_capabilities(self.capabilities, raw)
                return
            case Initialized():
                self._initialized.set()
                return
            case ModuleEvent(module=module):
                self._shared.sources.learn(module.path, self.id)
            case LoadedSource(source=source):
                self._shared.sources.learn(source.path, self.id, source.source_reference or 0)
            case BreakpointEvent(breakpoint=breakpoint_) if breakpoint_.verified and breakpoint_.source is not None:
                self._shared.sources.learn(breakpoint_.source.path, self.id)
            case Exited(exit_code=exit_code):
                self._exit_code = exit_code
            case _:
                pass
        state = await self._merger.merge(AdapterSaid(self.id, event, self._shared.clock.now()))
        if isinstance(event, Stopped) and self._nursery is not None:
            snapshot = state.session(self.id)
            if snapshot is not None:
                self._examiner.begin(self._nursery, event, snapshot)
        if isinstance(event, Terminated):
            self._finish("the program ended")

    async def _on_output(self, output: Output) -> None:
        category, text = output.category or "console", output.output
        if category == "telemetry":
            return
        for breakpoint_ in self._merger.state.breakpoints:
            mark = self.profile.log_message(breakpoint_.id, "")
            if breakpoint_.log_message is not None and text.startswith(mark):
                self._shared.console.append("console", text.removeprefix(mark))
                await self._merger.merge(BreakpointLogged(self.id, breakpoint_.id))
                return
        failed = self.profile.condition_failure(text)
        if failed is not None:
            condition, error = failed
            problem = f"the condition `{condition}` failed: {error}"
            self._examiner.explain_next_stop(problem)
            await self._merger.merge(BreakpointFaulted(self.id, condition, problem))
        self._shared.console.append(
            "stdout" if category == "stdout" else "stderr" if category == "stderr" else "console", text
        )

    # --- Requests --------------------------------------------------------------------------------------------

    async def request(
        self, command: str, arguments: object, kind: type[T] = Nothing, *, seconds: float = REQUEST_SECONDS  # type: ignore[assignment]
    ) -> T:
        """Send a request, bounded in time.

        Raises:
            AdapterRefused: the adapter said no.
            AdapterGone: there is no adapter any more, with what it wrote to its standard error last.
            UsageError: `TIMEOUT`: it did not answer.
        """
        if self._connection is None:
            raise AdapterGone("the debug adapter is not connected")
        try:
            with trio.fail_after(seconds):
                return await self._connection.request(command, arguments, kind)
        except trio.TooSlowError:
            raise UsageError(
                "TIMEOUT",
                f"{self.profile.name} did not answer '{command}' within {seconds:g} s. If it does not recover, use "
                "debug_disconnect and launch again.",
            ) from None
        except AdapterGone as gone:
            raise self._explained(gone) from None

    async def resume(self, kind: ResumeKind, command: str, arguments: dict[str, Any]) -> None:
        """Let the program go. It counts as running from before the request is written, and not from the answer."""
        self._examiner.cancel()
        state = await self._merger.merge(Resumed(self.id, kind))
        snapshot = state.session(self.id)
        try:
            await self.request(command, arguments, Nothing)
        except AdapterRefused:
            if snapshot is not None:
                await self._merger.merge(ResumeRefused(self.id, snapshot.generation))
            raise

    def refresh_locals(self) -> None:
        """An evaluation may have changed them."""
        snapshot = self.snapshot
        if self._nursery is not None and snapshot is not None:
            self._examiner.refresh_locals(self._nursery, snapshot)

    async def first_thread(self) -> int:
        """Some thread's id, for a program that has not stopped yet."""
        body = await self.request("threads", None, ThreadsBody)
        return body.threads[0].id if body.threads else 0

    async def continue_(self, thread_id: int) -> None:
        """DAP `continue`."""
        await self.resume("continue", "continue", {"threadId": thread_id})

    async def step(self, mode: StepMode, thread_id: int, granularity: str | None = None) -> None:
        """DAP `next`, `stepIn`, `stepOut` or `stepBack`."""
        arguments: dict[str, Any] = {"threadId": thread_id}
        if granularity is not None and self.capabilities.supports_stepping_granularity:
            arguments["granularity"] = granularity
        await self.resume("step", _STEP_COMMANDS[mode], arguments)

    async def pause(self, thread_id: int) -> None:
        """DAP `pause`; the stop comes as an event."""
        await self.request("pause", {"threadId": thread_id}, Nothing)

    # --- Reverse requests ------------------------------------------------------------------------------------

    async def _serve_reverse_request(self, request: Request) -> object:
        match request.command:
            case "runInTerminal":
                wanted = decode_body(request.arguments, RunInTerminal)
                if self._nursery is None:
                    raise AdapterGone("the session is over")
                try:
                    pid: int = await self._nursery.start(self._run_terminal, wanted)
                except OSError as error:  # some adapters wait on although they were told
                    failure = UsageError("LAUNCH_FAILED", f"Cannot run {wanted.args[0]}: {error}.")
                    self._refuse_start(failure)
                    raise failure from error
                return {"processId": pid}
            case "startDebugging":
                child = decode_body(request.arguments, StartDebugging)
                await self._shared.open_child(self, ChildStart(child.request, child.configuration))
                return {}
            case command:
                raise AdapterRefused(command, "this client does not serve that request")

    async def _run_terminal(self, wanted: RunInTerminal, *, task_status: trio.TaskStatus[int]) -> None:
        """The "terminal" of the program: three pipes of ours. Ends when the program has, and its output is read."""
        over = trio.Event()
        self._terminals.append(over)
        try:
            opening = open_process(
                wanted.args, self._shared.guard, cwd=wanted.cwd or None, env=environment(wanted.env or {})
            )
            async with opening as process, trio.open_nursery() as pumps:
                if process.stdin is None or process.stdout is None or process.stderr is None:
                    raise AssertionError("the process was opened with pipes")
                console = self._shared.console
                console.connect_input(process.stdin)
                pumps.start_soon(console.pump, process.stdout, "stdout")
                pumps.start_soon(console.pump, process.stderr, "stderr")
                task_status.started(process.pid)
                exit_code = await process.wait()
                if self._exit_code is None:
                    self._exit_code = exit_code
                pumps.cancel_scope.deadline = trio.current_time() + DRAIN_SECONDS
        finally:
            over.set()
