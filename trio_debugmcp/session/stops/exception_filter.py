"""`ExceptionFilter`: which raised exceptions count as a stop.

Adapters filter exceptions coarsely ("raised", "uncaught"); the user's exception breakpoints name types, conditions and
chances. So an adapter stops more often than the user asked for, and here it is decided which of these stops count.
"""

import logging
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import EvaluateBody, ExceptionInfoBody, StackTraceBody, Stopped
from trio_debugmcp.dap.profiles import Place, TypedException
from trio_debugmcp.dap.profiles.exception_filters import judged_conditions
from trio_debugmcp.dap.profiles.thrown import Look, ThrownDescription
from trio_debugmcp.errors import AdapterRefused, DebugError
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.exception_kinds import divided, with_bare_names
from trio_debugmcp.session.stops.panics import panicked
from trio_debugmcp.state.breakpoint import ExceptionBreakpoint
from trio_debugmcp.state.changes import BreakpointFaulted
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import ExceptionInfo, shortened

log = logging.getLogger(__name__)

EXAMINATION_SECONDS = 3.0
"""For each answer about a stop; the stop is published without what an adapter has not sent by then."""

MAX_MESSAGE_LENGTH = 1000
"""Characters of an exception's own message that a stop shows; evaluating it gives all of them."""


_SIGNALS = frozenset(
    {
        *("builtins.SystemExit", "builtins.KeyboardInterrupt", "builtins.GeneratorExit"),
        *("builtins.StopIteration", "builtins.StopAsyncIteration"),
        *("asyncio.exceptions.CancelledError", "concurrent.futures._base.CancelledError", "trio.Cancelled"),
        *("_pytest.outcomes.Exit", "_pytest.outcomes.XFailed", "unittest.case.SkipTest"),
        "builtins.Skipped",  # pytest says that its own is builtin
    }
)
"""Exceptions that leave a program or the user's code on purpose, with their subtypes: `sys.exit`, a test that is
skipped. By their full names: a program may have an `Exit` for an error."""

LEAVES_USER_CODE = "userUnhandled"
"""The break mode of an exception that leaves the user's code, caught elsewhere or not."""

_LOOK_SECONDS = 10.0
"""For each expression of a look: for its first lldb reads the symbols of all libraries, which takes a second or two."""

_FAULTS = frozenset({"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP"})
"""Signals that an instruction causes; others are sent, as by `abort`."""

_LAST_ENTRIES = 20
"""Of the program's output, in which it may have said why it ends."""

LEAVES_CODE = "leavesCode"
"""A mode of a session whose program is given as code: uncaught exceptions stop where they leave the outermost frame.

From Python 3.12 on pydevd does not see that nothing catches these: it looks for the frame that its own runner calls.
"""

_TRUE = frozenset({"true", "1"})
"""What the value of a condition is when it holds, in lower case."""

_FALSE = frozenset(
    {"", "false", "nil", "null", "none", "undefined", "undef", "nan", "nullptr", "0", "-0", "0.0", "0x0", "''", '""'}
)
"""How languages write what does not hold, in lower case."""


class Raised(Struct, frozen=True):
    """An exception stop: what is known of it, which breakpoints asked for it, and whether it counts as a stop.

    `signal`: the name of the signal that it is, or ends in; `is_fault`: one that an instruction caused.
    """

    info: ExceptionInfo
    wanted_by: tuple[str, ...] = ()
    counts: bool = True
    is_fault: bool = False
    signal: str | None = None


class _Sighting(Struct, frozen=True):
    """A reported exception, as far as it takes to recognise it; `depth` is the height of the stack there."""

    identity: str
    info: ExceptionInfo
    depth: int
    place: Place


def wanted_exceptions(mine: Sequence[ExceptionBreakpoint], snapshot: Snapshot | None) -> list[TypedException]:
    """Return what an adapter has to stop at for these breakpoints, and for the session itself."""
    wanted = [
        TypedException(e.exception_type, e.first_chance, e.second_chance, e.user_unhandled, e.condition) for e in mine
    ]
    modes = () if snapshot is None else snapshot.origin.stop_at
    if modes:
        leaves = LEAVES_USER_CODE in modes or LEAVES_CODE in modes
        wanted.append(TypedException("*", False, "unhandled" in modes, leaves))
    return wanted


async def with_session_modes(requests: Requests, mine: Sequence[ExceptionBreakpoint]) -> list[TypedException]:
    """Return what an adapter has to stop at, with a mode for code only where the program's language needs it."""
    snapshot = requests.snapshot
    if snapshot is not None and LEAVES_CODE in snapshot.origin.stop_at:
        question = requests.profile.dialect.misses_uncaught_in_code()
        value = await evaluated(requests, question, None) if question is not None else None
        if value is None or value.lower() not in _TRUE:
            modes = tuple(each for each in snapshot.origin.stop_at if each != LEAVES_CODE)
            snapshot = replace(snapshot, origin=replace(snapshot.origin, stop_at=modes))
    return wanted_exceptions(mine, snapshot)


class ExceptionFilter:
    """Examines the exception stops of one session, one at a time."""

    def __init__(self, requests: Requests, merger: Merger, console: Console) -> None:
        self._requests = requests
        self._merger = merger
        self._console = console
        self._last: dict[int, _Sighting] = {}

    def __repr__(self) -> str:
        return f"<ExceptionFilter of {self._requests.session_id}>"

    async def examine(self, stopped: Stopped, thread_id: int, stack: StackTraceBody) -> Raised | None:
        """Return what was raised and whether it counts; None at a stop that is not about an exception."""
        signal = self._requests.profile.thrown.signal(stopped)
        if signal is not None:
            return await self._signal(stopped, signal, _top(stack))
        if stopped.reason != "exception":  # asked elsewhere, some adapters answer with nonsense
            return None
        candidates = [each for each in self._merger.state.exceptions if each.enabled]
        modes = () if self._requests.snapshot is None else self._requests.snapshot.origin.stop_at
        if self._requests.profile.thrown.is_panic(stack.stack_frames or []):
            return await self._panic(thread_id, stack, candidates, modes)
        info = await self._info(stopped, thread_id)
        if stack.stack_frames and self._requests.profile.thrown.is_again(stack.stack_frames[0].name):
            return Raised(info, counts=False)
        seen = await self._look(self._requests.profile.thrown.exception(), _top(stack))
        if seen is not None:
            info = ExceptionInfo(type=seen.type, message=seen.message, break_mode=seen.mode or info.break_mode)
        if not candidates and not modes:
            return Raised(info)  # the adapter was asked to stop in some other way, by adapter_options for example
        frame_id = _top(stack)
        if info.break_mode == LEAVES_USER_CODE and await self._returns(frame_id):
            return Raised(info, counts=False)
        if await self._is_repetition(info, thread_id, stack):
            return Raised(info, counts=False)
        lineage: tuple[str, ...] | None
        if seen is not None:
            lineage = with_bare_names(seen.lineage)
        else:
            lineage = None if self._requests.profile.thrown.reads_types else await self._lineage(info, frame_id)
        # Without breakpoints the adapter was asked for the session's modes only, whichever one it names now.
        asked = info.break_mode in modes or not candidates
        if info.break_mode == LEAVES_USER_CODE and LEAVES_CODE in modes and LEAVES_USER_CODE not in modes:
            asked = _is_outermost(stack)
        mine = self._without_judged(candidates)
        wanted = [each.id for each in mine if await self._wants(each, info, lineage, frame_id)]
        return Raised(info, tuple(wanted), counts=bool(wanted) or (asked and _SIGNALS.isdisjoint(lineage or ())))

    async def _panic(
        self, thread_id: int, stack: StackTraceBody, mine: Sequence[ExceptionBreakpoint], modes: Sequence[str]
    ) -> Raised:
        seen = await panicked(self._requests, self._console, thread_id, stack, EXAMINATION_SECONDS)
        info = ExceptionInfo(seen.type, seen.message and shortened(seen.message, MAX_MESSAGE_LENGTH), seen.mode)
        if seen.mode is None:
            return Raised(info, counts=False)
        wanted = [each.id for each in mine if await self._wants(each, info, seen.lineage, _top(stack))]
        return Raised(info, tuple(wanted), counts=bool(wanted) or info.break_mode in modes)

    async def _signal(self, stopped: Stopped, signal: str, frame_id: int | None) -> Raised:
        """Describe a signal that would end the program. It always counts: left unseen, the crash would be lost."""
        await self._console.settle()
        written = "".join(entry.text for entry in self._console.entries()[-_LAST_ENTRIES:])
        seen = await self._look(self._requests.profile.thrown.ends_in(stopped, signal, written), frame_id)
        kind = (seen and seen.type) or signal or "signal"
        message = seen.message if seen is not None else stopped.description
        return Raised(ExceptionInfo(kind, message, "unhandled"), is_fault=kind in _FAULTS, signal=signal)

    async def _look(self, look: Look, frame_id: int | None) -> ThrownDescription | None:
        """Evaluate what a look asks for."""
        try:
            expression = next(look)
            while True:
                value = await evaluated(self._requests, expression, frame_id, seconds=_LOOK_SECONDS)
                expression = look.send(value)
        except StopIteration as found:
            result: ThrownDescription | None = found.value
            return result

    def _without_judged(self, mine: Sequence[ExceptionBreakpoint]) -> list[ExceptionBreakpoint]:
        """Return the breakpoints without the conditions that the adapter judges, maybe in a syntax of its own."""
        wanted = wanted_exceptions(mine, self._requests.snapshot)
        arguments = self._requests.profile.dialect.exception_arguments(wanted, self._requests.capabilities)
        judged = judged_conditions(arguments)
        return [replace(each, condition=None) if each.condition in judged else each for each in mine]

    async def _returns(self, frame_id: int | None) -> bool:
        """Whether the frame that the exception is said to leave has caught it, and returns."""
        expression = self._requests.profile.dialect.returns()
        value = await self._evaluate(expression, frame_id) if expression else None
        return value is not None and value.lower() in _TRUE

    async def _info(self, stopped: Stopped, thread_id: int) -> ExceptionInfo:
        info = ExceptionInfo(type=stopped.text or "exception", message=stopped.description, break_mode=None)
        if self._requests.capabilities.supports_exception_info_request:
            body = await self._requests.request_or_empty(
                "exceptionInfo", {"threadId": thread_id}, ExceptionInfoBody, seconds=EXAMINATION_SECONDS
            )
            details = body.details
            kind = body.exception_id or (details.full_type_name if details else None) or info.type
            own_message = self._requests.profile.words.exception_message(kind)
            kind, mode = self._requests.profile.dialect.exception_kind(kind, body.break_mode)
            message = body.description or (details.message if details else None) or info.message
            message = message if own_message is None else own_message or None
            info = ExceptionInfo(type=kind, message=message, break_mode="always" if mode == "all" else mode)
        info = divided(self._requests.profile.habits.exception_in(info.message or info.type), info)
        return replace(info, message=info.message and shortened(info.message, MAX_MESSAGE_LENGTH))

    async def _is_repetition(self, info: ExceptionInfo, thread_id: int, stack: StackTraceBody) -> bool:
        """Whether this is the exception that this thread reported last, in a frame that it passes on its way up.

        Its identity alone does not decide it: the next exception may be put where this one was in memory. On the way up
        the stack gets shorter each time, and the exception has passed the frame in which it was reported last.
        """
        expressions = self._requests.profile.expressions
        expression, frame_id = expressions.raise_identity(), _top(stack)
        identity = await self._ask(info, expression, frame_id)
        last = self._last.pop(thread_id, None)
        if identity is None:
            return False
        top = stack.stack_frames[0] if stack.stack_frames else None
        place = (top.name, top.line) if top is not None else ("", 0)
        self._last[thread_id] = this = _Sighting(identity, info, stack.total_frames or 0, place)
        if last is None or (last.identity, last.info) != (identity, info) or this.depth >= last.depth:
            return False
        passed = expressions.places_passed()
        value = await self._ask(info, passed, frame_id)
        return value is None or last.place in expressions.parse_places(value)

    async def _lineage(self, info: ExceptionInfo, frame_id: int | None) -> tuple[str, ...]:
        own = (info.type, info.type.rpartition(".")[2])
        expression = self._requests.profile.expressions.lineage()
        value = await self._ask(info, expression, frame_id)
        return own if value is None else (*own, *self._requests.profile.expressions.parse_lineage(value))

    async def _wants(
        self, each: ExceptionBreakpoint, info: ExceptionInfo, lineage: tuple[str, ...] | None, frame_id: int | None
    ) -> bool:
        """Whether a breakpoint asks for this exception; without a lineage its type is unknown, and may be any."""
        chances = {"unhandled": each.second_chance, LEAVES_USER_CODE: each.user_unhandled}
        chance = chances.get(info.break_mode or "", each.first_chance)
        if info.break_mode == "unhandled" and self._requests.profile.thrown.reports_once:
            chance = chance or each.first_chance
        if not chance:
            return False
        if each.exception_type != "*" and lineage is not None:
            ancestors = lineage if each.include_subtypes else lineage[:2]
            if each.exception_type not in ancestors:
                return False
        may_be = self._requests.profile.thrown.may_be
        if lineage is None and each.exception_type != "*" and not may_be(each.exception_type, info.type):
            return False
        if each.condition is None:
            return True
        condition = self._requests.profile.expressions.truth(each.condition)
        if info.break_mode == LEAVES_USER_CODE:
            condition = self._requests.profile.dialect.where_it_leaves(condition)
        try:
            value = await value_of(self._requests, condition, frame_id)
        except DebugError as error:  # it stops the program, so that the user sees it
            reason = error.reason if isinstance(error, AdapterRefused) else str(error)
            problem = f"the condition `{each.condition}` failed: {reason.strip().rpartition(chr(10))[2]}"
            log.info("%s: %s", each.id, problem)
            fault = BreakpointFaulted(self._requests.session_id, each.condition, problem, each.id)
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


async def evaluated(
    requests: Requests, expression: str, frame_id: int | None, *, seconds: float = EXAMINATION_SECONDS
) -> str | None:
    """Evaluate an expression of ours, in a frame of the stop or in none; None if that fails."""
    try:
        return await value_of(requests, expression, frame_id, seconds=seconds)
    except DebugError as error:
        log.info("%s: %s", expression, error)
        return None


async def value_of(
    requests: Requests, expression: str, frame_id: int | None, *, seconds: float = EXAMINATION_SECONDS
) -> str:
    """Evaluate an expression in a frame of the stop or in none.

    Raises:
        DebugError: the adapter refuses it, or does not answer in time.
    """
    arguments: dict[str, object] = {"expression": expression, "context": requests.profile.dialect.evaluate_context}
    if frame_id is not None:
        arguments["frameId"] = frame_id
    value = (await requests.request("evaluate", arguments, EvaluateBody, seconds=seconds)).result
    error = requests.profile.habits.error_in(value)
    if error is not None:
        raise AdapterRefused("evaluate", error)
    return value


def holds(value: str) -> bool:
    """Whether a condition with this value holds, in any language."""
    return value.strip().lower() not in _FALSE


def _top(stack: StackTraceBody) -> int | None:
    return stack.stack_frames[0].id if stack.stack_frames else None


def _is_outermost(stack: StackTraceBody) -> bool:
    """Whether an exception leaves the frame of a module that nothing but the debugger has called."""
    frames = [each.name for each in stack.stack_frames or [] if not each.name.startswith("[Chained Exc: ")]
    current = next((name for name in frames if name.endswith(_CURRENT)), frames[0] if frames else "")
    return current.startswith("<module>") and current == frames[-1]


_CURRENT = " (Current frame)"
"""Behind the name of the frame that an exception leaves, of those that it has passed."""
