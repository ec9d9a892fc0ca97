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
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import (
    BreakpointEvent,
    Continued,
    DapBreakpoint,
    DapModule,
    EventBody,
    Exited,
    ModuleEvent,
    Process,
    Stopped,
    Terminated,
    ThreadEvent,
)
from trio_debugmcp.state.hits import hits_after_stop
from trio_debugmcp.state.model import (
    Binding,
    Breakpoint,
    ExceptionBreakpoint,
    Module,
    NamedScope,
    Origin,
    ResumeKind,
    Snapshot,
    Stack,
    StackFrame,
    State,
    Stop,
    Thread,
    Threads,
)
from trio_debugmcp.state.payloads import ExceptionInfo, Location, PauseReason, UnixTime, Variable

MAX_MODULES = 10_000
"""Modules kept per session; a large native program loads some thousands."""


class Message(Struct, frozen=True):
    """The base of what `reduce` takes."""


class SessionOpened(Message, frozen=True):
    """A session begins; its state is Starting."""

    session: str
    origin: Origin
    parent: str | None = None


class OriginLearned(Message, frozen=True):
    """Something about the session's process became known."""

    session: str
    runtime_version: str | None = None


class SessionStarted(Message, frozen=True):
    """The adapter has been configured and the program may run."""

    session: str


class SessionClosed(Message, frozen=True):
    """The session is over and cleaned up; whatever children are left go with it. `failed`: nobody wanted it to end."""

    session: str
    reason: str
    exit_code: int | None = None
    failed: bool = False


class AdapterSaid(Message, frozen=True):
    """An event of the debug adapter, with the time of its arrival."""

    session: str
    body: EventBody
    at: UnixTime


class Resumed(Message, frozen=True):
    """We are about to resume the program."""

    session: str
    kind: ResumeKind = "continue"


class ResumeRefused(Message, frozen=True):
    """The adapter refused to resume: the stop before `Resumed` still stands."""

    session: str
    generation: int


class StopExamined(Message, frozen=True):
    """A stop that counts, with what was found there. `hit_ids` are the adapter's breakpoint ids, if it gave any."""

    session: str
    generation: int
    at: UnixTime
    reason: PauseReason
    thread_id: int
    description: str | None = None
    hit_ids: tuple[int, ...] | None = None
    exception: ExceptionInfo | None = None
    exception_breakpoints: tuple[str, ...] = ()
    frames: tuple[StackFrame, ...] = ()
    total_frames: int = 0
    threads: tuple[Thread, ...] = ()


class LocalsFetched(Message, frozen=True):
    """The scopes and locals of the top frame."""

    session: str
    generation: int
    scopes: tuple[NamedScope, ...]
    locals: tuple[Variable, ...]


class ThreadsLocated(Message, frozen=True):
    """Where the other threads are."""

    session: str
    generation: int
    locations: tuple[tuple[int, Location], ...]


class BreakpointPut(Message, frozen=True):
    """A breakpoint was set or replaced."""

    breakpoint: Breakpoint


class ExceptionBreakpointPut(Message, frozen=True):
    """An exception breakpoint was set or replaced."""

    breakpoint: ExceptionBreakpoint


class BreakpointsRemoved(Message, frozen=True):
    """Breakpoints of any kind are gone."""

    ids: frozenset[str]


class BreakpointsBound(Message, frozen=True):
    """What a session's adapter answered about breakpoints, by our ids. None: it was not sent there."""

    session: str
    results: tuple[tuple[str, DapBreakpoint | None], ...]


class ExceptionBreakpointsBound(Message, frozen=True):
    """Which exception breakpoints a session watches for now."""

    session: str
    ids: frozenset[str]
    problem: str | None = None


class BreakpointLogged(Message, frozen=True):
    """A breakpoint with a log message was passed, and wrote it."""

    session: str
    breakpoint: str


class BreakpointFaulted(Message, frozen=True):
    """A condition failed when it was evaluated. The breakpoint is found by the condition's text."""

    session: str
    condition: str
    problem: str


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
        breakpoints=tuple(_without_history(each) for each in state.breakpoints),
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
        return session if session.phase == "Terminating" else _running(session, stepping=message.kind == "step")

    state = _with_session(state, message.session, resume)
    if message.kind == "continue" and state.focus == message.session:
        waiting = _longest_paused(state.sessions)
        if waiting is not None:
            return replace(state, focus=waiting.id)
    return state


@reduce.register
def _(message: ResumeRefused, state: State) -> State:
    def restore(session: Snapshot) -> Snapshot:
        if session.generation != message.generation or session.stop is None or session.phase != "Running":
            return session
        return replace(
            session,
            phase="Paused",
            stepping=False,
            threads=replace(session.threads, stale=False),
            stack=replace(session.stack, stale=False),
        )

    return _with_session(state, message.session, restore)


@reduce.register
def _(message: StopExamined, state: State) -> State:
    session = state.session(message.session)
    if session is None or session.generation != message.generation or session.phase == "Terminating":
        return state
    location = message.frames[0].location if message.frames else None
    hit = _breakpoints_hit(state, message, location)
    state = replace(
        state,
        stops=state.stops + 1,
        breakpoints=tuple(_count_hit(each, message.session) if each.id in hit else each for each in state.breakpoints),
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


def _running(session: Snapshot, *, stepping: bool = False) -> Snapshot:
    return replace(
        session,
        phase="Running",
        stepping=stepping,
        generation=session.generation + 1,
        threads=session.threads if session.threads.stale else replace(session.threads, stale=True),
        stack=session.stack if session.stack.stale else replace(session.stack, stale=True),
    )


# --- What the adapter says -----------------------------------------------------------------------------------


@reduce.register
def _(message: AdapterSaid, state: State) -> State:
    match message.body:
        case BreakpointEvent() as event:
            return _breakpoint_changed(state, message.session, event)
        case body:
            return _with_session(state, message.session, lambda session: _session_after(session, body))


def _session_after(session: Snapshot, event: EventBody) -> Snapshot:
    match event:
        case Stopped():
            return replace(session, generation=session.generation + 1)
        case Continued() if session.phase == "Paused":
            return _running(session)
        case Continued() if session.phase == "Running":  # a stop that is still being examined is over
            return replace(session, generation=session.generation + 1)
        case Exited(exit_code=exit_code):
            return replace(_terminating(session), exit_code=exit_code)
        case Terminated():
            return _terminating(session)
        case Process():
            return replace(session, origin=_origin_after(session.origin, event))
        case ThreadEvent():
            return replace(session, threads=_threads_after(session.threads, event))
        case ModuleEvent(reason=reason, module=module):
            return replace(session, modules=_modules_after(session.modules, reason, module))
        case _:
            return session


def _terminating(session: Snapshot) -> Snapshot:
    return session if session.phase == "Terminating" else replace(_running(session), phase="Terminating")


def _origin_after(origin: Origin, process: Process) -> Origin:
    """What we launched we know better than the adapter, which may name a path, a command or nothing."""
    return replace(
        origin,
        process_id=process.system_process_id or origin.process_id,
        process_name=origin.process_name or process.name.rpartition("/")[2] or None,
        executable_path=origin.executable_path or (process.name if "/" in process.name else None),
    )


def _threads_after(threads: Threads, event: ThreadEvent) -> Threads:
    """Before the first capture there is no list to correct."""
    if threads.captured_at is None:
        return threads
    known = next((thread for thread in threads.threads if thread.id == event.thread_id), None)
    if event.reason == "exited":
        if known is None:
            return threads
        updated = tuple(replace(t, state="Exited") if t.id == event.thread_id else t for t in threads.threads)
        return replace(threads, threads=updated)
    if known is not None and known.state != "Exited":
        return threads
    others = tuple(thread for thread in threads.threads if thread is not known)  # ids are used again
    return replace(threads, threads=(*others, Thread(event.thread_id, None, "Running")))


def _modules_after(modules: tuple[Module, ...], reason: str, module: DapModule) -> tuple[Module, ...]:
    known = any(each.id == module.id for each in modules)
    if reason == "removed":
        return tuple(each for each in modules if each.id != module.id) if known else modules
    loaded = Module(module.id, module.name, module.path, module.version, module.symbol_status, module.is_user_code)
    if known:
        return tuple(loaded if each.id == module.id else each for each in modules)
    return modules if len(modules) >= MAX_MODULES else (*modules, loaded)


# --- Breakpoints ---------------------------------------------------------------------------------------------


@reduce.register
def _(message: BreakpointPut, state: State) -> State:
    return replace(state, breakpoints=_put(state.breakpoints, message.breakpoint))


@reduce.register
def _(message: ExceptionBreakpointPut, state: State) -> State:
    return replace(state, exceptions=_put(state.exceptions, message.breakpoint))


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
            _bound(each, message.session, results[each.id]) if each.id in results else each
            for each in state.breakpoints
        ),
    )


@reduce.register
def _(message: ExceptionBreakpointsBound, state: State) -> State:
    if state.session(message.session) is None:
        return state

    def bound(each: ExceptionBreakpoint) -> ExceptionBreakpoint:
        others = tuple(session for session in each.sessions if session != message.session)
        watched = each.id in message.ids
        return replace(
            each,
            sessions=(*others, message.session) if watched else others,
            problem=message.problem if each.enabled else None,
        )

    return replace(state, exceptions=tuple(bound(each) for each in state.exceptions))


@reduce.register
def _(message: BreakpointLogged, state: State) -> State:
    return replace(
        state,
        breakpoints=tuple(
            _count_hit(each, message.session) if each.id == message.breakpoint else each for each in state.breakpoints
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


def _without_history(breakpoint_: Breakpoint) -> Breakpoint:
    return replace(breakpoint_, hits=0, bindings=(), problem=None)


def _bound(breakpoint_: Breakpoint, session: str, answer: DapBreakpoint | None) -> Breakpoint:
    others = tuple(binding for binding in breakpoint_.bindings if binding.session != session)
    if answer is None:
        return replace(breakpoint_, bindings=others)
    known = next((binding for binding in breakpoint_.bindings if binding.session == session), Binding(session))
    binding = replace(
        known,
        adapter_id=answer.id if answer.id is not None else known.adapter_id,
        verified=answer.verified,
        line=answer.line if answer.line is not None else known.line,
        column=answer.column if answer.column is not None else known.column,
        message=answer.message,
    )
    return replace(breakpoint_, bindings=(*others, binding))


def _breakpoint_changed(state: State, session: str, event: BreakpointEvent) -> State:
    """The adapter moved or (un)verified one of its breakpoints; a removal leaves ours unverified."""
    answer = event.breakpoint
    if event.reason == "removed":
        answer = replace(answer, verified=False)

    def changed(each: Breakpoint) -> Breakpoint:
        mine = any(b.session == session and b.adapter_id == answer.id for b in each.bindings)
        return _bound(each, session, answer) if mine and answer.id is not None else each

    return replace(state, breakpoints=tuple(changed(each) for each in state.breakpoints))


def _breakpoints_hit(state: State, stop: StopExamined, location: Location | None) -> set[str]:
    if stop.hit_ids:
        return {
            each.id
            for each in state.breakpoints
            for binding in each.bindings
            if binding.session == stop.session and binding.adapter_id in stop.hit_ids
        }
    if stop.reason != "Breakpoint" or location is None:
        return set()
    return {
        each.id
        for each in state.breakpoints
        for binding in each.bindings
        if binding.session == stop.session
        and each.file == location.file
        and location.line in (binding.line, each.line)
        and each.enabled
    }


def _count_hit(breakpoint_: Breakpoint, session: str) -> Breakpoint:
    def counted(binding: Binding) -> Binding:
        if binding.session != session:
            return binding
        return replace(binding, hits=hits_after_stop(breakpoint_.hit_condition, binding.hits))

    bindings = tuple(counted(binding) for binding in breakpoint_.bindings)
    new = sum(binding.hits for binding in bindings) - sum(binding.hits for binding in breakpoint_.bindings)
    return replace(breakpoint_, hits=breakpoint_.hits + new, bindings=bindings)


# --- Parts ---------------------------------------------------------------------------------------------------

_Kept = TypeVar("_Kept", Breakpoint, ExceptionBreakpoint)


def _put(kept: tuple[_Kept, ...], new: _Kept) -> tuple[_Kept, ...]:
    if any(each.id == new.id for each in kept):
        return tuple(new if each.id == new.id else each for each in kept)
    return kept + (new,)  # noqa: RUF005 (mypy cannot type the unpacking)


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
