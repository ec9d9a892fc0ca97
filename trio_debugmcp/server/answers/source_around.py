"""Lines of source around a place where the program is."""

from functools import lru_cache

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.text import excerpt
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.source_lines import source_lines
from trio_debugmcp.state.payloads import Location, SourceLine, UnixTime, name_of

_OF_NO_FILE = "this code names {} and does not come from it; source_get(file='{}') has its text if the program has"


def source_around(
    debugger: Debugger, location: Location | None, began: UnixTime, either_side: int, notes: list[str]
) -> list[SourceLine]:
    """Return the lines around a place; none if its source cannot be read. `notes` get what is not right about it."""
    if location is None or location.file is None or location.line is None:
        return []
    try:
        found = debugger.sources.running(location.file, began, debugger.host)
    except UsageError:
        if location.file.startswith("</"):  # our engine brackets what it has found not to be of the file that it names
            notes.append(_OF_NO_FILE.format(name_of(location.file[1:-1]), name_of(location.file)))
        return []
    if found.edited:
        shown = "the source shown is that of before" if found.from_before else "its lines may not be those that run"
        name = Places(debugger.workspace.directory).file(location.file)
        notes.append(f"{name} was edited after the program started: {shown}; debug_restart runs the new text")
    return excerpt(_lines(found.text), location.line, either_side, location.file)


@lru_cache(maxsize=4)  # each stop in a file asks for its lines
def _lines(text: str) -> tuple[str, ...]:
    return tuple(source_lines(text))
