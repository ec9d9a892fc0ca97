"""The tool that sets a variable."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.values import rendered
from trio_debugmcp.server.tools.tool import FrameIndex, Params, SessionId, ThreadId, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import Variable, shortened


class VariableSet(Params, frozen=True, kw_only=True):
    path: Annotated[str, Meta(min_length=1, description="What to set: `count`, `order.items[3].price`.")]
    value: Annotated[str, Meta(min_length=1, description="An expression.")]
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


class VariableData(AnswerData, frozen=True, kw_only=True):
    """What the variable is afterwards."""

    variable: Variable


class VariableAnswer(Answer, frozen=True, kw_only=True):
    """What the variable is afterwards, by its path."""

    full: VariableData | None = None
    variable: dict[str, str]


async def _set(debugger: Debugger, params: VariableSet) -> VariableAnswer:
    session, _ = debugger.paused(params.session_id)
    path, expressions = params.path.strip(), session.profile.expressions
    if not expressions.is_path(path):
        raise UsageError(
            "INVALID_PARAMETER",
            f"`{shortened(path)}` is not a path to a variable: take one from an answer, or use evaluate with an "
            "assignment.",
            {"parameter": "path"},
        )
    problem = expressions.syntax_error(params.value)
    if problem is not None:
        raise UsageError(
            "INVALID_PARAMETER", f"`{shortened(params.value)}` is not an expression: {problem}", {"parameter": "value"}
        )
    place = session.looking.place(params.thread_id, params.frame_index)
    try:
        found = await session.looking.evaluation.assign(place, path, params.value)
    finally:
        session.refresh_locals()  # also after a failure: the value may have run code of the program
    variable = replace(found, value=shortened(found.value))
    return VariableAnswer(
        full=VariableData(variable=variable), variable={path: rendered(variable.value, variable.type)}
    )


TOOLS = (
    Tool(
        name="variable_set",
        title="Set a variable",
        description=(
            "Set a variable of a frame, a field or an item, and read back what it is then. Only what is there is set."
        ),
        params=VariableSet,
        run=_set,
        destructive=True,
        runs_code=True,
    ),
)
