"""`debugger://session` as a view of the state: one session, those beside it, and its children."""

from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import replace

from trio_debugmcp.state.model import Snapshot, State
from trio_debugmcp.state.payloads import ChildSession, Listening, SessionPayload, SessionsPayload, iso_time
from trio_debugmcp.state.session_index import changed_sessions


def session_payload(state: State, snapshot: Snapshot, revision: int) -> SessionPayload:
    """The payload of `debugger://session`, also for a session that has ended."""
    origin = snapshot.origin
    stop = snapshot.stop if snapshot.phase == "Paused" else None
    roots = {snapshot.id: snapshot.id, **state.roots()}  # one that has ended is in no tree
    return SessionPayload(
        process_id=origin.process_id,
        process_name=origin.process_name,
        executable_path=origin.executable_path,
        runtime_version=origin.runtime_version,
        state=snapshot.phase,
        launch_mode=origin.launch_mode,
        attached_at=iso_time(origin.attached_at),
        pause_reason=None if stop is None else stop.reason,
        current_location=None if stop is None else stop.location,
        active_thread_id=None if stop is None else stop.thread_id,
        command_line_args=list(origin.command_line_args),
        working_directory=origin.working_directory,
        adapter=origin.adapter,
        language=origin.language,
        exit_code=snapshot.exit_code,
        exception=None if stop is None else stop.exception,
        handling=UNSET if stop is None else stop.handling or UNSET,
        children=[child_session(child) for child in state.snapshots if child.parent == snapshot.id],
        sessions=_listed(state, [other for other in state.snapshots if roots[other.id] == roots[snapshot.id]]),
        session_id=snapshot.id,
        parent_session_id=snapshot.parent,
        revision=revision,
        listening=listening_payload(state, snapshot) or UNSET,
        stops_at=list(origin.stop_at) or UNSET,
        labels=origin.labels or UNSET,
        engine=origin.engine or UNSET,
    )


def own_parts(state: State, snapshot: Snapshot) -> tuple[object, ...]:
    """The parts of the state that the payload is made of, without those of the other sessions of its tree."""
    own = snapshot.id, snapshot.origin, snapshot.phase, snapshot.stop, snapshot.exit_code, snapshot.dialed_in
    return *own, state.root_of(snapshot.id)


def moved_trees(old: State, new: State) -> set[str]:
    """The roots in whose trees a session is listed otherwise than before, or is no longer, or one has been added.

    Only sessions that differ are looked at: a fleet is one tree of a thousand.
    """
    roots: set[str | None] = set()
    for id_ in changed_sessions(old.snapshots, new.snapshots):
        was, now = old.snapshot(id_), new.snapshot(id_)
        if now is None:
            roots.add(old.root_of(id_))
        elif was is None or _listed_parts(was) != _listed_parts(now):
            roots.add(new.root_of(id_))
    return {root for root in roots if root is not None}


def _listed_parts(snapshot: Snapshot) -> tuple[object, ...]:
    return snapshot.parent, snapshot.origin, snapshot.phase, snapshot.stop


def sessions_payload(state: State, revision: int) -> SessionsPayload:
    """The payload of `debugger://sessions`."""
    return SessionsPayload(_listed(state, state.snapshots), state.focus, revision)


def _listed(state: State, snapshots: Sequence[Snapshot]) -> list[ChildSession]:
    """These sessions; one that only launches is the process of its child, and only there until that is."""
    doubles = {snapshot.id for snapshot in snapshots if state.program_of(snapshot.id) != snapshot.id}
    listed = [child_session(snapshot) for snapshot in snapshots if snapshot.id not in doubles]
    return [
        replace(session, parent_session_id=None) if session.parent_session_id in doubles else session
        for session in listed
    ]


def listening_payload(state: State, snapshot: Snapshot) -> Listening | None:
    """Return where a session listens; None of one that does not."""
    if not snapshot.origin.listens:
        return None
    connected = sum(child.parent == snapshot.id for child in state.snapshots)
    return Listening(snapshot.origin.process_name, connected, snapshot.dialed_in)


def child_session(snapshot: Snapshot) -> ChildSession:
    """Return the summary of a session."""
    stop = snapshot.stop if snapshot.phase == "Paused" else None
    return ChildSession(
        session_id=snapshot.id,
        process_id=snapshot.origin.process_id,
        process_name=snapshot.origin.process_name,
        state=snapshot.phase,
        pause_reason=None if stop is None else stop.reason,
        current_location=None if stop is None else stop.location,
        parent_session_id=snapshot.parent,
        labels=snapshot.origin.labels or UNSET,
    )
