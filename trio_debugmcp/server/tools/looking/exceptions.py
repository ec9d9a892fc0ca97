"""The tool about the exception at a stop, or the one that ended the program."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Launch
from trio_debugmcp.dap.profiles.exception_advice import exception_advice
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.failures.exceptions import ExceptionAnswer, exception_answer, exception_text
from trio_debugmcp.server.answers.failures.printed import ended_tests, last_crash, prints_tracebacks, survived_type
from trio_debugmcp.server.tools.tool import Params, SessionId, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.exception_context import ContextBounds, ExceptionTree, printed_context
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import signal_name


class ExceptionGetContext(Params, frozen=True, kw_only=True):
    max_frames: Annotated[int, Meta(ge=1, le=100, description="How many frames of each exception.")] = 10
    variables_for_frames: Annotated[int, Meta(ge=0, le=10, description="How many of them with their locals.")] = 1
    max_inner: Annotated[int, Meta(ge=0, le=50, description="How many causes and members of groups.")] = 5
    session_id: SessionId = None


async def _exception_context(debugger: Debugger, params: ExceptionGetContext) -> ExceptionAnswer:
    bounds = ContextBounds(params.max_inner, params.max_frames, params.variables_for_frames)
    last = debugger.programs.at_hand.ended()
    if last is not None:
        return _printed(debugger, last, bounds)
    session, snapshot = debugger.paused(params.session_id)
    found = await session.looking.exception(bounds)
    _learn(debugger, session.id, found.exception)
    stop = snapshot.stop
    text, mode = (None, None) if stop is None or stop.exception is None else exception_text(stop.exception)
    return exception_answer(debugger, found, snapshot.origin.attached_at, text, mode)


def _printed(debugger: Debugger, last: Snapshot, bounds: ContextBounds) -> ExceptionAnswer:
    """Answer about the exception that ended the last program."""
    crash = last_crash(debugger, last)
    survived = survived_type(debugger) if crash is None else None
    if survived is not None:
        raise UsageError(
            "NO_EXCEPTION",
            "The last program has printed no exception that ended it, but others: see the notes of debug_state. Start "
            f'it again with debug_launch and `breakpoints: [{{"exception": "{survived}"}}]`: it stops where one is '
            "raised, also where something catches it.",
        )
    if crash is None and not prints_tracebacks(debugger):
        ended = _last_end(last)
        raise UsageError(
            "NO_EXCEPTION",
            f"The last program {ended}. It has not stopped at an exception or a signal that led to that, and nothing "
            f"else is known after its end. {next(iter(ended_tests(debugger, last)), _advice(debugger, last))}",
        )
    if crash is None:
        raise UsageError(
            "NO_EXCEPTION",
            "The last program has printed no traceback of an exception that ended it, which is all that is known after "
            "its end, and of Python only. Start it again with debug_launch: it stops where an exception is raised that "
            'nothing catches; pass `breakpoints: [{"exception": TYPE}]` for one that a task or thread swallows.',
        )
    exception, note = crash
    answer = exception_answer(debugger, printed_context(exception, bounds), last.origin.attached_at)
    return replace(answer, notes=[*answer.notes, note])


def _advice(debugger: Debugger, last: Snapshot) -> str:
    """Say what stops the next run where this one has failed."""
    started = debugger.programs.at_hand.started()
    usual = "Start it again with debug_launch: it stops at what nothing catches."
    if started is None:
        return usual
    launch, stop = started.start, last.stop
    files = [launch.source, launch.program] if isinstance(launch, Launch) else []
    at = None if stop is None or stop.location is None else stop.location.file
    return exception_advice(started.profile, started.able, [*files, at]) or usual


def _last_end(last: Snapshot) -> str:
    """Say how a program has ended: the rest of a sentence that begins with it."""
    signal = signal_name(last.exit_code)
    if isinstance(signal, str):
        return f"was ended by {signal}"
    return "has ended" if last.exit_code is None else f"has exited with {last.exit_code}"


def _learn(debugger: Debugger, session_id: str, tree: ExceptionTree) -> None:
    """Make the files of the frames known, as those of a stack are."""
    for frame in tree.frames:
        debugger.sources.learn(frame.file, session_id)
    for exception in tree.inner:
        _learn(debugger, session_id, exception)


TOOLS = (
    Tool(
        name="exception_get_context",
        title="Exception in context",
        description=(
            "At an exception, or after one has ended the program: its causes, members of a group, notes, and the "
            "frames of each with source and locals."
        ),
        params=ExceptionGetContext,
        run=_exception_context,
        read_only=True,
        runs_code=True,
        idempotent=True,
        listing="core",
        unlisted=frozenset({"max_inner", "max_frames"}),
    ),
)
