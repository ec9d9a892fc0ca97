"""One file per debug adapter: where it is found, how it is started and what its messages mean, oddities included."""

from collections.abc import Callable, Sequence
from pathlib import Path

from trio_debugmcp.dap.profiles.debugpy import Debugpy
from trio_debugmcp.dap.profiles.language import Code, Expressions, Place, Repl
from trio_debugmcp.dap.profiles.profile import (
    Attach,
    Dialect,
    Launch,
    Listen,
    PathMapping,
    Profile,
    Runtime,
    TypedException,
)
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
    "TypedException",
    "choose",
    "profile_for_file",
    "profile_named",
]

PROFILES: tuple[Profile, ...] = (Debugpy(),)
"""The adapters that come with the package."""


def profile_named(name: str, profiles: Sequence[Profile] = PROFILES) -> Profile | None:
    """The profile of that name, or of that language."""
    wanted = name.lower()
    return next((each for each in profiles if wanted in (each.name.lower(), each.language.lower())), None)


def profile_for_file(path: str, profiles: Sequence[Profile] = PROFILES) -> Profile | None:
    """The first profile that debugs files of this kind, or code that goes by this name."""
    suffix = Path(path).suffix.lower()
    return next((each for each in profiles if suffix in each.file_suffixes or path == each.programs.code_file), None)


def choose(
    adapter: str | None,
    program: str | None,
    profiles: Sequence[Profile],
    locate: Callable[[Profile], str | None],
) -> Profile:
    """Choose an installed adapter: by name or language, else by the kind of the program's file, else the first.

    `locate` calls `Profile.locate`, or answers in its place, as a recording does in a replay.

    Raises:
        UsageError: `ADAPTER_NOT_FOUND`: no such adapter, or it is not installed; the message names what is.
    """
    if adapter is not None:
        profile = profile_named(adapter, profiles)
    else:
        profile = profile_for_file(program, profiles) if program is not None else profiles[0]
    if profile is None:
        what = f"named '{adapter}'" if adapter is not None else f"for '{program}'"
        names = ", ".join(f"{each.name} ({each.language})" for each in profiles)
        raise UsageError("ADAPTER_NOT_FOUND", f"There is no debug adapter {what}. Pass `adapter`, one of: {names}.")
    if locate(profile) is None:
        raise UsageError(
            "ADAPTER_NOT_FOUND",
            f"The debug adapter {profile.name} is not installed. Install it with: {profile.install_hint}",
            {"adapter": profile.name, "install": profile.install_hint},
        )
    return profile
