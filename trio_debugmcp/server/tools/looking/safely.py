"""The tool that evaluates without running any code of the program, which observers may call."""

from trio_debugmcp.server.answers.values import shows_type
from trio_debugmcp.server.tools.looking.inspection import Evaluate, Value, ValueData, check_no_frame
from trio_debugmcp.server.tools.tool import Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.by_probe.safe_evaluation import SafePlace
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.stops.looking_back import keep_value
from trio_debugmcp.state.payloads import shortened


async def safe_place(
    debugger: Debugger, session_id: str | None, thread_id: int | None, frame_index: int | None, task: str | None = None
) -> tuple[DebugSession, SafePlace]:
    """Return where to evaluate: in the frame that is meant, or while a Python program runs in its main module.

    Raises:
        UsageError: `NO_SESSION`, `NOT_PAUSED`, `INVALID_THREAD` or `INVALID_FRAME`.
    """
    session = debugger.program(session_id)
    if task is not None:
        place = session.looking.place(thread_id, frame_index, task)
        return session, SafePlace(None, place.index, task=task, is_own=place.is_own)
    if session.looking.answers_running:
        check_no_frame(thread_id, frame_index)
        return session, SafePlace()
    session, snapshot = debugger.paused(session_id)
    place = session.looking.place(thread_id, frame_index)
    frame = await session.looking.frame(place.thread_id, place.index, snapshot)
    return session, SafePlace(place.thread_id, place.index, frame)


async def _evaluate(debugger: Debugger, params: Evaluate) -> Value:
    debugger.program(params.session_id).looking.evaluation.check_safe(params.expression)
    session, place = await safe_place(debugger, params.session_id, params.thread_id, params.frame_index, params.task)
    limit = params.max_value_length
    snapshot = session.snapshot
    value, kind = await session.looking.evaluation.safely(place, params.expression, params.timeout, limit)
    if snapshot is not None and place.frame is not None:
        told = shortened(value, limit)
        await keep_value(debugger.merger, snapshot, place.thread_id or 0, place.index, params.expression, told, kind)
    shown = shortened(value, limit)
    is_plain = shows_type(value, kind)
    full = ValueData(expression=params.expression, value=shown, type=kind, shows_type=is_plain)
    return Value(full=full, value=shown, type=None if is_plain else kind)


TOOLS = (
    Tool(
        name="evaluate_safe",
        title="Evaluate without effects",
        description=(
            "Evaluate an expression where nothing may change: fields, items, comparisons, arithmetic, builtin "
            "functions. What could run code of the program is refused before it runs, with the part and the rule. "
            "Else evaluate is meant."
        ),
        params=Evaluate,
        run=_evaluate,
        read_only=True,
        idempotent=True,
        phrase="refuses effects",
        unlisted=frozenset({"task"}),
    ),
)
