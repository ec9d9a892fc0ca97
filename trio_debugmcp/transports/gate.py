"""Decide who is admitted, from the head of a request and before any MCP is read.

A Host that is not ours is a foreign domain name that resolves to this machine (DNS rebinding); an Origin that is not
the page that we served is a foreign web site. Both are refused. The port of a Host is not looked at: it is another one
behind `ssh -L`, `docker run -p` and `kubectl port-forward`, and a foreign page has the Origin of its own port.

A foreign Host is admitted with a valid token in the `Authorization` header and no Origin: no page sends that.
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from trio_debugmcp.transports.admission import Refused

if TYPE_CHECKING:
    from trio_debugmcp.transports.head import Head

R = TypeVar("R")

BEARER_SUBPROTOCOL = "bearer."
"""A browser cannot set headers on a WebSocket; it offers the token as a subprotocol with this prefix beside `mcp`."""

HEALTH_PATH = "/healthz"
"""Answered on each port without a token and for every Host: a probe of Kubernetes or a load balancer has neither."""

HEALTHY = "ok\n"

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")

_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?|\[[0-9a-f:.]+\]", re.IGNORECASE)

_HOST = re.compile(rf"(?P<name>{_NAME.pattern})(?::(?P<port>[0-9]{{1,5}}))?", re.IGNORECASE)


class AllowedHost(Struct, frozen=True):
    """A name under which clients reach the server, through a proxy for instance; no port: on any."""

    name: str
    port: str | None = None

    @classmethod
    def parse(cls, text: str) -> "AllowedHost":
        """Read `NAME` or `NAME:PORT`.

        Raises:
            ValueError: it is neither, such as a URL.
        """
        host = _HOST.fullmatch(text)
        if host is None:
            raise ValueError(f"{text!r} is not NAME or NAME:PORT, such as debugger.example.com")
        return cls(host["name"].lower(), host["port"])


class Gate(Generic[R]):
    """The checks at one port. `role_of` maps a token to a role, and an invalid one to None.

    `allowed`: names beside our own. Their proxy may speak TLS where we do not: the Origin may have either scheme.
    """

    def __init__(
        self,
        host: str,
        role_of: Callable[[str], R | None],
        *,
        tls: bool = False,
        allowed: Sequence[AllowedHost] = (),
    ) -> None:
        self._names = {*LOOPBACK_NAMES, _bracketed(host).lower(), socket.gethostname().lower()}
        self._allowed = frozenset(allowed)
        self._any_address = not is_loopback(host)
        self._scheme = "https" if tls else "http"
        self._role_of = role_of

    def __repr__(self) -> str:
        names = ["any address"] if self._any_address else sorted(self._names)
        names += sorted(host.name for host in self._allowed)
        return f"<Gate for {self._scheme}: {', '.join(names)}>"

    def check_source(self, head: "Head") -> None:
        """Check that the request is addressed to us, and was not sent by a foreign page.

        Raises:
            Refused: 403.
        """
        hosts = [host.lower() for host in head.values("host")]
        if len(hosts) != 1:
            raise Refused(HTTPStatus.FORBIDDEN, "a request has one Host")
        schemes = self._schemes_of(hosts[0])
        origins = [origin.lower() for origin in head.values("origin")]
        if not schemes and (origins or not self._shows_token(head)):
            raise Refused(HTTPStatus.FORBIDDEN, _foreign(hosts[0]))
        if origins and not any(origins == [f"{scheme}://{hosts[0]}"] for scheme in schemes):
            raise Refused(HTTPStatus.FORBIDDEN, "this Origin is not ours")

    def admit(self, head: "Head") -> R:
        """Return the role that the token of the request has.

        Raises:
            Refused: 401: no token, more than one, or a wrong one.
        """
        tokens = _bearers(head)
        tokens += [
            protocol.removeprefix(BEARER_SUBPROTOCOL)
            for protocol in head.tokens("sec-websocket-protocol")
            if protocol.startswith(BEARER_SUBPROTOCOL)
        ]
        role = self._role_of(tokens[0]) if len(tokens) == 1 else None
        if role is None:
            raise Refused(HTTPStatus.UNAUTHORIZED, "a valid token is needed", {"WWW-Authenticate": "Bearer"})
        return role

    def _schemes_of(self, host: str) -> Sequence[str]:
        """The schemes of pages that we serve under that Host; none if it is foreign."""
        parts = _HOST.fullmatch(host)
        if parts is None:
            return ()
        name, port = parts["name"], parts["port"]
        # A browser leaves the usual port out.
        ports = {None, port} if port is not None else {None, "80", "443"}
        if any(AllowedHost(name, each) in self._allowed for each in ports):
            return ("http", "https")
        # A numeric address is safe: DNS rebinding needs a name.
        is_our_name = name in self._names or (self._any_address and _is_address(name.strip("[]")))
        return (self._scheme,) if is_our_name else ()

    def _shows_token(self, head: "Head") -> bool:
        tokens = _bearers(head)
        return len(tokens) == 1 and self._role_of(tokens[0]) is not None


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to that address."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _bearers(head: "Head") -> list[str]:
    parts = [value.partition(" ") for value in head.values("authorization")]
    return [token.strip() for scheme, _, token in parts if scheme.lower() == "bearer"]


def _foreign(host: str) -> str:
    """Say why that Host is refused, and what to do. What is not a name is not repeated."""
    parts = _HOST.fullmatch(host)
    if parts is None:
        return "this Host is not ours"
    name = parts["name"]
    return f"the Host {name} is not ours; for a server that is to be reached by it: serve --allow-host {name}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
