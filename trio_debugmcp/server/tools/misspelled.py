"""Names of tools that a client has misspelt."""

from collections.abc import Sequence
from difflib import get_close_matches

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.naming import MORE

_MAX_MEANT = 3


def unknown_tool(name: str, named: Sequence[str], listed: Sequence[str]) -> UsageError:
    """Return the `INVALID_PARAMETER` error of a tool that is not there, with those first that may be meant.

    `named`: all that may be meant; `listed`: those in the client's list.
    """
    near = [each for each in named if name and name in each] or get_close_matches(name, named)
    meant = f" Do you mean {' or '.join(near[:_MAX_MEANT])}?" if near else ""
    more = " Without arguments the last one names the others." if listed[-1:] == [MORE] else ""
    return UsageError("INVALID_PARAMETER", f"There is no tool '{name}'.{meant} Tools: {', '.join(listed)}.{more}", {})
