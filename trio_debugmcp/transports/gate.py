"""Decide who is admitted, from the head of a request and before any MCP is read.

A Host that is not ours is a foreign domain name that resolves to this machine (DNS rebinding); an Origin that is not
the page that we served is a foreign web site. Both are refused, with or without a token.
"""

import ipaddress
import socket
from collections.abc import Callable
from http import HTTPStatus
from typing import Generic, TypeVar

from trio_debugmcp.transports.head import Head, Refused

R = TypeVar("R")

BEARER_SUBPROTOCOL = "bearer."
"""A browser cannot set headers on a WebSocket; it offers the token as a subprotocol with this prefix beside `mcp`."""

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")

_DEFAULT_PORTS = {False: 80, True: 443}


class Gate(Generic[R]):
    """The checks at one port. `role_of` maps a token to a role, and an invalid one to None."""

    def __init__(self, host: str, port: int, role_of: Callable[[str], R | None], *, tls: bool = False) -> None:
        self._names = {*LOOPBACK_NAMES, _bracketed(host).lower(), socket.gethostname().lower()}
        self._any_address = not is_loopback(host)
        self._port = port
        self._tls = tls
        self._role_of = role_of

    def __repr__(self) -> str:
        names = "any address" if self._any_address else ", ".join(sorted(self._names))
        return f"<Gate of port {self._port}{' with TLS' if self._tls else ''}: {names}>"

    def check_source(self, head: Head) -> None:
        """Check that the request is addressed to us, and was not sent by a foreign page.

        Raises:
            Refused: 403.
        """
        hosts = head.values("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0].lower()):
            raise Refused(HTTPStatus.FORBIDDEN, "this Host is not ours")
        origins = head.values("origin")
        scheme = "https" if self._tls else "http"
        if origins and [origin.lower() for origin in origins] != [f"{scheme}://{hosts[0].lower()}"]:
            raise Refused(HTTPStatus.FORBIDDEN, "this Origin is not ours")

    def admit(self, head: Head) -> R:
        """Return the role that the token of the request has.

        Raises:
            Refused: 401: no token, more than one, or a wrong one.
        """
        tokens = [value.partition(" ")[2].strip() for value in head.values("authorization") if _is_bearer(value)]
        tokens += [
            protocol.removeprefix(BEARER_SUBPROTOCOL)
            for protocol in head.tokens("sec-websocket-protocol")
            if protocol.startswith(BEARER_SUBPROTOCOL)
        ]
        role = self._role_of(tokens[0]) if len(tokens) == 1 else None
        if role is None:
            raise Refused(HTTPStatus.UNAUTHORIZED, "a valid token is needed", {"WWW-Authenticate": "Bearer"})
        return role

    def _is_ours(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        if not colon or host.endswith("]"):
            name, port = host, str(_DEFAULT_PORTS[self._tls])
        # A numeric address is safe: DNS rebinding needs a name.
        is_our_name = name in self._names or (self._any_address and _is_address(name.strip("[]")))
        return is_our_name and port == str(self._port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to that address."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_bearer(value: str) -> bool:
    return value.partition(" ")[0].lower() == "bearer"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
