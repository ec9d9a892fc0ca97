"""The tools that let the program run and look at places on its way: experiments, or one place until something holds."""

from collections.abc import Sequence
from typing import Annotated

import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Launch
from trio_debugmcp.errors import UsageError, no_session
from trio_debugmcp.server.answers.experiments import BatchStop, UntilStop, batch_answer, until_answer
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.tools.answering import wait_answer
from trio_debugmcp.server.tools.breakpoints.breakpoint_parameters import BreakpointSet
from trio_debugmcp.server.tools.breakpoints.breakpoints import breakpoint_spec
from trio_debugmcp.server.tools.starting.building import built
from trio_debugmcp.server.tools.starting.launch_parameters import DebugLaunch
from trio_debugmcp.server.tools.starting.launching import launch, run_program
from trio_debugmcp.server.tools.starting.other_programs import check_free
from trio_debugmcp.server.tools.tool import LineNumber, Params, Seconds, SessionId, Show, Tool
from trio_debugmcp.session.breakpoints.observations import ObservedPlace, Run
from trio_debugmcp.session.breakpoints.runs import may_be_set_later
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.not_paused import not_paused
from trio_debugmcp.state.model import State

STOP_SECONDS = 5.0
"""From the hit that completes a run to the stop that follows it, if one process of the program had all the hits."""

Expression = Annotated[str, Meta(min_length=1)]


class Experiment(Params, frozen=True, kw_only=True):
    file: Annotated[str, Meta(description="The source file.")]
    line: Annotated[LineNumber | None, Meta(description="The line, counted from 1.")] = None
    statement: Annotated[Expression | None, Meta(description="Or the text of the line.")] = None
    capture: Annotated[list[Expression], Meta(max_length=20, description="Expressions, evaluated at each hit.")] = []
    condition: Annotated[Expression | None, Meta(description="A hit is where it holds.")] = None
    max_hits: Annotated[int, Meta(ge=1, le=10_000, description="Hits that complete it.")] = 1


class BatchEvaluate(Params, frozen=True, kw_only=True):
    experiments: Annotated[
        list[Experiment],
        Meta(min_length=1, max_length=20, description="{file, line | statement, capture[], condition, max_hits=1}."),
    ]
    launch: Annotated[DebugLaunch | None, Meta(description="Start this: parameters of debug_launch.")] = None
    show: Show = []
    timeout: Seconds = 30.0
    max_total_hits: Annotated[int, Meta(ge=1, le=10_000, description="Of all experiments together.")] = 500
    session_id: SessionId = None


class DebugRunUntil(Params, frozen=True, kw_only=True):
    expression: Annotated[Expression, Meta(description="Stop where it holds.")]
    file: Annotated[str | None, Meta(description="The source file.")] = None
    line: Annotated[LineNumber | None, Meta(description="The line, counted from 1.")] = None
    statement: Annotated[Expression | None, Meta(description="Or the text of the line.")] = None
    function: Annotated[Expression | None, Meta(description="Or where this function begins.")] = None
    show: Show = []
    timeout: Seconds = 30.0
    session_id: SessionId = None


async def _batch(debugger: Debugger, params: BatchEvaluate) -> BatchStop:
    deadline = trio.current_time() + params.timeout
    places = [_place(debugger, each, number) for number, each in enumerate(params.experiments, 1)]
    moves = _moves(debugger, params)
    run = Run(places, params.max_total_hits, stops=moves, holds=True)
    before = debugger.state
    started: StopAnswer | None = None
    outcome: Outcome | None = None
    root = None if params.launch is not None else debugger.root_session()
    async with debugger.breakpoints.runs.observing(run, of=None if root is None else root.id) as held:
        with trio.move_on_at(deadline):
            started = await _move(debugger, params, deadline) if moves else None
            outcome = await _wait(debugger, run, before, None if root is None else [root.id])
    answer = await wait_answer(
        debugger,
        outcome,
        deadline,
        show=params.show,
        waited=not run.done.is_set(),
        session_id=params.session_id,
        held=held,
    )
    if started is not None:
        answer = replace(answer, notes=[*started.notes, *answer.notes], session=started.session, pid=started.pid)
    return batch_answer(debugger, answer, run, outcome, held)


async def _until(debugger: Debugger, params: DebugRunUntil) -> UntilStop:
    deadline = trio.current_time() + params.timeout
    wanted = BreakpointSet(
        file=params.file,
        line=params.line,
        statement=params.statement,
        function=params.function,
        condition=params.expression,
    )
    spec = breakpoint_spec(debugger, wanted)
    session, snapshot = debugger.paused(params.session_id)
    line = None if spec.file is None or spec.line is None else _line_with_code(debugger, spec.file, spec.line)
    place = ObservedPlace(
        file=spec.file,
        line=line,
        requested=spec.line,
        function=spec.function,
        condition=params.expression,
        until=True,
    )
    run = Run([place], 1)
    before = debugger.state
    outcome: Outcome | None = None
    async with debugger.breakpoints.runs.observing(run, of=session.id):
        problem = debugger.breakpoints.runs.problem_of(place)
        if problem is not None and place.function is None and not may_be_set_later(problem):
            raise UsageError("INVALID_PARAMETER", f"Cannot look at {place.file}:{place.line}: {problem}")
        # Not refused: the function may be in a module that is yet to be imported.
        if problem is not None and session.requests.capabilities.supports_function_breakpoints:
            problem = f"there was no function '{place.function}' when the run began"
        with trio.move_on_at(deadline):
            await session.execution.continue_(snapshot.active_thread(None))
            outcome = await _wait(debugger, run, before, debugger.programs.roots_of(session.id))
    answer = await wait_answer(debugger, outcome, deadline, show=params.show, session_id=session.id)
    return until_answer(debugger, answer, run, problem)


# --- Where ------------------------------------------------------------------------------------------------------------


def _place(debugger: Debugger, wanted: Experiment, number: int) -> ObservedPlace:
    """Check one experiment. All are, before anything moves: so none is lost to a mistake in another one.

    Raises:
        UsageError: what breakpoint_set raises, with the number of the experiment.
    """
    try:
        spec = breakpoint_spec(
            debugger,
            BreakpointSet(file=wanted.file, line=wanted.line, statement=wanted.statement, condition=wanted.condition),
        )
        line = _line_with_code(debugger, spec.file or "", spec.line or 1)
        _check_captures(debugger, spec.file, wanted.capture)
    except UsageError as error:
        details = {**(error.details or {}), "experiment": number}
        raise UsageError(error.code, f"Experiment {number}: {error.message}", details) from None
    return ObservedPlace(
        file=spec.file,
        line=line,
        requested=spec.line,
        condition=wanted.condition,
        capture=wanted.capture,
        max_hits=wanted.max_hits,
    )


def _line_with_code(debugger: Debugger, file: str, line: int) -> int:
    """Return the line where a place is that is asked for at this one."""
    profile = debugger.language_of(file)
    if profile is None or not profile.code.reads_source:
        return line
    found: int | None = debugger.host.query(f"line {line} of {file}", lambda: profile.code.line_with_code(file, line))
    if found is None:
        raise UsageError("INVALID_PARAMETER", f"no code follows line {line} of '{file}'.", {"line": line})
    return found


def _check_captures(debugger: Debugger, file: str | None, capture: Sequence[str]) -> None:
    profile = debugger.language_of(file)
    if profile is None:
        return
    for expression in capture:
        problem = profile.expressions.syntax_error(expression)
        if problem is not None:
            raise UsageError(
                "INVALID_PARAMETER",
                f"`{expression}` is not a valid {profile.language} expression: {problem}.",
                {"capture": expression},
            )


# --- The run ----------------------------------------------------------------------------------------------------------


def _moves(debugger: Debugger, params: BatchEvaluate) -> bool:
    """Return whether the program is to be started or resumed; one that runs is observed, and never stopped.

    Raises:
        UsageError: `NO_SESSION`, `NOT_PAUSED` or `SESSION_ACTIVE`.
    """
    if params.launch is not None:
        check_free(debugger, params.launch)
        if debugger.state.root is not None and (params.launch.new_session or len(debugger.programs.living()) > 1):
            raise UsageError(
                "SESSION_ACTIVE",
                "batch_evaluate launches a program only if no other is debugged beside it. Launch it with "
                "debug_launch(new_session=true), then pass its session_id.",
            )
        return True
    if debugger.root_session() is None:
        if debugger.last_start is None or not isinstance(debugger.last_start[1], Launch):
            raise no_session()
        return True
    snapshot = debugger.program(params.session_id).snapshot
    if snapshot is None or snapshot.phase not in ("Paused", "Running"):
        raise not_paused(snapshot)
    return snapshot.phase == "Paused"


async def _move(debugger: Debugger, params: BatchEvaluate, deadline: float) -> StopAnswer | None:
    """Start or resume the program; return what is to be said of its start."""
    left = max(0.0, deadline - trio.current_time())
    if params.launch is not None:
        return await launch(debugger, replace(params.launch, wait=False, timeout=left))
    last = debugger.last_start
    if debugger.root_session() is None and last is not None and isinstance(last[1], Launch):
        async with built(debugger, last[0], replace(last[1], stop_at_entry=False), deadline) as again:
            left = max(0.0, deadline - trio.current_time())
            return await run_program(debugger, last[0], again, timeout=left, wait=False)
    session, snapshot = debugger.paused(params.session_id)
    await session.execution.continue_(snapshot.active_thread(None))
    return None


async def _wait(debugger: Debugger, run: Run, before: State, of: list[str] | None) -> Outcome | None:
    """Wait for a stop that there was not before, for the end, or for a run that is complete and does not stop."""
    outcome: Outcome | None = None
    async with trio.open_nursery() as nursery:

        async def completed() -> None:
            await run.done.wait()
            if run.stops and run.has_one_session:
                await trio.sleep(debugger.patience.seconds(STOP_SECONDS))
            nursery.cancel_scope.cancel(reason="the run is complete")

        nursery.start_soon(completed)
        outcome = await _new_stop(debugger, before, of)
        nursery.cancel_scope.cancel(reason="the program has stopped")
    return outcome


async def _new_stop(debugger: Debugger, before: State, of: list[str] | None) -> Outcome:
    return await debugger.wait_stop(
        of=of, seen={snapshot.stop.number for snapshot in before.snapshots if snapshot.stop is not None}
    )


TOOLS = (
    Tool(
        name="batch_evaluate",
        title="Test hypotheses in one run",
        description=(
            "Start or resume the program and capture expressions at several places on its way, up to `max_hits` "
            "hits each; the hit that completes all stops it there. Your breakpoints do not stop it meanwhile; "
            "exceptions do. Answers with the hits of each, why it ended, and where the program is."
        ),
        params=BatchEvaluate,
        run=_batch,
        open_world=True,
        listing="core",
        unlisted=frozenset({"show", "max_total_hits"}),
    ),
    Tool(
        name="debug_run_until",
        title="Run until an expression holds",
        description=(
            "Run on until an expression holds at a line or where a function begins; any other stop on the way ends "
            "it. Says how often it looked, and the last value. Stops at once if the first look fails; later failures "
            "count as not holding."
        ),
        params=DebugRunUntil,
        run=_until,
        phrase="an expression holds",
    ),
)
