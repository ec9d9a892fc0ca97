"""The debug adapters: where each is found, how it is started and what its messages mean, oddities included.

debugpy has a class, in files of its own; the others are tables in adapters.toml.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trio_debugmcp.dap.profiles.choosing import candidates, choose, files_to_launch, first_installed, for_process
from trio_debugmcp.dap.profiles.detection import Detect, ProgramFacts
from trio_debugmcp.dap.profiles.exception_filters import TypedException
from trio_debugmcp.dap.profiles.language import Code, Expressions, Place, Repl
from trio_debugmcp.dap.profiles.processes import called, owner_problem, ptrace_problem, running, trace_problem
from trio_debugmcp.dap.profiles.profile import Dialect, Profile, Runtime
from trio_debugmcp.dap.profiles.program_facts import read_facts
from trio_debugmcp.dap.profiles.python.debugpy import Debugpy
from trio_debugmcp.dap.profiles.starts import Attach, Launch, Listen, MainClass, PathMapping
from trio_debugmcp.dap.profiles.table_profiles import profile_of_table, read_tables
from trio_debugmcp.dap.profiles.tables.table import TableProfile
from trio_debugmcp.dap.profiles.tables.tables_file import RawTables, lay_over, raw_tables, table_of
from trio_debugmcp.errors import UsageError

__all__ = [
    "BROWSER",
    "PROFILES",
    "Attach",
    "Code",
    "Debugpy",
    "Detect",
    "Dialect",
    "Expressions",
    "Launch",
    "Listen",
    "MainClass",
    "PathMapping",
    "Place",
    "Profile",
    "ProgramFacts",
    "Repl",
    "Runtime",
    "TableProfile",
    "TypedException",
    "called",
    "candidates",
    "choose",
    "files_to_launch",
    "first_installed",
    "for_process",
    "owner_problem",
    "profile_for_file",
    "profile_named",
    "profile_of_python",
    "profiles_for_file",
    "profiles_with",
    "ptrace_problem",
    "read_facts",
    "read_tables",
    "recorded_profiles",
    "running",
    "trace_problem",
]

BROWSER = "browser"
"""The adapter of pages."""

_TABLES = Path(__file__).with_name("adapters.toml")

PROFILES: tuple[Profile, ...] = (Debugpy(), *read_tables(_TABLES.read_text(), _TABLES.name))
"""The adapters that come with the package, the preferred ones first."""


def profiles_with(files: Sequence[Path]) -> tuple[Profile, ...]:
    """Return our adapters with tables of users, whose files are laid over ours and over each other in this order.

    The users' come first: those of the last file, in the order of that file, then those of the file before it.

    Raises:
        UsageError: `INVALID_PARAMETER`: a file cannot be read, or something in it is wrong.
    """
    known: dict[str, Mapping[str, Any]] = {}
    users: dict[str, Profile] = {}
    if files:
        known |= raw_tables(_TABLES.read_text(), _TABLES.name)
    for file in files:
        try:
            text = file.read_text("utf-8")
        except OSError as error:
            raise UsageError("INVALID_PARAMETER", f"{file} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise UsageError("INVALID_PARAMETER", f"{file} is not UTF-8: {error.reason} at {error.start}.") from error
        found = lay_over(known, text, str(file))
        known |= found
        new = {name: profile_of_table(name, table_of(raw, name, str(file))) for name, raw in found.items()}
        users = {**new, **{name: profile for name, profile in users.items() if name not in new}}
    return (*users.values(), *(profile for profile in PROFILES if profile.name not in users))


def recorded_profiles(names: Sequence[str], tables: RawTables, file: str) -> tuple[Profile, ...]:
    """Return the adapters that a server had with these tables of users, in the order in which it preferred them.

    Raises:
        UsageError: `INVALID_PARAMETER`: something in a table is wrong; `file` is the recording's.
    """
    users = {name: profile_of_table(name, table_of(raw, name, file)) for name, raw in tables.items()}
    known: dict[str, Profile] = {**{profile.name: profile for profile in PROFILES}, **users}
    return tuple(known[name] for name in dict.fromkeys((*names, *known)) if name in known)


def profile_of_python(profiles: Sequence[Profile]) -> Profile:
    """Return the profile for what has no file of its own: a module, code, and programs that dial in."""
    return next((profile for profile in profiles if profile.has_probe), profiles[0])


def profile_named(name: str) -> Profile | None:
    """The first profile of that name, or of that language."""
    return next((profile for profile in PROFILES if profile.is_called(name)), None)


def profiles_for_file(path: str, profiles: Sequence[Profile]) -> tuple[Profile, ...]:
    """The profiles that debug files of this kind, or code that goes by this name."""
    suffix = Path(path).suffix.lower()
    return tuple(
        profile for profile in profiles if suffix in profile.detect.suffixes or path == profile.programs.code_file
    )


def profile_for_file(path: str, profiles: Sequence[Profile]) -> Profile | None:
    """The first profile that debugs files of this kind, or code that goes by this name."""
    return next(iter(profiles_for_file(path, profiles)), None)
