"""`debugger://session` as a view of the state: one session, those beside it, and its children."""

from collections.abc import Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from trio_debugmcp.state.model import Snapshot, State, roots_of
from trio_debugmcp.state.payloads import ChildSession, Listening, SessionPayload, SessionsPayload, iso_time
from trio_debugmcp.state.remembered import remembered


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


def session_parts(state: State, snapshot: Snapshot) -> tuple[object, ...]:
    """The parts of the state that the payload is made of."""
    root = state.roots().get(snapshot.id)
    return own_parts(snapshot), tree_parts(state).get(root or "", ())


def own_parts(snapshot: Snapshot) -> tuple[object, ...]:
    """The parts of one session that its payload is made of."""
    return snapshot.id, snapshot.origin, snapshot.phase, snapshot.stop, snapshot.exit_code, snapshot.dialed_in


def tree_parts(state: State) -> Mapping[str, tuple[object, ...]]:
    """The parts of all sessions that the payloads of those of their tree are made of, by the id of its root."""
    return _tree_parts(state.snapshots)


@remembered
def _tree_parts(snapshots: tuple[Snapshot, ...]) -> Mapping[str, tuple[object, ...]]:
    roots = roots_of(snapshots)
    trees: dict[str, list[object]] = {}
    for snapshot in snapshots:
        trees.setdefault(roots[snapshot.id], []).append(
            (snapshot.id, snapshot.parent, snapshot.origin, snapshot.phase, snapshot.stop)
        )
    return {root: tuple(parts) for root, parts in trees.items()}


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
