"""One file per debug adapter: where it is found, how it is started and spoken to, and what is odd about it."""

from collections.abc import Sequence
from pathlib import Path

from trio_debugmcp.dap.profiles.debugpy import Debugpy
from trio_debugmcp.dap.profiles.profile import Attach, Launch, Profile, TypedException

__all__ = [
    "PROFILES",
    "Attach",
    "Debugpy",
    "Launch",
    "Profile",
    "TypedException",
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
    """The first profile that debugs files of this kind."""
    suffix = Path(path).suffix.lower()
    return next((each for each in profiles if suffix in each.file_suffixes), None)
