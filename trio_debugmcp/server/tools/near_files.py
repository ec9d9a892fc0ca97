"""Files that may be meant by a path where there is none: those of its name, or of one like it, in the project."""

import difflib
import os
from collections.abc import Iterator
from pathlib import Path

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.debugger import Debugger

_MAX_DIRECTORIES = 2000
"""Of a project: some tenths of a second. What is beyond them is not suggested."""

_MAX_NAMED = 3

_OF_OTHERS = frozenset({"node_modules", "site-packages", "__pycache__", "build", "dist", "target", "venv", "env"})


def meant_instead(debugger: Debugger, path: str, directory: str) -> str:
    """Return a sentence with the files below a directory that a path may mean; empty where none is like it."""

    def ask() -> list[str]:
        return [str(file) for file in _near(path, directory)]

    try:
        near = debugger.host.query(f"files near {path} in {directory}", ask)
    except UsageError:  # a recording from before this was asked
        return ""
    shown = [_shown(debugger, file) for file in near]
    return f"Do you mean {' or '.join(filter(None, shown))}?" if any(shown) else ""


def no_file(debugger: Debugger, path: str, cwd: str | None = None) -> UsageError:
    """Return the error for the source file of a path where there is none.

    Raises:
        UsageError: `PERMISSION_DENIED`: the path leads out of the roots.
    """
    directory = cwd or debugger.workspace.resolve(".")
    full = debugger.workspace.resolve(path)
    advice = meant_instead(debugger, path, directory) or "Pass the path of a source file."
    return UsageError("INVALID_PATH", f"There is no file '{full}'. {advice}", {"path": full})


def _shown(debugger: Debugger, file: str) -> str | None:
    try:
        return Places(debugger.workspace.directory).file(debugger.workspace.resolve(file))
    except UsageError:  # outside the roots
        return None


def _near(path: str, directory: str) -> list[Path]:
    wanted = Path(path)
    files = list(_files(directory))
    same = [file for file in files if file.name == wanted.name]
    if same:
        ends = [file for file in same if file.parts[-len(wanted.parts) :] == wanted.parts]
        return (ends or same)[:_MAX_NAMED]
    stems = {file.stem for file in files if file.suffix == wanted.suffix}
    alike = difflib.get_close_matches(wanted.stem, stems, _MAX_NAMED, cutoff=0.7)
    likely = [file for file in files if file.suffix == wanted.suffix and file.stem in alike]
    return sorted(likely, key=lambda file: alike.index(file.stem))[:_MAX_NAMED]


def _files(directory: str) -> Iterator[Path]:
    if Path(directory).parent == Path(directory):  # a whole machine is not a project
        return
    for number, (folder, inner, names) in enumerate(os.walk(directory)):
        if number >= _MAX_DIRECTORIES:
            return
        inner[:] = [
            name
            for name in sorted(inner)
            if name not in _OF_OTHERS
            and not name.startswith(".")
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        ]
        yield from (Path(folder, name) for name in sorted(names))
