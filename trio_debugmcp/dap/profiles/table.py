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

import tomllib
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from trio_debugmcp.dap.process import environment
from trio_debugmcp.dap.profiles.finding import Finder
from trio_debugmcp.dap.profiles.installing import command_for
from trio_debugmcp.dap.profiles.native import NativeCode, NativeDialect, NativeExpressions, NativeValues, NativeWords
from trio_debugmcp.dap.profiles.native_exceptions import NativeThrown
from trio_debugmcp.dap.profiles.placeholders import filled
from trio_debugmcp.dap.profiles.profile import Attach, Launch, Profile
from trio_debugmcp.dap.profiles.safe_commands import SafeRepl
from trio_debugmcp.dap.profiles.table_format import Table
from trio_debugmcp.errors import UsageError


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
        self.detect = table.detect
        self.types = frozenset(table.types)
        self.habits = table
        self.renew = table.renew
        self._finder = Finder(name, table)
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

    @property
    def install_hint(self) -> str:
        return command_for(self.name, self.table)

    def locate(self) -> str | None:
        found = self._finder.find()
        if found is None or found.problem is not None:
            return None
        return f"{found.place} ({found.version})" if found.version else found.place

    def absence(self) -> str:
        found = self._finder.find()
        if found is None or found.problem is None:
            return super().absence()
        return f"{found.place} {found.problem}"

    def command(self) -> Sequence[str]:
        found = self._finder.find()
        return [filled(each, {"adapter": found.place if found else self.name}) for each in self.table.command]

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
