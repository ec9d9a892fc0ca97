"""`debugger://session` as a view of the state: one session, those beside it, and its children."""

from msgspec import UNSET, UnsetType

from trio_debugmcp.state.model import Snapshot, State
from trio_debugmcp.state.payloads import ChildSession, Listening, SessionPayload, iso_time


def session_payload(state: State, snapshot: Snapshot, revision: int) -> SessionPayload:
    """The payload of `debugger://session`, also for a session that has ended."""
    origin = snapshot.origin
    stop = snapshot.stop if snapshot.phase == "Paused" else None
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
        children=[_child(each) for each in state.snapshots if each.parent == snapshot.id],
        sessions=[_child(each) for each in state.snapshots],
        session_id=snapshot.id,
        parent_session_id=snapshot.parent,
        revision=revision,
        listening=_listening(state, snapshot),
    )


def session_parts(state: State, snapshot: Snapshot) -> tuple[object, ...]:
    """The parts of the state that the payload is made of."""
    others = tuple((each.id, each.origin, each.phase, each.stop) for each in state.snapshots)
    return snapshot.id, snapshot.origin, snapshot.phase, snapshot.stop, snapshot.exit_code, others


def _listening(state: State, snapshot: Snapshot) -> Listening | UnsetType:
    if not snapshot.origin.listens:
        return UNSET
    connected = sum(each.parent == snapshot.id for each in state.snapshots)
    return Listening(snapshot.origin.process_name, connected, snapshot.dialed_in)


def _child(snapshot: Snapshot) -> ChildSession:
    stop = snapshot.stop if snapshot.phase == "Paused" else None
    return ChildSession(
        session_id=snapshot.id,
        process_id=snapshot.origin.process_id,
        process_name=snapshot.origin.process_name,
        state=snapshot.phase,
        pause_reason=None if stop is None else stop.reason,
        current_location=None if stop is None else stop.location,
        parent_session_id=snapshot.parent,
    )
