"""`stacktrace_get`: the stack of a thread, or of all threads, also while the program runs, waits, or is blocked.

While it is stopped the adapter answers for a stopped thread, as always. Everything else is asked of the probe inside
the program (`session.probe`), where there is one; without it the error says what is not known.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import AdapterGone, UsageError, no_session
from trio_debugmcp.probe.answers import Frames, ProbeError, ProbeFrame, ProbeStack, ProbeStacks, ProbeThreads
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.source import frames_with_source
from trio_debugmcp.server.answers.values import counted, rendered
from trio_debugmcp.server.tools.looking.silent import ask_or_look, outside_note
from trio_debugmcp.server.tools.looking.threads import STATES, reason
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, Params, SessionId, Start, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.execution import not_paused
from trio_debugmcp.session.looking import frames
from trio_debugmcp.session.looking.adapter_stacks import adapter_stacks
from trio_debugmcp.session.looking.outside import Outside
from trio_debugmcp.session.looking.program_probe import waits_for
from trio_debugmcp.session.looking.truncation import json_size, truncated
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.start import has_program
from trio_debugmcp.state.model import Snapshot

ALL_FRAMES = 20
"""Frames of each thread in a view of all stacks."""

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
    snapshot = session.snapshot
    if snapshot is None or snapshot.phase != "Paused" or params.locals:
        return await _live_stack(debugger, session, params)
    thread_id = frames.active_thread(snapshot, params.thread_id)
    found, total = await frames.fetch_frames(session.requests, snapshot, thread_id, params.start, params.count)
    for each in found:
        debugger.sources.learn(each.location.file, session.id, each.source_reference)
    kept = truncated(frames_with_source(debugger, snapshot, found), MAX_RESULT_BYTES - _HEAD_BYTES)
    return StackAnswer(frames=kept, omitted=max(0, total - params.start - len(kept)))


async def _live_stack(debugger: Debugger, session: DebugSession, params: StacktraceGet) -> StackAnswer:
    snapshot = session.snapshot
    thread_id = params.thread_id if isinstance(params.thread_id, int) else None
    if snapshot is not None and snapshot.phase == "Paused":
        thread_id = frames.active_thread(snapshot, thread_id)  # of several that are stopped, the active one
    try:
        threads: ProbeThreads = (await session.probe.threads()).answer
        found: Frames = (
            await session.probe.frames(thread_id, params.start, params.count, locals_=params.locals)
        ).answer
    except ProbeError as error:
        if error.kind == "thread":
            raise UsageError("INVALID_THREAD", f"{error} Ask threads_list for those there are.") from None
        raise _unknown_stack(session, snapshot, error) from None
    state = next((each.state for each in threads.threads if each.id == found.thread), "unknown")
    names = Places(debugger.workspace.directory).probe_stack(found.frames)
    kept = truncated(
        [(each, _rendered(frame)) for each, frame in zip(names, found.frames, strict=True)],
        MAX_RESULT_BYTES - _HEAD_BYTES,
    )
    return StackAnswer(
        frames=[name for name, _ in kept],
        locals=[values for _, values in kept] if params.locals else [],
        omitted=max(0, found.total - params.start - len(kept)),
        state=None if state == "stopped" else STATES.get(state, "Running"),
    )


def _unknown_stack(session: DebugSession, snapshot: Snapshot | None, error: ProbeError) -> UsageError:
    """Return the error of a stack that only the probe knows, and which it did not tell."""
    if snapshot is not None and snapshot.phase == "Paused":
        return UsageError(
            "NOT_SUPPORTED",
            f"The variables of all frames are not known: {reason(error)}. Ask without locals, and then variables_get "
            "for each frame that matters.",
            {"adapter": session.profile.name},
        )
    refusal = not_paused(snapshot)
    if session.profile.has_probe:
        return UsageError(refusal.code, f"Its stack is not known: {reason(error)}. {refusal.message}", refusal.details)
    return refusal


def _rendered(frame: ProbeFrame) -> dict[str, str]:
    shown = {each.name: rendered(each.value, each.type) for each in frame.locals}
    return counted(shown, frame.locals_total - len(frame.locals))


MAX_NAMED_THREADS = 10
"""Threads that a merged stack names; all of them are counted."""

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
    answers, notes = await _ask_all(debugger, sessions, params)
    merged: dict[tuple[object, ...], list[tuple[str, ProbeStack]]] = {}
    for session_id, found in answers:
        if found.total > len(found.stacks):
            more = found.total - len(found.stacks)
            notes.append(f"{session_id}: {more} thread{'s' if more > 1 else ''} left out")
        for stack in found.stacks:
            key = (stack.id, session_id) if params.locals else (_places(stack.frames), _kind(stack))
            merged.setdefault(key, []).append((session_id, stack))
    groups = sorted(merged.values(), key=len, reverse=True)
    places = Places(debugger.workspace.directory)
    many = len(sessions) > 1
    page = [_merged(places, each, many=many, with_locals=params.locals) for each in groups[params.start :]]
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"{len(notes) - MAX_NOTES} more notes left out: ask with session_id"]
    kept = truncated(page, MAX_RESULT_BYTES - _HEAD_BYTES - json_size(notes))
    return AllStacks(stacks=kept, omitted=len(page) - len(kept), notes=notes)


async def _ask_all(
    debugger: Debugger, sessions: Sequence[DebugSession], params: StacktraceGet
) -> tuple[list[tuple[str, ProbeStacks]], list[str]]:
    """Return the answers of the sessions, by id and in order, and notes on those that did not answer.

    All at once: each that does not answer takes the whole time for an answer.
    """
    answers: dict[str, ProbeStacks] = {}
    failures: dict[str, str] = {}
    most = min(params.count, ALL_FRAMES)

    async def ask(session: DebugSession) -> None:
        snapshot = session.snapshot
        if not session.profile.has_probe and snapshot is not None and snapshot.phase == "Paused":
            answers[session.id] = await adapter_stacks(session.requests, snapshot, most)
            if params.locals:
                failures[session.id] = f"{session.id}: without locals: {session.profile.name} has no probe"
            return
        try:
            answer = await ask_or_look(debugger, session, lambda: session.probe.stacks(most, locals_=params.locals))
        except (ProbeError, AdapterGone) as error:
            failures[session.id] = f"{session.id}: the stacks are not known: {reason(error)}"
        else:
            if isinstance(answer, Outside):
                failures[session.id] = f"{session.id}: {outside_note(answer)}{', without locals' * params.locals}"
                cut = tuple(replace(each, frames=each.frames[:most]) for each in answer.stacks.stacks)
                answer = ProbeStacks(cut, answer.stacks.total)
            answers[session.id] = answer

    async with trio.open_nursery() as nursery:
        for each in sessions:
            nursery.start_soon(ask, each)
    ids = [each.id for each in sessions]
    return [(each, answers[each]) for each in ids if each in answers], [
        failures[each] for each in ids if each in failures
    ]


def _merged(places: Places, group: list[tuple[str, ProbeStack]], *, many: bool, with_locals: bool) -> MergedStack:
    named = [
        f"{session_id}/{stack.id} {stack.name}" if many else f"{stack.id} {stack.name}"
        for session_id, stack in group[:MAX_NAMED_THREADS]
    ]
    first = group[0][1]
    lines = places.probe_stack(first.frames)
    if first.total > len(first.frames):
        more = first.total - len(first.frames)
        lines.append(f"… {more} more frame{'s' if more > 1 else ''}")
    return MergedStack(
        count=len(group),
        threads=named,
        waits_for=_waits_of(stack for _, stack in group),
        frames=lines,
        locals=[_rendered(each) for each in first.frames] if with_locals else [],
    )


def _waits_of(stacks: Iterable[ProbeStack]) -> str | None:
    """What threads with the same stack wait for; they may wait for different things, or different holders."""
    different = list(dict.fromkeys(each for each in map(waits_for, stacks) if each is not None))
    named, others = different[:MAX_NAMED_WAITS], len(different) - MAX_NAMED_WAITS
    return "; ".join([*named, *([f"{others} others"] if others > 0 else [])]) or None


def _places(found: Iterable[ProbeFrame]) -> tuple[object, ...]:
    return tuple((each.qualname or each.function, each.file, each.line) for each in found)


def _kind(stack: ProbeStack) -> str | None:
    return None if stack.waits is None else stack.waits.kind


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
