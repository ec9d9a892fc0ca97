"""Files as an agent names them: absolute, or relative to where the program or the server is.

Where there is none, those are named that may be meant: of that name or one like it, in the project.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path

from trio_debugmcp.dap.profiles.near_names import MAX_NAMED, named_alike
from trio_debugmcp.dap.profiles.python.kernel_cells import is_kernel_file
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.archived_sources import is_archived
from trio_debugmcp.session.looking.sources import KnownSource, read_source
from trio_debugmcp.source_lines import source_lines

CLIENT_ROOTS: ContextVar[tuple[str, ...]] = ContextVar("the roots of the client that calls", default=())
"""The directories that the client of this call works in, as it has declared them."""


def starts_of_paths(debugger: Debugger) -> list[str]:
    """Return the directories that relative paths start from, in their order: the server's, and the client's roots."""
    return list(dict.fromkeys([debugger.workspace.directory, *CLIENT_ROOTS.get()]))


def is_away_from_roots(debugger: Debugger) -> bool:
    """Return whether the server stands outside of the directories that the client works in."""
    here = Path(os.path.abspath(debugger.workspace.directory))
    roots = CLIENT_ROOTS.get()
    return bool(roots) and not any(here.is_relative_to(root) for root in roots)


def start_directory(debugger: Debugger, cwd: str | None, program: str | None) -> str:
    """Return the directory in which a program is started: `cwd`, or the server's, or a root of the client's.

    Raises:
        UsageError: `INVALID_PATH` or `PERMISSION_DENIED`.
    """
    starts = starts_of_paths(debugger)
    if cwd is not None:
        places = [debugger.workspace.resolve(str(Path(start, cwd))) for start in starts]
        there = (place for place in places if len(places) > 1 and _is(debugger, "directory", place, Path.is_dir))
        return next(there, places[0])
    if not is_away_from_roots(debugger):
        return debugger.workspace.resolve(".")
    roots = [debugger.workspace.resolve(root) for root in starts[1:]]
    holds = (root for root in roots if program and _is_file(debugger, str(Path(root, program))))
    return next(holds, roots[0])


def existing_file(debugger: Debugger, path: str, cwd: str | None = None, near: str | None = None) -> str | None:
    """Return the absolute path of a file that is there; None if there is none.

    A relative path starts from `cwd` or else from the server's directory. Without a `cwd` it starts from the server's
    directory, as the files in answers do, or else from the client's roots, or from the directory of the program that
    runs or ran last. At last it may start from any directory above `near`, the program that is to be run.

    Raises:
        UsageError: `INVALID_PATH` or `PERMISSION_DENIED`.
    """
    found = _resolved(debugger, path, cwd, near)
    if debugger.host.query(f"file {found[0]}", lambda: _is_source(Path(found[0]))):
        return found[0]
    return next((candidate for candidate in found[1:] if _is_file(debugger, candidate)), None)


def existing_folder(debugger: Debugger, path: str, cwd: str | None, near: str | None) -> str | None:
    """Return the absolute path of a directory that is there, found as a file is; None if there is none.

    Raises:
        UsageError: `INVALID_PATH` or `PERMISSION_DENIED`.
    """
    found = _resolved(debugger, path, cwd, near)
    return next((each for each in found if _is(debugger, "directory", each, Path.is_dir)), None)


def _is_file(debugger: Debugger, path: str) -> bool:
    return _is(debugger, "file", path, _is_source)


def _is_source(path: Path) -> bool:
    return path.is_file() or is_archived(path)


def _is(debugger: Debugger, what: str, path: str, ask: Callable[[Path], bool]) -> bool:
    try:
        return bool(debugger.host.query(f"{what} {path}", lambda: ask(Path(path))))
    except UsageError:  # a recording from before this place was looked at
        return False


def ambiguous(debugger: Debugger, paths: Iterable[str | None], cwd: str) -> list[str]:
    """Return a note on each relative path of a file below `cwd` that would be another file for other tools."""
    notes = []
    for path in dict.fromkeys(path for path in paths if path):
        with suppress(UsageError):
            found = _resolved(debugger, path, cwd)
            if len(found) > 1 and all(_is_file(debugger, candidate) for candidate in found):
                shown = [Places(debugger.workspace.directory).file(each) for each in found]
                notes.append(f"'{path}' was taken for {shown[0]}, where the program starts, not for {shown[1]}")
    return notes


def code_file(debugger: Debugger, path: str) -> str | None:
    """Return the path if frames have that name for code that is in no file: that of a program, or a kernel's cell."""
    if is_kernel_file(path):
        return path
    return path if any(path == profile.programs.code_file for profile in debugger.settings.profiles) else None


def source_path(debugger: Debugger, path: str) -> str:
    """Return the name under which the session knows a source; a relative one starts as in `existing_file`.

    Raises:
        UsageError: `INVALID_PATH` or `PERMISSION_DENIED`.
    """
    known = debugger.programs.known_sources()
    if path in known:
        return path
    found = _resolved(debugger, path, None)
    return next((each for each in found if each in known), found[0])


def file_lines(debugger: Debugger, file: str) -> list[str] | None:
    """Return the lines of a source file as it is on disk now, or of code as it was given; None if it cannot be read."""
    code = debugger.programs.sources_with(file).code(file)
    if code is not None:
        return source_lines(code)
    try:
        return source_lines(debugger.host.query(f"text of {file}", lambda: read_source(KnownSource(file, None, ""))))
    except UsageError:
        return None


def _resolved(debugger: Debugger, path: str, cwd: str | None, near: str | None = None) -> list[str]:
    """Return what a path may mean, as absolute paths that the server may read; at least one."""
    found = []
    refusal: UsageError | None = None
    for candidate in _candidates(debugger, path, cwd, near):
        try:
            found.append(debugger.workspace.resolve(candidate))
        except UsageError as error:
            refusal = refusal or error
    if not found and refusal is not None:
        raise refusal
    return found


def _candidates(debugger: Debugger, path: str, cwd: str | None, near: str | None) -> list[str]:
    if Path(path).is_absolute():
        return [path]
    here, *roots = starts_of_paths(debugger)
    program = debugger.programs.at_hand.root() or debugger.state.last if cwd is None else None
    first = [cwd] if cwd is not None else []
    last = [program.origin.working_directory] if program is not None and program.origin.working_directory else []
    above = [str(each) for each in Path(near).parents] if near is not None and Path(near).is_absolute() else []
    starts = dict.fromkeys([*first, os.path.abspath(here), *roots, *last, *above])
    return [str(Path(start, path)) for start in starts]


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
