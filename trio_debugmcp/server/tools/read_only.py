"""The tools as clients that watch a replay have them: they may look, and the recorded clients act."""

from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.session.debugger import Debugger


def read_only(tool: Tool) -> Tool:
    """Return the tool with no trace in the timeline, and refused if it moves the program or its breakpoints."""

    async def refuse(debugger: Debugger, params: Params) -> Answer:
        raise UsageError(
            "NOT_SUPPORTED",
            f"This is a replay: the recording moves the program, and {tool.name} does not. Look at it with the "
            "resources and the other tools, or start the replay with --drive to make the recorded calls yourself.",
            {"tool": tool.name},
        )

    # An evaluation may run code of the program, but in a replay it gets the recorded answer.
    if tool.read_only or tool.runs_code:
        return replace(tool, noted=False)
    return replace(tool, noted=False, run=refuse)
