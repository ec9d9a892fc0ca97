"""`stacktrace_get`: the stack of a thread, or of all threads, also while the program runs, waits, or is blocked.

Which way leads to it is the session's to know (`session.looking`); the error says what is not known.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import no_session
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.lines import STATES
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.source import frames_with_source
from trio_debugmcp.server.answers.stacks import (
    AllStacksData,
    MergedStackData,
    StackData,
    ThreadOf,
    hidden_in_words,
)
from trio_debugmcp.server.answers.values import counted, rendered
from trio_debugmcp.server.tools.group_choice import (
    GroupOf,
    chosen_group,
    programs_there,
    refuse_beside,
    starting_notes,
)
from trio_debugmcp.server.tools.looking.threads import TaskName, outside_note
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, Params, SessionId, Start, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.by_probe.live_threads import LiveStack
from trio_debugmcp.session.looking.program_threads import StackList, StackPage
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Locals, StackFrame
from trio_debugmcp.state.payloads import Frame, Variable, json_size, truncated
from trio_debugmcp.state.stack_view import frame_payload

_HEAD_BYTES = 200
"""Of an answer around its lists."""


class StacktraceGet(Params, frozen=True, kw_only=True):
    thread_id: Annotated[
        int | Literal["*"] | None,
        Meta(description="A thread id from threads_list, or `*` for all; default: the active thread."),
    ] = None
    task: TaskName = None
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=1000, description="How many frames.")] = 20
    locals: Annotated[bool, Meta(description="With the variables of each frame.")] = False
    group: GroupOf = None
    session_id: SessionId = None


class StackAnswer(Answer, frozen=True, kw_only=True):
    """Frames of a thread, the innermost first. `omitted`: left out here; ask with `start`.

    `state`: of a thread that is not stopped, Running or Waiting; `locals`: of each frame, if they were asked for.
    `hidden`: how many frames of libraries are never shown here.
    """

    full: StackData | None = None
    frames: list[str]
    locals: list[dict[str, str]] = []
    omitted: int = 0
    hidden: str | None = None
    state: str | None = None


class MergedStack(Answer, frozen=True, kw_only=True):
    """One stack, of one thread or of several, with their number. Frames are the innermost first."""

    threads: list[str]
    count: int = 1
    waits_for: str | None = None
    frames: list[str]
    hidden: str | None = None
    locals: list[dict[str, str]] = []


class AllStacks(Answer, frozen=True, kw_only=True):
    """The stacks of all threads of all sessions, equal ones merged, the most frequent first.

    `omitted`: stacks left out here; ask with `start`.
    """

    full: AllStacksData | None = None
    stacks: list[MergedStack]
    omitted: int = 0
    notes: list[str] = []


# --- Stacks -----------------------------------------------------------------------------------------------------------


async def _stacktrace(debugger: Debugger, params: StacktraceGet) -> StackAnswer | AllStacks:
    if params.group is not None:
        refuse_beside(replace(params, thread_id=None) if params.thread_id == "*" else params, "task")
        chosen = await chosen_group(debugger, params.group)
        return await _all_stacks(chosen.sessions, debugger, params, chosen.notes)
    if params.thread_id == "*" and params.task is None:
        starting = starting_notes(debugger) if params.session_id is None else ()
        return await _all_stacks(_sessions_of(debugger, params), debugger, params, starting)
    session = debugger.program(params.session_id)
    page = await _page(session, params)
    room, snapshot = MAX_RESULT_BYTES - _HEAD_BYTES, session.snapshot
    shown = _payloads(page.frames, params.start)
    if page.state is None and snapshot is not None:
        for frame in page.frames:
            debugger.sources.learn(frame.location.file, session.id, frame.source_reference)
        lines = truncated(frames_with_source(debugger, snapshot, page.frames), room)
        full = StackData(frames=shown[: len(lines)], total=page.total, state="Suspended", hidden=page.hidden)
        left_out = max(0, page.total - params.start - len(lines))
        return StackAnswer(full=full, frames=lines, omitted=left_out, hidden=hidden_in_words(page.hidden))
    state = STATES.get(page.state or "", "Running")
    names = Places(debugger.workspace.directory).frames(shown)
    kept = truncated(
        [(name, _rendered(of.variables, of.total)) for name, of in zip(names, page.locals, strict=True)], room
    )
    values = page.locals[: len(kept)] if params.locals else ()
    full = StackData(
        frames=shown[: len(kept)],
        total=page.total,
        state=state,
        locals=[list(value.variables) for value in values],
        locals_totals=[value.total for value in values],
        hidden=page.hidden,
    )
    return StackAnswer(
        full=full,
        frames=[name for name, _ in kept],
        locals=[values for _, values in kept] if params.locals else [],
        omitted=max(0, page.total - params.start - len(kept)),
        hidden=hidden_in_words(page.hidden),
        state=None if page.state == "stopped" else state,
    )


async def _page(session: DebugSession, params: StacktraceGet) -> StackPage:
    threads, wanted = session.looking.threads, params.thread_id
    thread_id = None if wanted == "*" else wanted
    if params.task is None:
        return await threads.stack(thread_id, params.start, params.count, with_locals=params.locals)
    session.looking.place(thread_id, 0, params.task)
    return await threads.stack_of_task(params.task, params.start, params.count, with_locals=params.locals)


def _payloads(frames: Sequence[StackFrame], first: int = 0) -> list[Frame]:
    return [frame_payload(index, each) for index, each in enumerate(frames, first)]


def _rendered(variables: Sequence[Variable], total: int) -> dict[str, str]:
    shown = {each.name: each.same or rendered(each.value, each.type) for each in variables}
    return counted(shown, total - len(variables))


MAX_NAMED_THREADS = 10
"""Threads that a merged stack names; all of them are counted."""

MAX_NAMED_PROCESSES = 5
"""Processes that a note names; of more it has the number."""

MAX_NAMED_WAITS = 3
"""What the threads of a merged stack wait for, where it differs: for locks with different holders, say."""

MAX_NOTES = 40
"""Notes on processes whose stacks are not known, or not all of them. There may be hundreds of processes."""


def _sessions_of(debugger: Debugger, params: StacktraceGet) -> Sequence[DebugSession]:
    if params.session_id is not None:
        return [debugger.session(params.session_id)]
    sessions = programs_there(debugger)
    if not sessions and debugger.root_session() is None:
        raise no_session()
    return sessions


async def _all_stacks(
    sessions: Sequence[DebugSession], debugger: Debugger, params: StacktraceGet, said: Sequence[str] = ()
) -> AllStacks:
    """Answer with the stacks of all threads of these. `said`: what is to be said of their choice."""
    answers = await _ask_all(sessions, params)
    notes = [*said, *_notes(sessions, answers, params)]
    merged: dict[tuple[object, ...], list[tuple[str, LiveStack]]] = {}
    for session_id, found in answers.items():
        for stack in found.stacks:
            key = (stack.thread.id, session_id) if params.locals else (_places(stack.frames), stack.thread.kind)
            merged.setdefault(key, []).append((session_id, stack))
    groups = sorted(merged.values(), key=len, reverse=True)
    places = Places(debugger.workspace.directory)
    many = len(sessions) > 1
    data = [_merged_data(group, with_locals=params.locals) for group in groups[params.start :]]
    page = [_merged(places, each, many=many) for each in data]
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"{len(notes) - MAX_NOTES} more notes left out: ask with session_id"]
    kept = truncated(page, MAX_RESULT_BYTES - _HEAD_BYTES - json_size(notes))
    full = AllStacksData(stacks=data[: len(kept)], total=len(groups))
    return AllStacks(full=full, stacks=kept, omitted=len(page) - len(kept), notes=notes)


async def _ask_all(sessions: Sequence[DebugSession], params: StacktraceGet) -> dict[str, StackList]:
    """Return the answers of the sessions, by id and in order.

    All at once: each that does not answer takes the whole time for an answer.
    """
    answers: dict[str, StackList] = {}

    async def ask(session: DebugSession) -> None:
        answers[session.id] = await session.looking.threads.stacks(params.count, with_locals=params.locals)

    async with trio.open_nursery() as nursery:
        for member in sessions:
            nursery.start_soon(ask, member)
    return {session.id: answers[session.id] for session in sessions}


def _notes(sessions: Sequence[DebugSession], answers: Mapping[str, StackList], params: StacktraceGet) -> list[str]:
    """Return notes on what is not shown, one for all processes of which the same is to be said."""
    alike: dict[str, list[str]] = {}
    left_out: list[str] = []
    for session in sessions:
        found = answers[session.id]
        note = _note(session, found, params)
        if note is not None:
            alike.setdefault(note, []).append(session.id)
        more = found.total - len(found.stacks)
        if more > 0:
            left_out.append(f"{session.id}: {more} thread{'s' if more > 1 else ''} left out")
    return [*(f"{_named(ids)}: {note}" for note, ids in alike.items()), *left_out]


_ONE_BY_ONE = "{} has them of one frame at a time: variables_get with thread_id and frame_index"


def _note(session: DebugSession, found: StackList, params: StacktraceGet) -> str | None:
    if found.source == "adapter":
        return f"without locals: {_ONE_BY_ONE.format(session.profile.name)}" if params.locals else None
    if found.failure is None:
        return None
    if found.source == "outside":
        return outside_note(found.failure) + ", without locals" * params.locals
    return f"the stacks are not known: {found.failure.reason}"


def _named(ids: Sequence[str]) -> str:
    """Return the ids of processes, or their number if they are many."""
    return ", ".join(ids) if len(ids) <= MAX_NAMED_PROCESSES else f"{len(ids)} processes, {ids[0]} to {ids[-1]}"


def _merged_data(group: list[tuple[str, LiveStack]], *, with_locals: bool) -> MergedStackData:
    first = group[0][1]
    values = (first.locals or [Locals()] * len(first.frames)) if with_locals else ()
    waits = [stack.thread.waits for _, stack in group]
    return MergedStackData(
        threads=[ThreadOf(session_id, stack.thread.id, stack.thread.name) for session_id, stack in group],
        count=len(group),
        waits_for=list(dict.fromkeys(wait for wait in waits if wait is not None)),
        frames=_payloads(first.frames),
        total=first.total,
        locals=[list(value.variables) for value in values],
        locals_totals=[value.total for value in values],
        hidden=first.hidden,
    )


def _merged(places: Places, data: MergedStackData, *, many: bool) -> MergedStack:
    named = [
        f"{thread.session_id}/{thread.id} {thread.name}" if many else f"{thread.id} {thread.name}"
        for thread in data.threads[:MAX_NAMED_THREADS]
    ]
    lines = places.frames(data.frames)
    if data.total > len(data.frames):
        more = data.total - len(data.frames)
        lines.append(f"… {more} more frame{'s' if more > 1 else ''}")
    return MergedStack(
        count=data.count,
        threads=named,
        waits_for=_waits_of(data.waits_for),
        frames=lines,
        hidden=hidden_in_words(data.hidden),
        locals=[_rendered(*each) for each in zip(data.locals, data.locals_totals, strict=True)],
    )


def _waits_of(different: Sequence[str]) -> str | None:
    """What threads with the same stack wait for; they may wait for different things, or different holders."""
    named, others = different[:MAX_NAMED_WAITS], len(different) - MAX_NAMED_WAITS
    return "; ".join([*named, *([f"{others} others"] if others > 0 else [])]) or None


def _places(frames: Iterable[StackFrame]) -> tuple[object, ...]:
    return tuple((frame.name, frame.location.file, frame.location.line) for frame in frames)


TOOLS = (
    Tool(
        name="stacktrace_get",
        title="Call stack",
        description=(
            "The frames of a thread, innermost first; with thread_id `*` of all processes, equal stacks "
            "merged. Also while Python runs or hangs."
        ),
        params=StacktraceGet,
        run=_stacktrace,
        read_only=True,
        idempotent=True,
        listing="core",
        unlisted=frozenset({"start", "task"}),
    ),
)
