"""`reduce(change, state) -> state`: the only place where the state of anything changes.

    state = reduce(SessionOpened("s-1", origin), State())
    state = reduce(SessionStarted("s-1"), state)
    state.focused.phase  # "Running"

Theory of operation
-------------------
Changes come from three sides: what a debug adapter reports (`EventReceived`), what our own tasks did or fetched, and
what the user asked for. They are reduced one at a time, in the order in which they reached the merger.

1. *Events drive state, responses do not.* `Resumed` is merged before the resume request is written; the response to
   that request changes nothing, because the `stopped` that follows may have overtaken it.
2. *A stop is published whole.* `stopped` only opens a new generation. The session turns Paused when `StopExamined`
   arrives with the frames and threads, so no client ever reads a pause without a place. A stop that is examined and
   found to be of no interest (an exception of another type) is resumed without ever having been visible.
3. *Late answers are dropped.* Whatever was fetched carries its generation; every stop and resume opens a new one.
4. *Focus.* A stop takes the focus unless the focused session is itself paused or in the middle of a step, so that a
   client does not lose the session it works in. The whole rule is in focus.py.

What each change makes of its part of the state is in transitions.py, breakpoint_rules.py, captures.py, kept_stops.py
and focus.py; here stands whether it still applies.

Long because it is a table: a reduction for each kind of change, of few lines each.
"""

from collections.abc import Callable
from functools import singledispatch

from msgspec.structs import replace

from trio_debugmcp.dap.messages import BreakpointEvent
from trio_debugmcp.state.breakpoint import ExceptionBreakpoint
from trio_debugmcp.state.breakpoint_events import breakpoints_changed
from trio_debugmcp.state.breakpoint_rules import (
    answered,
    breakpoints_hit,
    condition_failed,
    enabled,
    faulted,
    held,
    logged,
    put,
    raised,
    recorded,
    released,
    replaced,
    stop_reason,
    update,
    with_hits,
    withdrawn,
    without_history,
)
from trio_debugmcp.state.captures import with_capture, without_captures
from trio_debugmcp.state.changes import (
    BreakpointEnabled,
    BreakpointFaulted,
    BreakpointLogged,
    BreakpointPut,
    BreakpointsBound,
    BreakpointsHeld,
    BreakpointsRemoved,
    CapturesRemoved,
    CaptureTaken,
    Change,
    EventReceived,
    ExceptionBreakpointPut,
    ExceptionBreakpointsBound,
    FocusMoved,
    Happened,
    HitsRecorded,
    KeptRunMeasured,
    KeptRunsRemoved,
    LocalsFetched,
    OriginLearned,
    OutputWritten,
    ReportsReceived,
    Resumed,
    ResumeRefused,
    RunKept,
    RunPlacePut,
    RunPlacesRemoved,
    RunPlacesWithdrawn,
    SessionClosed,
    SessionOpened,
    SessionStarted,
    StopExamined,
    ThreadsLocated,
    VariablesRead,
)
from trio_debugmcp.state.focus import focus_after_end, focus_after_open, focus_after_resume, focus_after_stop
from trio_debugmcp.state.kept_stops import with_reading, with_snapshot, with_stop
from trio_debugmcp.state.model import Departed, Snapshot, State, Stop
from trio_debugmcp.state.people.people_changes import PeopleChange, people_after
from trio_debugmcp.state.recorded_runs import after_session, with_run
from trio_debugmcp.state.session_index import place_of
from trio_debugmcp.state.transitions import paused, paused_again, reported, running, snapshot_after, with_child

MAX_DEPARTED = 2000
"""Processes that have ended before their programs: of a fleet, those that are asked about."""

MAX_ENDED = 16
"""Ended root sessions that are kept: as many as there may be at a time, for those who wait for the end of each."""


@singledispatch
def reduce(change: Change, state: State) -> State:
    """The state after `change`. A change about a session that has ended makes no difference.

    Raises:
        TypeError: there is no reduction for this kind of change.
    """
    raise TypeError(f"no reduction for {type(change).__name__}")


# --- Sessions ---------------------------------------------------------------------------------------------------------


@reduce.register
def _(change: SessionOpened, state: State) -> State:
    opened = Snapshot(change.session_id, change.origin, change.parent, change.outlives_parent)
    if change.parent is not None:
        others = tuple(
            with_child(snapshot) if snapshot.id == change.parent else snapshot for snapshot in state.snapshots
        )
        opened = replace(opened, written=next((other.written for other in others if other.id == change.parent), 0))
        return replace(state, snapshots=(*others, opened), focus=focus_after_open(state, opened))
    if state.focus is not None:  # another program runs: it keeps its hits, and the focus until this one has started
        return replace(state, snapshots=(*state.snapshots, opened))
    return replace(without_history(state), snapshots=(opened,), focus=opened.id)


@reduce.register
def _(change: OriginLearned, state: State) -> State:
    def learn(snapshot: Snapshot) -> Snapshot:
        origin = snapshot.origin
        version = change.runtime_version or origin.runtime_version
        # What the adapter has reported of the process counts before what is known from elsewhere.
        process_id = origin.process_id if origin.process_id is not None else change.process_id
        labels = origin.labels if change.labels is None else change.labels
        learned = replace(origin, runtime_version=version, process_id=process_id, labels=labels)
        if change.engine is not None:
            learned = replace(learned, engine=change.engine, engine_is_usual=change.engine_is_usual)
        return replace(snapshot, origin=learned)

    return _with_snapshot(state, change.session_id, learn)


@reduce.register
def _(change: SessionStarted, state: State) -> State:
    def start(snapshot: Snapshot) -> Snapshot:
        # The program may have stopped at its entry, or ended, before the adapter answered that it is configured.
        return replace(snapshot, phase="Running") if snapshot.phase == "Starting" else snapshot

    state = _with_snapshot(state, change.session_id, start)
    started = state.snapshot(change.session_id)
    if started is None or started.parent is not None:
        return state
    return _focused(state, state.program_of(started.id))


@reduce.register
def _(change: FocusMoved, state: State) -> State:
    return _focused(state, change.session_id)


@reduce.register
def _(change: SessionClosed, state: State) -> State:
    closed = state.snapshot(change.session_id)
    if closed is None:
        return state
    if change.killed or change.exit_code is not None:
        closed = replace(closed, exit_code=change.exit_code)
    closed = replace(closed, end_reason=change.reason, failed=change.failed)
    gone = state.family(closed.id)
    left = tuple(snapshot for snapshot in state.snapshots if snapshot.id not in gone)
    return replace(
        released(state, gone),
        snapshots=left,
        focus=focus_after_end(state, closed, left),
        ended=(*state.ended, closed)[-MAX_ENDED:] if closed.parent is None else state.ended,
        runs=after_session(state.runs, closed.id, closed.exit_code, killed=change.killed),
        departed=_departed(state, closed, killed=change.killed),
    )


def _departed(state: State, closed: Snapshot, *, killed: bool) -> tuple[Departed, ...]:
    root = state.root_of(closed.id) or closed.id
    if root == closed.id:  # its processes are asked about only as long as it is there
        return tuple(process for process in state.departed if process.root != root)
    origin, reason = closed.origin, closed.end_reason or ""
    last = Departed(closed.id, root, origin.labels, origin.process_id, closed.exit_code, reason, killed)
    return (*state.departed, last)[-MAX_DEPARTED:]


# --- Execution --------------------------------------------------------------------------------------------------------


@reduce.register
def _(change: Resumed, state: State) -> State:
    def resume(snapshot: Snapshot) -> Snapshot:
        return snapshot if snapshot.phase == "Terminating" else running(snapshot, stepping=change.kind == "step")

    state = _with_snapshot(state, change.session_id, resume)
    focus = focus_after_resume(state, change.session_id, change.kind)
    return state if focus == state.focus else replace(state, focus=focus)


@reduce.register
def _(change: ResumeRefused, state: State) -> State:
    snapshot = state.snapshot(change.session_id)
    # A stop that arrived since `Resumed` has opened another generation: it is being examined, and tells where we are.
    if snapshot is None or snapshot.generation != change.generation or snapshot.phase != "Running":
        return state
    if snapshot.stop is None or snapshot.lost is not None:  # what cannot be asked any more has not refused, but left
        return state
    return replace(_with_snapshot(state, snapshot.id, paused_again), focus=snapshot.id)


@reduce.register
def _(change: StopExamined, state: State) -> State:
    snapshot = state.snapshot(change.session_id)
    if snapshot is None or snapshot.generation != change.generation or snapshot.phase == "Terminating":
        return state
    location = change.frames[0].location if change.frames else None
    hit = breakpoints_hit(state, change, location).difference(change.not_hit)
    shown = [breakpoint.id for breakpoint in state.breakpoints if breakpoint.id in hit]
    stop = Stop(
        number=state.stops + 1,
        reason=stop_reason(state, change, hit),
        description=change.description,
        is_explained=change.is_explained,
        thread_id=change.thread_id,
        location=location,
        breakpoint_ids=(*shown, *change.exception_breakpoints),
        exception=change.exception,
        remarks=change.remarks,
        changes=change.data or (),
        handling=change.handling,
    )
    stopped = paused(snapshot, stop, change)
    state = _with_snapshot(state, snapshot.id, lambda _: stopped)
    return replace(
        with_hits(state, hit, change.session_id, dict(change.counted)),
        stops=stop.number,
        kept=with_stop(state.kept, stopped, change.sources),
        focus=focus_after_stop(state, snapshot.id),
        exceptions=update(
            state.exceptions, change.exception_breakpoints, lambda exception: raised(exception, change.session_id)
        ),
    )


@reduce.register
def _(change: LocalsFetched, state: State) -> State:
    return _with_stop(
        state,
        change.session_id,
        change.generation,
        lambda snapshot: replace(snapshot, stack=replace(snapshot.stack, locals=change.locals)),
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


@reduce.register
def _(change: VariablesRead, state: State) -> State:
    snapshot = state.snapshot(change.session_id)
    # Read by a question that may have been answered after a resume: then it is not of this stop.
    if snapshot is None or snapshot.generation != change.generation or snapshot.phase != "Paused":
        return state
    return replace(state, kept=with_reading(state.kept, snapshot.stop.number if snapshot.stop else 0, change.reading))


# --- Events of the adapter, output, timeline --------------------------------------------------------------------------


@reduce.register
def _(change: EventReceived, state: State) -> State:
    match change.body:
        case BreakpointEvent() as event:
            return breakpoints_changed(state, change.session_id, (event,))
        case body:
            return _with_snapshot(state, change.session_id, lambda snapshot: snapshot_after(snapshot, body))


@reduce.register
def _(change: ReportsReceived, state: State) -> State:
    state = breakpoints_changed(
        state, change.session_id, (body for body in change.bodies if isinstance(body, BreakpointEvent))
    )
    return _with_snapshot(state, change.session_id, lambda snapshot: reported(snapshot, change.bodies))


@reduce.register
def _(change: OutputWritten, state: State) -> State:
    roots = state.roots()
    root = roots.get(change.session_id)
    if root is None:  # the output of a session that has ended must not mark that of the next one as changed
        return state
    snapshots = tuple(
        replace(snapshot, written=change.total) if roots[snapshot.id] == root else snapshot
        for snapshot in state.snapshots
    )
    return replace(state, snapshots=snapshots)


@reduce.register
def _(change: Happened, state: State) -> State:
    return state


# --- Breakpoints ------------------------------------------------------------------------------------------------------


@reduce.register
def _(change: BreakpointPut, state: State) -> State:
    return replace(state, breakpoints=put(state.breakpoints, replaced(state.breakpoints, change.breakpoint)))


@reduce.register
def _(change: ExceptionBreakpointPut, state: State) -> State:
    new = change.breakpoint
    old = next((exception for exception in state.exceptions if exception.id == new.id), None)
    if old is not None:
        # As above: a stop may have been counted since the sender read it.
        new = replace(new, hits=old.hits, session_ids=old.session_ids, unknown_in=old.unknown_in)
    return replace(state, exceptions=put(state.exceptions, new))


@reduce.register
def _(change: BreakpointEnabled, state: State) -> State:
    return replace(
        state,
        breakpoints=update(state.breakpoints, {change.id}, lambda breakpoint: enabled(breakpoint, change)),
        exceptions=update(state.exceptions, {change.id}, lambda exception: replace(exception, enabled=change.enabled)),
    )


@reduce.register
def _(change: BreakpointsRemoved, state: State) -> State:
    return replace(
        state,
        breakpoints=tuple(breakpoint for breakpoint in state.breakpoints if breakpoint.id not in change.ids),
        exceptions=tuple(exception for exception in state.exceptions if exception.id not in change.ids),
    )


@reduce.register
def _(change: BreakpointsHeld, state: State) -> State:
    return replace(state, breakpoints=held(state.breakpoints, change))


@reduce.register
def _(change: RunPlacePut, state: State) -> State:
    return replace(state, run_places=(*state.run_places, change.place))


@reduce.register
def _(change: RunPlacesWithdrawn, state: State) -> State:
    return withdrawn(state, change)


@reduce.register
def _(change: RunPlacesRemoved, state: State) -> State:
    return replace(
        state, run_places=tuple(run_place for run_place in state.run_places if run_place.id not in change.ids)
    )


@reduce.register
def _(change: BreakpointsBound, state: State) -> State:
    # Late answers of a session that has ended must not leave a binding behind: nothing would ever remove it.
    return state if state.snapshot(change.session_id) is None else answered(state, change)


@reduce.register
def _(change: ExceptionBreakpointsBound, state: State) -> State:
    if state.snapshot(change.session_id) is None:  # as above
        return state

    problems, roots = dict(change.problems), state.roots()

    def problem(exception: ExceptionBreakpoint, others: tuple[str, ...]) -> str | None:
        # What another program watches for, this one need not be able to: a type of another language, for example.
        elsewhere = any(roots.get(id_) != roots[change.session_id] for id_ in others)
        return None if elsewhere or not exception.enabled else problems.get(exception.id, change.problem)

    def watched(exception: ExceptionBreakpoint) -> ExceptionBreakpoint:
        others = tuple(id_ for id_ in exception.session_ids if id_ != change.session_id)
        unknown = tuple(id_ for id_ in exception.unknown_in if id_ != change.session_id)
        return replace(
            exception,
            session_ids=(*others, change.session_id) if exception.id in change.ids else others,
            unknown_in=(*unknown, change.session_id) if exception.id in change.unknown else unknown,
            problem=problem(exception, others),
        )

    return replace(state, exceptions=tuple(watched(exception) for exception in state.exceptions))


@reduce.register
def _(change: BreakpointLogged, state: State) -> State:
    return logged(state, change)


@reduce.register
def _(change: HitsRecorded, state: State) -> State:
    return recorded(state, change)


@reduce.register
def _(change: BreakpointFaulted, state: State) -> State:
    exceptions = tuple(condition_failed(exception, change) for exception in state.exceptions)
    return replace(faulted(state, change), exceptions=exceptions)


# --- Captures ---------------------------------------------------------------------------------------------------------


@reduce.register
def _(change: CaptureTaken, state: State) -> State:
    if state.snapshot(change.capture.session_id) is None:  # as above
        return state
    return replace(state, captures=with_capture(state.captures, change.capture))


@reduce.register
def _(change: CapturesRemoved, state: State) -> State:
    return replace(state, captures=without_captures(state.captures, change.ids))


# --- Recorded runs ----------------------------------------------------------------------------------------------------


@reduce.register
def _(change: RunKept, state: State) -> State:
    return replace(state, runs=with_run(state.runs, change.run))


@reduce.register
def _(change: KeptRunMeasured, state: State) -> State:
    measured = (replace(run, size=change.size) if run.id == change.id else run for run in state.runs)
    return replace(state, runs=tuple(measured))


@reduce.register
def _(change: KeptRunsRemoved, state: State) -> State:
    return replace(state, runs=tuple(run for run in state.runs if run.id not in change.ids))


# --- People -----------------------------------------------------------------------------------------------------------


@reduce.register
def _(change: PeopleChange, state: State) -> State:
    people = people_after(change, state.people)
    return state if people is state.people else replace(state, people=people)


# --- Parts ------------------------------------------------------------------------------------------------------------


def _focused(state: State, session_id: str) -> State:
    """The state with that session in focus, unless the session in focus comes from the same root."""
    wanted = state.root_of(session_id)
    return state if wanted in (None, state.root_of(state.focus or "")) else replace(state, focus=session_id)


def _with_snapshot(state: State, session_id: str, updated: Callable[[Snapshot], Snapshot]) -> State:
    """The state with one session's snapshot updated; the same object if that changes nothing or the session is gone."""
    place = place_of(state.snapshots, session_id)
    if place is None:
        return state
    old = state.snapshots[place]
    new = updated(old)
    if new is old:
        return state
    return replace(state, snapshots=(*state.snapshots[:place], new, *state.snapshots[place + 1 :]))


def _with_stop(state: State, session_id: str, generation: int, updated: Callable[[Snapshot], Snapshot]) -> State:
    """The same for what was fetched at a stop, as long as the session is at that stop."""
    snapshot = state.snapshot(session_id)
    if snapshot is None or snapshot.generation != generation or snapshot.phase != "Paused":
        return state
    state = _with_snapshot(state, session_id, updated)
    kept = with_snapshot(state.kept, state.snapshot(session_id))
    return state if kept is state.kept else replace(state, kept=kept)
