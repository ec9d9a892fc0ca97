"""What stops a program at its exceptions, where its adapter does less than others do: a sentence of advice. Pure.

    exception_advice(profile, capabilities, ["/src/deploy.sh"])     # "bash-dap has no exception breakpoints. …"

What is raised is the language's, so its files say which.
"""

from collections.abc import Iterable
from pathlib import PurePath

from trio_debugmcp.dap.messages import Capabilities
from trio_debugmcp.dap.profiles.exception_filters import TypedException
from trio_debugmcp.dap.profiles.profile import Profile


def exception_advice(profile: Profile, able: Capabilities, files: Iterable[str | None]) -> str | None:
    """Return what can be done in place of exception breakpoints; None where these stop at what nothing catches.

    `able`: what the adapter declares; `files`: what the program is known to be made of, for the language it is in.
    """
    suffixes = [PurePath(file).suffix.lower() for file in files if file is not None]
    function = next((found for suffix in suffixes if (found := profile.thrown.thrown_by.get(suffix))), None)
    if function is not None:
        return (
            f"{profile.name} does not know the exceptions of this language, and stops at none by itself: "
            f'breakpoint_set(function="{function}") stops where one is raised, caught or not.'
        )
    if able.exception_breakpoint_filters:
        return (
            None
            if _stops_at_uncaught(profile, able)
            else (
                f"{profile.name} stops at no exception by itself, only where one is raised, caught or not: pass "
                '`breakpoints: [{"exception": TYPE}]`, or `*` for all.'
            )
        )
    return (
        f"{profile.name} has no exception breakpoints{profile.thrown.without_breakpoints}. Use breakpoint_set on a "
        "line that runs before the failure, and step from there."
    )


def _stops_at_uncaught(profile: Profile, able: Capabilities) -> bool:
    """Whether a filter of the adapter's is for what nothing catches, or such an exception ends in a signal."""
    uncaught = TypedException("*", first_chance=False, second_chance=True)
    wanted = profile.dialect.exception_arguments([uncaught], able)
    return profile.thrown.reads_types or bool(profile.habits.exception_filters) or any(wanted.values())
