"""The tools that move the program: continue, step, pause, run to a line, wait. Each answers with the stop."""

from typing import Annotated, Literal

import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapTarget
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.server.answers.breakpoints import behind_the_end
from trio_debugmcp.server.answers.fleet.group_answers import GroupState
from trio_debugmcp.server.answers.memory import instruction_payloads
from trio_debugmcp.server.answers.recorded.recorded_moment import BACK_IN_PRESENT, RecordedMoment
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.people.turns import is_held
from trio_debugmcp.server.tools.answering import wait_answer
from trio_debugmcp.server.tools.breakpoints.notebook_cells import in_notebook
from trio_debugmcp.server.tools.group_choice import GroupOf, refuse_beside
from trio_debugmcp.server.tools.moving.group_moves import continue_group, step_group
from trio_debugmcp.server.tools.paths import existing_file, source_path
from trio_debugmcp.server.tools.tool import LineNumber, Params, Seconds, SessionId, Show, ThreadId, Tool, Wait
from trio_debugmcp.session.breakpoints.runs import may_be_set_later
from trio_debugmcp.session.debugger import READER, Debugger, Outcome
from trio_debugmcp.session.looking.by_adapter.goto_targets import step_in_target
from trio_debugmcp.session.looking.memory_access import instructions
from trio_debugmcp.session.not_paused import listening_note
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot


class DebugWait(Params, frozen=True, kw_only=True):
    timeout: Seconds = 30.0
    breakpoint_id: Annotated[
        str | None,
        Meta(description="Wait for a stop at this one; any other stop ends the wait as well."),
    ] = None
    show: Show = []
    session_id: SessionId = None


class DebugContinue(Params, frozen=True, kw_only=True):
    thread_id: ThreadId = None
    reverse: Annotated[
        bool, Meta(description="Backwards, where supported; of a recorded program this shows the record.")
    ] = False
    show: Show = []
    wait: Wait = True
    timeout: Seconds = 30.0
    group: GroupOf = None
    session_id: SessionId = None


class DebugStep(Params, frozen=True, kw_only=True):
    mode: Annotated[
        Literal["over", "in", "out", "back"],
        Meta(description="back: if supported or recorded."),
    ] = "over"
    target: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="Of a step in: the call, by name or number.")
    ] = None
    thread_id: ThreadId = None
    granularity: Annotated[
        Literal["statement", "line", "instruction"] | None,
        Meta(description="The size of a step, where supported."),
    ] = None
    count: Annotated[
        int, Meta(ge=1, le=1000, description="How many steps; a stop for another reason ends the series.")
    ] = 1
    show: Show = []
    wait: Wait = True
    timeout: Seconds = 30.0
    group: GroupOf = None
    session_id: SessionId = None


class DebugRunTo(Params, frozen=True, kw_only=True):
    file: Annotated[str, Meta(description="The source file: a path, absolute or relative to the server.")]
    line: Annotated[LineNumber, Meta(description="The line to run to, counted from 1.")]
    show: Show = []
    timeout: Seconds = 30.0
    session_id: SessionId = None


async def _wait(debugger: Debugger, params: DebugWait) -> StopAnswer:
    if params.breakpoint_id is not None:
        debugger.breakpoints.find(params.breakpoint_id)
    deadline = trio.current_time() + params.timeout
    last = debugger.programs.at_hand.ended()
    if last is not None and last.exit_code is not None:  # it has exited by itself, maybe just before
        return await wait_answer(debugger, Outcome(ended=last), deadline, session_id=last.id)
    session = debugger.session(params.session_id)
    outcome: Outcome | None = None
    of, seen = (None, set[int]()) if params.session_id is not None else _anywhere(debugger)
    with trio.move_on_at(deadline):
        outcome = await debugger.wait_stop(None if session.parent is None else params.session_id, of=of, seen=seen)
    report = await wait_answer(debugger, outcome, deadline, show=params.show, session_id=params.session_id)
    focused = debugger.state.focused
    if outcome is None and focused is not None and focused.origin.listens:
        return replace(report, notes=[*report.notes, listening_note(focused)])
    return report


def _anywhere(debugger: Debugger) -> tuple[set[str], set[int]]:
    """Return all programs, any of which may be the next to stop, and the stops elsewhere that the caller knows."""
    state, roots = debugger.state, debugger.state.roots()
    others = [snapshot for snapshot in state.snapshots if roots[snapshot.id] != roots.get(state.focus or "")]
    stops = {other.stop.number for other in others if other.stop is not None}
    return {*roots.values()}, stops & debugger.programs.reported_to(READER.get())


async def resume(debugger: Debugger, params: DebugContinue) -> StopAnswer:
    """Run on until the next stop or the end."""
    deadline = trio.current_time() + params.timeout
    session, snapshot = debugger.paused(params.session_id)
    thread_id = snapshot.active_thread(params.thread_id)
    before = debugger.state.snapshots
    outcome: Outcome | None = None
    with trio.move_on_at(deadline):
        await session.execution.continue_(thread_id, reverse=params.reverse)
        if params.wait:
            outcome = await debugger.wait_stop(of=debugger.programs.roots_of(session.id))
    answer = await wait_answer(debugger, outcome, deadline, show=params.show, waited=params.wait, session_id=session.id)
    paused = None if outcome is None else outcome.paused
    if paused is not None and any(each.id == paused.id and each.stop == paused.stop for each in before if each.stop):
        return replace(answer, notes=[*answer.notes, f"{session.id} runs; {paused.id} has been paused since before"])
    return answer


async def step(debugger: Debugger, params: DebugStep) -> StopAnswer:
    """Make one step or several."""
    deadline = trio.current_time() + params.timeout
    session, snapshot = debugger.paused(params.session_id)
    thread_id = snapshot.active_thread(params.thread_id)
    if snapshot.stop is not None:
        await session.looking.threads.check_steppable(thread_id, snapshot.stop.thread_id)
    target = await _target(session, snapshot, thread_id, params)
    outcome: Outcome | None = None
    taken = 0
    for done in range(params.count):
        if done and is_held(debugger):  # between two steps of a series a person may take over
            break
        outcome, taken = None, done + 1
        with trio.move_on_at(deadline):
            await session.execution.step(
                params.mode, thread_id, params.granularity, None if target is None else target.id
            )
            if params.wait:
                outcome = await debugger.wait_stop(session.id)
        stopped = outcome.paused if outcome is not None else None
        if stopped is None or stopped.stop is None or stopped.stop.reason != "Step" or stopped.id != session.id:
            break
        thread_id = stopped.stop.thread_id
    answer = await wait_answer(debugger, outcome, deadline, show=params.show, waited=params.wait, session_id=session.id)
    paused = outcome.paused if outcome is not None else None
    if paused is None or paused.id != session.id:
        return answer
    if taken < params.count and is_held(debugger):
        answer = replace(answer, notes=[*answer.notes, f"{taken} of {params.count} steps: a person holds the session"])
    if params.granularity == "instruction":
        answer = replace(answer, instruction=await _instruction(debugger, session, paused))
    if target is not None and paused.stack.total <= snapshot.stack.total:
        answer = replace(answer, notes=[*answer.notes, f"`{target.label}` was not entered: {_NOT_ENTERED}"])
    return answer


# --- In the record of the program -------------------------------------------------------------------------------------


async def _continue_tool(debugger: Debugger, params: DebugContinue) -> StopAnswer | RecordedMoment | GroupState:
    if params.group is not None:
        refuse_beside(params, "reverse", "show")
        return await continue_group(debugger, params.group, params.timeout, waits=params.wait)
    if not _shows_record(debugger, params.session_id, back=params.reverse):
        return await resume(debugger, params)
    from trio_debugmcp.server.tools.runs.past_steps import past_step

    found = await past_step(
        debugger,
        params.session_id,
        "reverse" if params.reverse else "continue",
        thread_id=params.thread_id,
        show=params.show,
    )
    return found or await _present(debugger, params)


async def _step_tool(debugger: Debugger, params: DebugStep) -> StopAnswer | RecordedMoment | GroupState:
    if params.group is not None:
        refuse_beside(params, "target", "count", "show")
        how = params.mode, params.granularity
        return await step_group(debugger, params.group, how, params.timeout, waits=params.wait)
    if not _shows_record(debugger, params.session_id, back=params.mode == "back"):
        return await step(debugger, params)
    if params.target is not None or params.granularity == "instruction":
        raise UsageError(
            "INVALID_PARAMETER",
            "A step in the record of the program is one of a line: leave out `target` and `granularity`, or go back to "
            "where the program is by debug_state.",
        )
    from trio_debugmcp.server.tools.runs.past_steps import past_step

    found = await past_step(
        debugger, params.session_id, params.mode, count=params.count, thread_id=params.thread_id, show=params.show
    )
    return found or await _present(debugger, params)


def _shows_record(debugger: Debugger, session_id: str | None, *, back: bool) -> bool:
    """Whether a step is shown from the record. What reads records is imported when there is one."""
    if not debugger.runs.runs:
        return False
    from trio_debugmcp.server.tools.runs.past_steps import shows_record

    return shows_record(debugger, session_id, back=back)


async def _present(debugger: Debugger, params: DebugContinue | DebugStep) -> StopAnswer:
    """Answer where the program is, to one who has come back from its record."""
    _, snapshot = debugger.paused(params.session_id)
    deadline = trio.current_time() + params.timeout
    answer = await wait_answer(debugger, Outcome(paused=snapshot), deadline, show=params.show, session_id=snapshot.id)
    return replace(answer, notes=[*answer.notes, BACK_IN_PRESENT])


async def _target(session: DebugSession, snapshot: Snapshot, thread_id: int, params: DebugStep) -> DapTarget | None:
    """Return the call that is to be stepped into, if one is named."""
    if params.target is None:
        return None
    if params.mode != "in" or params.count != 1:
        raise UsageError("INVALID_PARAMETER", 'A `target` is of one step: pass mode="in", and no `count`.')
    frame = await session.looking.frame(thread_id, 0)
    return await step_in_target(session.requests, frame, params.target.strip())


async def _instruction(debugger: Debugger, session: DebugSession, snapshot: Snapshot) -> str | None:
    """Return the instruction where a program is stopped, if the adapter knows it."""
    address = snapshot.stack.frames[0].instruction if snapshot.stack.frames else None
    if address is None or not session.requests.capabilities.supports_disassemble_request:
        return address
    try:
        found = await instructions(session.requests, address, 1)
    except DebugError:  # what is behind a wild jump: the stop is answered all the same
        return address
    (payload,) = instruction_payloads(found[:1], None)
    return f"{payload.address} {payload.instruction}"


async def _run_to(debugger: Debugger, params: DebugRunTo) -> StopAnswer:
    deadline = trio.current_time() + params.timeout
    session, snapshot = debugger.paused(params.session_id)
    session.execution.check_runs()
    params = in_notebook(debugger, params, params.file, params.line)
    file = existing_file(debugger, params.file) or source_path(debugger, params.file)
    outcome: Outcome | None = None
    line: int | None = params.line
    problem: str | None = None
    with trio.move_on_at(deadline):
        async with debugger.breakpoints.runs.temporary(file, params.line, of=session.id) as temporary:
            problem = debugger.breakpoints.runs.problem(temporary)
            if problem is not None:
                problem = behind_the_end(debugger, file, params.line) or problem
                if not may_be_set_later(problem):
                    raise UsageError("INVALID_PARAMETER", f"Cannot run to {file}:{params.line}: {problem}")
            await session.execution.continue_(snapshot.active_thread(None))
            outcome = await debugger.wait_stop(of=debugger.programs.roots_of(session.id))
            line = debugger.breakpoints.runs.line_of(temporary)
    answer = await wait_answer(debugger, outcome, deadline, show=params.show, session_id=session.id)
    stop = None if outcome is None or outcome.paused is None else outcome.paused.stop
    place = None if stop is None or stop.location is None else (stop.location.file, stop.location.line)
    if place != (file, line):
        missed = () if problem is None else (f"line {params.line} was not reached; when the run began: {problem}",)
        return replace(answer, notes=[*answer.notes, *missed])
    if line == params.line:
        return answer
    return replace(answer, notes=[*answer.notes, f"ran to line {line} instead of {params.line}, where no code is"])


_NOT_ENTERED = "it was not called on the way, or has no code that is debugged"

TOOLS = (
    Tool(
        name="debug_continue",
        title="Continue",
        description=("Run on until the next stop or the end, and answer with it."),
        params=DebugContinue,
        run=_continue_tool,
        listing="core",
        unlisted=frozenset({"reverse"}),
    ),
    Tool(
        name="debug_step",
        title="Step",
        description=(
            "Step over a line, into a call, or out to the caller, `count` times; what is stepped over or out of "
            "shows what it `returned`. A breakpoint, an exception or the end stops it at once."
        ),
        params=DebugStep,
        run=_step_tool,
        listing="core",
        unlisted=frozenset({"granularity", "target", "wait"}),
    ),
    Tool(
        name="debug_run_to",
        title="Run to a line",
        description=("Run on to a line; any other stop on the way ends it."),
        params=DebugRunTo,
        run=_run_to,
        phrase="a line",
    ),
    Tool(
        name="debug_wait",
        title="Wait for a stop",
        description=(
            "Where the program is: at once if it is stopped or has ended, else at its next stop; timeout=0 only looks."
        ),
        params=DebugWait,
        run=_wait,
        read_only=True,
        idempotent=True,
        listing="core",
        unlisted=frozenset({"breakpoint_id", "show"}),
    ),
    Tool(
        name="breakpoint_wait",
        title="Wait for a breakpoint",
        description=("The same as debug_wait."),
        params=DebugWait,
        run=_wait,
        read_only=True,
        idempotent=True,
        listing="none",
    ),
)
