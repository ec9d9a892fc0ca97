"""Names of tools that a client has misspelt."""

from collections.abc import Sequence

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.naming import MORE
from trio_debugmcp.server.tool_names import tools_meant


def unknown_tool(name: str, named: Sequence[str], listed: Sequence[str]) -> UsageError:
    """Return the `INVALID_PARAMETER` error of a tool that is not there, with those first that may be meant.

    `named`: all that may be meant; `listed`: those in the client's list.
    """
    others = f" {MORE} without arguments names the others." if listed[-1:] == [MORE] else ""
    sentence = (
        f"There is no tool '{name}'.{tools_meant(name, named)} tools/list has the {len(listed)} there are.{others}"
    )
    return UsageError("INVALID_PARAMETER", sentence, {})
