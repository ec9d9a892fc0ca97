"""The debug adapters: where each is found, how it is started and what its messages mean, oddities included.

debugpy has a class, in files of its own; the others are tables in adapters.toml.
"""

from collections.abc import Sequence
from pathlib import Path

from trio_debugmcp.dap.profiles.choosing import choose, for_process
from trio_debugmcp.dap.profiles.debugpy import Debugpy
from trio_debugmcp.dap.profiles.detection import Detect, ProgramFacts
from trio_debugmcp.dap.profiles.exception_filters import TypedException
from trio_debugmcp.dap.profiles.language import Code, Expressions, Place, Repl
from trio_debugmcp.dap.profiles.profile import (
    Attach,
    Dialect,
    Launch,
    Listen,
    PathMapping,
    Profile,
    Runtime,
)
from trio_debugmcp.dap.profiles.program_facts import read_facts
from trio_debugmcp.dap.profiles.table import TableProfile, read_tables

__all__ = [
    "PROFILES",
    "Attach",
    "Code",
    "Debugpy",
    "Detect",
    "Dialect",
    "Expressions",
    "Launch",
    "Listen",
    "PathMapping",
    "Place",
    "Profile",
    "ProgramFacts",
    "Repl",
    "Runtime",
    "TableProfile",
    "TypedException",
    "choose",
    "for_process",
    "profile_for_file",
    "profile_named",
    "profiles_for_file",
    "read_facts",
    "read_tables",
]

_TABLES = Path(__file__).with_name("adapters.toml")

PROFILES: tuple[Profile, ...] = (Debugpy(), *read_tables(_TABLES.read_text(), _TABLES.name))
"""The adapters that come with the package, the preferred ones first."""


def profile_named(name: str, profiles: Sequence[Profile] = PROFILES) -> Profile | None:
    """The first profile of that name, or of that language."""
    return next((each for each in profiles if each.is_called(name)), None)


def profiles_for_file(path: str, profiles: Sequence[Profile] = PROFILES) -> tuple[Profile, ...]:
    """The profiles that debug files of this kind, or code that goes by this name."""
    suffix = Path(path).suffix.lower()
    return tuple(each for each in profiles if suffix in each.detect.suffixes or path == each.programs.code_file)


def profile_for_file(path: str, profiles: Sequence[Profile] = PROFILES) -> Profile | None:
    """The first profile that debugs files of this kind, or code that goes by this name."""
    return next(iter(profiles_for_file(path, profiles)), None)
