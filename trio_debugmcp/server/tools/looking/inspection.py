"""The tools that look into a paused program: variables, expressions."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.fleet.group_answers import GroupValues
from trio_debugmcp.server.answers.text import without_debugger
from trio_debugmcp.server.answers.values import (
    VariablesData,
    fitting,
    full_path,
    rendered,
    shortened_value,
    shows_type,
    without_types,
)
from trio_debugmcp.server.tools.group_choice import GroupOf, refuse_beside
from trio_debugmcp.server.tools.looking.group_evaluation import GroupQuestion, evaluate_in_group
from trio_debugmcp.server.tools.looking.threads import TaskName
from trio_debugmcp.server.tools.tool import (
    MAX_RESULT_BYTES,
    EvaluationSeconds,
    MaxResultBytes,
    MaxValueLength,
    Params,
    SessionId,
    Start,
    ThreadId,
    Tool,
)
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import Evaluation
from trio_debugmcp.session.looking.user_evaluation import Evaluated
from trio_debugmcp.session.looking.variables import FramePlace, ScopeName, VariablesPage, VariablesQuestion
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.stops.looking_back import keep_reading, keep_value
from trio_debugmcp.state.model import Reading
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, Variable, shortened

MAX_PRINTED_LENGTH = 4000
"""Characters of what an evaluation printed; process_read_output has all of it."""

_HEAD_BYTES = 50
"""Of an answer around its variables."""

FrameIndexOrOwn = Annotated[
    Annotated[int, Meta(ge=0)] | None,
    Meta(description="A frame by its index; default: the top, of a task the innermost of user code."),
]


class VariablesGet(Params, frozen=True, kw_only=True):
    thread_id: ThreadId = None
    task: TaskName = None
    frame_index: FrameIndexOrOwn = None
    scope: Annotated[ScopeName, Meta(description="Which variables of the frame.")] = "locals"
    path: Annotated[str | None, Meta(description="What to look into.")] = None
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=10_000, description="How many variables.")] = 100
    depth: Annotated[int, Meta(ge=1, le=5, description="Levels; 1 is without children.")] = 1
    names: Annotated[list[str], Meta(max_length=50, description="Only these.")] = []
    filter: Annotated[str | None, Meta(description="Only names that contain this.")] = None
    max_value_length: MaxValueLength = MAX_VALUE_LENGTH
    max_result_bytes: MaxResultBytes = MAX_RESULT_BYTES
    apart: Annotated[bool, Meta(description="Types in `types`, and not behind the values; for programs.")] = False
    session_id: SessionId = None


class Evaluate(Params, frozen=True, kw_only=True):
    expression: Annotated[str, Meta(min_length=1, description="An expression of the program's language.")]
    frame_index: FrameIndexOrOwn = None
    thread_id: ThreadId = None
    task: TaskName = None
    timeout: EvaluationSeconds = 5.0
    max_value_length: MaxValueLength = MAX_VALUE_LENGTH
    group: GroupOf = None
    session_id: SessionId = None


class VariablesAnswer(Answer, frozen=True, kw_only=True):
    """Values by name. `total`: how many there are, where some were left out; ask with `start`, `filter` or `path`.

    `value`: that of `path`, where nothing is inside of it. `types`: with `apart`, by the names of the values, and that
    of `value` by its path.
    """

    full: VariablesData | None = None
    variables: dict[str, str]
    total: int | None = None
    value: str | None = None
    types: dict[str, str] = {}


class ValueData(AnswerData, frozen=True, kw_only=True):
    """What an evaluation has come to: null of statements, which have no value. `printed`: what it wrote.

    `showsType`: the value is written so that it shows its type.
    """

    expression: str
    value: str | None
    type: str | None
    shows_type: bool
    printed: str = ""


class Value(Answer, frozen=True, kw_only=True):
    """A value, and its type where the value does not show it. `printed`: what was written by the evaluation.

    `executed`: statements have run, and have no value.
    """

    full: ValueData | None = None
    value: str | None = None
    type: str | None = None
    executed: bool = False
    printed: str = ""
    notes: list[str] = []


async def _variables(debugger: Debugger, params: VariablesGet) -> VariablesAnswer:
    if params.task is None:
        session, snapshot = debugger.paused(params.session_id)
    else:
        session = debugger.program(params.session_id)
    if params.path is not None and not session.profile.expressions.is_path(params.path):
        raise UsageError(
            "INVALID_PARAMETER",
            f"`{shortened(params.path)}` is not a path to a variable: take one from an answer, or use evaluate",
        )
    place = session.looking.place(params.thread_id, params.frame_index, params.task)
    if not params.names:
        page = await _page(session, place, params)
        if params.filter is None and params.task is None:
            await keep_reading(debugger.merger, snapshot, _reading(page, place.thread_id, params))
        return _answer(page.variables, page.total, params, page.leaf)
    named = {name: (name, full_path(params.path, name)) for name in params.names}
    every = [*dict.fromkeys(name for names in named.values() for name in names)]
    asked = replace(params, filter=None, start=0, names=every, count=2 * len(every))  # as a local, and as a global
    found = (await _page(session, place, asked)).variables
    chosen: list[Variable] = []
    missing: list[str] = []
    for name, names in named.items():
        exact = [each for each in found if each.name == name or each.path in names]
        missing += [] if exact else [name]
        chosen += exact or [Variable(name, "<there is none of this name>", None, name, 0)]
    return _answer(chosen, len(chosen), params, missing=missing)


def _reading(page: VariablesPage, thread_id: int, params: VariablesGet) -> Reading:
    """Return what is kept with the stop of an answer."""
    scope = params.scope if params.path is None else None
    found = tuple(page.variables)
    return Reading("variables", thread_id, params.frame_index or 0, scope, params.path, params.start, found, page.total)


async def _page(session: DebugSession, place: FramePlace, params: VariablesGet) -> VariablesPage:
    """Return the variables that are asked for, and how many there are."""
    question = VariablesQuestion(
        scope=params.scope,
        path=params.path,
        start=params.start,
        count=params.count,
        depth=params.depth,
        filter=params.filter,
        names=tuple(params.names) or None,
        limit=params.max_value_length,
        size=2 * params.max_result_bytes,
    )
    return await session.looking.values.variables(place, question)


def _answer(
    found: Sequence[Variable],
    total: int,
    params: VariablesGet,
    leaf: Variable | None = None,
    missing: Sequence[str] = (),
) -> VariablesAnswer:
    types = {each.path or each.name: each.type for each in (*found, *([leaf] if leaf else [])) if each.type}
    typed, typed_leaf = found, leaf
    if params.apart:
        found, leaf = without_types(found), leaf and replace(leaf, type=None)
    shown, count = fitting(found, params.max_result_bytes - _HEAD_BYTES, params.path, params.depth)
    there = [each for each in typed[:count] if each.name not in missing]
    full = VariablesData(variables=there, total=total - len(missing), value=typed_leaf, missing=list(missing))
    value = None if leaf is None else rendered(leaf.value, leaf.type)
    return VariablesAnswer(
        full=full,
        variables=shown,
        total=total if count < total else None,
        value=value,
        types=types if params.apart else {},
    )


async def _evaluate(debugger: Debugger, params: Evaluate) -> Value | GroupValues:
    if params.group is not None:
        refuse_beside(params, "task")
        limit = params.max_value_length
        return await evaluate_in_group(
            debugger, GroupQuestion(params.group, params.expression, params.frame_index, params.timeout, limit)
        )
    session = debugger.program(params.session_id)
    if params.task is not None:
        found, printed = await _evaluate_in_task(session, params, params.task)
    elif session.looking.answers_running:
        check_no_frame(params.thread_id, params.frame_index)
        found = await session.looking.evaluation.in_main(
            params.expression, params.timeout, limit=params.max_value_length
        )
        printed = found.printed  # not what the console has: the program writes meanwhile
    else:
        found, printed = await _evaluate_stopped(debugger, params)
    value, kind = found.evaluation.value, found.evaluation.type
    has_value = bool(value) or kind is not None
    shown = _cut(found.evaluation, params.max_value_length) if has_value else None
    is_plain = shows_type(value, kind, python=session.looking.is_python)
    printed = shortened(printed, MAX_PRINTED_LENGTH) if printed else ""
    return Value(
        full=ValueData(expression=params.expression, value=shown, type=kind, shows_type=is_plain, printed=printed),
        value=shown,
        type=None if is_plain else kind,
        executed=not has_value,
        printed=printed,
        notes=list(found.notes),
    )


async def _evaluate_in_task(session: DebugSession, params: Evaluate, task: str) -> tuple[Evaluated, str]:
    place = session.looking.place(params.thread_id, params.frame_index, task)
    limit = params.max_value_length
    try:
        found = await session.looking.evaluation.in_main(params.expression, params.timeout, limit=limit, place=place)
    finally:
        if session.snapshot is not None and session.snapshot.phase == "Paused":
            session.refresh_locals()
    return found, found.printed


def check_no_frame(thread_id: int | None, frame_index: int | None) -> None:
    """Refuse a frame to evaluate in while the program runs.

    Raises:
        UsageError: `NOT_PAUSED`.
    """
    if frame_index or thread_id is not None:
        raise UsageError(
            "NOT_PAUSED",
            "The program is not paused, so there is no frame to evaluate in. Leave out frame_index and thread_id to "
            "evaluate in the globals of its main module, pass a task for a frame of that, or use debug_pause first.",
            {"currentState": "Running"},
        )


def _cut(found: Evaluation, limit: int) -> str:
    """Return a value cut at the limit, with what is left out: also of one that the adapter has cut before."""
    return found.value if found.is_fitted else shortened_value(found.value, limit, found.length, found.unit)


async def _evaluate_stopped(debugger: Debugger, params: Evaluate) -> tuple[Evaluated, str]:
    session, snapshot = debugger.paused(params.session_id)
    place = session.looking.place(params.thread_id, params.frame_index)
    frame = await session.looking.frame(place.thread_id, place.index, snapshot)
    await debugger.console.settle()
    first = debugger.console.next_seq
    debugger.console.entries(first)  # nothing is joined to the output of before
    try:
        found = await session.looking.evaluation.in_frame(
            frame, params.expression, params.timeout, limit=params.max_value_length
        )
    finally:
        session.refresh_locals()  # also after a failure, or when given up: what ran until then may have changed some
    whole, told = found.evaluation, _cut(found.evaluation, params.max_value_length)
    await keep_value(debugger.merger, snapshot, place.thread_id, place.index, params.expression, told, whole.type)
    await debugger.console.settle()
    written = "".join(entry.text for entry in debugger.console.entries(first) if entry.stream != "tracepoint")
    printed = without_debugger(written)
    return found, printed or found.printed  # the console has also what child processes wrote


TOOLS = (
    Tool(
        name="variables_get",
        title="Variables",
        description=(
            "Variables of other frames, globals, a few by `names`, or page by page what is inside one (`path`: "
            "`order.items[3]`). Not meant for what a stop shows already, nor for a single value, which evaluate "
            "has."
        ),
        params=VariablesGet,
        run=_variables,
        read_only=True,
        runs_code=True,
        idempotent=True,
        phrase="by frame, names, path",
        unlisted=frozenset({"apart"}),
    ),
    Tool(
        name="evaluate",
        title="Evaluate an expression",
        description=(
            "Evaluate an expression, or run statements, in a frame; while Python runs, in its main module or "
            "a `task`. It may change the program."
        ),
        params=Evaluate,
        run=_evaluate,
        destructive=True,
        runs_code=True,
        open_world=True,
        listing="core",
    ),
)
