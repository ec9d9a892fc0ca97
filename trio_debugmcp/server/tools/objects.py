"""The tools that look into one value: as a tree, or summarized."""

from typing import Annotated, Any

from msgspec import Meta

from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.trees import tree
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, FrameIndex, Params, SessionId, ThreadId, Tool
from trio_debugmcp.session import frames
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.probe import VariablesQuestion
from trio_debugmcp.session.trees import FramePlace, inspected

_ROOM_BYTES = MAX_RESULT_BYTES - 100


class ObjectInspect(Params, frozen=True, kw_only=True):
    expression: Annotated[str, Meta(min_length=1, description="What to look into.")]
    depth: Annotated[int, Meta(ge=1, le=5, description="Levels.")] = 2
    max_children: Annotated[int, Meta(ge=1, le=1000, description="Of each object.")] = 50
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


class ObjectTree(Answer, frozen=True, kw_only=True):
    """A value with what is inside, by name, nested; `count` is how much is inside, shown or not.

    `{"cycle": path}` and `{"same": path}`: this object is shown there. `more`: the adapter does not count what is
    inside. `key`: of a dict's item that is named by its position.
    """

    value: str
    count: int = 0
    more: bool = False
    children: dict[str, Any] = {}


async def _inspect(debugger: Debugger, params: ObjectInspect) -> ObjectTree:
    session, snapshot = debugger.paused(params.session_id)
    place = FramePlace(frames.active_thread(snapshot, params.thread_id), params.frame_index)
    question = VariablesQuestion(
        path=params.expression.strip(), depth=params.depth, count=params.max_children, size=_ROOM_BYTES
    )
    found = await inspected(session.requests, session.probe, snapshot, place, question)
    return ObjectTree(**tree(found, _ROOM_BYTES))


TOOLS = (
    Tool(
        name="object_inspect",
        title="Inspect an object",
        description=(
            "A value as a tree: fields and items, levels deep, with counts. Cycles and repeated objects refer to the "
            "path where they are shown."
        ),
        params=ObjectInspect,
        run=_inspect,
        read_only=True,
        runs_code=True,
        idempotent=True,
    ),
)
