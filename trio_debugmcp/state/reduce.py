"""`reduce(state, change) -> state`: the only place where the state of anything changes.

Theory of operation
-------------------
Messages come from three sides: what a debug adapter says (`EventReceived`), what our own tasks did or fetched, and
what the user asked for. They are reduced one at a time, in the order in which they reached the merger.

1. *Events drive state, responses do not.* `Resumed` is merged before the resume request is written; the answer to
   that request changes nothing, because the `stopped` that follows may have overtaken it.
2. *A stop is published whole.* `stopped` only opens a new generation. The session turns Paused when `StopExamined`
   arrives with the frames and threads, so nobody ever reads a pause without a place. A stop that is examined and
   found to be of no interest (an exception of another type) is resumed without ever having been seen.
3. *Late answers are dropped.* Whatever was fetched carries its generation; every stop and resume opens a new one.
4. *Focus.* A stop takes the focus unless the focused session is itself paused or in the middle of a step: nobody's
   feet are pulled away. Continuing the focused session hands the focus to another one that waits paused.
"""

from collections.abc import Callable
from functools import singledispatch

from msgspec.structs import replace

from trio_debugmcp.dap.messages import BreakpointEvent
from trio_debugmcp.state.breakpoints import (
    bound,
    breakpoint_changed,
    breakpoints_hit,
    count_hit,
    put,
    without_history,
)
from trio_debugmcp.state.changes import (
    BreakpointEnabled,
    BreakpointFaulted,
    BreakpointLogged,
    BreakpointPut,
    BreakpointsBound,
    BreakpointsRemoved,
    Change,
    EventReceived,
    ExceptionBreakpointPut,
    ExceptionBreakpointsBound,
    Happened,
    LocalsFetched,
    OriginLearned,
    OutputWritten,
    Resumed,
    ResumeRefused,
    SessionClosed,
    SessionOpened,
    SessionStarted,
    StopExamined,
    ThreadsLocated,
)
from trio_debugmcp.state.execution import running, snapshot_after
from trio_debugmcp.state.model import ExceptionBreakpoint, Snapshot, Stack, State, Stop, Threads


@singledispatch
def reduce(change: Change, state: State) -> State:
    """The state after `change`. A change about a session that is gone changes nothing."""
    raise TypeError(f"no reduction for {type(change).__name__}")


# --- Sessions ------------------------------------------------------------------------------------------------


@reduce.register
def _(change: SessionOpened, state: State) -> State:
    opened = Snapshot(id=change.session_id, origin=change.origin, parent=change.parent)
    if change.parent is not None:
        return replace(state, snapshots=(*state.snapshots, opened))
    return replace(
        state,
        snapshots=(opened,),
        focus=opened.id,
        written=0,
        breakpoints=tuple(without_history(each) for each in state.breakpoints),
        exceptions=tuple(replace(each, hits=0, session_ids=(), problem=None) for each in state.exceptions),
    )


@reduce.register
def _(change: OriginLearned, state: State) -> State:
    def learn(snapshot: Snapshot) -> Snapshot:
        return replace(snapshot, origin=replace(snapshot.origin, runtime_version=change.runtime_version))

    return _with_session(state, change.session_id, learn)


@reduce.register
def _(change: SessionStarted, state: State) -> State:
    return _with_session(
        state,
        change.session_id,
        lambda snapshot: _if_phase(snapshot, "Starting", replace(snapshot, phase="Running")),
    )


@reduce.register
def _(change: SessionClosed, state: State) -> State:
    closed = state.snapshot(change.session_id)
    if closed is None:
        return state
    if change.exit_code is not None:
        closed = replace(closed, exit_code=change.exit_code)
    closed = replace(closed, end_reason=change.reason, failed=change.failed)
    gone = _family(state, closed.id)
    snapshots = tuple(snapshot for snapshot in state.snapshots if snapshot.id not in gone)
    return replace(
        state,
        snapshots=snapshots,
        focus=_focus_after_end(state, snapshots, closed),
        last=closed if closed.parent is None else state.last,
        breakpoints=tuple(
            replace(each, bindings=tuple(binding for binding in each.bindings if binding.session_id not in gone))
            for each in state.breakpoints
        ),
        exceptions=tuple(
            replace(each, session_ids=tuple(id_ for id_ in each.session_ids if id_ not in gone))
            for each in state.exceptions
        ),
    )


def _family(state: State, session_id: str) -> set[str]:
    family = {session_id}
    for snapshot in state.snapshots:  # parents come before their children
        if snapshot.parent in family:
            family.add(snapshot.id)
    return family


def _focus_after_end(state: State, left: tuple[Snapshot, ...], closed: Snapshot) -> str | None:
    if any(snapshot.id == state.focus for snapshot in left):
        return state.focus
    waiting = _longest_paused(left)
    if waiting is not None:
        return waiting.id
    parent = next((snapshot.id for snapshot in left if snapshot.id == closed.parent), None)
    return parent or (left[0].id if left else None)


def _longest_paused(snapshots: tuple[Snapshot, ...]) -> Snapshot | None:
    paused = [snapshot for snapshot in snapshots if snapshot.phase == "Paused" and snapshot.stop is not None]
    return min(paused, key=lambda snapshot: snapshot.stop.number if snapshot.stop else 0, default=None)


# --- Execution -----------------------------------------------------------------------------------------------


@reduce.register
def _(change: Resumed, state: State) -> State:
    def resume(snapshot: Snapshot) -> Snapshot:
        return snapshot if snapshot.phase == "Terminating" else running(snapshot, stepping=change.kind == "step")

    state = _with_session(state, change.session_id, resume)
    if change.kind == "continue" and state.focus == change.session_id:
        waiting = _longest_paused(state.snapshots)
        if waiting is not None:
            return replace(state, focus=waiting.id)
    return state


@reduce.register
def _(change: ResumeRefused, state: State) -> State:
    snapshot = state.snapshot(change.session_id)
    if snapshot is None or snapshot.generation != change.generation or snapshot.phase != "Running":
        return state
    if snapshot.stop is None:
        return state
    still_paused = replace(
        snapshot,
        phase="Paused",
        stepping=False,
        threads=replace(snapshot.threads, stale=False),
        stack=replace(snapshot.stack, stale=False),
    )
    return replace(_with_session(state, snapshot.id, lambda _: still_paused), focus=snapshot.id)


@reduce.register
def _(change: StopExamined, state: State) -> State:
    snapshot = state.snapshot(change.session_id)
    if snapshot is None or snapshot.generation != change.generation or snapshot.phase == "Terminating":
        return state
    location = change.frames[0].location if change.frames else None
    hit = breakpoints_hit(state, change, location)
    state = replace(
        state,
        stops=state.stops + 1,
        breakpoints=tuple(count_hit(each, change.session_id) if each.id in hit else each for each in state.breakpoints),
        exceptions=tuple(
            replace(each, hits=each.hits + 1) if each.id in change.exception_breakpoints else each
            for each in state.exceptions
        ),
    )
    shown = [each.id for each in state.breakpoints if each.id in hit and not each.temporary]
    paused = replace(
        snapshot,
        phase="Paused",
        stepping=False,
        stop=Stop(
            number=state.stops,
            reason=change.reason,
            description=change.description,
            thread_id=change.thread_id,
            location=location,
            breakpoint_ids=(*shown, *change.exception_breakpoints),
            exception=change.exception,
        ),
        threads=Threads(
            threads=tuple(
                replace(thread, location=location) if thread.id == change.thread_id else thread
                for thread in change.threads
            ),
            current=change.thread_id,
            captured_at=change.at,
            stale=False,
        ),
        stack=Stack(
            thread_id=change.thread_id,
            frames=change.frames,
            total=change.total_frames,
            captured_at=change.at,
            stale=False,
        ),
    )
    focused = state.focused
    keep = focused is not None and focused.id != snapshot.id and (focused.phase == "Paused" or focused.stepping)
    return replace(_with_session(state, snapshot.id, lambda _: paused), focus=state.focus if keep else snapshot.id)


@reduce.register
def _(change: LocalsFetched, state: State) -> State:
    return _with_stop(
        state,
        change.session_id,
        change.generation,
        lambda snapshot: replace(snapshot, stack=replace(snapshot.stack, scopes=change.scopes, locals=change.locals)),
    )


@reduce.register
def _(change: ThreadsLocated, state: State) -> State:
    places = dict(change.locations)

    def locate(snapshot: Snapshot) -> Snapshot:
        threads = tuple(
            replace(thread, location=places[thread.id]) if thread.id in places else thread
            for thread in snapshot.threads.threads
        )
        return replace(snapshot, threads=replace(snapshot.threads, threads=threads))

    return _with_stop(state, change.session_id, change.generation, locate)


# --- What the adapter says -----------------------------------------------------------------------------------


@reduce.register
def _(change: EventReceived, state: State) -> State:
    match change.body:
        case BreakpointEvent() as event:
            return breakpoint_changed(state, change.session_id, event)
        case body:
            return _with_session(state, change.session_id, lambda snapshot: snapshot_after(snapshot, body))


@reduce.register
def _(change: OutputWritten, state: State) -> State:
    return state if state.snapshot(change.session_id) is None else replace(state, written=change.total)


@reduce.register
def _(change: Happened, state: State) -> State:
    return state


# --- Breakpoints ---------------------------------------------------------------------------------------------


@reduce.register
def _(change: BreakpointPut, state: State) -> State:
    new = change.breakpoint
    old = next((each for each in state.breakpoints if each.id == new.id), None)
    if old is not None:  # what happened to it meanwhile is not the sender's to say
        new = replace(new, hits=old.hits, bindings=old.bindings)
    return replace(state, breakpoints=put(state.breakpoints, new))


@reduce.register
def _(change: ExceptionBreakpointPut, state: State) -> State:
    new = change.breakpoint
    old = next((each for each in state.exceptions if each.id == new.id), None)
    if old is not None:
        new = replace(new, hits=old.hits, session_ids=old.session_ids)
    return replace(state, exceptions=put(state.exceptions, new))


@reduce.register
def _(change: BreakpointEnabled, state: State) -> State:
    return replace(
        state,
        breakpoints=tuple(
            replace(each, enabled=change.enabled) if each.id == change.id else each for each in state.breakpoints
        ),
        exceptions=tuple(
            replace(each, enabled=change.enabled) if each.id == change.id else each for each in state.exceptions
        ),
    )


@reduce.register
def _(change: BreakpointsRemoved, state: State) -> State:
    return replace(
        state,
        breakpoints=tuple(each for each in state.breakpoints if each.id not in change.ids),
        exceptions=tuple(each for each in state.exceptions if each.id not in change.ids),
    )


@reduce.register
def _(change: BreakpointsBound, state: State) -> State:
    if state.snapshot(change.session_id) is None:
        return state
    results = dict(change.results)
    return replace(
        state,
        breakpoints=tuple(
            bound(each, change.session_id, results[each.id]) if each.id in results else each
            for each in state.breakpoints
        ),
    )


@reduce.register
def _(change: ExceptionBreakpointsBound, state: State) -> State:
    if state.snapshot(change.session_id) is None:
        return state

    def watched_by(each: ExceptionBreakpoint) -> ExceptionBreakpoint:
        others = tuple(id_ for id_ in each.session_ids if id_ != change.session_id)
        watched = each.id in change.ids
        return replace(
            each,
            session_ids=(*others, change.session_id) if watched else others,
            problem=change.problem if each.enabled else None,
        )

    return replace(state, exceptions=tuple(watched_by(each) for each in state.exceptions))


@reduce.register
def _(change: BreakpointLogged, state: State) -> State:
    return replace(
        state,
        breakpoints=tuple(
            count_hit(each, change.session_id) if each.id == change.breakpoint else each for each in state.breakpoints
        ),
    )


@reduce.register
def _(change: BreakpointFaulted, state: State) -> State:
    return replace(
        state,
        breakpoints=tuple(
            replace(each, problem=change.problem) if each.condition == change.condition else each
            for each in state.breakpoints
        ),
    )


# --- Parts ---------------------------------------------------------------------------------------------------


def _if_phase(snapshot: Snapshot, phase: str, then: Snapshot) -> Snapshot:
    return then if snapshot.phase == phase else snapshot


def _with_session(state: State, session_id: str, update: Callable[[Snapshot], Snapshot]) -> State:
    old = state.snapshot(session_id)
    if old is None:
        return state
    new = update(old)
    if new is old:
        return state
    return replace(state, snapshots=tuple(new if each is old else each for each in state.snapshots))


def _with_stop(state: State, session_id: str, generation: int, update: Callable[[Snapshot], Snapshot]) -> State:
    snapshot = state.snapshot(session_id)
    if snapshot is None or snapshot.generation != generation or snapshot.phase != "Paused":
        return state
    return _with_session(state, session_id, update)
