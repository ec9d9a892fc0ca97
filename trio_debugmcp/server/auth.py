"""Roles and tokens: who may do what. A connection is in control, or it observes.

An observer lists and reads resources, subscribes, and calls tools that neither change anything nor run code in the
debugged program. Every other tool is not listed for it, and answers `READ_ONLY`: see `Tool.allows`.
"""

import re
import secrets

from trio_debugmcp.transports.connection_tap import Role

__all__ = ["MAX_TOKEN_LENGTH", "RANDOM_TOKEN_BYTES", "Role", "Tokens"]

RANDOM_TOKEN_BYTES = 24
"""Random bytes in a token that the server makes: far beyond guessing, and still a short line."""

MAX_TOKEN_LENGTH = 200
"""Characters of a token, which travels in one header line."""

_TOKEN = re.compile(rf"[A-Za-z0-9._~+-]{{1,{MAX_TOKEN_LENGTH}}}")


class Tokens:
    """The two tokens that admit clients. Made at random where none is given; never in a representation or a log.

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

    def observer(self) -> str:
        """Return the token of observers, to be passed on."""
        return self.observe

    def role_of(self, token: str) -> Role | None:
        """Return the role that a token gives; None for a wrong one."""
        # Both comparisons always run, each in constant time: the time it takes says nothing about the right tokens.
        shown = token.encode("utf-8", "surrogateescape")
        controls = secrets.compare_digest(shown, self.control.encode())
        observes = secrets.compare_digest(shown, self.observe.encode())
        return "control" if controls else "observe" if observes else None
