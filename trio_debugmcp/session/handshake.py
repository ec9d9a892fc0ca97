"""The handshake of a debug session, in the one order that every adapter understands.

`launch` or `attach` is sent without waiting for its response: that may come before `initialized` or after it, and with
some adapters only after `configurationDone`; a refusal may come instead of `initialized`. After `initialized` the
breakpoints are sent, then `configurationDone`, and only then the response to the start request is awaited. A session
that only launches then waits for its program.

A child in which the same engine runs as in its parent is sent both requests ahead of the answers: it serves them in
order, and can do what its parent's can.

Source: https://microsoft.github.io/debug-adapter-protocol/overview, "Launch Sequencing".
"""

import logging
from collections.abc import Callable

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.messages import Capabilities, EvaluateBody, Nothing
from trio_debugmcp.dap.profiles.starts import Attach, Launch, Start
from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.probe import bootstrap
from trio_debugmcp.session.breakpoints.breakpoint_sync import BreakpointSync
from trio_debugmcp.session.ending import Ending
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.output.terminal import DRAIN_SECONDS, Terminals
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.start import CLIENT_CAPABILITIES, has_program, is_by_engine, start_request

log = logging.getLogger(__name__)

HANDSHAKE_SECONDS = 60.0
"""From the adapter's start until the program may run, if the caller gives no bound; delve compiles first."""

LAST_OUTPUT_LENGTH = 2000
"""Characters of the program's output in the details of a failed start: a traceback."""

PROGRAM_SECONDS = 30.0
"""From the start of a session that only launches to its program; node announces itself within half a second."""

_RUNS = ("Running", "Paused")


class Handshake:
    """One session's handshake. The event pump reports `initialized` to it, or an error that aborts it.

    Attributes:
        done: the program may run.
    """

    def __init__(
        self, requests: Requests, start: Start, breakpoints: BreakpointSync, parents: Capabilities | None = None
    ) -> None:
        """Prepare it; `parents` are the capabilities of the parent session's adapter."""
        self.done = False
        self._known = parents if parents is not None and parents.engine_requests and is_by_engine(start) else None
        self._requests = requests
        self._start = start
        self._breakpoints = breakpoints
        self._failure: DebugError | None = None
        self._scope = trio.CancelScope()
        self._initialized = trio.Event()
        self._answered = trio.Event()
        self._learned = trio.Event()

    def __repr__(self) -> str:
        state = "done" if self.done else f"failed: {self._failure}" if self._failure else "under way"
        return f"<Handshake of {self._requests.session_id}, {state}>"

    def initialized(self) -> None:
        """Record that the adapter is ready for its configuration. Some send `initialized` twice; the first counts."""
        self._initialized.set()

    def abort(self, reason: DebugError) -> None:
        """Make the handshake fail with this reason. The first reason counts; none does once all has been answered."""
        # An adapter may respond to the start, and end before it says that it takes breakpoints.
        if self._failure is None and not (self._answered.is_set() and self._initialized.is_set()):
            self._failure = reason
            self._answered.set()
            self._scope.cancel(reason="the handshake was aborted")

    async def run(self, nursery: trio.Nursery) -> None:
        """Shake hands; the response to `launch` or `attach` is awaited in a task of `nursery`.

        Raises:
            DebugError: why the program does not run.
        """
        with self._scope:
            self._scope.deadline = trio.current_time() + self._requests.patience.seconds(HANDSHAKE_SECONDS)
            await self._run(nursery)
        if self._failure is not None:
            raise self._failure
        if self._scope.cancelled_caught:
            raise self._too_slow()
        self.done = True

    async def _run(self, nursery: trio.Nursery) -> None:
        if self._known is None:
            await self._initialize()
            # Not awaited here: most adapters respond to the start only after `configurationDone`.
            nursery.start_soon(self._send_start)
            nursery.start_soon(self._breakpoints.keep_in_step)
            await self._initialized.wait()
        else:
            self._requests.learn(self._known)
            for send in (self._initialize_ahead, self._send_start):
                sent = trio.Event()
                nursery.start_soon(send, sent.set)
                await sent.wait()
            await self._learned.wait()  # the key under which its hits are recorded is its own
            nursery.start_soon(self._breakpoints.keep_in_step)
        await self._configure()
        await self._initialized.wait()
        await self._answered.wait()
        standing = self._requests.profile.words.standing_request()
        if standing is not None and has_program(self._requests.profile, self._start):
            nursery.start_soon(self._requests.request_quietly, *standing)

    async def _initialize(self, sent: Callable[[], None] | None = None) -> None:
        requests = self._requests
        initialize = {**CLIENT_CAPABILITIES, "adapterID": requests.profile.name}
        if requests.profile.habits.pages:
            initialize["supportsVariablePaging"] = True
        requests.learn(await requests.request("initialize", initialize, Capabilities, sent=sent))

    async def _initialize_ahead(self, sent: Callable[[], None]) -> None:
        try:
            await self._initialize(sent)
        except DebugError as error:
            self.abort(error)
        self._learned.set()

    async def _send_start(self, sent: Callable[[], None] | None = None) -> None:
        start, adapter = self._start, self._requests.adapter
        if isinstance(start, Attach) and start.port is None and adapter is not None:
            start = replace(start, port=adapter.program_port)
        command, arguments = start_request(self._requests.profile, start)
        try:
            await self._requests.request(command, arguments, Nothing, seconds=HANDSHAKE_SECONDS, sent=sent)
        except DebugError as error:
            self.abort(error)
        self._answered.set()

    async def _configure(self) -> None:
        requests = self._requests
        for command, arguments in requests.profile.dialect.settings_requests(requests.capabilities):
            try:
                await requests.request(command, arguments, Nothing)
            except AdapterRefused as refusal:
                log.info("%s", refusal)
        if isinstance(self._start, Launch):
            await self._evaluate_first(self._start)
        if has_program(self._requests.profile, self._start):  # else breakpoints are its children's
            await self._breakpoints.send_all()
        if requests.capabilities.supports_configuration_done_request:
            await requests.request("configurationDone", None, Nothing)

    async def _evaluate_first(self, start: Launch) -> None:
        """Evaluate what the profile wants to have evaluated before the program begins."""
        expression = self._requests.profile.programs.first_expression(start.options)
        if expression is None or self._requests.capabilities.engine_requests:
            return
        try:
            arguments = {"expression": expression, "context": bootstrap.CONTEXT}
            await self._requests.request("evaluate", arguments, EvaluateBody)
        except AdapterRefused as refusal:  # it runs all the same
            log.info("%s", refusal)

    def _too_slow(self) -> UsageError:
        name, seconds = self._requests.profile.name, self._requests.patience.seconds(HANDSHAKE_SECONDS)
        return UsageError(
            "TIMEOUT",
            f"{name} did not get the program running within {seconds:g} s. Look at its output with "
            "process_read_output, and try again with debug_launch.",
        )


async def wait_program(merger: Merger, session_id: str, ending: Ending, patience: Patience) -> None:
    """Wait until the program of a session that only launches may run, or that session has a reason to end.

    Raises:
        AdapterGone: the adapter has ended before there was one.
        UsageError: `TIMEOUT`: there is no program.
    """
    seconds = patience.seconds(PROGRAM_SECONDS)
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:

            async def watch_end() -> None:
                await ending.wait()
                nursery.cancel_scope.cancel(reason="the session is over")

            nursery.start_soon(watch_end)
            # A program that ends at once ends this session, too; one that failed to start does not count.
            await merger.wait_until(
                lambda state: any(
                    snapshot.parent == session_id and snapshot.phase in _RUNS for snapshot in state.snapshots
                )
            )
            nursery.cancel_scope.cancel(reason="the program may run")
        if ending.failed:
            raise AdapterGone(ending.reason or "the debug adapter is gone")
        return
    raise UsageError(
        "TIMEOUT",
        f"The program did not connect to its debugger within {seconds:g} s. Look at its output with "
        "process_read_output: it may not be a program of this adapter's language.",
    )


async def ended_early(terminals: Terminals, ending: Ending, console: Console) -> DebugError | None:
    """Return the error of a program that ended before its debugger answered: a wrong interpreter, for example."""
    with trio.move_on_after(terminals.patience.seconds(DRAIN_SECONDS)):  # for its last words
        await terminals.wait_over()
    code = terminals.exit_code
    if code is None or ending.exited:
        return None
    output = "".join(entry.text for entry in console.entries())[-LAST_OUTPUT_LENGTH:].strip()
    last_line = output.rpartition("\n")[2]
    return UsageError(
        "LAUNCH_FAILED",
        f"The program ended with exit code {code} before the debugger in it had connected"
        + (f": {last_line.rstrip('. ')}. " if last_line else ". ")
        + "Correct its command, the interpreter above all, and call debug_launch again.",
        {"exitCode": code, "output": output},
    )
