"""Files and directories that may be meant by a path where there is none: of its name or one like it, in the project."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from trio_debugmcp.dap.profiles.near_names import MAX_NAMED, named_alike
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.debugger import Debugger

_MAX_DIRECTORIES = 2000
"""Of a project: some tenths of a second. What is beyond them is not suggested."""

_OF_OTHERS = frozenset({"node_modules", "site-packages", "__pycache__", "build", "dist", "target", "venv", "env"})


def meant_instead(debugger: Debugger, path: str, directory: str) -> str:
    """Return a sentence with the files that a path may mean; empty where none is like it.

    They are below the directory, or for a path that leads elsewhere below the nearest one of its own that is there.
    """
    place = _searched(Path(directory, path), directory)
    return _question(debugger, f"files near {path} in {directory}", lambda: _files(_near(path, place)))


def meant_directory(debugger: Debugger, path: str) -> str:
    """Return a sentence with the directories that the absolute path of one may mean; empty where none is like it."""
    return _question(debugger, f"directories near {path}", lambda: _near_directories(Path(path)))


def _question(debugger: Debugger, what: str, ask: Callable[[], list[Path]]) -> str:
    try:
        near = debugger.host.query(what, lambda: [str(path) for path in ask()])
    except UsageError:  # a recording from before this was asked
        return ""
    shown = [_shown(debugger, path) for path in near]
    return f"Do you mean {' or '.join(filter(None, shown))}?" if any(shown) else ""


def no_file(debugger: Debugger, path: str, cwd: str | None = None, wanted: str = "file") -> UsageError:
    """Return the error for the source file of a path where there is none, or what else is `wanted` there.

    Raises:
        UsageError: `PERMISSION_DENIED`: the path leads out of the roots.
    """
    directory = cwd or debugger.workspace.resolve(".")
    full = debugger.workspace.resolve(path)
    advice = meant_instead(debugger, path, directory) or "Pass the path of a source file."
    return UsageError("INVALID_PATH", f"There is no {wanted} '{full}'. {advice}", {"path": full})


def _shown(debugger: Debugger, file: str) -> str | None:
    try:
        return Places(debugger.workspace.directory).file(debugger.workspace.resolve(file))
    except UsageError:  # outside the roots
        return None


def _searched(path: Path, directory: str) -> str:
    start = Path(directory)
    if path.is_relative_to(start) and start.parent != start:
        return directory
    return str(_nearest(path))


def _nearest(path: Path) -> Path:
    return next(folder for folder in path.parents if folder.is_dir() or folder.parent == folder)


def _near(path: str, directory: str) -> list[Path]:
    wanted = Path(path)
    files = [Path(folder, name) for folder, _, names in _walk(directory) for name in sorted(names)]
    same = [file for file in files if file.name == wanted.name]
    if same:
        ends = [file for file in same if file.parts[-len(wanted.parts) :] == wanted.parts]
        return (ends or same)[:MAX_NAMED]
    return named_alike(wanted.stem, {file: _stem(file) for file in files if file.suffix == wanted.suffix})


def _files(found: list[Path]) -> list[Path]:
    """Return those that are files: not what is a pipe or a device, as the path itself may be."""
    return [file for file in found if file.is_file()]


def _near_directories(wanted: Path) -> list[Path]:
    folders = [Path(folder, name) for folder, inner, _ in _walk(str(_nearest(wanted))) for name in inner]
    same = [folder for folder in folders if folder.name == wanted.name]
    return same[:MAX_NAMED] or named_alike(wanted.name, {folder: folder.name for folder in folders})


def _stem(file: Path) -> str:
    """Return what a file is called by: `python -m shop` runs what is the main file of `shop`."""
    return file.parent.name if file.stem == "__main__" else file.stem


def _walk(directory: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each directory of a project with its directories and its files, as far as the bound goes."""
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
        yield folder, inner, names
