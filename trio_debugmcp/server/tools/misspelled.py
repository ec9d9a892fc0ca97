"""Names of tools that a client has misspelt."""

from collections.abc import Sequence
from difflib import get_close_matches

from trio_debugmcp.errors import UsageError

_MAX_MEANT = 3


def unknown_tool(name: str, listed: Sequence[str]) -> UsageError:
    """Return the `INVALID_PARAMETER` error of a tool that is not there, with those first that may be meant."""
    near = [each for each in listed if name and name in each] or get_close_matches(name, listed)
    meant = f" Do you mean {' or '.join(near[:_MAX_MEANT])}?" if near else ""
    return UsageError("INVALID_PARAMETER", f"There is no tool '{name}'.{meant} Tools: {', '.join(listed)}.", {})
