"""The tools. One file per family; a tool is a function with a typed parameter struct, and the struct is its schema."""

from trio_debugmcp.server.tools.tool import Toolbox

__all__ = ["Toolbox", "open_toolbox"]


def open_toolbox(*, core_only: bool = False, read_only: bool = False) -> Toolbox:
    """Make the toolbox. `core_only`: it lists only what an agent needs every day.

    `read_only`: for clients that watch a replay. What would move the program is refused, and no call is recorded in
    the timeline.
    """
    from trio_debugmcp.server.tools import (
        breakpoints,
        execution,
        inspection,
        launching,
        listening,
        pausing,
        process,
        session,
        stacks,
        threads,
        timeline,
    )

    families = (
        launching,
        session,
        listening,
        execution,
        pausing,
        breakpoints,
        stacks,
        threads,
        inspection,
        process,
        timeline,
    )
    tools = [tool for family in families for tool in family.TOOLS]
    if read_only:
        from trio_debugmcp.server.tools import read_only as replay

        tools = [replay.read_only(tool) for tool in tools]
    return Toolbox(tools, core_only=core_only)
