"""The sessions beside the one that an answer is about: a line each, of so many as an answer has room for."""

from msgspec.structs import replace

from trio_debugmcp.server.answers.lines import session_line
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop_answer import StopAnswer, with_data
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.session_view import child_session

MAX_SESSIONS = 20
"""Sessions that have a line in an answer, those that are stopped first; there may be a thousand."""


def with_sessions(debugger: Debugger, answer: StopAnswer) -> StopAnswer:
    """Return an answer that shows all sessions, where there are several."""
    snapshots = debugger.state.shown
    if len(snapshots) + (answer.state == "Disconnected") < 2:
        return answer
    places = Places(debugger.workspace.directory)
    answer = with_data(answer, sessions=[child_session(snapshot) for snapshot in snapshots])
    shown = snapshots if len(snapshots) <= MAX_SESSIONS else sorted(snapshots, key=lambda each: each.phase != "Paused")
    lines = [session_line(places, snapshot) for snapshot in shown[:MAX_SESSIONS]]
    if len(lines) == len(snapshots):
        return replace(answer, sessions=lines)
    omitted = {**answer.omitted, "sessions": len(snapshots) - len(lines)}
    return replace(answer, sessions=lines, omitted=omitted, notes=[*answer.notes, "fleet_state has all processes"])
