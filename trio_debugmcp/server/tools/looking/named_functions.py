"""A function as an agent names it: by its name, or by a line in it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from trio_debugmcp.dap.profiles.function_code import Branch, FunctionCode
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.paths import code_file, existing_file, no_file
from trio_debugmcp.session.breakpoints.source_places import searched
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.session import DebugSession

_MOST_NAMED = 8
"""Functions that are named where a name may mean several."""

T = TypeVar("T")


class FoundFunction(Struct, frozen=True):
    """A function, its file, and what the lines of that decide."""

    file: str
    code: FunctionCode
    branches: Mapping[int, Branch]
    is_loaded: bool = True
    """Whether a module that the program has loaded is that file; true where that is not known."""


async def find_function(
    debugger: Debugger, session: DebugSession, name: str | None, file: str | None, line: int | None
) -> FoundFunction:
    """Return the one function that a name or a line means. By name those are preferred that the program has loaded.

    Raises:
        UsageError: `INVALID_PARAMETER`, `INVALID_PATH` or `PERMISSION_DENIED`.
    """
    if (name is None) == (file is None and line is None) or (file is None) != (line is None):
        raise UsageError("INVALID_PARAMETER", "Pass `function`, or `file` and `line`.")
    loaded: frozenset[str] | None = None
    if name is None:
        found = _around(debugger, session, file or "", line or 0)
    else:
        found = await _named(debugger, session, name)
        loaded = await _loaded_files(debugger, session)
        if not found and loaded:  # what no stop has shown yet
            found = await _in_files(debugger, session, name, loaded)
    if loaded is not None:
        found = [each for each in found if each[0] in loaded] or found
    if not found:
        raise UsageError("INVALID_PARAMETER", _not_found(name, file, line, loaded))
    if len(found) > 1:
        places = Places(debugger.workspace.directory)
        named = ", ".join(f"{each.qualname} {places.line(path, each.line)}" for path, each in found[:_MOST_NAMED])
        raise UsageError(
            "INVALID_PARAMETER",
            f"'{name}' may be one of {len(found)} functions: {named}. Pass `file` and `line` of the one that is meant.",
        )
    path, code = found[0]
    text = debugger.sources.code(path)
    is_loaded = loaded is None or path in loaded
    return FoundFunction(path, code, session.profile.code.branches(path, text), is_loaded)


def _not_found(name: str | None, file: str | None, line: int | None, loaded: frozenset[str] | None) -> str:
    advice = "Pass `file` and `line` of a statement in the function."
    if name is None:
        return f"There is no function around {file}:{line}. {advice}"
    where = "the files of the modules that the program has loaded, and in those near them"
    if loaded is None:
        where = "the files that are known of the program; it did not say which modules it has loaded"
    return f"No function '{name}' was found in {where}. {advice}"


async def _in_files(
    debugger: Debugger, session: DebugSession, name: str, files: Collection[str]
) -> list[tuple[str, FunctionCode]]:
    """Look in the files of loaded modules, those of libraries only if it is in none of the others."""
    code = session.profile.code
    sources = sorted(file for file in files if Path(file).is_absolute())
    own = [file for file in sources if not code.is_library(file)]
    libraries = [file for file in sources if code.is_library(file)]

    def named() -> list[tuple[str, FunctionCode]]:
        return [*(code.find_functions(name, own, ()) or code.find_functions(name, libraries, ()))]

    return await _searched(debugger, session, f"functions {name} of loaded modules", named)


async def _loaded_files(debugger: Debugger, session: DebugSession) -> frozenset[str] | None:
    """Return the files of the modules that the program has loaded, and of frames; None if it does not say so."""
    files = await session.looking.types.loaded_files()
    if files is None:
        return None
    snapshot = session.snapshot
    frames = () if snapshot is None else snapshot.stack.frames
    run = {each for each in debugger.sources.known() if debugger.sources.code(each) is not None}
    return files | run | {frame.location.file for frame in frames if frame.location.file is not None}


async def _named(debugger: Debugger, session: DebugSession, name: str) -> list[tuple[str, FunctionCode]]:
    known = debugger.sources.known()
    files = [each for each in known if Path(each).is_absolute()]
    snapshot = session.snapshot
    directory = snapshot.origin.working_directory if snapshot is not None else None
    directories = [*(str(Path(file).parent) for file in files), *([directory] if directory else [])]
    near, code = list(dict.fromkeys(directories)), session.profile.code
    given = [(each, text) for each in known if (text := debugger.sources.code(each)) is not None]

    def named() -> list[tuple[str, FunctionCode]]:
        own = [(file, function) for file, text in given for function in code.functions(file, text)]
        own = [each for each in own if f".__main__.{each[1].qualname}".endswith(f".{name}")]
        return [*own, *code.find_functions(name, files, near)]

    return await _searched(debugger, session, f"functions {name}", named)


async def _searched(
    debugger: Debugger, session: DebugSession, question: str, find: Callable[[], Sequence[object]]
) -> list[tuple[str, FunctionCode]]:
    found = await searched(session.profile.code, debugger.host, question, lambda: msgspec.to_builtins(list(find())))
    return msgspec.convert(found, list[tuple[str, FunctionCode]])


def _around(debugger: Debugger, session: DebugSession, path: str, line: int) -> list[tuple[str, FunctionCode]]:
    """Return the innermost function that has a line."""
    file = existing_file(debugger, path) or code_file(debugger, path)
    if file is None:
        raise no_file(debugger, path)
    text, code = debugger.sources.code(file), session.profile.code
    found = _query(debugger, f"functions of {file}", lambda: code.functions(file, text), list[FunctionCode])
    around = [(file, each) for each in found if each.line <= line <= each.last]
    return sorted(around, key=lambda each: each[1].line)[-1:]


def _query(debugger: Debugger, question: str, ask: Callable[[], Sequence[object]], kind: type[T]) -> T:
    """Ask the host; what it answers is recorded as JSON."""
    return msgspec.convert(debugger.host.query(question, lambda: msgspec.to_builtins(list(ask()))), kind)
