"""The tool that shows the whole life of a call: each line that ran, and what it changed."""

from contextlib import suppress
from typing import Annotated

import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.server.answers.answer import Answer, AnswerData, data_of
from trio_debugmcp.server.answers.call_lines import CallLine, FunctionSource, PathChange, call_lines, line_text
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.said_before import AS_BEFORE, SHORT
from trio_debugmcp.server.answers.stop_answer import StopAnswer, StopData
from trio_debugmcp.server.tools.answering import wait_answer
from trio_debugmcp.server.tools.looking.named_functions import FoundFunction, find_function
from trio_debugmcp.server.tools.moving.calls_elsewhere import calls_under_way, other_processes
from trio_debugmcp.server.tools.paths import file_lines
from trio_debugmcp.server.tools.tool import Params, Seconds, SessionId, Show, Tool
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.looking.by_probe.call_trace import ProgramTrace, TraceQuestion
from trio_debugmcp.session.looking.by_probe.traced_calls import TracedCall, TraceState
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot, State
from trio_debugmcp.state.payloads import Location, Payload

MAX_CALLS = 20

STOP_SECONDS = 2.0
"""For the stop where the last call returned to, once that is known."""

OWN_STOP_SECONDS = 0.2
"""For the stop of a program whose trace has failed, before it is paused: one with a full stack stops by itself."""

REPLACED = "another trace_function of this program took the place of this one: there is one at a time"


class TraceFunction(Params, frozen=True, kw_only=True):
    function: Annotated[str | None, Meta(description="`name`, `Class.method` or `module.name`; or file and line.")] = (
        None
    )
    file: Annotated[str | None, Meta(description="The file of the function, with a line.")] = None
    line: Annotated[int | None, Meta(description="Any line of the function.")] = None
    calls: Annotated[int, Meta(ge=1, le=MAX_CALLS, description="How many calls.")] = 1
    max_lines: Annotated[int, Meta(ge=10, le=2000, description="Per call; then loops are folded.")] = 200
    max_bytes: Annotated[int, Meta(ge=1000, le=1_000_000, description="Of all lines.")] = 16384
    show: Show = []
    timeout: Seconds = 30.0
    session_id: SessionId = None


class CallPayload(Payload, frozen=True):
    """One call. `returned` and `raised` are null while it has not ended. `ran`: how many lines ran."""

    caller: Location | None
    arguments: list[PathChange]
    lines: list[CallLine]
    returned: str | None
    raised: str | None
    ran: int


class TraceData(AnswerData, frozen=True, kw_only=True):
    """The calls of a function, and where the program is now."""

    function: str
    file: str
    line: int
    calls: list[CallPayload]
    stop: StopData


class CallTrace(Answer, frozen=True, kw_only=True):
    """One call. A line: its number and source (once), then behind `#` what it called and what it changed.

    `raised`: the exception that left it. Without `returned` and `raised` it has not ended. `ran`: how many lines ran,
    where not all of them are shown.
    """

    caller: str | None = None
    arguments: str = ""
    lines: list[str]
    returned: str | None = None
    raised: str | None = None
    ran: int = 0


class TraceAnswer(Answer, frozen=True, kw_only=True):
    """The calls of a function. `notes`: what is not as wanted; `stop`: where the program is now."""

    full: TraceData | None = None
    function: str
    calls: list[CallTrace]
    notes: list[str] = []
    stop: StopAnswer


async def _trace(debugger: Debugger, params: TraceFunction) -> TraceAnswer:
    deadline = trio.current_time() + params.timeout
    session = debugger.program(params.session_id)
    if not session.looking.is_python:
        raise UsageError(
            "NOT_SUPPORTED",
            f"{session.profile.name} cannot trace a function: only a Python program can be followed from inside. Set a "
            "breakpoint in it and use debug_step.",
            {"adapter": session.profile.name, "capability": "probe"},
        )
    function = await find_function(debugger, session, params.function, params.file, params.line)
    before = debugger.state
    snapshot = before.snapshot(session.id)
    paused = _is_paused(snapshot, function.code.qualname)
    question = TraceQuestion(function.code.name, params.calls, stop=paused)
    outcome: Outcome | None = None
    async with session.looking.open_trace(question) as trace:
        where = (function.file, function.code.first, trace.condition)
        async with debugger.breakpoints.runs.temporary(*where, of=session.id) as temporary:
            problem = debugger.breakpoints.runs.problem(temporary)
            if problem is not None:
                raise UsageError("INVALID_PARAMETER", f"{function.code.qualname} cannot be traced: {problem}.")
            with trio.move_on_at(deadline) as waiting:
                if paused and snapshot is not None:
                    await _resume(session, snapshot, function, trace)
                outcome = await _ended(debugger, session, trace, before)
            state = await trace.take()
    done = state is not None and sum(call.outcome is not None for call in state.calls) >= params.calls
    waited = waiting.cancelled_caught and not done
    stop = await wait_answer(debugger, outcome, deadline, show=params.show, waited=waited, session_id=session.id)
    calls = _calls(debugger, params, function, state)
    other = None if outcome is None or outcome.paused is None else outcome.paused.id
    other = None if other == session.id else other
    notes = [REPLACED] if trace.replaced else _notes(params, function, state, stop, other, outlives=trace.outlives)
    if state is None or state.begun < params.calls:
        notes += await calls_under_way(debugger, session, function)
        notes += other_processes(debugger, session, before)
    notes += _paused_others(debugger, session) if stop.timed_out else []
    code = function.code
    full = TraceData(function=code.qualname, file=function.file, line=code.line, calls=calls, stop=data_of(stop))
    return _answer(Places(debugger.workspace.directory), full, stop, notes)


def _is_paused(snapshot: Snapshot | None, function: str) -> bool:
    """Return whether a program is paused, and is to be resumed for the calls of a function.

    Raises:
        UsageError: `INVALID_PARAMETER`: it is about to end by an exception, so calls do not come, and the stop is lost.
    """
    if snapshot is None or snapshot.phase != "Paused":
        return False
    raised = None if snapshot.stop is None else snapshot.stop.exception
    if raised is None or raised.break_mode != "unhandled" or len(snapshot.threads.threads) > 1:
        return True
    raise UsageError(
        "INVALID_PARAMETER",
        f"The program is stopped at an exception that nothing catches, {raised.type}: it ends when it runs on, and no "
        f"call of {function} is to be expected. Look at this stop with exception_get_context, then debug_restart and "
        "trace from an earlier stop. For a call in its cleanup set a breakpoint and use debug_continue.",
        {"exception": raised.type},
    )


def _answer(places: Places, full: TraceData, stop: StopAnswer, notes: list[str]) -> TraceAnswer:
    return TraceAnswer(
        full=full,
        function=f"{full.function} {places.line(full.file, full.line)}",
        calls=[_call(places, call, before) for before, call in zip([None, *full.calls], full.calls, strict=False)],
        notes=notes,
        stop=replace(stop, full=None),
    )


async def _resume(session: DebugSession, snapshot: Snapshot, function: FoundFunction, trace: ProgramTrace) -> None:
    """Resume a paused program. If it is at the function's first line, this is the call that is meant."""
    top = next(iter(snapshot.stack.frames), None) if snapshot.stack is not None else None
    at = None if top is None or top.location is None else (top.location.file, top.location.line)
    if top is not None and at == (function.file, function.code.first):
        await trace.begin_in(top.id)
    await session.execution.continue_(snapshot.active_thread(None))


async def _ended(debugger: Debugger, session: DebugSession, trace: ProgramTrace, before: State) -> Outcome | None:
    """Wait until the calls have ended or the program stops; return the stop, or the end of the program.

    One that was paused stops by itself after the calls; if the trace has failed, it is paused. A stop of another
    process ends the wait too: the call may be waiting for it.
    """
    outcome: Outcome | None = None
    snapshot = before.snapshot(session.id)
    paused = snapshot if snapshot is not None and snapshot.phase == "Paused" else None
    seen = {snapshot.stop.number for snapshot in before.snapshots if snapshot.stop is not None}
    async with trio.open_nursery() as nursery:

        async def stop() -> None:
            nonlocal outcome
            outcome = await debugger.wait_stop(of=_program(debugger, session.id), seen=seen)
            nursery.cancel_scope.cancel(reason="the program has stopped")

        nursery.start_soon(stop)
        state = await trace.wait_ended()
        if paused is not None and state is not None:
            if state.failure:
                await trio.sleep(debugger.patience.seconds(OWN_STOP_SECONDS))
                with suppress(DebugError):  # it has ended, or does not agree: then there is no stop to wait for
                    await session.pauses.pause(paused.active_thread(None))
            await trio.sleep(debugger.patience.seconds(STOP_SECONDS))
        nursery.cancel_scope.cancel(reason="the calls have ended")
    return outcome


def _calls(
    debugger: Debugger, params: TraceFunction, function: FoundFunction, state: TraceState | None
) -> list[CallPayload]:
    calls = state.calls if state is not None else ()
    text = file_lines(debugger, function.file) or ()
    source = FunctionSource(text, function.branches)
    most_bytes = params.max_bytes // max(len(calls), 1)
    return [_payload(call, call_lines(call, source, params.max_lines, most_bytes)) for call in calls]


def _program(debugger: Debugger, session_id: str) -> list[str]:
    """Return the id of the root session of a process's program, if it is still there."""
    root = debugger.programs.of(session_id)
    return [] if root is None else [root.id]


def _paused_others(debugger: Debugger, session: DebugSession) -> list[str]:
    """Return a note on other processes that are paused: a call may wait for them."""
    program = _program(debugger, session.id)
    paused = [
        snapshot.id for snapshot in debugger.state.snapshots if snapshot.phase == "Paused" and snapshot.id != session.id
    ]
    there = [each for each in paused if _program(debugger, each) == program]
    return [f"paused all the time: {', '.join(there)}; the program may wait for that"] if there else []


def _payload(call: TracedCall, lines: list[CallLine]) -> CallPayload:
    how, what = call.outcome or ("", "")
    caller = call.caller
    return CallPayload(
        caller=None if caller is None else Location(caller.file, caller.line, None, caller.function, None),
        arguments=[PathChange(name, value) for name, value in call.arguments],
        lines=lines,
        returned=what if how == "returned" else None,
        raised=what if how == "raised" else None,
        ran=call.count,
    )


def _call(places: Places, call: CallPayload, before: CallPayload | None) -> CallTrace:
    known = set() if before is None else {each for each in before.arguments if len(each.value or "") > SHORT}
    return CallTrace(
        caller=places.at_location(call.caller),
        arguments=", ".join(
            f"{argument.path}={AS_BEFORE if argument in known else argument.value}" for argument in call.arguments
        ),
        lines=[line_text(line) for line in call.lines],
        returned=call.returned,
        raised=call.raised,
        ran=call.ran if call.ran != len(call.lines) else 0,
    )


def _notes(
    params: TraceFunction,
    function: FoundFunction,
    state: TraceState | None,
    stop: StopAnswer,
    other: str | None,
    *,
    outlives: bool,
) -> list[str]:
    """Return what is not as wanted, a sentence each. `other`: another process that has stopped.

    `outlives`: what is traced is handed over at the end of the program.
    """
    name = function.code.qualname
    notes = [] if other is None else [f"{other} has stopped, which ended the trace; the traced process was not stopped"]
    if state is None and outlives and stop.exit_code is not None and not stop.signal:
        never = f"no call of {name} began before the program ended, unless it ended itself in one at once (os._exit)"
        return [*notes, never]
    if state is None:
        return [*notes, "the program did not hand over what was traced: it has ended, or lets no Python run"]
    if not state.begun:
        notes.append(f"{name} was not called" + (f" within {params.timeout:g} s" if stop.timed_out else ""))
        if not function.is_loaded:
            notes.append("its file only lies near those of the program: no module that was loaded is that file")
        if state.under_way:
            notes.append(f"{state.under_way} times its first line ran in a call that had begun before")
    elif state.begun < params.calls:
        notes.append(f"{state.begun} of {params.calls} calls began")
    unfinished = sum(call.outcome is None for call in state.calls)
    if unfinished:
        why = "the time was over" if stop.timed_out else "it ended"
        why = (
            "the trace failed"
            if state.failure
            else f"{other or 'the program'} stopped"
            if stop.state == "Paused"
            else why
        )
        notes.append(f"{_count(unfinished, 'call')} had not ended when {why}; the lines up to there are shown")
    unwatched = sum(call.unwatched for call in state.calls)
    if unwatched:
        notes.append(f"at {_count(unwatched, 'line')} variables were not compared, as that had taken too long")
    if state.failure:
        notes.append(f"the trace failed, and was ended: {state.failure}")
    return notes


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


TOOLS = (
    Tool(
        name="trace_function",
        title="Trace a function",
        description=(
            "All that a function's next call does, or the one just begun, in one resume: each line that ran with "
            "what it changed and called, exceptions, result. Then a paused program stops where the call has "
            "returned to; a running one keeps running."
        ),
        params=TraceFunction,
        run=_trace,
        runs_code=True,
        listing="core",
        unlisted=frozenset({"show", "max_lines", "max_bytes"}),
    ),
)
