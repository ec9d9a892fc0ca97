"""Who has ended a session, for the clients that have not; and which programs are debugged still."""

from typing import Any

from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.model import Snapshot

BY_A_CLIENT = "disconnected"
"""The reason for an end that a client has asked for."""

_MAX_OTHERS = 5
"""Programs that a note names; debug_state has all of them."""


def end_reason(debugger: Debugger, ended: Snapshot, reader: str | None) -> str | None:
    """Return why a session has ended; with the name of the client that has ended it, if that is not the reader's."""
    if ended.end_reason != BY_A_CLIENT:
        return ended.end_reason
    call: dict[str, Any] = {}
    for event in debugger.timeline.after(0):
        if event.type == "toolStarted" and event.payload["tool"] == "debug_disconnect":
            call = event.payload
        elif event.type == "sessionEnded":
            if event.payload["sessionId"] == ended.id:
                break
            call = {}  # that was the end of another one
    name, is_person = call.get("client"), call.get("person", False)
    if name is None or name == reader:
        return ended.end_reason
    return f"{BY_A_CLIENT} by a person ({name})" if is_person else f"{BY_A_CLIENT} by {name}"


def others_notes(debugger: Debugger, session_id: str) -> list[str]:
    """Return a note on the programs that are debugged beside one that is over."""
    state, roots = debugger.state, debugger.state.roots()
    over = {session_id, roots.get(session_id)}
    programs = {state.program_of(root) for root in roots.values() if root not in over}  # js-debug's is a child
    others = [snapshot for snapshot in state.snapshots if snapshot.id in programs]
    if not others:
        return []
    named = ", ".join(f"{other.id} {other.origin.process_name or ''} ({other.phase})" for other in others[:_MAX_OTHERS])
    more = f" and {len(others) - _MAX_OTHERS} more" if len(others) > _MAX_OTHERS else ""
    return [f"other programs are still debugged: {named}{more}; in focus is {state.focus}"]
