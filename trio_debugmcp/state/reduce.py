"""`reduce(state, message) -> state`: the only place where the state of anything changes.

Theory of operation
-------------------
Messages come from three sides: what a debug adapter says (`AdapterSaid`), what our own tasks did or fetched, and
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
    AdapterSaid,
    BreakpointEnabled,
    BreakpointFaulted,
    BreakpointLogged,
    BreakpointPut,
    BreakpointsBound,
    BreakpointsRemoved,
    ExceptionBreakpointPut,
    ExceptionBreakpointsBound,
    Happened,
    LocalsFetched,
    Message,
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
from trio_debugmcp.state.execution import running, session_after
from trio_debugmcp.state.model import ExceptionBreakpoint, Snapshot, Stack, State, Stop, Threads


@singledispatch
def reduce(message: Message, state: State) -> State:
    """The state after `message`. A message about a session that is gone changes nothing."""
    raise TypeError(f"no reduction for {type(message).__name__}")


# --- Sessions ------------------------------------------------------------------------------------------------


@reduce.register
def _(message: SessionOpened, state: State) -> State:
    opened = Snapshot(id=message.session, origin=message.origin, parent=message.parent)
    if message.parent is not None:
        return replace(state, sessions=(*state.sessions, opened))
    return replace(
        state,
        sessions=(opened,),
        focus=opened.id,
        written=0,
        breakpoints=tuple(without_history(each) for each in state.breakpoints),
        exceptions=tuple(replace(each, hits=0, sessions=(), problem=None) for each in state.exceptions),
    )


@reduce.register
def _(message: OriginLearned, state: State) -> State:
    def learn(session: Snapshot) -> Snapshot:
        return replace(session, origin=replace(session.origin, runtime_version=message.runtime_version))

    return _with_session(state, message.session, learn)


@reduce.register
def _(message: SessionStarted, state: State) -> State:
    return _with_session(
        state,
        message.session,
        lambda session: _if_phase(session, "Starting", replace(session, phase="Running")),
    )


@reduce.register
def _(message: SessionClosed, state: State) -> State:
    closed = state.session(message.session)
    if closed is None:
        return state
    if message.exit_code is not None:
        closed = replace(closed, exit_code=message.exit_code)
    closed = replace(closed, end_reason=message.reason, failed=message.failed)
    gone = _family(state, closed.id)
    sessions = tuple(session for session in state.sessions if session.id not in gone)
    return replace(
        state,
        sessions=sessions,
        focus=_focus_after_end(state, sessions, closed),
        last=closed if closed.parent is None else state.last,
        breakpoints=tuple(
            replace(each, bindings=tuple(binding for binding in each.bindings if binding.session not in gone))
            for each in state.breakpoints
        ),
        exceptions=tuple(
            replace(each, sessions=tuple(session for session in each.sessions if session not in gone))
            for each in state.exceptions
        ),
    )


def _family(state: State, session_id: str) -> set[str]:
    family = {session_id}
    for session in state.sessions:  # parents come before their children
        if session.parent in family:
            family.add(session.id)
    return family


def _focus_after_end(state: State, left: tuple[Snapshot, ...], closed: Snapshot) -> str | None:
    if any(session.id == state.focus for session in left):
        return state.focus
    waiting = _longest_paused(left)
    if waiting is not None:
        return waiting.id
    parent = next((session.id for session in left if session.id == closed.parent), None)
    return parent or (left[0].id if left else None)


def _longest_paused(sessions: tuple[Snapshot, ...]) -> Snapshot | None:
    paused = [session for session in sessions if session.phase == "Paused" and session.stop is not None]
    return min(paused, key=lambda session: session.stop.number if session.stop else 0, default=None)


# --- Execution -----------------------------------------------------------------------------------------------


@reduce.register
def _(message: Resumed, state: State) -> State:
    def resume(session: Snapshot) -> Snapshot:
        return session if session.phase == "Terminating" else running(session, stepping=message.kind == "step")

    state = _with_session(state, message.session, resume)
    if message.kind == "continue" and state.focus == message.session:
        waiting = _longest_paused(state.sessions)
        if waiting is not None:
            return replace(state, focus=waiting.id)
    return state


@reduce.register
def _(message: ResumeRefused, state: State) -> State:
    session = state.session(message.session)
    if session is None or session.generation != message.generation or session.phase != "Running":
        return state
    if session.stop is None:
        return state
    still_paused = replace(
        session,
        phase="Paused",
        stepping=False,
        threads=replace(session.threads, stale=False),
        stack=replace(session.stack, stale=False),
    )
    return replace(_with_session(state, session.id, lambda _: still_paused), focus=session.id)


@reduce.register
def _(message: StopExamined, state: State) -> State:
    session = state.session(message.session)
    if session is None or session.generation != message.generation or session.phase == "Terminating":
        return state
    location = message.frames[0].location if message.frames else None
    hit = breakpoints_hit(state, message, location)
    state = replace(
        state,
        stops=state.stops + 1,
        breakpoints=tuple(count_hit(each, message.session) if each.id in hit else each for each in state.breakpoints),
        exceptions=tuple(
            replace(each, hits=each.hits + 1) if each.id in message.exception_breakpoints else each
            for each in state.exceptions
        ),
    )
    shown = [each.id for each in state.breakpoints if each.id in hit and not each.temporary]
    paused = replace(
        session,
        phase="Paused",
        stepping=False,
        stop=Stop(
            number=state.stops,
            reason=message.reason,
            description=message.description,
            thread_id=message.thread_id,
            location=location,
            breakpoint_ids=(*shown, *message.exception_breakpoints),
            exception=message.exception,
        ),
        threads=Threads(
            threads=tuple(
                replace(thread, location=location) if thread.id == message.thread_id else thread
                for thread in message.threads
            ),
            current=message.thread_id,
            captured_at=message.at,
            stale=False,
        ),
        stack=Stack(
            thread_id=message.thread_id,
            frames=message.frames,
            total=message.total_frames,
            captured_at=message.at,
            stale=False,
        ),
    )
    focused = state.focused
    keep = focused is not None and focused.id != session.id and (focused.phase == "Paused" or focused.stepping)
    return replace(_with_session(state, session.id, lambda _: paused), focus=state.focus if keep else session.id)


@reduce.register
def _(message: LocalsFetched, state: State) -> State:
    return _with_stop(
        state,
        message.session,
        message.generation,
        lambda session: replace(session, stack=replace(session.stack, scopes=message.scopes, locals=message.locals)),
    )


@reduce.register
def _(message: ThreadsLocated, state: State) -> State:
    places = dict(message.locations)

    def locate(session: Snapshot) -> Snapshot:
        threads = tuple(
            replace(thread, location=places[thread.id]) if thread.id in places else thread
            for thread in session.threads.threads
        )
        return replace(session, threads=replace(session.threads, threads=threads))

    return _with_stop(state, message.session, message.generation, locate)


# --- What the adapter says -----------------------------------------------------------------------------------


@reduce.register
def _(message: AdapterSaid, state: State) -> State:
    match message.body:
        case BreakpointEvent() as event:
            return breakpoint_changed(state, message.session, event)
        case body:
            return _with_session(state, message.session, lambda session: session_after(session, body))


@reduce.register
def _(message: OutputWritten, state: State) -> State:
    return state if state.session(message.session) is None else replace(state, written=message.total)


@reduce.register
def _(message: Happened, state: State) -> State:
    return state


# --- Breakpoints ---------------------------------------------------------------------------------------------


@reduce.register
def _(message: BreakpointPut, state: State) -> State:
    new = message.breakpoint
    old = next((each for each in state.breakpoints if each.id == new.id), None)
    if old is not None:  # what happened to it meanwhile is not the sender's to say
        new = replace(new, hits=old.hits, bindings=old.bindings)
    return replace(state, breakpoints=put(state.breakpoints, new))


@reduce.register
def _(message: ExceptionBreakpointPut, state: State) -> State:
    new = message.breakpoint
    old = next((each for each in state.exceptions if each.id == new.id), None)
    if old is not None:
        new = replace(new, hits=old.hits, sessions=old.sessions)
    return replace(state, exceptions=put(state.exceptions, new))


@reduce.register
def _(message: BreakpointEnabled, state: State) -> State:
    return replace(
        state,
        breakpoints=tuple(
            replace(each, enabled=message.enabled) if each.id == message.id else each for each in state.breakpoints
        ),
        exceptions=tuple(
            replace(each, enabled=message.enabled) if each.id == message.id else each for each in state.exceptions
        ),
    )


@reduce.register
def _(message: BreakpointsRemoved, state: State) -> State:
    return replace(
        state,
        breakpoints=tuple(each for each in state.breakpoints if each.id not in message.ids),
        exceptions=tuple(each for each in state.exceptions if each.id not in message.ids),
    )


@reduce.register
def _(message: BreakpointsBound, state: State) -> State:
    if state.session(message.session) is None:
        return state
    results = dict(message.results)
    return replace(
        state,
        breakpoints=tuple(
            bound(each, message.session, results[each.id]) if each.id in results else each for each in state.breakpoints
        ),
    )


@reduce.register
def _(message: ExceptionBreakpointsBound, state: State) -> State:
    if state.session(message.session) is None:
        return state

    def watched_by(each: ExceptionBreakpoint) -> ExceptionBreakpoint:
        others = tuple(session for session in each.sessions if session != message.session)
        watched = each.id in message.ids
        return replace(
            each,
            sessions=(*others, message.session) if watched else others,
            problem=message.problem if each.enabled else None,
        )

    return replace(state, exceptions=tuple(watched_by(each) for each in state.exceptions))


@reduce.register
def _(message: BreakpointLogged, state: State) -> State:
    return replace(
        state,
        breakpoints=tuple(
            count_hit(each, message.session) if each.id == message.breakpoint else each for each in state.breakpoints
        ),
    )


@reduce.register
def _(message: BreakpointFaulted, state: State) -> State:
    return replace(
        state,
        breakpoints=tuple(
            replace(each, problem=message.problem) if each.condition == message.condition else each
            for each in state.breakpoints
        ),
    )


# --- Parts ---------------------------------------------------------------------------------------------------


def _if_phase(session: Snapshot, phase: str, then: Snapshot) -> Snapshot:
    return then if session.phase == phase else session


def _with_session(state: State, session_id: str, change: Callable[[Snapshot], Snapshot]) -> State:
    old = state.session(session_id)
    if old is None:
        return state
    new = change(old)
    if new is old:
        return state
    return replace(state, sessions=tuple(new if each is old else each for each in state.sessions))


def _with_stop(state: State, session_id: str, generation: int, change: Callable[[Snapshot], Snapshot]) -> State:
    session = state.session(session_id)
    if session is None or session.generation != generation or session.phase != "Paused":
        return state
    return _with_session(state, session_id, change)
