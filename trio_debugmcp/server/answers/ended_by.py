"""Who has ended a session, for the clients that have not."""

from typing import Any

from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.model import Snapshot

BY_A_CLIENT = "disconnected"
"""The reason for an end that a client has asked for."""


def end_reason(debugger: Debugger, ended: Snapshot, reader: str | None) -> str | None:
    """Return why a session has ended; with the name of the client that has ended it, if that is not the reader's."""
    if ended.end_reason != BY_A_CLIENT:
        return ended.end_reason
    call: dict[str, Any] = {}
    for event in debugger.timeline.after(0):
        if event.type == "toolStarted" and event.payload["tool"] == "debug_disconnect":
            call = event.payload
        elif event.type == "sessionEnded" and event.payload["sessionId"] == ended.id:
            break
    name, is_person = call.get("client"), call.get("person", False)
    if name is None or name == reader:
        return ended.end_reason
    return f"{BY_A_CLIENT} by a person ({name})" if is_person else f"{BY_A_CLIENT} by {name}"
