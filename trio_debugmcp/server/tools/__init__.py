"""The tools. One file per family; a tool is a function with a typed parameter struct, and the struct is its schema."""

from trio_debugmcp.server.tools.tool import Toolbox

__all__ = ["Toolbox", "open_toolbox"]


def open_toolbox(*, core_only: bool = False) -> Toolbox:
    """The toolbox with every tool, or only those that an agent needs every day."""
    from trio_debugmcp.server.tools import breakpoints, execution, inspection, process, session, timeline

    families = (session, execution, breakpoints, inspection, process, timeline)
    tools = [tool for family in families for tool in family.TOOLS]
    return Toolbox([tool for tool in tools if tool.core or not core_only])
