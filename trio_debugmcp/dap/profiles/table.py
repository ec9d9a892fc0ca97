"""`TableProfile`: a debug adapter that is described by a table of a TOML file, and needs no code of its own.

    [adapters.gdb]
    language = "C, C++, Rust"
    find = ["$GDB_PATH", "gdb"]
    command = ["{adapter}", "--interpreter=dap"]
    launch = { program = "{program}", args = "{args}" }

    profiles = read_tables(path.read_text(), str(path))

A text that is one placeholder becomes the thing itself (a list, a table, a number), and its key is left out where there
is none; inside a longer text it becomes text. docs/adapters.md describes the keys.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from trio_debugmcp.dap.process import environment
from trio_debugmcp.dap.profiles.native import NativeCode, NativeDialect, NativeExpressions, NativeValues, NativeWords
from trio_debugmcp.dap.profiles.native_exceptions import NativeThrown
from trio_debugmcp.dap.profiles.profile import Attach, Launch, Profile
from trio_debugmcp.dap.profiles.safe_commands import SafeCommands, SafeRepl
from trio_debugmcp.errors import UsageError

_VERSION_SECONDS = 5.0
"""For an adapter to say its version: gdb takes 0.05 from a cold cache 0.3."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_NUMBERS = re.compile(r"\d+(?:\.\d+)+")

_INSTALLERS = {
    "pip": f"{sys.executable} -m pip install",
    "apt": "apt-get install",
    "npm": "npm install",
    "command": "",
}
"""Words before what `install` names."""


class Detect(Struct, frozen=True, forbid_unknown_fields=True):
    """The programs for which an adapter is selected: suffixes of source files, or executables."""

    suffixes: tuple[str, ...] = ()
    elf: Literal["native"] | None = None


class Version(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """How an adapter says its version, the oldest that works, and why older ones do not."""

    command: tuple[str, ...]
    at_least: str
    why: str


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a program begins: a function of the user's."""

    function: str


class Exceptions(Struct, frozen=True, forbid_unknown_fields=True):
    """The filters that stop where an exception is thrown; there, expressions for the addresses of it and its type."""

    raised: tuple[str, ...]
    thrown: tuple[str, str]


class Table(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """One adapter, as a file describes it."""

    language: str
    find: tuple[str, ...]
    command: tuple[str, ...]
    launch: dict[str, Any]
    attach: dict[str, Any] = {}
    install: dict[Literal["pip", "apt", "npm", "command"], str] = {}
    detect: Detect = Detect()
    version: Version | None = None
    transport: Literal["stdio"] = "stdio"
    program_streams: Literal["events", "terminal"] = "events"
    entry: Entry | None = None
    hooks: Literal["native"] | None = None
    evaluate_safe: SafeCommands | None = None
    exceptions: Exceptions | None = None
    renew: str | None = None


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    adapters: dict[str, Table]


def read_tables(text: str, name: str) -> tuple["TableProfile", ...]:
    """Return the adapters of a TOML file, in its order.

    Raises:
        UsageError: `INVALID_PARAMETER`: the file is not TOML, or a table has an unknown key or a value of a wrong type.
    """
    try:
        found = msgspec.convert(tomllib.loads(text), _File)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UsageError("INVALID_PARAMETER", f"{name} does not describe debug adapters: {error}.") from error
    return tuple(TableProfile(each, table) for each, table in found.adapters.items())


class TableProfile(Profile):
    """One debug adapter of a table."""

    def __init__(self, name: str, table: Table) -> None:
        self.name = name
        self.table = table
        self.language = table.language
        self.file_suffixes = frozenset(table.detect.suffixes)
        self.install_hint = " or ".join(f"{_INSTALLERS[by]} {what}".strip() for by, what in table.install.items())
        self.entry_function = None if table.entry is None else table.entry.function
        self.renew = table.renew
        if table.evaluate_safe is not None:
            self.repl = SafeRepl(table.evaluate_safe)
        if table.hooks == "native":
            self.expressions = NativeExpressions()
            self.code = NativeCode()
            self.values = NativeValues()
            self.words = NativeWords(own_streams=table.program_streams == "terminal")
            if table.exceptions is not None:
                self.dialect = NativeDialect(table.exceptions.raised)
                self.thrown = NativeThrown(table.exceptions.thrown)

    def __repr__(self) -> str:
        return f"<TableProfile {self.name}>"

    # --- Finding ---------------------------------------------------------------------------------------------

    def locate(self) -> str | None:
        found, problem = self._find()
        if found is None or problem is not None:
            return None
        version = self._version(found)
        return f"{found} ({version})" if version else found

    def absence(self) -> str:
        found, problem = self._find()
        return super().absence() if found is None or problem is None else f"{found} is too old: {problem}"

    def command(self) -> Sequence[str]:
        found, _ = self._find()
        return [filled(each, {"adapter": found or self.name}) for each in self.table.command]

    def runs_executable(self, head: bytes) -> bool:
        return self.table.detect.elf == "native" and head.startswith(b"\x7fELF")

    def _find(self) -> tuple[str | None, str | None]:
        """Return the first place where the adapter is and works; else the first where it is, and why it does not."""
        first: tuple[str | None, str | None] = (None, None)
        for each in self.table.find:
            place = _place(each)
            if place is None:
                continue
            problem = self._problem(place)
            if problem is None:
                return place, None
            if first[0] is None:
                first = (place, problem)
        return first

    def _problem(self, place: str) -> str | None:
        wanted, version = self.table.version, self._version(place)
        if wanted is None or (version is not None and _numbers(version) >= _numbers(wanted.at_least)):
            return None
        which = "does not say its version" if version is None else f"is version {version}"
        return f"it {which}, and {wanted.at_least} or newer is needed: {wanted.why}"

    def _version(self, place: str) -> str | None:
        if self.table.version is None:
            return None
        command = tuple(str(filled(each, {"adapter": place})) for each in self.table.version.command)
        try:
            changed = Path(place).stat().st_mtime_ns
        except OSError:
            return None
        return _version_said(command, changed)

    # --- Launch and attach -----------------------------------------------------------------------------------

    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        values = {
            "program": launch.program,
            "args": list(launch.args),
            "cwd": launch.cwd,
            "env": dict(launch.env),
            "environment": environment(launch.env),
        }
        return {**filled(self.table.launch, values), **launch.options}

    def attach_arguments(self, attach: Attach) -> dict[str, Any]:
        return {**filled(self.table.attach, {"pid": attach.pid}), **attach.options}


# --- Placeholders -----------------------------------------------------------------------------------------------------


def filled(pattern: Any, values: Mapping[str, Any]) -> Any:
    """Return a value of a table with its placeholders filled in; keys whose placeholder stands for None are absent."""
    match pattern:
        case str():
            whole = _PLACEHOLDER.fullmatch(pattern)
            if whole is not None and whole[1] in values:
                return values[whole[1]]
            return _PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0])), pattern)
        case list() | tuple():
            return [filled(each, values) for each in pattern]
        case dict():
            new = {name: filled(each, values) for name, each in pattern.items()}
            return {name: each for name, each in new.items() if each is not None}
        case _:
            return pattern


def _place(wanted: str) -> str | None:
    """Return the absolute path of a program, which is named by a variable, by its path, or as one on PATH."""
    name: str | None = wanted
    if wanted.startswith("$"):
        name = os.environ.get(wanted[1:])
    elif wanted.startswith("{scripts}"):
        name = wanted.replace("{scripts}", sysconfig.get_path("scripts"), 1)
    found = shutil.which(os.path.expanduser(name)) if name else None
    return None if found is None else os.path.abspath(found)


@lru_cache
def _version_said(command: tuple[str, ...], changed: int) -> str | None:
    """Return the first version that a command prints; asked again when the program has `changed`."""
    try:
        said = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_SECONDS, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = _NUMBERS.search(said.decode(errors="replace"))
    return found[0] if found else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\d+", version))
