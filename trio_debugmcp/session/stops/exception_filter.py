"""`ExceptionFilter`: which raised exceptions count as a stop.

Adapters filter exceptions coarsely ("raised", "uncaught"); the user's exception breakpoints name types, conditions and
chances. So an adapter stops more often than the user asked for, and here it is decided which of these stops count.
"""

import logging
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import CaughtBy, ExceptionInfoBody, StackTraceBody, Stopped
from trio_debugmcp.dap.profiles.exception_filters import judged_conditions
from trio_debugmcp.dap.profiles.language import Place
from trio_debugmcp.dap.profiles.native.rust_panics import PanicFrame, is_decided, panic
from trio_debugmcp.dap.profiles.thrown import Look, ThrownDescription
from trio_debugmcp.errors import AdapterRefused, DebugError
from trio_debugmcp.session.breakpoints.session_modes import (
    LEAVES_CODE,
    LEAVES_USER_CODE,
    stopped_by,
    wanted_exceptions,
)
from trio_debugmcp.session.looking.by_probe.own_questions import (
    EXAMINATION_SECONDS,
    evaluated,
    holds,
    looked_at,
    value_of,
)
from trio_debugmcp.session.looking.frames import ProgramFrames
from trio_debugmcp.session.looking.stop_questions import Findings
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.failing_exceptions import FailingExceptions
from trio_debugmcp.session.stops.raised import (
    FailuresSeen,
    Raised,
    divided,
    is_of,
    is_outermost,
    is_raised_in,
    is_skipped,
    remarks_on,
    test_failure,
)
from trio_debugmcp.session.stops.thrown_objects import ThrownObjects
from trio_debugmcp.state.breakpoint import ExceptionBreakpoint
from trio_debugmcp.state.changes import BreakpointFaulted
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, CatchingPlace, ExceptionInfo, shortened

log = logging.getLogger(__name__)

_ENDS = frozenset(
    {
        *("builtins.SystemExit", "builtins.KeyboardInterrupt"),
        *("_pytest.outcomes.Exit", "_pytest.outcomes.XFailed", "unittest.case.SkipTest"),
        "builtins.Skipped",  # pytest says that its own is builtin
    }
)
"""Exceptions that end a program or a test on purpose, with their subtypes: `sys.exit`, Ctrl-C, a test that is skipped.
By their full names: a program may have an `Exit` for an error."""

_SIGNALS = _ENDS | frozenset(
    {
        *("builtins.GeneratorExit", "builtins.StopIteration", "builtins.StopAsyncIteration"),
        *("asyncio.exceptions.CancelledError", "concurrent.futures._base.CancelledError", "trio.Cancelled"),
    }
)
"""Exceptions that leave the user's code on purpose, with their subtypes. Where nothing catches one it is an error."""

_LOOK_SECONDS = 10.0
"""For each expression of a look: for its first lldb reads the symbols of all libraries, which takes a second or two."""

_FAULTS = frozenset({"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP"})
"""Signals that an instruction causes; others are sent, as by `abort`."""

_LAST_ENTRIES = 20
"""Of the program's output, in which it may have said why it ends."""

_MAX_PANIC_FRAMES = 500
"""Of a stack that are looked through for what catches a panic; if nothing is found, nothing does."""

_LAST_PANIC_ENTRIES = 400
"""Of the program's output, in which a panic's message is: a backtrace may follow that."""

_TRUE = frozenset({"true", "1"})
"""What the value of a condition is when it holds, in lower case."""


class _Sighting(Struct, frozen=True):
    """A reported exception, as far as it takes to recognise it; `depth` is the height of the stack there."""

    identity: str
    info: ExceptionInfo
    depth: int
    place: Place


def _catching_place(by: CaughtBy | None) -> CatchingPlace | None:
    if by is None:
        return None
    return CatchingPlace(by.function, by.path, by.line, not by.library, by.in_c_code)


def _is_on_purpose(info: ExceptionInfo, lineage: tuple[str, ...] | None) -> bool:
    signals = _ENDS if info.break_mode == "unhandled" else _SIGNALS
    return not signals.isdisjoint(lineage or ())


def _without_judged(requests: Requests, mine: Sequence[ExceptionBreakpoint]) -> list[ExceptionBreakpoint]:
    """Return the breakpoints without the conditions that the adapter judges, maybe in a syntax of its own."""
    wanted = wanted_exceptions(mine, requests.snapshot)
    judged = judged_conditions(requests.profile.dialect.exception_arguments(wanted, requests.capabilities))
    return [replace(each, condition=None) if each.condition in judged else each for each in mine]


class ExceptionFilter:
    """Examines the exception stops of one session, one at a time."""

    def __init__(
        self, requests: Requests, merger: Merger, console: Console, frames: ProgramFrames, failing: FailingExceptions
    ) -> None:
        self._requests = requests
        self._failing = failing
        self._frames = frames
        self._merger = merger
        self._console = console
        self._last: dict[int, _Sighting] = {}
        self._failures = FailuresSeen()
        self._objects = ThrownObjects(requests)

    def __repr__(self) -> str:
        return f"<ExceptionFilter of {self._requests.session_id}>"

    async def examine(self, stopped: Stopped, found: Findings) -> Raised | None:
        """Return what was raised and whether it counts; None at a stop that is not about an exception."""
        if (failure := test_failure(self._requests.profile.thrown, found)) is not None:
            return failure
        signal = self._requests.profile.thrown.signal(stopped)
        if signal is not None:
            return await self._signal(stopped, signal, found)
        if stopped.reason != "exception":  # asked elsewhere, some adapters answer with nonsense
            return None
        candidates = [exception for exception in self._merger.state.exceptions if exception.enabled]
        modes, failures = stopped_by(self._requests.snapshot)
        function, frame_id = ("", None) if found.top is None else (found.top.label, found.top.id)
        if (described := await self._by_runtime(function, found)) is not None:
            return await self._counted(described, found, candidates, modes)
        info = await self._info(stopped, found.thread_id)
        if self._requests.profile.thrown.is_again(function):
            return Raised(info, counts=False)
        seen = await self._look(self._requests.profile.thrown.exception(), frame_id)
        if seen is not None:
            info = replace(info, type=seen.type, message=seen.message, break_mode=seen.mode or info.break_mode)
        if not candidates and not modes and not failures:
            return Raised(info)  # the adapter was asked to stop in some other way, by adapter_options for example
        if await self._is_passed_over(info, found):
            return Raised(info, counts=False)
        lineage = None if seen is None else seen.lineage
        if seen is None and not self._requests.profile.thrown.reads_types:
            lineage = await self._lineage(info, frame_id)
        # Without breakpoints the adapter was asked for the session's modes only, whichever one it names now.
        asked = info.break_mode in modes or not (candidates or failures)
        fails = await self._failing.has(failures, info, lineage, found)
        if info.break_mode == LEAVES_USER_CODE and LEAVES_CODE in modes and LEAVES_USER_CODE not in modes:
            asked = is_outermost(found.frames)
        is_failure = LEAVES_USER_CODE in modes and info.break_mode == LEAVES_USER_CODE  # of a test, by its runner
        on_purpose = not is_failure and _is_on_purpose(info, lineage)
        exceptions = _without_judged(self._requests, candidates)
        wanted = [breakpoint.id for breakpoint in exceptions if await self._wants(breakpoint, info, lineage, found)]
        again = fails and self._failures.is_again(info, found)
        counts = bool(wanted) or (fails and not again) or (asked and not on_purpose)
        remarks = remarks_on(self._requests.profile.words.doubt(stopped, info.break_mode), seen)
        raised = Raised(info, tuple(wanted), counts=counts, fails_test=fails, remarks=remarks)
        return await self._objects.completed(raised, found)

    async def _by_runtime(self, function: str, found: Findings) -> ThrownDescription | None:
        """Return what a function of a runtime raises, for which the adapter has no filter; None at any other."""
        if not self._requests.profile.thrown.is_panic(function):
            ending = self._requests.profile.thrown.ending(function)
            return await self._look(ending, None if found.top is None else found.top.id)
        frames = found.frames
        if not is_decided(frame.label for frame in frames):
            wanted = {"threadId": found.thread_id, "startFrame": 0, "levels": _MAX_PANIC_FRAMES}
            seconds = EXAMINATION_SECONDS
            body = await self._requests.request_or_empty("stackTrace", wanted, StackTraceBody, seconds=seconds)
            frames = self._frames.captured(body.stack_frames or []) or frames
        stack = [PanicFrame(frame.label, frame.location.file, frame.location.line) for frame in frames]
        return panic(stack, await self._written(_LAST_PANIC_ENTRIES))

    async def _counted(
        self, seen: ThrownDescription, found: Findings, mine: Sequence[ExceptionBreakpoint], modes: Sequence[str]
    ) -> Raised:
        """Return what is known to be raised; one without a mode is only passed on."""
        info = ExceptionInfo(seen.type, seen.message and shortened(seen.message, MAX_MESSAGE_LENGTH), seen.mode)
        if seen.mode is None:
            return Raised(info, counts=False)
        wanted_by = [breakpoint.id for breakpoint in mine if await self._wants(breakpoint, info, seen.lineage, found)]
        return Raised(info, tuple(wanted_by), counts=bool(wanted_by) or info.break_mode in modes)

    async def _signal(self, stopped: Stopped, signal: str, found: Findings) -> Raised:
        """Describe a signal that would end the program. It always counts: left unseen, the crash would be lost."""
        look = self._requests.profile.thrown.ends_in(stopped, signal, await self._written(_LAST_ENTRIES))
        seen = await self._look(look, None if found.top is None else found.top.id)
        kind = (seen and seen.type) or signal or "signal"
        message = seen.message if seen is not None else stopped.description
        return Raised(ExceptionInfo(kind, message, "unhandled"), is_fault=kind in _FAULTS, signal=signal)

    async def _written(self, entries: int) -> str:
        """Return the last that the program wrote."""
        await self._console.settle()
        return "".join(entry.text for entry in self._console.entries()[-entries:])

    async def _look(self, look: Look, frame_id: int | None) -> ThrownDescription | None:
        """Evaluate what a look asks for."""
        return await looked_at(self._requests, look, frame_id, seconds=_LOOK_SECONDS)

    async def _is_passed_over(self, info: ExceptionInfo, found: Findings) -> bool:
        """Whether the program is not to stop here, whatever breakpoints ask for."""
        returns = self._requests.profile.dialect.returns() if info.break_mode == LEAVES_USER_CODE else None
        if returns is not None:  # it may be that the frame which the exception is said to leave has caught it
            value = await self._evaluate(returns, None if found.top is None else found.top.id)
            if value is not None and value.lower() in _TRUE:
                return True
        if info.break_mode != "unhandled" and is_skipped(self._requests.profile.thrown, found.top):
            return True
        return await self._is_repetition(info, found)

    async def _info(self, stopped: Stopped, thread_id: int) -> ExceptionInfo:
        said = stopped.description if stopped.description != stopped.text else None  # the type once more
        info = ExceptionInfo(type=stopped.text or "exception", message=said, break_mode=None)
        if self._requests.capabilities.supports_exception_info_request:
            body = await self._requests.request_or_empty(
                "exceptionInfo", {"threadId": thread_id}, ExceptionInfoBody, seconds=EXAMINATION_SECONDS
            )
            details = body.details
            kind = body.exception_id or (details.full_type_name if details else None) or info.type
            words = self._requests.profile.words
            own_message = words.exception_message(kind)
            kind, mode = self._requests.profile.dialect.exception_kind(kind, body.break_mode)
            message = body.description or (details.message if details else None) or info.message
            message = message if own_message is None else own_message or None
            message = None if message == words.no_message else message
            mode = "always" if mode == "all" else mode
            info = ExceptionInfo(kind, message, mode, _catching_place(body.caught_by))
        info = divided(self._requests.profile.habits.exception_in(info.message or info.type), info)
        return replace(info, message=info.message and shortened(info.message, MAX_MESSAGE_LENGTH))

    async def _is_repetition(self, info: ExceptionInfo, found: Findings) -> bool:
        """Whether this is the exception that this thread reported last, in a frame that it passes on its way up.

        Its identity alone does not decide it: the next exception may be put where this one was in memory. On the way up
        the stack gets shorter each time, and the exception has passed the frame in which it was reported last.
        """
        expressions = self._requests.profile.expressions
        top = found.top
        frame_id = None if top is None else top.id
        identity = await self._ask(info, expressions.raise_identity(), frame_id)
        last = self._last.pop(found.thread_id, None)
        if identity is None:
            return False
        place = (top.label, top.location.line or 0) if top is not None else ("", 0)
        self._last[found.thread_id] = this = _Sighting(identity, info, found.total or 0, place)
        if last is None or (last.identity, last.info) != (identity, info) or this.depth >= last.depth:
            return False
        passed = expressions.places_passed()
        value = await self._ask(info, passed, frame_id)
        return value is None or last.place in expressions.parse_places(value)

    async def _lineage(self, info: ExceptionInfo, frame_id: int | None) -> tuple[str, ...]:
        if self._requests.profile.thrown.knows_handlers:
            return await self._failing.lineage(info.type)
        expression = self._requests.profile.expressions.lineage(info.type)
        value = await self._ask(info, expression, frame_id)
        return (info.type, *(() if value is None else self._requests.profile.expressions.parse_lineage(value)))

    async def _wants(
        self,
        breakpoint: ExceptionBreakpoint,
        info: ExceptionInfo,
        lineage: tuple[str, ...] | None,
        found: Findings,
    ) -> bool:
        """Whether a breakpoint asks for this exception; without a lineage its type is unknown, and may be any."""
        chances = {"unhandled": breakpoint.second_chance, LEAVES_USER_CODE: breakpoint.user_unhandled}
        chance = chances.get(info.break_mode or "", breakpoint.first_chance)
        if info.break_mode == "unhandled" and self._requests.profile.thrown.reports_once:
            chance = chance or breakpoint.first_chance
        if not chance or not is_raised_in(breakpoint.file, found):
            return False
        ancestors = lineage if lineage is None or breakpoint.include_subtypes else (info.type,)
        if not is_of(self._requests.profile.thrown, breakpoint.exception_type, info, ancestors):
            return False
        if breakpoint.condition is None:
            return True
        condition = self._requests.profile.expressions.truth(breakpoint.condition)
        if info.break_mode == LEAVES_USER_CODE:
            condition = self._requests.profile.dialect.where_it_leaves(condition)
        try:
            value = await value_of(self._requests, condition, None if found.top is None else found.top.id)
        except DebugError as error:  # it stops the program, so that the user sees it
            reason = error.reason if isinstance(error, AdapterRefused) else str(error)
            problem = f"the condition `{breakpoint.condition}` failed: {reason.strip().rpartition(chr(10))[2]}"
            log.info("%s: %s", breakpoint.id, problem)
            fault = BreakpointFaulted(self._requests.session_id, breakpoint.condition, problem, breakpoint.id)
            await self._merger.merge(fault)
            return True
        return holds(value)

    async def _ask(self, info: ExceptionInfo, expression: str | None, frame_id: int | None) -> str | None:
        """Evaluate an expression about the exception, if the language has one."""
        if expression is None:
            return None
        if info.break_mode == LEAVES_USER_CODE:
            expression = self._requests.profile.dialect.where_it_leaves(expression)
        return await self._evaluate(expression, frame_id)

    async def _evaluate(self, expression: str, frame_id: int | None) -> str | None:
        return await evaluated(self._requests, expression, frame_id)
