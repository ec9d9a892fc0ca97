"""The tools that look into one value: as a tree, or summarized."""

from typing import Annotated, Any

from msgspec import Meta

from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.nested_values import ObjectPayload, notable, object_payload, tree
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, FrameIndex, Params, SessionId, ThreadId, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.summaries import Number, Summary
from trio_debugmcp.session.looking.variables import VariablesQuestion

_ROOM_BYTES = MAX_RESULT_BYTES - 100

_SHOWN_BYTES = 8000
"""JSON bytes of a tree in an answer, as of the locals of a stop; with `full` there is more."""


class ObjectInspect(Params, frozen=True, kw_only=True):
    expression: Annotated[str, Meta(min_length=1, description="What to look into.")]
    depth: Annotated[int, Meta(ge=1, le=5, description="Levels.")] = 2
    max_children: Annotated[int, Meta(ge=1, le=1000, description="Of each object.")] = 50
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


class ObjectData(AnswerData, frozen=True, kw_only=True):
    """A value with what is inside of it. `notable`: the paths of nulls, empty texts, NaN and infinities."""

    object: ObjectPayload
    notable: dict[str, list[str]]


class ObjectTree(Answer, frozen=True, kw_only=True):
    """A value with what is inside, by name, nested; `count` is how much is inside, shown or not.

    `{"cycle": path}` and `{"same": path}`: this object is shown there. `more`: the adapter does not count what is
    inside. `key`: of a dict's item that is named by its position. `notable`: the paths of nulls, empty texts, NaN
    and infinities.
    """

    full: ObjectData | None = None
    value: str
    count: int = 0
    more: bool = False
    children: dict[str, Any] = {}
    notable: dict[str, list[str]] = {}


class CollectionSummarize(Params, frozen=True, kw_only=True):
    expression: Annotated[str, Meta(min_length=1, description="A collection or a text.")]
    max_items: Annotated[int, Meta(ge=0, le=50, description="First and last ones shown.")] = 5
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


class CollectionSummary(Answer, frozen=True, kw_only=True):
    """What a collection holds. `sampled`: of so many items, evenly spread, are types, nulls and numbers.

    `keyTypes` of a dict; `shape` and `columns` of arrays and tables. `numeric`: min, max and mean of the numbers.
    """

    count: int
    kind: str
    shape: tuple[int, ...] = ()
    columns: dict[str, str] = {}
    key_types: dict[str, int] = {}
    element_types: dict[str, int] = {}
    null_count: int = 0
    numeric: dict[str, Number] = {}
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    sampled: int = 0
    notes: tuple[str, ...] = ()


async def _inspect(debugger: Debugger, params: ObjectInspect) -> ObjectTree:
    looking = debugger.paused(params.session_id)[0].looking
    place = looking.place(params.thread_id, params.frame_index)
    question = VariablesQuestion(
        path=params.expression.strip(), depth=params.depth, count=params.max_children, size=_ROOM_BYTES
    )
    found = await looking.values.tree(place, question)
    full = ObjectData(object=object_payload(found), notable=notable(found))
    return ObjectTree(full=full, **tree(found, _SHOWN_BYTES), notable=full.notable)


async def _summarize(debugger: Debugger, params: CollectionSummarize) -> CollectionSummary:
    looking = debugger.paused(params.session_id)[0].looking
    place = looking.place(params.thread_id, params.frame_index)
    question = VariablesQuestion(path=params.expression.strip(), count=params.max_items)
    found = await looking.values.summary(place, question)
    return CollectionSummary(**{name: getattr(found, name) for name in Summary.__struct_fields__ if name != "withheld"})


TOOLS = (
    Tool(
        name="object_inspect",
        title="Inspect an object",
        description=(
            "A whole value as a tree: fields and items, levels deep, with counts. Cycles and repeated objects "
            "refer to the path where they are shown. For a part of it evaluate is meant."
        ),
        params=ObjectInspect,
        run=_inspect,
        read_only=True,
        runs_code=True,
        idempotent=True,
        phrase="a value as a tree",
    ),
    Tool(
        name="collection_summarize",
        title="Summarize a collection",
        description=(
            "What a large collection holds: count, element types, nulls, min, max and mean, first and last items. "
            "Above 20,000 items it is sampled."
        ),
        params=CollectionSummarize,
        run=_summarize,
        read_only=True,
        runs_code=True,
        idempotent=True,
    ),
)
