"""The last launch of the server before this one: it is launched again with what is kept of it."""

import time

import msgspec

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.tools.meant import meant
from trio_debugmcp.server.tools.starting.configurations import LaunchConfigured, launch_as_wanted
from trio_debugmcp.session.debugger import READER, Debugger
from trio_debugmcp.session.project_file import KeptLaunch, LastUse


async def launch_again(
    debugger: Debugger, kept: LastUse, launch: KeptLaunch, *, timeout: float, show: list[str]
) -> StopAnswer:
    """Launch what the server before this one had launched, with its breakpoints, and say what is not known any more.

    Raises:
        UsageError: `NO_SESSION`: what would have to be known of it is not. Else as `debug_launch`.
    """
    if not launch.is_whole:
        raise UsageError(
            "NO_SESSION",
            f"This server has started anew, and of the last launch it does not know: {', '.join(launch.without)}, "
            "which may have been secret. Use debug_launch.",
            {"unknown": list(launch.without)},
        )
    arguments = {**launch.arguments, "timeout": timeout, "show": show}
    try:
        params = msgspec.convert(meant(LaunchConfigured, arguments), LaunchConfigured)
    except msgspec.ValidationError as error:  # the file was changed, or is of another version
        sentence = f"This server has started anew, and the last launch cannot be read: {error}. Use debug_launch."
        raise UsageError("NO_SESSION", sentence) from error
    refused = await debugger.earlier.take_up(kept, READER.get())
    answer = await launch_as_wanted(debugger, params)
    return msgspec.structs.replace(answer, notes=[*_notes(kept, launch, refused), *answer.notes])


def _notes(kept: LastUse, launch: KeptLaunch, refused: int) -> list[str]:
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(launch.at))
    taken = len(kept.breakpoints) - refused
    unknown = [*launch.without]
    if refused + kept.left_out:
        unknown.append(f"{refused + kept.left_out} breakpoints")
    known = f"this server has started anew: the launch is that of {at}, with {taken} of its breakpoints"
    gone = f"not known any more: {', '.join([*unknown, 'its stops, output and timeline'])}"
    return [known, gone]
