"""`LuaSources`: the files of a program of Lua as the interpreter compiles them, which is asked without running them.

    sources = LuaSources(["lua5.4"], patience)
    code = await sources.code("/x/a.lua")       # CodeOfFile, with functions, or the mistake that is in it
    places = await sources.find("Stock.total", ["/x"])

The interpreter is the program's, as each version has lines of its own. A file is compiled again when it has changed.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import trio
from msgspec import Struct

from trio_debugmcp.dap.lua.compiled_code import CodeOfFunction, read_code
from trio_debugmcp.dap.process import environment
from trio_debugmcp.patience import Patience

_DUMP = Path(__file__).parent / "inside" / "dump.lua"

_COMPILE_SECONDS = 5.0
"""For a file to be compiled; one of ten thousand lines takes 0.02."""

_MAX_FILES = 500
"""That are looked through for a function."""

_MAX_DIRECTORIES = 2000
"""That are looked into for these."""

_MAX_FILE_BYTES = 1024 * 1024
"""Of a file that is looked through."""

LOOKED_THROUGH = f"at most {_MAX_FILES} files in {_MAX_DIRECTORIES} directories are looked through, 1 MB of each"
"""How far `find` goes, in words."""

_DEFINITION = re.compile(r"\bfunction\s+([\w.:]+)|(?<![\w.])([\w.]+)\s*=\s*function\b")
"""A name is tried at its beginning alone: else a line of data takes the square of its length, and all stands still."""


class CodeOfFile(Struct, frozen=True):
    """The functions of a file; where it cannot be compiled or read, the reason; where neither is known, nothing."""

    functions: tuple[CodeOfFunction, ...] = ()
    mistake: str | None = None

    def line_at(self, line: int) -> int | None:
        """Return the first line from this one on at which something is executed; None if there is none."""
        return min((each for code in self.functions for each in code.lines if each >= line), default=None)


class LuaSources:
    """What the interpreter of one session says of files."""

    def __init__(self, interpreter: Sequence[str], patience: Patience) -> None:
        self._interpreter = interpreter
        self._patience = patience
        self._known: dict[tuple[str, int], CodeOfFile] = {}

    def __repr__(self) -> str:
        return f"<LuaSources of {len(self._known)} files>"

    async def code(self, path: str) -> CodeOfFile:
        """Return what is in a file."""
        try:
            key = (path, os.stat(path).st_mtime_ns)
        except (OSError, ValueError) as error:
            return CodeOfFile(mistake=getattr(error, "strerror", None) or str(error))
        if key not in self._known:
            self._known[key] = await self._compiled(path)
        return self._known[key]

    async def _compiled(self, path: str) -> CodeOfFile:
        command = [*self._interpreter, str(_DUMP), path]
        with trio.move_on_after(self._patience.seconds(_COMPILE_SECONDS)):
            try:
                ran = await trio.run_process(
                    command, capture_stdout=True, capture_stderr=True, check=False, env=_plain_environment()
                )
            except OSError:
                return CodeOfFile()
            if ran.returncode:
                return CodeOfFile(mistake=ran.stderr.decode(errors="replace").strip())
            try:
                return CodeOfFile(read_code(ran.stdout))
            except ValueError:
                return CodeOfFile()
        return CodeOfFile()

    async def find(self, name: str, directories: Sequence[str]) -> list[tuple[str, int]]:
        """Return where functions of this name begin, `total` or `Stock.total`: files, and lines of first statements."""
        places = []
        for path, lines in await trio.to_thread.run_sync(_defining, name.replace(":", "."), directories):
            functions = (await self.code(path)).functions
            places += [(path, min(code.lines)) for code in functions if code.first in lines and code.lines]
        return places


def definitions(text: str) -> dict[str, set[int]]:
    """Return the lines in which functions begin, by their names: those with what is in front, and the last part."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        for definition in _DEFINITION.finditer(line):
            name = (definition[1] or definition[2]).replace(":", ".")
            for called in (name, name.rpartition(".")[2]):
                found.setdefault(called, set()).add(number)
    return found


def _defining(name: str, directories: Sequence[str]) -> list[tuple[str, set[int]]]:
    """Return the files that define a function of this name, and the lines in which they do."""
    found = ((path, definitions(_text(path)).get(name, set())) for path in _files(directories))
    return [(path, lines) for path, lines in found if lines]


def _plain_environment() -> dict[str, str]:
    """Return our environment without what the interpreter would run before a file."""
    return {name: value for name, value in environment({}).items() if not name.startswith("LUA_INIT")}


def searched(directories: Sequence[str]) -> str:
    """Say in words where `find` looks."""
    return " or ".join(f"{'in' if _is_wide(each) else 'below'} {each}" for each in directories)


def _is_wide(directory: str) -> bool:
    """Whether too much is below a directory, which is not of one program."""
    return directory in ("/", os.path.expanduser("~"))


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_FILE_BYTES)
    except OSError:
        return ""


def _files(directories: Sequence[str]) -> Iterator[str]:
    """Yield the files of Lua in these directories and below them, those of the first first."""
    seen, looked_into = set[str](), 0
    for directory in directories:
        for folder, folders, names in os.walk(directory):
            looked_into += 1
            inner = () if _is_wide(directory) else folders
            folders[:] = sorted(each for each in inner if not each.startswith(".") and each != "node_modules")
            for path in (os.path.join(folder, name) for name in sorted(names) if name.endswith(".lua")):
                if path not in seen:
                    seen.add(path)
                    yield path
            if len(seen) > _MAX_FILES or looked_into > _MAX_DIRECTORIES:
                return
