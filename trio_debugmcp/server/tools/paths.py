"""Files as an agent names them: absolute, or relative to where the program or the server is."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.sources import KnownSource, read_source


def existing_file(debugger: Debugger, path: str, cwd: str | None = None) -> str | None:
    """Return the absolute path of a file that is there; None if there is none.

    A relative path starts from `cwd` or else from the server's directory. Without a `cwd` it starts from the server's
    directory, as the files in answers do, or else from the directory of the program that runs or ran last.

    Raises:
        UsageError: `INVALID_PATH` or `PERMISSION_DENIED`.
    """
    found = _resolved(debugger, path, cwd)
    return next((each for each in found if debugger.host.query(f"file {each}", Path(each).is_file)), None)


def ambiguous(debugger: Debugger, paths: Iterable[str | None], cwd: str) -> list[str]:
    """Return a note on each relative path of a file below `cwd` that would be another file for other tools."""
    notes = []
    for path in dict.fromkeys(path for path in paths if path):
        with suppress(UsageError):
            found = _resolved(debugger, path, cwd)
            if len(found) > 1 and all(debugger.host.query(f"file {each}", Path(each).is_file) for each in found):
                shown = [Places(debugger.workspace.directory).file(each) for each in found]
                notes.append(f"'{path}' was taken for {shown[0]}, where the program starts, not for {shown[1]}")
    return notes


def code_file(debugger: Debugger, path: str) -> str | None:
    """Return the path if frames have that name for the file of a program which is given as code."""
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
        return code.splitlines()
    try:
        return debugger.host.query(f"text of {file}", lambda: read_source(KnownSource(file, None, ""))).splitlines()
    except UsageError:
        return None


def _resolved(debugger: Debugger, path: str, cwd: str | None) -> list[str]:
    """Return what a path may mean, as absolute paths that the server may read; at least one."""
    found = []
    refusal: UsageError | None = None
    for candidate in _candidates(debugger, path, cwd):
        try:
            found.append(debugger.workspace.resolve(candidate))
        except UsageError as error:
            refusal = refusal or error
    if not found and refusal is not None:
        raise refusal
    return found


def _candidates(debugger: Debugger, path: str, cwd: str | None) -> list[str]:
    if Path(path).is_absolute():
        return [path]
    here = debugger.workspace.resolve(".")
    if cwd is not None:
        return [str(Path(cwd, path)), path] if cwd != here else [path]
    program = debugger.programs.root_at_hand() or debugger.state.last
    directory = None if program is None else program.origin.working_directory
    return [path, str(Path(directory, path))] if directory not in (None, here) else [path]
