"""`Workspace`: which directory relative paths start from, and which directories paths must stay in."""

import os
import sys
from pathlib import Path

from trio_debugmcp.errors import UsageError
from trio_debugmcp.state.payloads import shortened


class Workspace:
    """The directory of a server and its roots; without roots, programs and sources may be anywhere."""

    def __init__(self, directory: str = ".", roots: tuple[str, ...] = ()) -> None:
        self.directory = directory
        self.roots = roots

    def __repr__(self) -> str:
        return f"<Workspace {self.directory!r} roots={self.roots!r}>"

    def resolve(self, path: str) -> str:
        """Return the absolute path; a relative one starts from the server's directory.

        Symbolic links are kept as they are written, as a debugger knows files by the path of the program. Only a path
        with `..` is resolved, and the roots are compared with what a path leads to.

        Raises:
            UsageError: `INVALID_PATH`, or `PERMISSION_DENIED` outside the roots.
        """
        if "\0" in path or not path:
            raise UsageError("INVALID_PATH", "A path must not be empty nor contain a NUL character.")
        try:
            return self._resolve(path)
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links, before Python 3.13
            raise UsageError("INVALID_PATH", f"'{shortened(path)}' is not a usable path: {error}.") from None

    def _resolve(self, path: str) -> str:
        full = Path(self.directory, path).absolute()
        _check_characters(str(full))
        normal = Path(*(part for part in full.parts if part != "."))
        if ".." in normal.parts:
            normal = normal.resolve()
        if self.roots and not any(normal.resolve().is_relative_to(root) for root in self.roots):
            allowed = ", ".join(self.roots)
            raise UsageError(
                "PERMISSION_DENIED", f"'{path}' is outside the allowed roots ({allowed}).", {"path": str(normal)}
            )
        return str(normal)


def _check_characters(path: str) -> None:
    """Refuse a path that the system and the messages of MCP and DAP, which are UTF-8, do not both have.

    Raises:
        UsageError: `INVALID_PATH`.
    """
    try:
        path.encode()
        os.fsencode(path)
    except UnicodeEncodeError:
        shown = shortened(path.encode(errors="backslashreplace").decode())
        if (encoding := sys.getfilesystemencoding()) != "utf-8":
            problem = f"has characters that are not in the locale of this server ({encoding})"
            advice = "Start the server with PYTHONUTF8=1 in its environment."
        else:
            problem, advice = "has bytes that are not UTF-8", "Rename what has them."
        raise UsageError("INVALID_PATH", f"'{shown}' {problem}. {advice}") from None
