"""The tools that look into a paused program: variables, expressions, exceptions, source."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.tool import (
    MAX_RESULT_BYTES,
    FrameIndex,
    MaxResultBytes,
    MaxValueLength,
    Params,
    Seconds,
    SessionId,
    Start,
    ThreadId,
    Tool,
)
from trio_debugmcp.session import evaluation, frames, inspection
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.probe import VariablesQuestion
from trio_debugmcp.session.probed_variables import Page, probed_variables
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.truncation import truncated
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import (
    MAX_VALUE_LENGTH,
    ExceptionInfo,
    Location,
    Payload,
    Variable,
    shortened,
)

MAX_PRINTED_LENGTH = 4000
"""Characters of what an evaluation printed; process_read_output has all of it."""

MAX_LOCALS = 1000
"""Of a frame that an exception has passed, before the bound on the answer's size."""

_PATH_SECONDS = 5.0
"""For the evaluation of a path, which may run a property of the user's."""


class VariablesGet(Params, frozen=True, kw_only=True):
    thread_id: ThreadId = None
    frame_index: FrameIndex = 0
    scope: Annotated[inspection.ScopeName, Meta(description="Which variables of the frame.")] = "locals"
    path: Annotated[
        str | None, Meta(description="Show what is inside this variable, by a `path` from an earlier answer.")
    ] = None
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=10_000, description="How many variables.")] = 100
    depth: Annotated[int, Meta(ge=1, le=5, description="Levels to show; 1 is without children.")] = 1
    filter: Annotated[str | None, Meta(description="Only names that contain this, in any case.")] = None
    max_value_length: MaxValueLength = MAX_VALUE_LENGTH
    max_result_bytes: MaxResultBytes = MAX_RESULT_BYTES
    session_id: SessionId = None


class Evaluate(Params, frozen=True, kw_only=True):
    expression: Annotated[str, Meta(min_length=1, description="An expression of the program's language.")]
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    timeout: Seconds = 5.0
    max_value_length: MaxValueLength = MAX_VALUE_LENGTH
    session_id: SessionId = None


class ExceptionGetContext(Params, frozen=True, kw_only=True):
    max_frames: Annotated[int, Meta(ge=1, le=100, description="How many frames.")] = 10
    variables_for_frames: Annotated[int, Meta(ge=0, le=10, description="How many of them with their locals.")] = 1
    max_inner: Annotated[int, Meta(ge=0, le=50, description="How many causes.")] = 5
    session_id: SessionId = None


class SourceGet(Params, frozen=True, kw_only=True):
    file: Annotated[str, Meta(min_length=1, description="A file of the program, as frames and breakpoints name it.")]
    start_line: Annotated[int, Meta(ge=1, description="The first line.")] = 1
    end_line: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="The last line; default: the end.")] = None
    max_result_bytes: MaxResultBytes = MAX_RESULT_BYTES


class VariablesResult(Payload, frozen=True):
    """Variables, and how many there are. `omitted`: left out here; ask with `start`, `filter` or `path`."""

    variables: list[Variable]
    total: int
    omitted: int


class EvaluateResult(Payload, frozen=True):
    """A value; `path` leads to what is inside it. `printed`: what was written by it, if anything."""

    value: str
    type: str | None
    child_count: int | None
    path: str
    printed: str | UnsetType = UNSET


class FrameWithLocals(Payload, frozen=True):
    """A frame; `locals` is null where they were not asked for."""

    index: int
    name: str
    location: Location
    is_user_code: bool
    locals: list[Variable] | None


class Cause(Payload, frozen=True):
    """An exception behind the exception."""

    type: str
    message: str


class ExceptionContext(Payload, frozen=True):
    """The exception, what caused it, and the frames that it passed."""

    exception: ExceptionInfo
    causes: list[Cause]
    frames: list[FrameWithLocals]
    total: int


class NumberedLine(Payload, frozen=True):
    """A line of a source file, with its number from 1."""

    line: int
    text: str


class SourceResult(Payload, frozen=True):
    """Lines of a file, and how many it has. `omitted`: left out here; ask with `start_line`."""

    file: str
    lines: list[NumberedLine]
    total: int
    omitted: int


async def _variables(debugger: Debugger, params: VariablesGet) -> VariablesResult:
    session, snapshot = debugger.paused(params.session_id)
    if params.path is not None and not session.profile.expressions.is_path(params.path):
        raise UsageError(
            "INVALID_PARAMETER",
            f"`{shortened(params.path)}` is not a path to a variable: take one from an answer, or use evaluate",
        )
    thread_id = frames.active_thread(snapshot, params.thread_id)
    question = VariablesQuestion(
        scope=params.scope,
        path=params.path,
        start=params.start,
        count=params.count,
        depth=params.depth,
        filter=params.filter,
        limit=params.max_value_length,
        size=2 * params.max_result_bytes,
    )
    found = await probed_variables(session.requests, session.probe, thread_id, params.frame_index, question)
    if found is None and session.profile.has_probe and _is_about_the_stop(snapshot, thread_id, params):
        found = _locals_of_stop(snapshot, params)
    if found is None:
        return await _adapter_variables(session, snapshot, params)
    kept = inspection.bounded(found.variables, params.max_result_bytes)
    return VariablesResult(kept, found.total, max(found.total - params.start, 0) - len(kept))


def _is_about_the_stop(snapshot: Snapshot, thread_id: int, params: VariablesGet) -> bool:
    """Whether the question is for what the stop has shown: so in replays, where other questions have no answer."""
    plain = params.path is None and params.scope == "locals" and params.depth == 1
    return plain and params.frame_index == 0 and thread_id == snapshot.stack.thread_id


def _locals_of_stop(snapshot: Snapshot, params: VariablesGet) -> Page | None:
    locals_ = snapshot.stack.locals
    if locals_ is None or len(locals_.variables) < locals_.total:
        return None
    word = (params.filter or "").lower()
    found = [each for each in locals_.variables if word in each.name.lower()]
    return Page(found[params.start : params.start + params.count], len(found))


async def _adapter_variables(session: DebugSession, snapshot: Snapshot, params: VariablesGet) -> VariablesResult:
    frame = await frames.find_frame(session.requests, snapshot, params.thread_id, params.frame_index)
    if params.path is None:
        found = await inspection.scope_variables(session.requests, frame, params.scope)
    else:
        value = await inspection.evaluate(session.requests, frame, params.path, _PATH_SECONDS)
        found = await inspection.children(session.requests, value.reference)
    if params.filter is not None:
        found = [each for each in found if params.filter.lower() in each.name.lower()]
    page = found[params.start : params.start + params.count]
    shown = await inspection.expand(
        session.requests, page, depth=params.depth, limit=params.max_value_length, parent=params.path
    )
    shown = await inspection.with_lengths(session.requests, frame, shown)
    kept = inspection.bounded(shown, params.max_result_bytes)
    return VariablesResult(kept, len(found), len(found) - params.start - len(kept) if page else 0)


async def _evaluate(debugger: Debugger, params: Evaluate) -> EvaluateResult:
    session = debugger.program(params.session_id)
    snapshot = session.snapshot
    if snapshot is not None and snapshot.phase == "Running" and session.profile.has_probe:
        found = await _evaluate_running(session, params)
        printed = found.printed  # not what the console has: the program writes meanwhile
    else:
        found, printed = await _evaluate_stopped(debugger, params)
    return EvaluateResult(
        shortened(found.evaluation.value, params.max_value_length),
        found.evaluation.type,
        found.evaluation.child_count,
        params.expression,
        shortened(printed, MAX_PRINTED_LENGTH) if printed else UNSET,
    )


async def _evaluate_running(session: DebugSession, params: Evaluate) -> evaluation.Evaluated:
    if params.frame_index or params.thread_id is not None:
        raise UsageError(
            "NOT_PAUSED",
            "The program is not paused, so there is no frame to evaluate in. Leave out frame_index and thread_id to "
            "evaluate in the globals of its main module, or use debug_pause first.",
            {"currentState": "Running"},
        )
    return await evaluation.evaluate_in_main(session.probe, params.expression, params.timeout)


async def _evaluate_stopped(debugger: Debugger, params: Evaluate) -> tuple[evaluation.Evaluated, str]:
    session, snapshot = debugger.paused(params.session_id)
    frame = await frames.find_frame(session.requests, snapshot, params.thread_id, params.frame_index)
    await debugger.console.settle()
    first = debugger.console.next_seq
    debugger.console.entries(first)  # nothing is joined to the output of before
    found = await evaluation.evaluate_in_frame(
        session.requests, session.probe, frame, params.expression, params.timeout
    )
    session.refresh_locals()
    await debugger.console.settle()
    printed = "".join(each.text for each in debugger.console.entries(first) if each.stream != "tracepoint")
    return found, printed or found.printed  # the console has also what child processes wrote


async def _exception_context(debugger: Debugger, params: ExceptionGetContext) -> ExceptionContext:
    session, snapshot = debugger.paused(params.session_id)
    stop = snapshot.stop
    if stop is None or stop.exception is None:
        raise UsageError(
            "NO_EXCEPTION",
            "The program is not stopped at an exception. Set one with breakpoint_set_exception and continue.",
        )
    passed, total = await frames.fetch_frames(session.requests, snapshot, stop.thread_id, 0, params.max_frames)
    shown = []
    for index, frame in enumerate(passed):
        variables = None
        if index < params.variables_for_frames:
            question = VariablesQuestion(count=MAX_LOCALS)
            known = await probed_variables(session.requests, session.probe, stop.thread_id, index, question)
            if known is not None:
                shown_locals = known.variables
            else:
                found = await inspection.scope_variables(session.requests, frame, "locals")
                shown_locals = await inspection.expand(session.requests, found, depth=1, limit=MAX_VALUE_LENGTH)
            variables = inspection.bounded(shown_locals, MAX_RESULT_BYTES // params.max_frames)
        shown.append(FrameWithLocals(index, frame.name, frame.location, frame.is_user_code, variables))
    causes = await inspection.exception_causes(session.requests, passed[0], params.max_inner) if passed else []
    return ExceptionContext(stop.exception, [Cause(kind, message) for kind, message in causes], shown, total)


async def _source(debugger: Debugger, params: SourceGet) -> SourceResult:
    debugger.session()
    path = params.file if params.file in debugger.sources.known() else debugger.workspace.resolve(params.file)
    lines = (await inspection.source_text(debugger, path)).splitlines()
    last = min(params.end_line or len(lines), len(lines))
    if params.start_line > max(len(lines), 1) or (params.end_line is not None and params.end_line < params.start_line):
        raise UsageError(
            "INVALID_PARAMETER",
            f"'{path}' has lines 1 to {len(lines)}; line {params.start_line} is not one of them.",
        )
    numbered = (NumberedLine(number, lines[number - 1]) for number in range(params.start_line, last + 1))
    kept = truncated(numbered, params.max_result_bytes)
    return SourceResult(path, kept, len(lines), last - params.start_line + 1 - len(kept))


TOOLS = (
    Tool(
        name="variables_get",
        title="Variables",
        description="The variables of a frame, or what is inside one of them by its `path`.",
        params=VariablesGet,
        result=VariablesResult,
        run=_variables,
        read_only=True,
        runs_code=True,
        idempotent=True,
    ),
    Tool(
        name="evaluate",
        title="Evaluate an expression",
        description="Evaluate an expression in a frame of the paused program; while a Python program runs or is "
        "blocked, in the globals of its main module. It runs there and may change it.",
        params=Evaluate,
        result=EvaluateResult,
        run=_evaluate,
        destructive=True,
        runs_code=True,
        open_world=True,
    ),
    Tool(
        name="exception_get_context",
        title="Exception in context",
        description="At an exception stop: the exception, its causes, and the frames with the first ones' locals.",
        params=ExceptionGetContext,
        result=ExceptionContext,
        run=_exception_context,
        read_only=True,
        runs_code=True,
        idempotent=True,
    ),
    Tool(
        name="source_get",
        title="Source",
        description="Lines of a source file of the debugged program.",
        params=SourceGet,
        result=SourceResult,
        run=_source,
        read_only=True,
        idempotent=True,
    ),
)
