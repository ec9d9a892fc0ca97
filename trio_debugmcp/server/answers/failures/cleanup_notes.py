"""A note where a stop at an exception shows values of a later moment: those of after what it has run on its way out."""

from collections.abc import Iterator

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.model import Snapshot

_LATER = ("unhandled", "userUnhandled")
"""Break modes in which a debugger that is not our engine stops when the exception has left its frames."""

_MAX_NAMED = 5


def cleanup_notes(debugger: Debugger, snapshot: Snapshot) -> list[str]:
    """Return a note on the `finally` and `with` that have ended between the raise and this stop."""
    stop = snapshot.stop
    if stop is None or stop.exception is None or stop.exception.break_mode not in _LATER:
        return []
    try:
        if debugger.session(snapshot.id).requests.capabilities.engine_requests:
            return []
    except UsageError:  # it has ended meanwhile
        return []
    found = list(_places(debugger, snapshot))
    if not found:
        return []
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    named = f"{', '.join(found[:_MAX_NAMED])}{more}"
    return [f"`finally` or `with` at {named} ended since it was raised: values may be those of after that"]


def _places(debugger: Debugger, snapshot: Snapshot) -> Iterator[str]:
    code = debugger.session(snapshot.id).profile.code
    places = Places(debugger.workspace.directory)
    for frame in snapshot.stack.frames:
        file, line = frame.location.file, frame.location.line
        if not frame.is_user_code or file is None or line is None:
            continue
        try:
            text = debugger.sources.running(file, snapshot.origin.attached_at, debugger.host).text
        except UsageError:
            continue
        for cleanup in code.cleanups(text, line):
            yield places.line(file, cleanup)
