"""Why a connection could not be made, and how one ended: the first reason counts, for requests and for the state."""

from collections.abc import Mapping
from http import HTTPStatus

import trio
from msgspec import Struct

from trio_debugmcp.client.client_errors import AuthorizationLost, ConnectFailed, ConnectionLost, NotAuthorized

ACCESS_DENIED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

MAX_BODY_CHARACTERS = 200
"""Of what the server gives as its reason; an error page is longer, and no person would read it."""


class HttpRefusal(Struct, frozen=True):
    """One HTTP response that is not the one that was wanted.

    Attributes:
        url: that was requested.
        status: the HTTP status.
        body: the beginning of what the server gives as its reason, possibly empty.
    """

    url: str
    status: int
    body: str = ""

    def __str__(self) -> str:
        said = f" ({self.body})" if self.body else ""
        return f"{self.url} answered with HTTP {self.status} {_phrase(self.status)}".rstrip() + said

    def as_error(self, headers: Mapping[str, str] | None) -> ConnectFailed:
        """The error for the caller of `connect()`, with what to do next.

        Args:
            headers: that were sent, to know whether a token was among them.
        """
        if self.status in ACCESS_DENIED:
            has_token = any(name.lower() == "authorization" for name in headers or ())
            token = "the token that was given is not accepted" if has_token else "no token was given"
            advice = f"{token}; a token is sent as the header `Authorization: Bearer TOKEN`"
            return NotAuthorized(f"Access denied: {self}; {advice}")
        advice = "is the path right? MCP over HTTP is often at /mcp"
        not_mcp = self.status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
        return ConnectFailed(f"Cannot connect: {self}" + (f"; {advice}" if not_mcp else ""))


def refusal(url: str, status: int, body: bytes = b"") -> HttpRefusal:
    """Make a `HttpRefusal` of a response, whose body counts only if it is text for people."""
    text = body[: 4 * MAX_BODY_CHARACTERS].decode(errors="replace").strip()
    is_text = text.isprintable() and not text.startswith("<")
    return HttpRefusal(shown_url(url), status, text[:MAX_BODY_CHARACTERS] if is_text else "")


def refusal_of(url: str | None, error: BaseException) -> HttpRefusal | None:
    """The response that an error of the transport of a WebSocket or of SSE reports, if it does."""
    status, body = getattr(error, "status_code", None), getattr(error, "body", None)
    if status is None and (response := getattr(error, "response", None)) is not None:
        status = response.status_code
    return None if status is None or url is None else refusal(url, status, body or b"")


def shown_url(url: str) -> str:
    """The URL without credentials, query and fragment, which error messages and logs must not have."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path.partition('?')[0].partition('#')[0]}"


def explained(error: BaseException) -> str:
    """What an error says; some of those of closed streams say nothing."""
    return str(error) or type(error).__name__


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


class ConnectionEnding(Struct, frozen=True, kw_only=True):
    """How a connection ended; fields as in the `disconnect` event."""

    reason: str
    requested: bool
    exit_code: int | None = None
    stderr_tail: str = ""
    unauthorized: bool = False

    def as_error(self) -> ConnectionLost:
        """The error for callers whose requests were still open."""
        kind = AuthorizationLost if self.unauthorized else ConnectionLost
        return kind(self.reason, self.exit_code, self.stderr_tail)


class ConnectionEnd:
    """The end of one connection, which may begin anywhere.

    Attributes:
        reason: why it ends; None while it does not.
        requested: whether the user wanted it to end.
        unauthorized: whether the server denied access.
        reading: False once nothing more will arrive.
        begun: set when the end begins.
        closed: set when everything is closed.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.requested = self.unauthorized = False
        self.reading = True
        self.begun = trio.Event()
        self.closed = trio.Event()

    @property
    def alive(self) -> bool:
        """False from the moment that the end is known; nothing may be committed from then on."""
        return self.reason is None and self.reading

    def begin(self, reason: str, *, requested: bool, unauthorized: bool = False) -> None:
        """Begin to end the connection; the first reason counts. Never waits."""
        if self.reason is None:
            self.reason = reason
            self.requested = requested
            self.unauthorized = unauthorized
            self.begun.set()

    async def cancel_when_begun(self, scope: trio.CancelScope) -> None:
        """Wait for the end to begin, and cancel what lives as long as the connection."""
        await self.begun.wait()
        scope.cancel(self.reason)
