"""Who may do what: a connection is in control, or it observes.

An observer lists and reads resources, subscribes, and calls tools that neither change anything nor run code in the
debugged program. Every other tool is not listed for it, and answers `READ_ONLY`.
"""

from typing import TYPE_CHECKING, Literal

from trio_debugmcp.errors import UsageError

if TYPE_CHECKING:
    from trio_debugmcp.server.tools.tool import Tool

Role = Literal["control", "observe"]


def may_call(role: Role, tool: "Tool") -> bool:
    """Whether a connection of that role may call the tool."""
    return role == "control" or (tool.read_only and not tool.runs_code)


def read_only(tool: "Tool") -> UsageError:
    """The refusal that an observer gets."""
    return UsageError(
        "READ_ONLY",
        f"This connection may only observe, and {tool.name} can change the debugged program. Use a connection with the "
        "control token, or read the resources.",
        {"tool": tool.name},
    )
