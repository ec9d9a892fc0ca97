"""`stacktrace_get`: the stack of a thread, or of all threads, also while the program runs, waits, or is blocked.

Which way leads to it is the session's to know (`session.looking`); the error says what is not known.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

import trio
from msgspec import Meta

from trio_debugmcp.errors import no_session
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.source import frames_with_source
from trio_debugmcp.server.answers.values import counted, rendered
from trio_debugmcp.server.tools.looking.threads import STATES, outside_note
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, Params, SessionId, Start, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.live_threads import LiveStack
from trio_debugmcp.session.looking.program_threads import StackList
from trio_debugmcp.session.looking.truncation import json_size, truncated
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.start import has_program
from trio_debugmcp.state.model import Locals, StackFrame

_HEAD_BYTES = 200
"""Of an answer around its lists."""


class StacktraceGet(Params, frozen=True, kw_only=True):
    thread_id: Annotated[
        int | Literal["*"] | None,
        Meta(description="A thread id from threads_list, or `*` for all; default: the active thread."),
    ] = None
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=1000, description="How many frames.")] = 20
    locals: Annotated[bool, Meta(description="With the variables of each frame.")] = False
    session_id: SessionId = None


class StackAnswer(Answer, frozen=True, kw_only=True):
    """Frames of a thread, the innermost first. `omitted`: left out here; ask with `start`.

    `state`: of a thread that is not stopped, Running or Waiting; `locals`: of each frame, if they were asked for.
    """

    frames: list[str]
    locals: list[dict[str, str]] = []
    omitted: int = 0
    state: str | None = None


class MergedStack(Answer, frozen=True, kw_only=True):
    """One stack, of one thread or of several, with their number. Frames are the innermost first."""

    threads: list[str]
    count: int = 1
    waits_for: str | None = None
    frames: list[str]
    locals: list[dict[str, str]] = []


class AllStacks(Answer, frozen=True, kw_only=True):
    """The stacks of all threads of all sessions, equal ones merged, the most frequent first.

    `omitted`: stacks left out here; ask with `start`.
    """

    stacks: list[MergedStack]
    omitted: int = 0
    notes: list[str] = []


# --- Stacks -----------------------------------------------------------------------------------------------------------


async def _stacktrace(debugger: Debugger, params: StacktraceGet) -> StackAnswer | AllStacks:
    if params.thread_id == "*":
        return await _all_stacks(debugger, params)
    session = debugger.program(params.session_id)
    page = await session.looking.threads.stack(params.thread_id, params.start, params.count, with_locals=params.locals)
    room, snapshot = MAX_RESULT_BYTES - _HEAD_BYTES, session.snapshot
    if page.state is None and snapshot is not None:
        for each in page.frames:
            debugger.sources.learn(each.location.file, session.id, each.source_reference)
        lines = truncated(frames_with_source(debugger, snapshot, page.frames), room)
        return StackAnswer(frames=lines, omitted=max(0, page.total - params.start - len(lines)))
    lines = Places(debugger.workspace.directory).frames(page.frames)
    kept = truncated(list(zip(lines, map(_rendered, page.locals), strict=True)), room)
    return StackAnswer(
        frames=[line for line, _ in kept],
        locals=[values for _, values in kept] if params.locals else [],
        omitted=max(0, page.total - params.start - len(kept)),
        state=None if page.state == "stopped" else STATES.get(page.state or "", "Running"),
    )


def _rendered(values: Locals) -> dict[str, str]:
    shown = {each.name: rendered(each.value, each.type) for each in values.variables}
    return counted(shown, values.total - len(values.variables))


MAX_NAMED_THREADS = 10
"""Threads that a merged stack names; all of them are counted."""

MAX_NAMED_PROCESSES = 5
"""Processes that a note names; of more it has the number."""

MAX_NAMED_WAITS = 3
"""What the threads of a merged stack wait for, where it differs: for locks with different holders, say."""

MAX_NOTES = 40
"""Notes on processes whose stacks are not known, or not all of them. There may be hundreds of processes."""


async def _all_stacks(debugger: Debugger, params: StacktraceGet) -> AllStacks:
    if params.session_id is None:  # a session that only listens has no stacks
        sessions = [each for each in debugger.living_sessions() if has_program(each.profile, each.start)]
    else:
        sessions = [debugger.session(params.session_id)]
    if not sessions and debugger.root_session() is None:
        raise no_session()
    answers = await _ask_all(sessions, params)
    notes = _notes(sessions, answers, params)
    merged: dict[tuple[object, ...], list[tuple[str, LiveStack]]] = {}
    for session_id, found in answers.items():
        for stack in found.stacks:
            key = (stack.thread.id, session_id) if params.locals else (_places(stack.frames), stack.thread.kind)
            merged.setdefault(key, []).append((session_id, stack))
    groups = sorted(merged.values(), key=len, reverse=True)
    places = Places(debugger.workspace.directory)
    many = len(sessions) > 1
    page = [_merged(places, each, many=many, with_locals=params.locals) for each in groups[params.start :]]
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"{len(notes) - MAX_NOTES} more notes left out: ask with session_id"]
    kept = truncated(page, MAX_RESULT_BYTES - _HEAD_BYTES - json_size(notes))
    return AllStacks(stacks=kept, omitted=len(page) - len(kept), notes=notes)


async def _ask_all(sessions: Sequence[DebugSession], params: StacktraceGet) -> dict[str, StackList]:
    """Return the answers of the sessions, by id and in order.

    All at once: each that does not answer takes the whole time for an answer.
    """
    answers: dict[str, StackList] = {}

    async def ask(session: DebugSession) -> None:
        answers[session.id] = await session.looking.threads.stacks(params.count, with_locals=params.locals)

    async with trio.open_nursery() as nursery:
        for each in sessions:
            nursery.start_soon(ask, each)
    return {each.id: answers[each.id] for each in sessions}


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


def _note(session: DebugSession, found: StackList, params: StacktraceGet) -> str | None:
    if found.source == "adapter":
        return f"without locals: {session.profile.name} has no probe" if params.locals else None
    if found.failure is None:
        return None
    if found.source == "outside":
        return outside_note(found.failure) + ", without locals" * params.locals
    return f"the stacks are not known: {found.failure.reason}"


def _named(ids: Sequence[str]) -> str:
    """Return the ids of processes, or their number if they are many."""
    return ", ".join(ids) if len(ids) <= MAX_NAMED_PROCESSES else f"{len(ids)} processes, {ids[0]} to {ids[-1]}"


def _merged(places: Places, group: list[tuple[str, LiveStack]], *, many: bool, with_locals: bool) -> MergedStack:
    named = [
        f"{session_id}/{stack.thread.id} {stack.thread.name}" if many else f"{stack.thread.id} {stack.thread.name}"
        for session_id, stack in group[:MAX_NAMED_THREADS]
    ]
    first = group[0][1]
    lines = places.frames(first.frames)
    if first.total > len(first.frames):
        more = first.total - len(first.frames)
        lines.append(f"… {more} more frame{'s' if more > 1 else ''}")
    return MergedStack(
        count=len(group),
        threads=named,
        waits_for=_waits_of(stack.thread.waits for _, stack in group),
        frames=lines,
        locals=([_rendered(each) for each in first.locals] or [{} for _ in first.frames]) if with_locals else [],
    )


def _waits_of(waits: Iterable[str | None]) -> str | None:
    """What threads with the same stack wait for; they may wait for different things, or different holders."""
    different = list(dict.fromkeys(each for each in waits if each is not None))
    named, others = different[:MAX_NAMED_WAITS], len(different) - MAX_NAMED_WAITS
    return "; ".join([*named, *([f"{others} others"] if others > 0 else [])]) or None


def _places(frames: Iterable[StackFrame]) -> tuple[object, ...]:
    return tuple((each.name, each.location.file, each.location.line) for each in frames)


TOOLS = (
    Tool(
        name="stacktrace_get",
        title="Call stack",
        description=(
            "The frames of a thread, innermost first; with thread_id `*` of all threads of all processes, equal stacks "
            "merged. Also while a Python program runs or hangs."
        ),
        params=StacktraceGet,
        run=_stacktrace,
        read_only=True,
        idempotent=True,
        listing="core",
        unlisted=frozenset({"start"}),
    ),
)
