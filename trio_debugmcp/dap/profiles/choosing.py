"""`choose`: the debug adapter for a launch or an attach, of those that are known and installed. Pure but for `locate`.

In this order: what the user names, an adapter or a language; the `type` of a configuration; what fits the program.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath

from trio_debugmcp.dap.profiles.detection import ProgramFacts, fitting
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.projects.project_program import listed
from trio_debugmcp.errors import UsageError


def choose(
    adapter: str | None,
    program: str | None,
    profiles: Sequence[Profile],
    locate: Callable[[Profile], str | None],
    facts: Callable[[str], ProgramFacts | None] = lambda _: None,
    *,
    kind: str | None = None,
) -> Profile:
    """Choose an installed adapter; of several that fit the first, in the order of `profiles`.

    `locate` calls `Profile.locate`, or answers in its place, as a recording does in a replay; `facts` reads what a
    program is whose name does not say it; `kind` is the `type` of a configuration in launch.json.

    Raises:
        UsageError: `ADAPTER_NOT_FOUND`: no such adapter, or it is not installed; the message names what is.
    """
    return first_installed(candidates(adapter, program, profiles, facts, kind=kind), locate)


def candidates(
    adapter: str | None,
    program: str | None,
    profiles: Sequence[Profile],
    facts: Callable[[str], ProgramFacts | None] = lambda _: None,
    *,
    kind: str | None = None,
) -> Sequence[Profile]:
    """Return the adapters that fit, installed or not, the preferred ones first.

    Raises:
        UsageError: `ADAPTER_NOT_FOUND`: there is none.
    """
    fits: Sequence[Profile]
    if adapter is not None:
        fits, what = [profile for profile in profiles if profile.is_called(adapter)], f"named '{adapter}'"
    elif kind is not None:
        fits, what = [profile for profile in profiles if kind in profile.types], f"for the type '{kind}'"
    elif program is None:  # a module, code or a test, or programs that dial in: Python's
        fits, what = [profile for profile in profiles if profile.has_probe][:1] or profiles[:1], "at all"
    else:
        fits, what = _for_program(program, profiles, facts), f"for '{program}'"
    if not fits:
        names = "; ".join(f"{profile.name} ({profile.language})" for profile in profiles)
        by_program = program is not None and adapter is None and kind is None
        problem = _without_project(program or "", profiles, facts) if by_program else None
        problem = problem or f"There is no debug adapter {what}. "
        problem += "" if problem.endswith(_OF_THESE) else f"Pass `adapter`, one of: {names}."
        raise UsageError("ADAPTER_NOT_FOUND", problem)
    return fits


_MACHINE_CODE = frozenset({".nim", ".odin", ".swift", ".ml", ".hs"})
_OF_THE_JVM = frozenset({".kts", ".groovy", ".clj"})
"""Suffixes of languages that no adapter builds, though one debugs what their compilers make."""


def _to_be_built(program: str) -> str | None:
    suffix = PurePath(program).suffix.lower()
    if suffix in _MACHINE_CODE:
        return (
            f"'{program}' is not built here. Build it with debug information and launch the executable: gdb debugs it. "
        )
    if suffix in _OF_THE_JVM:
        return f"'{program}' is not built here. Build a jar and launch that: the adapter java debugs it. "
    return None


def _without_project(
    program: str, profiles: Sequence[Profile], facts: Callable[[str], ProgramFacts | None]
) -> str | None:
    """Return what a directory needs to be a program; None if it is something else.

    Raises:
        UsageError: `INVALID_PATH`: there is no such path.
    """
    found = facts(program)
    if found is not None and found.kind is None:
        raise UsageError(
            "INVALID_PATH", f"The program '{program}' does not exist. Pass the path of a file.", {"path": program}
        )
    if found is None or found.kind != "directory":
        return _to_be_built(program)
    what = f"'{program}' is a directory without a program that an adapter knows."
    for profile in profiles:
        language, files = profile.language, " or ".join(profile.detect.files)
        if files and "," not in language and not set(profile.detect.suffixes).isdisjoint(found.suffixes):
            what += f" It has sources of {language}, and no {files} in it or above: make one, or pass a file."
            break
    named = files_to_launch(found, profiles)
    return f"{what} {named}{_OF_THESE}" if named else f"{what} Pass a file in it. "


_OF_THESE = " can be launched: pass one as `program`."

_INCLUDED = frozenset({".h", ".hh", ".hpp"})
"""Suffixes of files that are compiled with others."""


def files_to_launch(found: ProgramFacts, profiles: Iterable[Profile]) -> str:
    """Return the first files of a directory that one of these adapters takes, and how many more there are."""
    suffixes = {suffix for profile in profiles for suffix in profile.detect.suffixes} - _INCLUDED
    return listed(name for name in found.names if PurePath(name).suffix.lower() in suffixes)


def _for_program(
    program: str, profiles: Sequence[Profile], facts: Callable[[str], ProgramFacts | None]
) -> list[Profile]:
    known = [(profile, profile.detect) for profile in profiles]
    return fitting(known, program, None) or fitting(known, program, facts(program))


def first_installed(fits: Sequence[Profile], locate: Callable[[Profile], str | None]) -> Profile:
    """Return the first adapter that is there.

    Raises:
        UsageError: `ADAPTER_NOT_FOUND`: none is; the message has the command that installs each.
    """
    found = next((fit for fit in fits if locate(fit) is not None), None)
    if found is not None:
        return found
    absent = ". Or: ".join(
        fit.absence() + (f". Install it with: {fit.install_hint}" if fit.install_hint else "") for fit in fits
    )
    details = {"adapter": fits[0].name, "install": fits[0].install_hint}
    raise UsageError("ADAPTER_NOT_FOUND", absent, details)


def for_process(executable: str, facts: ProgramFacts, profiles: Iterable[Profile]) -> list[Profile]:
    """Return what debugs a running process: by the name of what it executes, an interpreter, else by its code."""
    all_profiles = tuple(profiles)
    name = Path(executable).name
    interpreted = [profile for profile in all_profiles if profile.detect.fits_interpreter(name)]
    return interpreted or [profile for profile in all_profiles if profile.detect.fits_machine_code(facts)]
