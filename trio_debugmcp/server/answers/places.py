"""Places and frames as strings: `shop.py:24 in visit`, `visit shop.py:24`, and `main :31` below one in the same file.

    places = Places("/home/ann/shop")
    places.at("/home/ann/shop/till.py", 24, "visit")      # till.py:24 in visit

Files below the server's directory are relative to it, and tools take such names back; all others are absolute. From
`/`, where some hosts start a server, all are absolute: without its slash a client could open none of them.
"""

import os
from collections.abc import Iterable

from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import Frame, Location, name_of, printable

MAX_PATH_LENGTH = 4096
"""Characters of a path, as of those that a system takes."""

LIBRARY = " (library)"
"""At the end of frames that are not code of the user's."""


class Places:
    """Renders places for answers. `directory`: the server's, which relative names start from."""

    def __init__(self, directory: str) -> None:
        full = os.path.abspath(directory)
        self._below = os.path.join(full, "") if os.path.dirname(full) != full else ""

    def __repr__(self) -> str:
        return f"<Places below {self._below or 'no directory'}>"

    def file(self, path: str) -> str:
        """Return the name of a file."""
        return name_of(path.removeprefix(self._below) or path, MAX_PATH_LENGTH)

    def line(self, file: str | None, line: int | None) -> str:
        """Return `shop.py:24`; without what is not known."""
        name = "" if file is None else self.file(file)
        return name if line is None else f"{name}:{line}"

    def at(self, file: str | None, line: int | None, function: str | None) -> str:
        """Return `shop.py:24 in visit`; without what is not known."""
        place = self.line(file, line)
        return f"{place} in {printable(function)}".strip() if function else place

    def at_location(self, location: Location | None) -> str | None:
        """Return the place of a location; None where nothing is known of it."""
        if location is None:
            return None
        return self.at(location.file, location.line, location.function_name) or None

    def stack(self, frames: Iterable[tuple[str, str | None, int | None, bool]], before: str | None = None) -> list[str]:
        """Return a line for each frame, given by its name, file, line, and whether it is code of the user's.

        `before`: the file of what stands before the first line; a file is named where it is another than that before.
        """
        lines = []
        for name, file, line, is_user_code in frames:
            place = self.line(None if file == before else file, line)
            lines.append(f"{printable(name)} {place}".strip() + ("" if is_user_code else LIBRARY))
            before = file
        return lines

    def frames(self, frames: Iterable[StackFrame | Frame], before: str | None = None) -> list[str]:
        """Return a line for each frame of a stack."""
        facts = ((frame.name, frame.location.file, frame.location.line, frame.is_user_code) for frame in frames)
        return self.stack(facts, before)
