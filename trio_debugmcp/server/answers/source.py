"""Lines of source for answers, as far as the program's sources may be read."""

from collections.abc import Iterable

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.source_lines import source_lines
from trio_debugmcp.state.model import Snapshot, StackFrame
from trio_debugmcp.state.payloads import UnixTime, shortened

MAX_LINE_LENGTH = 80
"""Characters of the line that a frame is in: enough to see which call it is."""


def frames_with_source(debugger: Debugger, snapshot: Snapshot, frames: Iterable[StackFrame]) -> list[str]:
    """Return a line for each frame, those of the user's code with the text of their lines: `main :31 | visit(cart)`."""
    found = list(frames)
    lines = Places(debugger.workspace.directory).frames(found)
    began = snapshot.origin.attached_at
    texts = [
        source_line(debugger, began, each.location.file, each.location.line) if each.is_user_code else None
        for each in found
    ]
    return [f"{line} | {text}" if text else line for line, text in zip(lines, texts, strict=True)]


def source_line(debugger: Debugger, began: UnixTime | None, file: str | None, line: int | None) -> str | None:
    """Return the text of a line of a file of the program; None where it cannot be read."""
    if file is None or not line:
        return None
    try:
        lines = source_lines(debugger.sources.running(file, began, debugger.host).text)
    except UsageError:
        return None
    return shortened(lines[line - 1].strip(), MAX_LINE_LENGTH) if line <= len(lines) else None
