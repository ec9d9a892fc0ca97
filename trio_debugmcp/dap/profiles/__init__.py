"""The debug adapters: where each is found, how it is started and what its messages mean, oddities included.

debugpy has a class, in files of its own; the others are tables in adapters.toml.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from trio_debugmcp.dap.profiles.debugpy import Debugpy
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
from trio_debugmcp.dap.profiles.table import TableProfile, read_tables
from trio_debugmcp.errors import UsageError

__all__ = [
    "PROFILES",
    "Attach",
    "Code",
    "Debugpy",
    "Dialect",
    "Expressions",
    "Launch",
    "Listen",
    "PathMapping",
    "Place",
    "Profile",
    "Repl",
    "Runtime",
    "TableProfile",
    "TypedException",
    "choose",
    "profile_for_file",
    "profile_named",
    "profiles_for_file",
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
    return tuple(each for each in profiles if suffix in each.file_suffixes or path == each.programs.code_file)


def profile_for_file(path: str, profiles: Sequence[Profile] = PROFILES) -> Profile | None:
    """The first profile that debugs files of this kind, or code that goes by this name."""
    return next(iter(profiles_for_file(path, profiles)), None)


def choose(
    adapter: str | None,
    program: str | None,
    profiles: Sequence[Profile],
    locate: Callable[[Profile], str | None],
    look: Callable[[str], Sequence[str]] = lambda _: (),
) -> Profile:
    """Choose an installed adapter: by name or language, else by the kind of the program's file, else the first.

    `locate` calls `Profile.locate`, or answers in its place, as a recording does in a replay; `look` names the adapters
    for a program whose name does not say what it is.

    Raises:
        UsageError: `ADAPTER_NOT_FOUND`: no such adapter, or it is not installed; the message names what is.
    """
    fits: Sequence[Profile]
    if adapter is not None:
        fits = [each for each in profiles if each.is_called(adapter)]
    elif program is None:
        fits = profiles[:1]
    else:
        fits = profiles_for_file(program, profiles)
        if not fits:
            named = look(program)
            fits = [each for each in profiles if each.name in named]
    if not fits:
        what = f"named '{adapter}'" if adapter is not None else f"for '{program}'"
        names = "; ".join(f"{each.name} ({each.language})" for each in profiles)
        raise UsageError("ADAPTER_NOT_FOUND", f"There is no debug adapter {what}. Pass `adapter`, one of: {names}.")
    found = next((each for each in fits if locate(each) is not None), None)
    if found is None:
        absent = ". Or: ".join(f"{each.absence()}. Install it with: {each.install_hint}" for each in fits)
        details = {"adapter": fits[0].name, "install": fits[0].install_hint}
        raise UsageError("ADAPTER_NOT_FOUND", absent, details)
    return found
