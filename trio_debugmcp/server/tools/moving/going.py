"""The tool that moves where the program continues from, without running what is between."""

from typing import Annotated

import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.dap.codec import NO_REASON
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.tools.answering import wait_answer
from trio_debugmcp.server.tools.breakpoints.notebook_cells import in_notebook
from trio_debugmcp.server.tools.paths import existing_file, file_lines, source_path
from trio_debugmcp.server.tools.tool import LineNumber, Params, Seconds, SessionId, Show, ThreadId, Tool
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.looking.by_adapter.goto_targets import goto_target
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened


class DebugGoto(Params, frozen=True, kw_only=True):
    line: Annotated[LineNumber, Meta(description="Of the function that is stopped.")]
    file: Annotated[str | None, Meta(description="Default: where it is stopped.")] = None
    target: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Which one, where a line has several."),
    ] = None
    show: Show = []
    thread_id: ThreadId = None
    timeout: Seconds = 30.0
    session_id: SessionId = None


_NOT_BEFORE_A_LINE = ("can only jump from a 'line' trace event", "can't jump from the 'call' trace event")
"""What CPython says at the stop of an exception, at a return, and at the beginning of a call."""


async def _goto(debugger: Debugger, params: DebugGoto) -> StopAnswer:
    deadline = trio.current_time() + params.timeout
    session, snapshot = debugger.paused(params.session_id)
    session.requests.need("supportsGotoTargetsRequest", "go to a line", "Use debug_restart and debug_run_to.")
    thread_id = snapshot.active_thread(params.thread_id)
    if snapshot.stop is not None:
        await session.looking.threads.check_steppable(thread_id, snapshot.stop.thread_id)
    frame = await session.looking.frame(thread_id, 0)
    here = frame.location.file
    params = in_notebook(debugger, params, params.file, params.line)
    file = here if params.file is None else existing_file(debugger, params.file) or source_path(debugger, params.file)
    if file is None or file != here:
        # pydevd goes to that line of the function that is stopped, whatever the file.
        raise UsageError(
            "INVALID_PARAMETER",
            f"It is stopped in {frame.name} of {here}, and can only go to lines of that function; this is another "
            "file. Use debug_run_to to get there.",
            {"file": file},
        )
    lines = file_lines(debugger, file)
    if lines is not None and params.line > len(lines):  # pydevd takes any number, and falls silent at one of 32 bits
        raise UsageError(
            "INVALID_PARAMETER",
            f"Cannot go to line {params.line}: the file has {len(lines)} lines. Pass one of {frame.name}.",
            {"file": file},
        )
    target = await goto_target(session.requests, file, params.line, params.target)
    outcome: Outcome | None = None
    try:
        with trio.move_on_at(deadline):
            await session.execution.goto(thread_id, target.id)
            outcome = await debugger.wait_stop(session.id)
    except AdapterRefused as refusal:
        raise _not_gone(refusal.reason, frame.name, file, params.line) from None
    answer = await wait_answer(debugger, outcome, deadline, show=params.show, session_id=session.id)
    stop = None if outcome is None or outcome.paused is None else outcome.paused.stop
    line = None if stop is None or stop.location is None else stop.location.line
    if line in (None, params.line):
        return answer
    return replace(answer, notes=[*answer.notes, f"went to line {line} instead of {params.line}"])


def _not_gone(reason: str, function: str, file: str, line: int) -> UsageError:
    if reason == NO_REASON:  # pydevd, where a call has just returned
        problem = f"Cannot go to line {line} from here. Use debug_step, and then try again."
    elif any(words in reason for words in _NOT_BEFORE_A_LINE):
        problem = (
            f"Cannot go to line {line}: the program stands inside a line that raises or returns, and can only go "
            "elsewhere where it stands before one. Use debug_step until it is before a line of the function that you "
            "want, or debug_restart, stop before this line, and go elsewhere from there. The program is where it was."
        )
    else:
        problem = (
            f"Cannot go to line {line}: {shortened(reason.strip().rstrip('.'), MAX_MESSAGE_LENGTH)}. Pass a line of "
            f"{function}, outside of blocks that it is not in. The program is where it was."
        )
    return UsageError("INVALID_PARAMETER", problem, {"file": file, "line": line})


TOOLS = (
    Tool(
        name="debug_goto",
        title="Go to a line",
        description=(
            "Continue from another line of the function that is stopped, which skips or repeats what is between: "
            "nothing runs yet. Answers with the stop there."
        ),
        params=DebugGoto,
        run=_goto,
        destructive=True,
        phrase="skips lines",
        unlisted=frozenset({"target", "thread_id"}),
    ),
)
