"""The tools that move the program: continue, step, pause, run to a line, wait. Each answers with the stop."""

from collections.abc import Sequence
from typing import Annotated, Literal

import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, UsageError
from trio_debugmcp.probe.answers import ProbeError, ProbeThread
from trio_debugmcp.server.tools.silent import ask_or_look, outside_note
from trio_debugmcp.server.tools.tool import Params, Seconds, SessionId, ThreadId, Tool, Wait
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.execution import WORKS_MEANWHILE, listening_note
from trio_debugmcp.session.frames import active_thread
from trio_debugmcp.session.outside import Outside
from trio_debugmcp.session.probe import waiting_line
from trio_debugmcp.session.reports import StopReport, report_outcome
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot

BLOCKED_AFTER_SECONDS = 0.5
"""From a pause to the question whether the program can stop at all. One that runs Python code stops in milliseconds."""

MAX_NOTED_THREADS = 20
"""Threads in the notes on a blocked program; threads_list has all of them."""

ENDING_SECONDS = 5.0
"""For the end of a program whose adapter refuses to pause it because it is just ending, on a busy machine too."""


class DebugWait(Params, frozen=True, kw_only=True):
    timeout: Seconds = 30.0
    breakpoint_id: Annotated[
        str | None,
        Meta(description="Wait for a stop at this breakpoint; any other stop ends the wait as well."),
    ] = None


class DebugContinue(Params, frozen=True, kw_only=True):
    thread_id: ThreadId = None
    wait: Wait = True
    timeout: Seconds = 30.0
    session_id: SessionId = None


class DebugStep(Params, frozen=True, kw_only=True):
    mode: Annotated[
        Literal["over", "in", "out", "back"],
        Meta(description="over: the next line; in: into the call; out: to the caller; back: where supported."),
    ] = "over"
    thread_id: ThreadId = None
    granularity: Annotated[
        Literal["statement", "line", "instruction"] | None,
        Meta(description="The size of a step, where supported."),
    ] = None
    count: Annotated[
        int, Meta(ge=1, le=1000, description="How many steps; a stop for another reason ends the series.")
    ] = 1
    wait: Wait = True
    timeout: Seconds = 30.0
    session_id: SessionId = None


class DebugPause(Params, frozen=True, kw_only=True):
    thread_id: ThreadId = None
    timeout: Seconds = 10.0
    session_id: SessionId = None


class DebugRunTo(Params, frozen=True, kw_only=True):
    file: Annotated[str, Meta(description="The source file: a path, absolute or relative to the server.")]
    line: Annotated[int, Meta(ge=1, description="The line to run to, counted from 1.")]
    timeout: Seconds = 30.0
    session_id: SessionId = None


async def _wait(debugger: Debugger, params: DebugWait) -> StopReport:
    if params.breakpoint_id is not None:
        debugger.breakpoints.find(params.breakpoint_id)
    debugger.session()
    deadline = trio.current_time() + params.timeout
    outcome: Outcome | None = None
    with trio.move_on_at(deadline):
        outcome = await debugger.wait_stop()
    report = await report_outcome(debugger, outcome, deadline=deadline, timed_out=outcome is None)
    focused = debugger.state.focused
    if outcome is None and focused is not None and focused.origin.listens:
        return replace(report, notes=[*report.notes, listening_note(focused)])
    return report


async def _continue(debugger: Debugger, params: DebugContinue) -> StopReport:
    deadline = trio.current_time() + params.timeout
    session, snapshot = debugger.paused(params.session_id)
    thread_id = active_thread(snapshot, params.thread_id)
    outcome: Outcome | None = None
    with trio.move_on_at(deadline):
        await session.execution.continue_(thread_id)
        if params.wait:
            outcome = await debugger.wait_stop()
    return await report_outcome(debugger, outcome, deadline=deadline, timed_out=params.wait and outcome is None)


async def _step(debugger: Debugger, params: DebugStep) -> StopReport:
    deadline = trio.current_time() + params.timeout
    session, snapshot = debugger.paused(params.session_id)
    if params.mode == "back" and not session.requests.capabilities.supports_step_back:
        raise UsageError(
            "NOT_SUPPORTED",
            f"{session.profile.name} cannot step back (supportsStepBack). Use debug_restart and a breakpoint instead.",
            {"adapter": session.profile.name, "capability": "supportsStepBack"},
        )
    thread_id = active_thread(snapshot, params.thread_id)
    if snapshot.stop is not None and thread_id != snapshot.stop.thread_id and session.profile.has_probe:
        await _check_steppable(session, thread_id, snapshot.stop.thread_id)
    outcome: Outcome | None = None
    for _ in range(params.count):
        outcome = None
        with trio.move_on_at(deadline):
            await session.execution.step(params.mode, thread_id, params.granularity)
            if params.wait:
                outcome = await debugger.wait_stop(session.id)
        stopped = outcome.paused if outcome is not None else None
        if stopped is None or stopped.stop is None or stopped.stop.reason != "Step" or stopped.id != session.id:
            break
        thread_id = stopped.stop.thread_id
    return await report_outcome(debugger, outcome, deadline=deadline, timed_out=params.wait and outcome is None)


async def _check_steppable(session: DebugSession, thread_id: int, stopped: int) -> None:
    """Refuse to step a thread that is not stopped: debugpy agrees, and then nothing moves any more.

    Raises:
        UsageError: `INVALID_THREAD`.
    """
    try:
        found = (await session.probe.threads()).answer.threads
    except ProbeError as error:
        problem = f"It is not known whether thread {thread_id} can be stepped: {str(error).rstrip('.')}"
    else:
        thread = next((each for each in found if each.id == thread_id), None)
        if thread is not None and thread.state == "stopped":
            return
        where = f"There is no thread {thread_id} any more" if thread is None else f"T{waiting_line(thread)[1:]}"
        problem = f"{where}: it is not stopped in Python code, so it cannot be stepped"
    raise UsageError(
        "INVALID_THREAD",
        f"{problem}. Step thread {stopped}, or set a breakpoint where thread {thread_id} returns to and continue.",
        {"thread": thread_id, "stopped": stopped},
    )


async def _pause(debugger: Debugger, params: DebugPause) -> StopReport:
    deadline = trio.current_time() + params.timeout
    session = debugger.program(params.session_id)
    snapshot = session.snapshot
    if snapshot is not None and snapshot.phase == "Paused":
        raise UsageError(
            "ALREADY_PAUSED",
            "The program is paused already. Look at debug_state, or resume with debug_continue or debug_step.",
            {"currentState": "Paused"},
        )
    outcome: Outcome | None = None
    notes: list[str] = []
    with trio.move_on_at(deadline):
        await debugger.merger.wait_until(lambda now: _is_past_start(now.snapshot(session.id)))
        outcome, notes = await _stopped_or_blocked(debugger, session, params.thread_id)
    if outcome is None and notes and _is_running(session.snapshot):  # it may have stopped since they were made
        report = await report_outcome(debugger, None, deadline=deadline)
        return replace(report, notes=[*report.notes, *notes])
    return await report_outcome(debugger, outcome, deadline=deadline, timed_out=outcome is None and not notes)


async def _stopped_or_blocked(
    debugger: Debugger, session: DebugSession, thread_id: int | None
) -> tuple[Outcome | None, list[str]]:
    """Pause, and wait for the stop or for notes on why there is none."""
    outcome: Outcome | None = None
    notes: list[str] = []
    failure: DebugError | None = None
    async with trio.open_nursery() as nursery:

        async def explain() -> None:
            await trio.sleep(BLOCKED_AFTER_SECONDS)
            notes.extend(await _blocked(debugger, session))
            if notes:
                nursery.cancel_scope.cancel(reason="the program cannot be paused now")

        nursery.start_soon(explain)
        try:
            snapshot = session.snapshot
            if snapshot is not None and snapshot.phase == "Running":
                await _send_pause(debugger, session, snapshot, thread_id)
            outcome = await debugger.wait_stop(session.id)
        except DebugError as error:
            failure = error
        nursery.cancel_scope.cancel(reason="the program has stopped")
    if failure is not None:
        raise failure
    return outcome, notes


_ARMED = "The pause stays armed: it stops the first thread that runs Python code again"

_BLOCKED = f"every thread waits, so the program cannot be paused now. {_ARMED}. {WORKS_MEANWHILE}"

_SILENT = "it is not known where the threads are"
"""Note on a pause to which the program gave no answer at all."""


async def _blocked(debugger: Debugger, session: DebugSession) -> list[str]:
    """Return notes on a program that cannot be paused: every thread waits, or one keeps the GIL; else none."""
    try:
        found = await ask_or_look(debugger, session, session.probe.threads)
    except ProbeError as error:
        return [f"{_SILENT}: {str(error).rstrip('.')}. {_ARMED}"] if error.kind == "slow" else []
    except AdapterGone:
        return []
    if isinstance(found, Outside):
        seen = found.stacks.stacks
        return [f"{outside_note(found)}. {_ARMED}", *_lines(seen, found.stacks.total)]
    complete = 0 < found.total == len(found.threads)  # of the threads that do not fit any one may run
    if not complete or any(thread.state != "waiting" for thread in found.threads):
        return []
    notes = [_BLOCKED]
    notes += [f"deadlock: threads {', '.join(map(str, each.threads))} wait for each other" for each in found.deadlocks]
    return [*notes, *_lines(found.threads, found.total)]


def _lines(threads: Sequence[ProbeThread], total: int) -> list[str]:
    lines = [waiting_line(thread) for thread in threads[:MAX_NOTED_THREADS]]
    return [*lines, f"{total - MAX_NOTED_THREADS} more threads: see threads_list"] if total > len(lines) else lines


def _is_running(snapshot: Snapshot | None) -> bool:
    return snapshot is not None and snapshot.phase == "Running"


def _is_past_start(snapshot: Snapshot | None) -> bool:
    return snapshot is None or snapshot.phase != "Starting"


async def _send_pause(debugger: Debugger, session: DebugSession, snapshot: Snapshot, thread_id: int | None) -> None:
    """Returns as well when there is nothing left to pause."""
    if thread_id is None and snapshot.threads.threads:
        thread_id = snapshot.threads.threads[0].id
    try:
        await session.execution.pause(thread_id)
        return
    except (AdapterRefused, AdapterGone) as error:
        refusal = error
    with trio.move_on_after(ENDING_SECONDS):
        await debugger.wait_stop(session.id)
        return
    raise refusal


async def _run_to(debugger: Debugger, params: DebugRunTo) -> StopReport:
    deadline = trio.current_time() + params.timeout
    session, snapshot = debugger.paused(params.session_id)
    file = debugger.workspace.resolve(params.file)
    outcome: Outcome | None = None
    line: int | None = params.line
    with trio.move_on_at(deadline):
        async with debugger.breakpoints.temporary(file, params.line) as temporary:
            problem = debugger.breakpoints.problem(temporary)
            if problem is not None:
                raise UsageError("INVALID_PARAMETER", f"Cannot run to {file}:{params.line}: {problem}")
            line = debugger.breakpoints.line_of(temporary)
            await session.execution.continue_(active_thread(snapshot, None))
            outcome = await debugger.wait_stop()
    report = await report_outcome(debugger, outcome, deadline=deadline, timed_out=outcome is None)
    there = report.location is not None and (report.location.file, report.location.line) == (file, line)
    if line == params.line or not there:
        return report
    return replace(report, notes=[*report.notes, f"ran to line {line} instead of {params.line}, where no code is"])


_WAIT_DESCRIPTION = "Wait until the program stops or ends. Returns at once when it is stopped already."

TOOLS = (
    Tool(
        name="debug_continue",
        title="Continue",
        description="Let the program run until it stops again or ends. With child processes, the next one that waits "
        "paused is what you get.",
        params=DebugContinue,
        result=StopReport,
        run=_continue,
    ),
    Tool(
        name="debug_step",
        title="Step",
        description="Step over the next line, into a call, or out to the caller; `count` repeats it. A step that ends "
        "at a breakpoint, an exception or the program's end says so at once.",
        params=DebugStep,
        result=StopReport,
        run=_step,
    ),
    Tool(
        name="debug_pause",
        title="Pause",
        description="Stop the running program where it is.",
        params=DebugPause,
        result=StopReport,
        run=_pause,
    ),
    Tool(
        name="debug_run_to",
        title="Run to a line",
        description="Continue to a line, by a temporary breakpoint that leaves your own ones as they are. Another stop "
        "on the way ends the run.",
        params=DebugRunTo,
        result=StopReport,
        run=_run_to,
    ),
    Tool(
        name="debug_wait",
        title="Wait for a stop",
        description=_WAIT_DESCRIPTION,
        params=DebugWait,
        result=StopReport,
        run=_wait,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        name="breakpoint_wait",
        title="Wait for a breakpoint",
        description=f"The same as debug_wait. {_WAIT_DESCRIPTION}",
        params=DebugWait,
        result=StopReport,
        run=_wait,
        read_only=True,
        idempotent=True,
        core=False,
    ),
)
