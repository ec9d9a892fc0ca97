"""Files as an agent names them: absolute, or relative to where the program or the server is."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path

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
