"""What stops a program at its exceptions, where its adapter does less than others do: a sentence of advice. Pure.

    exception_advice(profile, capabilities, ["/src/deploy.sh"])     # "bash-dap has no exception breakpoints. …"

What is raised is the language's, so its files say which.
"""

from collections.abc import Iterable
from pathlib import PurePath

from trio_debugmcp.dap.messages import Capabilities
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
        return None
    return (
        f"{profile.name} has no exception breakpoints{profile.thrown.without_breakpoints}. Use breakpoint_set on a "
        "line that runs before the failure, and step from there."
    )
