"""The tools as clients of a replay have them.

Clients that watch may look, and the recorded clients act; a client that drives makes the recorded calls. The errors of
both name what the recording lacks: there is no debugger to be asked again.
"""

from msgspec.structs import replace

from trio_debugmcp.errors import NO_SESSION, DebugError, UsageError, as_not_recorded
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.failures import usage_error
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.session.debugger import Debugger

NO_SESSION_HERE = (
    "There is no debug session at this moment of the recording; debug_state has the last one, if it is over. To look "
    "at one, play the recording again and look while it lasts, or start the replay with --drive to make its calls "
    "yourself"
)
"""For a client that watches a replay: it cannot start a session."""


def watched(tool: Tool) -> Tool:
    """Return the tool with no trace in the timeline, and refused if it moves the program or its breakpoints."""

    async def refuse(debugger: Debugger, params: Params) -> Answer:
        raise UsageError(
            "NOT_SUPPORTED",
            f"This is a replay: the recording moves the program, and {tool.name} does not. Look at it with the "
            "resources and the other tools, or start the replay with --drive to make the recorded calls yourself.",
            {"tool": tool.name},
        )

    async def look(debugger: Debugger, params: Params) -> Answer:
        try:
            return await tool.run(debugger, params)
        except DebugError as error:
            raise _explained(error, f"{NO_SESSION_HERE}.") from None

    looks = tool.read_only or tool.runs_code or tool.name == "observe_link"
    # An evaluation may run code of the program, but in a replay it gets the recorded answer.
    return replace(tool, noted=False, run=look if looks else refuse)


def driven(tool: Tool) -> Tool:
    """Return the tool with errors that name what the recording does not hold."""

    async def run(debugger: Debugger, params: Params) -> Answer:
        try:
            return await tool.run(debugger, params)
        except DebugError as error:
            raise _explained(error) from None

    return replace(tool, run=run)


def _explained(error: DebugError, no_session: str | None = None) -> UsageError:
    """Return the error in the words of a replay."""
    failure = usage_error(error)
    sentence = as_not_recorded(failure.message)
    if sentence is not None:
        advice = "timeline_query lists the calls that the recorded clients made."
        return UsageError("NOT_SUPPORTED", f"{sentence} {advice}", {"replay": True})
    if failure.code == "NO_SESSION" and no_session is not None and failure.message.startswith(NO_SESSION):
        return UsageError(failure.code, no_session, failure.details)
    return failure
