"""The tools that show what threads and tasks do: also while the program runs, waits, or is blocked.

While it is stopped the adapter answers for the stopped thread, as always. Everything else is asked of the probe inside
the program (`session.probe`), where there is one; without it these tools show the last stop, or say what they cannot.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

import msgspec
import trio
from msgspec import Meta

from trio_debugmcp.errors import AdapterGone, UsageError, no_session
from trio_debugmcp.probe.answers import Frames, ProbeError, ProbeFrame, ProbeTask, ProbeThread, Stack, Stacks, Threads
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, Params, SessionId, Start, Tool
from trio_debugmcp.session import frames
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.execution import not_paused
from trio_debugmcp.session.probe import waits_for
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.truncation import json_size, truncated
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import Frame, Location, Payload, ThreadsPayload
from trio_debugmcp.state.resources import THREADS, threads_payload

ALL_FRAMES = 20
"""Frames of each thread in a view of all stacks."""

_STATES = {"stopped": "Suspended", "waiting": "Waiting"}
"""The probe's words in the contract's; what runs, or may run, is Running."""


class ThreadsList(Params, frozen=True, kw_only=True):
    session_id: SessionId = None


class StacktraceGet(Params, frozen=True, kw_only=True):
    thread_id: Annotated[
        int | Literal["*"] | None,
        Meta(description="A thread id from threads_list, or `*` for all; default: the active thread."),
    ] = None
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=1000, description="How many frames.")] = 20
    locals: Annotated[bool, Meta(description="With the variables of each frame.")] = False
    session_id: SessionId = None


class TasksList(Params, frozen=True, kw_only=True):
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=10_000, description="How many tasks.")] = 200
    session_id: SessionId = None


class LiveThread(Payload, frozen=True):
    """A thread as it is now. `Waiting`: in C code, so it cannot be stepped; `waitsFor` says for what."""

    id: int
    name: str | None
    state: str
    is_current: bool
    location: Location | None
    waits_for: str | msgspec.UnsetType = msgspec.UNSET


class LiveThreads(Payload, frozen=True):
    """The threads as they are now. `deadlocks`: ids of threads that wait for each other; `omitted`: left out here."""

    threads: list[LiveThread]
    stale: bool
    deadlocks: list[list[int]]
    total: int
    omitted: int


class LastThreads(ThreadsPayload, frozen=True):
    """The threads as of the last stop, because the program did not answer: `notes` say why."""

    notes: list[str]


class StackResult(Payload, frozen=True):
    """Frames of a thread, and how many it has. `omitted`: left out here; ask with `start`."""

    thread_id: int
    frames: list[Frame]
    total: int
    omitted: int


class LiveFrame(Payload, frozen=True):
    """A frame with its variables, where they were asked for: names to rendered values."""

    index: int
    name: str
    location: Location
    is_user_code: bool
    locals: dict[str, str] | msgspec.UnsetType = msgspec.UNSET


class LiveStack(Payload, frozen=True):
    """The stack of a thread as it is now, while the program runs or waits."""

    thread_id: int
    state: str
    frames: list[LiveFrame]
    total: int
    omitted: int


class MergedStack(Payload, frozen=True):
    """One stack, of `count` threads: `function file:line` for each frame, the innermost first."""

    count: int
    threads: list[str]
    waits_for: str | None
    frames: list[str]
    locals: list[dict[str, str]] | msgspec.UnsetType = msgspec.UNSET


class AllStacks(Payload, frozen=True):
    """The stacks of all threads of all sessions, equal ones merged, the most frequent first.

    `total`, `omitted`: stacks that differ, and those of them left out here; `threads`: of all sessions that answered.
    """

    stacks: list[MergedStack]
    total: int
    omitted: int
    threads: int
    notes: list[str]


class TaskLine(Payload, frozen=True):
    """A task of asyncio or Trio. `chain`: from its coroutine to what it awaits; `depth`: in the tree of nurseries."""

    name: str
    library: str
    state: str
    chain: list[str]
    waits_for: str | None
    depth: int


class TasksResult(Payload, frozen=True):
    """The tasks of the program. `omitted`: left out here; ask with `start`."""

    tasks: list[TaskLine]
    total: int
    omitted: int
    notes: list[str]


# --- Threads ----------------------------------------------------------------------------------------------------------


async def _threads(debugger: Debugger, params: ThreadsList) -> ThreadsPayload | LiveThreads:
    session = debugger.session(params.session_id)
    try:
        found = (await session.probe.threads()).answer
    except ProbeError as error:
        snapshot = session.snapshot
        if snapshot is None:
            raise no_session() from None
        last = threads_payload(snapshot, debugger.merger.revisions[THREADS])
        if not session.profile.has_probe:
            return last
        note = f"where the threads are now is not known: {_reason(error)}. This is the last stop"
        return LastThreads(last.threads, last.stale, last.captured_at, last.revision, [note])
    current = session.snapshot.threads.current if session.snapshot is not None else None
    kept = truncated((_live_thread(each, current) for each in found.threads), MAX_RESULT_BYTES)
    deadlocks = [list(each.threads) for each in found.deadlocks]
    return LiveThreads(kept, False, deadlocks, found.total, found.total - len(kept))


def _live_thread(thread: ProbeThread, current: int | None) -> LiveThread:
    place = None
    if thread.at is not None:
        at = thread.at.from_ or thread.at
        place = Location(at.file, at.line, None, at.qualname or at.function, at.module or None)
    waits = waits_for(thread)
    return LiveThread(
        id=thread.id,
        name=thread.name,
        state=_STATES.get(thread.state, "Running"),
        is_current=thread.id == current,
        location=place,
        waits_for=msgspec.UNSET if waits is None else waits,
    )


# --- Stacks -----------------------------------------------------------------------------------------------------------


async def _stacktrace(debugger: Debugger, params: StacktraceGet) -> StackResult | LiveStack | AllStacks:
    if params.thread_id == "*":
        return await _all_stacks(debugger, params)
    session = debugger.session(params.session_id)
    snapshot = session.snapshot
    if snapshot is None or snapshot.phase != "Paused" or params.locals:
        return await _live_stack(session, snapshot, params)
    thread_id = frames.active_thread(snapshot, params.thread_id)
    found, total = await frames.fetch_frames(session.requests, snapshot, thread_id, params.start, params.count)
    kept = truncated(frames.frame_list(found, params.start), MAX_RESULT_BYTES)
    return StackResult(thread_id, kept, total, len(found) - len(kept))


async def _live_stack(session: DebugSession, snapshot: Snapshot | None, params: StacktraceGet) -> LiveStack:
    thread_id = params.thread_id if isinstance(params.thread_id, int) else None
    if snapshot is not None and snapshot.phase == "Paused":
        thread_id = frames.active_thread(snapshot, thread_id)  # of several that are stopped, the active one
    try:
        threads: Threads = (await session.probe.threads()).answer
        found: Frames = (
            await session.probe.frames(thread_id, params.start, params.count, locals_=params.locals)
        ).answer
    except ProbeError as error:
        if error.kind == "thread":
            raise UsageError("INVALID_THREAD", f"{error} Ask threads_list for those there are.") from None
        raise _unknown_stack(session, snapshot, error) from None
    state = next((each.state for each in threads.threads if each.id == found.thread), "unknown")
    shown = [_live_frame(each, with_locals=params.locals) for each in found.frames]
    kept = truncated(shown, MAX_RESULT_BYTES)
    return LiveStack(found.thread, _STATES.get(state, "Running"), kept, found.total, len(shown) - len(kept))


def _unknown_stack(session: DebugSession, snapshot: Snapshot | None, error: ProbeError) -> UsageError:
    """Return the error of a stack that only the probe knows, and which it did not tell."""
    if snapshot is not None and snapshot.phase == "Paused":
        return UsageError(
            "NOT_SUPPORTED",
            f"The variables of all frames are not known: {_reason(error)}. Ask without locals, and then variables_get "
            "for each frame that matters.",
            {"adapter": session.profile.name},
        )
    refusal = not_paused(snapshot)
    if session.profile.has_probe:
        return UsageError(refusal.code, f"Its stack is not known: {_reason(error)}. {refusal.message}", refusal.details)
    return refusal


def _reason(error: Exception) -> str:
    """Return why something is not known, for the middle of a sentence."""
    return str(error).rstrip(".")


def _live_frame(frame: ProbeFrame, *, with_locals: bool) -> LiveFrame:
    return LiveFrame(
        index=frame.index,
        name=frame.qualname or frame.function,
        location=Location(frame.file, frame.line, None, frame.function, frame.module or None),
        is_user_code=not frame.library,
        locals=_rendered(frame) if with_locals else msgspec.UNSET,
    )


def _rendered(frame: ProbeFrame) -> dict[str, str]:
    shown = {each.name: each.value if each.type is None else f"{each.value} ({each.type})" for each in frame.locals}
    left_out = frame.locals_total - len(frame.locals)
    return {**shown, "…": f"{left_out} more: variables_get"} if left_out > 0 else shown


MAX_NAMED_THREADS = 10
"""Threads that a merged stack names; all of them are counted."""

MAX_NOTES = 40
"""Notes on processes whose stacks are not known, or not all of them. There may be hundreds of processes."""

_HEAD_BYTES = 200
"""Of an answer around its lists."""


async def _all_stacks(debugger: Debugger, params: StacktraceGet) -> AllStacks:
    sessions = debugger.living_sessions() if params.session_id is None else [debugger.session(params.session_id)]
    if not sessions:
        raise no_session()
    answers, notes = await _ask_all(sessions, params)
    merged: dict[tuple[object, ...], list[tuple[str, Stack]]] = {}
    for session_id, found in answers:
        if found.total > len(found.stacks):
            notes.append(f"{session_id}: {found.total - len(found.stacks)} threads left out")
        for stack in found.stacks:
            key = (stack.id, session_id) if params.locals else (tuple(_lines(stack.frames)), _kind(stack))
            merged.setdefault(key, []).append((session_id, stack))
    groups = sorted(merged.values(), key=len, reverse=True)
    page = [_merged(each, many=len(sessions) > 1, with_locals=params.locals) for each in groups[params.start :]]
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"{len(notes) - MAX_NOTES} more notes left out: ask with session_id"]
    kept = truncated(page, MAX_RESULT_BYTES - _HEAD_BYTES - json_size(notes))
    threads = sum(found.total for _, found in answers)
    return AllStacks(kept, len(groups), len(page) - len(kept), threads, notes)


async def _ask_all(
    sessions: Sequence[DebugSession], params: StacktraceGet
) -> tuple[list[tuple[str, Stacks]], list[str]]:
    """Return the answers of the sessions, by id and in order, and notes on those that did not answer.

    All at once: each that does not answer takes the whole time for an answer.
    """
    answers: dict[str, Stacks] = {}
    failures: dict[str, str] = {}

    async def ask(session: DebugSession) -> None:
        try:
            answer = await session.probe.stacks(min(params.count, ALL_FRAMES), locals_=params.locals)
        except (ProbeError, AdapterGone) as error:
            failures[session.id] = f"{session.id}: the stacks are not known: {_reason(error)}"
        else:
            answers[session.id] = answer.answer

    async with trio.open_nursery() as nursery:
        for each in sessions:
            nursery.start_soon(ask, each)
    ids = [each.id for each in sessions]
    return [(each, answers[each]) for each in ids if each in answers], [
        failures[each] for each in ids if each in failures
    ]


def _merged(group: list[tuple[str, Stack]], *, many: bool, with_locals: bool) -> MergedStack:
    named = [
        f"{session_id}/{stack.id} {stack.name}" if many else f"{stack.id} {stack.name}"
        for session_id, stack in group[:MAX_NAMED_THREADS]
    ]
    first = group[0][1]
    lines = _lines(first.frames)
    if first.total > len(first.frames):
        lines.append(f"… {first.total - len(first.frames)} more frames")
    return MergedStack(
        count=len(group),
        threads=named,
        waits_for=waits_for(first),
        frames=lines,
        locals=[_rendered(each) for each in first.frames] if with_locals else msgspec.UNSET,
    )


def _lines(found: Iterable[ProbeFrame]) -> list[str]:
    return [
        f"{each.qualname or each.function} {each.file}:{each.line}{' (library)' if each.library else ''}"
        for each in found
    ]


def _kind(stack: Stack) -> str | None:
    return None if stack.waits is None else stack.waits.kind


# --- Tasks ------------------------------------------------------------------------------------------------------------


async def _tasks(debugger: Debugger, params: TasksList) -> TasksResult:
    session = debugger.session(params.session_id)
    try:
        found = (await session.probe.tasks(params.start, params.count)).answer
    except ProbeError as error:
        raise UsageError(
            "NOT_SUPPORTED",
            f"The tasks of this program are not known: {_reason(error)}. Look at its threads with threads_list.",
            {"adapter": session.profile.name},
        ) from None
    shown = [_task_line(each) for each in found.tasks]
    kept = truncated(shown, MAX_RESULT_BYTES)
    left_out = max(0, found.total - params.start - len(kept))
    return TasksResult(kept, found.total, left_out, list(found.notes))


def _task_line(task: ProbeTask) -> TaskLine:
    chain = [f"{each.qualname or each.function} {each.file}:{each.line}" for each in task.chain]
    return TaskLine(task.name, task.library, task.state, chain, task.waits, task.depth)


TOOLS = (
    Tool(
        name="stacktrace_get",
        title="Call stack",
        description="The frames of a thread, top first; with `*` those of all threads, equal stacks merged. Python "
        "programs answer also while they run or are blocked.",
        params=StacktraceGet,
        result=(StackResult, LiveStack, AllStacks),
        run=_stacktrace,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        name="threads_list",
        title="Threads",
        description="The threads with their places and what they wait for; of Python programs as they are now, also "
        "while they run or are blocked, else as of the last stop.",
        params=ThreadsList,
        result=(ThreadsPayload, LiveThreads, LastThreads),
        run=_threads,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        name="tasks_list",
        title="Tasks",
        description="The asyncio tasks with what each awaits, or the nursery tree of a Trio program; also while it "
        "runs or is blocked.",
        params=TasksList,
        result=TasksResult,
        run=_tasks,
        read_only=True,
        idempotent=True,
        core=False,
    ),
)
