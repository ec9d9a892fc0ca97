"""The tool that evaluates without running any code of the program, which observers may call."""

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.values import shows_type
from trio_debugmcp.server.tools.inspection import Evaluate, Value
from trio_debugmcp.server.tools.tool import Tool
from trio_debugmcp.session import frames
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.safe_evaluation import SafePlace, check_safe, evaluate_safely
from trio_debugmcp.state.payloads import shortened


async def _evaluate(debugger: Debugger, params: Evaluate) -> Value:
    """Evaluate in the frame that is meant; while a Python program runs, in the globals of its main module."""
    session = debugger.program(params.session_id)
    check_safe(session, params.expression)
    snapshot = session.snapshot
    if snapshot is not None and snapshot.phase == "Running" and session.profile.has_probe:
        if params.frame_index or params.thread_id is not None:
            raise UsageError(
                "NOT_PAUSED",
                "The program is not paused, so there is no frame to evaluate in. Leave out frame_index and thread_id, "
                "or use debug_pause first.",
                {"currentState": "Running"},
            )
        place = SafePlace()
    else:
        session, snapshot = debugger.paused(params.session_id)
        frame = await frames.find_frame(session.requests, snapshot, params.thread_id, params.frame_index)
        place = SafePlace(frames.active_thread(snapshot, params.thread_id), params.frame_index, frame)
    limit = params.max_value_length
    value, kind = await evaluate_safely(session, place, params.expression, params.timeout, limit)
    return Value(value=shortened(value, limit), type=None if shows_type(value, kind) else kind)


TOOLS = (
    Tool(
        name="evaluate_safe",
        title="Evaluate without effects",
        description=(
            "Evaluate an expression that changes nothing: fields, items, comparisons, arithmetic, builtin functions. "
            "What could run code of the program is refused before it runs, with the part and the rule."
        ),
        params=Evaluate,
        run=_evaluate,
        read_only=True,
        idempotent=True,
    ),
)
