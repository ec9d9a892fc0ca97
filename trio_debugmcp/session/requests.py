"""`Requests`: how one session asks its debug adapter, with a time limit and with errors that say who caused them.

One about a stop is refused once the program has been resumed (the *stop gate*). Only `request_quietly` has no limit.
What needs a capability is checked by its sender, with `need`.

    body = await requests.request("threads", None, ThreadsBody)
    if requests.capabilities.supports_step_back: ...
"""

import logging
from collections.abc import Callable
from contextlib import nullcontext
from typing import TypeVar

import msgspec
import trio

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.codec import merge_capabilities
from trio_debugmcp.dap.connection import Connection
from trio_debugmcp.dap.messages import Capabilities, Nothing
from trio_debugmcp.dap.profiles.habits import CAPABILITY_FIELDS
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, ProgramGone, ProtocolViolation, UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.probe.forms import BY_ENGINE, BY_PYDEVD, Form
from trio_debugmcp.session.evaluations import Evaluations, UnfinishedEvaluation
from trio_debugmcp.session.frame_renewal import FrameRenewal
from trio_debugmcp.session.not_paused import out_of_reach
from trio_debugmcp.session.suspension import Suspension
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import shortened

log = logging.getLogger(__name__)

REQUEST_SECONDS = 10.0
"""For the answer to a request that runs no code of the program. Healthy adapters take milliseconds; one that has not
answered by then will not answer at all."""

_MAX_TURNS = 1000
"""Of the event pump that are waited for; it takes a few for an event, and an evaluation may have written much."""

ENGINE = "the engine"
"""What debugs a program on CPython 3.12 or newer, where a message names it."""

T = TypeVar("T")

_ABOUT_A_STOP = frozenset(
    {
        *("stackTrace", "scopes", "variables", "evaluate", "exceptionInfo", "completions"),
        *("setExpression", "setVariable"),
        *("readMemory", "writeMemory", "disassemble", "dataBreakpointInfo", "gotoTargets", "stepInTargets"),
    }
)
"""Requests that are only valid while the program is stopped; another client may resume it at any time. Sent while it
runs, adapters refuse them, answer for another moment, or fall silent."""

_SETS_BREAKPOINTS = frozenset(f"set{kind}Breakpoints" for kind in ("", "Function", "Exception", "Instruction", "Data"))

BEHIND_EVALUATION_SECONDS = 2.0
"""For breakpoints to be set while an evaluation does not end: js-debug answers then only when that has ended."""


class Requests:
    """The requests of one session to its adapter. Made by the session; usable from `connect` until it ends.

    Attributes:
        capabilities: what the adapter can do; empty until the handshake.
        started: the program was allowed to run, so a refusal may mean that it has ended since.
        patience: with the adapter and with the program.
        evaluations: those that are under way.
        suspension: whether the program is stopped, and what was called meanwhile.
        adapter: the process of the adapter; None until `connect`.
    """

    def __init__(
        self,
        session_id: str,
        profile: Profile,
        snapshot: Callable[[], Snapshot | None],
        suspension: Suspension,
        patience: Patience,
    ) -> None:
        self.session_id = session_id
        self.profile = profile
        self.capabilities = Capabilities()
        self.started = False
        self.evaluations = Evaluations(lambda: None if self.snapshot is None else self.snapshot.generation)
        self.patience = patience
        self._snapshot = snapshot
        self.suspension = suspension
        self._renewal = FrameRenewal(profile.habits)
        self.adapter: Adapter | None = None
        self._connection: Connection | None = None

    def __repr__(self) -> str:
        return f"<Requests of {self.session_id} to {self.profile.name}: {self._connection!r}>"

    @property
    def debugger_name(self) -> str:
        """What debugs the program, as a message names it: our engine, or the adapter by its name."""
        return ENGINE if self.capabilities.engine_requests else self.profile.name

    @property
    def form(self) -> Form:
        """How the debugger in a Python program is asked for what the probe does."""
        return BY_ENGINE if self.capabilities.engine_requests else BY_PYDEVD

    @property
    def snapshot(self) -> Snapshot | None:
        """What is true of the session now; None when it has ended."""
        return self._snapshot()

    async def heard(self) -> None:
        """Wait until the suspension has counted what the adapter has reported before its last answer."""
        for _ in range(_MAX_TURNS if self.profile.dialect.call_reason is not None else 0):
            await trio.lowlevel.checkpoint()  # the event pump has its turn
            if self._connection is None or not self._connection.statistics().events_waiting:
                return

    @property
    def connected(self) -> bool:
        """Whether the adapter can still be asked."""
        return self._connection is not None and self._connection.ended is None

    def connect(self, adapter: Adapter, connection: Connection) -> None:
        """Send requests over this connection from now on."""
        self.adapter, self._connection = adapter, connection

    def need(self, capability: str, cannot: str, instead: str) -> None:
        """Refuse what needs a capability, by its name in DAP, that the adapter has not declared.

        Args:
            capability: for example `supportsStepBack`.
            cannot: what the adapter cannot do, after its name: `step back`.
            instead: a sentence that says what to do.

        Raises:
            UsageError: `NOT_SUPPORTED`.
        """
        if not getattr(self.capabilities, CAPABILITY_FIELDS[capability]):
            raise UsageError(
                "NOT_SUPPORTED",
                f"{self.debugger_name} cannot {cannot} ({capability}). {instead}",
                {"adapter": self.profile.name, "capability": capability},
            )

    def learn(self, declared: Capabilities) -> None:
        """Keep what the adapter declares, as far as it is true."""
        self.capabilities = self.profile.habits.true_capabilities(declared)
        self.evaluations.each_is_answered = bool(self.capabilities.engine_requests)

    def learn_capabilities(self, raw: msgspec.Raw) -> None:
        """Merge the body of a `capabilities` event into what is known."""
        try:
            self.learn(merge_capabilities(self.capabilities, raw))
        except ProtocolViolation as violation:
            log.warning("capabilities: %s", violation)

    async def request(
        self,
        command: str,
        arguments: object,
        kind: type[T],
        *,
        seconds: float = REQUEST_SECONDS,
        late: Callable[[], None] | None = None,
        sent: Callable[[], None] | None = None,
    ) -> T:
        """Send a request and return the body of its response; `late` is called if that comes when the caller has left.

        `sent` is called when what is sent next will be written after it.

        `seconds`: on a machine that has time for the adapter; the patience counts.

        Raises:
            AdapterRefused: the adapter answered with a failure.
            AdapterGone: the adapter has disconnected; with the last lines of its standard error.
            ProgramGone: the program, which was running, has ended, and the session is about to end.
            UsageError: `TIMEOUT`: no answer in time. `NOT_PAUSED`: the program has been resumed in the meantime.
        """
        if self._connection is None:
            raise AdapterGone("the debug adapter is not connected")
        asked_at = self.snapshot
        # The stop gate closes with the resume, before the state says so: debugpy answers a question about a thread
        # that runs only when that thread stops again, and nothing else until then.
        about_a_stop = command in _ABOUT_A_STOP and not _needs_no_frame(command, arguments)
        if about_a_stop and not self.suspension.stopped:
            raise _resumed(asked_at)
        behind = self.evaluations.unfinished
        if behind is not None and command in _SETS_BREAKPOINTS:
            seconds = min(seconds, BEHIND_EVALUATION_SECONDS)
        seconds = self.patience.seconds(seconds)
        try:
            reading = self.suspension.reading() if command == "variables" else nullcontext()
            with trio.fail_after(seconds), reading:
                for ended in self._renewal.before(command, arguments):
                    await self._connection.request("stackTrace", ended, Nothing)
                body = await self._connection.request(command, arguments, kind, late, sent)
            self._renewal.learn(command, arguments, body)
            if command == "variables":
                self.evaluations.forget()
            return body
        except trio.TooSlowError:
            if behind is not None and not behind.ended and command in _ABOUT_A_STOP | _SETS_BREAKPOINTS:
                raise _is_behind(self.debugger_name, command, seconds, behind) from None
            raise UsageError(
                "TIMEOUT",
                f"{self.debugger_name} did not answer '{command}' within {seconds:g} s. If it does not recover, use "
                "debug_disconnect and launch again.",
            ) from None
        except AdapterRefused as refusal:
            if self.started and self.profile.dialect.has_lost_program(refusal.reason):
                raise ProgramGone("the program has ended") from None
            # Refused because the stop was over by the time the adapter read the request: not the adapter's fault.
            if about_a_stop and _is_over(asked_at, self.snapshot):
                raise _resumed(self.snapshot) from None
            raise
        except AdapterGone as gone:
            raise self.explained(gone) from None

    async def request_or_empty(self, command: str, arguments: object, kind: type[T], *, seconds: float) -> T:
        """Send a request and return its body, or an empty one if the adapter refuses it or does not answer.

        For the examination of a stop: a stop of which little is known is still a stop.

        Raises:
            AdapterGone: the adapter has disconnected.
            UsageError: `NOT_PAUSED`: the stop is over.
        """
        try:
            return await self.request(command, arguments, kind, seconds=seconds)
        except (AdapterRefused, UsageError, ProtocolViolation) as error:
            if isinstance(error, UsageError) and error.code == "NOT_PAUSED":
                raise
            log.warning("examining a stop: %s", error)
            return kind()

    async def request_quietly(self, command: str, arguments: object) -> None:
        """Send a request whose answer does not matter, unbounded: it may come only when the program ends."""
        if self._connection is not None:
            try:
                await self._connection.request(command, arguments)
            except DebugError as error:
                log.debug("%s: %s", command, error)

    def explained(self, gone: AdapterGone) -> AdapterGone:
        """The same error with what the adapter wrote to its standard error last."""
        return gone if self.adapter is None else AdapterGone(gone.reason, self.adapter.stderr_tail)


def _is_behind(adapter: str, command: str, seconds: float, evaluation: UnfinishedEvaluation) -> UsageError:
    then = " It will be carried out when that has ended." if command in _SETS_BREAKPOINTS else ""
    return UsageError(
        "TIMEOUT",
        f"{adapter} did not answer '{command}' within {seconds:g} s: it is still evaluating "
        f"`{shortened(evaluation.expression)}`.{then} {evaluation.remedy}",
        {"expression": evaluation.expression},
    )


def _needs_no_frame(command: str, arguments: object) -> bool:
    """Whether this is an evaluation in no frame, which pydevd answers at any time."""
    return command == "evaluate" and isinstance(arguments, dict) and "frameId" not in arguments


def _is_over(before: Snapshot | None, now: Snapshot | None) -> bool:
    return before is not None and (now is None or now.generation != before.generation)


def _resumed(snapshot: Snapshot | None) -> UsageError:
    if snapshot is not None and snapshot.lost is not None:
        return out_of_reach(snapshot, snapshot.lost)
    return UsageError(
        "NOT_PAUSED",
        "The program was resumed in the meantime, so what you asked about is gone. Use debug_state to see where it is "
        "now, or debug_wait to wait for the next stop.",
        {"currentState": snapshot.phase if snapshot is not None else "Disconnected"},
    )
