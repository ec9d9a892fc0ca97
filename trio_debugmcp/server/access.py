"""Who may do what: a connection is in control, or it observes.

An observer lists and reads resources, subscribes, and calls tools that neither change anything nor run code in the
debugged program. Every other tool is not listed for it, and answers `READ_ONLY`.
"""

import re
import secrets
from typing import TYPE_CHECKING, Literal

from trio_debugmcp.errors import UsageError

if TYPE_CHECKING:
    from trio_debugmcp.server.tools.tool import Tool

Role = Literal["control", "observe"]

RANDOM_TOKEN_BYTES = 24
"""Of randomness in a token that we make: far beyond guessing, and still a short line."""

MAX_TOKEN_LENGTH = 200

_TOKEN = re.compile(rf"[A-Za-z0-9._~+-]{{1,{MAX_TOKEN_LENGTH}}}")


class Tokens:
    """What a client shows to get in. Made at random where none is given; never part of a representation or a log.

    Raises:
        ValueError: a token cannot travel in a header and as a WebSocket subprotocol, or both are the same.
    """

    def __init__(self, control: str | None = None, observe: str | None = None) -> None:
        self.made_control, self.made_observe = control is None, observe is None
        self.control = secrets.token_urlsafe(RANDOM_TOKEN_BYTES) if control is None else control
        self.observe = secrets.token_urlsafe(RANDOM_TOKEN_BYTES) if observe is None else observe
        if not all(_TOKEN.fullmatch(token) for token in (self.control, self.observe)):
            raise ValueError(f"a token is 1 to {MAX_TOKEN_LENGTH} characters of A-Z a-z 0-9 . _ ~ + -")
        if self.control == self.observe:
            raise ValueError("the control token and the observer token must differ")

    def role_of(self, token: str) -> Role | None:
        """What the token is good for, None if for nothing. How long it takes says nothing about the right one."""
        shown = token.encode("utf-8", "surrogateescape")
        controls = secrets.compare_digest(shown, self.control.encode())
        observes = secrets.compare_digest(shown, self.observe.encode())
        return "control" if controls else "observe" if observes else None


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
