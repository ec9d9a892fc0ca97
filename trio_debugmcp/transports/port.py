"""One port for the dashboard's page and the WebSocket that it talks to.

    connection → head read (bounded) → are Host and Origin ours? ─ no → 4xx
                                        ├ /mcp, Upgrade, token → WebSocket, until either side closes it
                                        └ GET, HEAD            → a page; then the connection is closed

A connection is one task. An error on it ends only that connection.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any, Generic, TypeVar

import trio
from msgspec import Struct

from trio_debugmcp.transports.gate import Gate
from trio_debugmcp.transports.head import Head, Refused, answer, read_head
from trio_debugmcp.transports.jsonrpc import Incoming, Outgoing
from trio_debugmcp.transports.static import SECURITY_HEADERS, Page, answer_page, read_pages
from trio_debugmcp.transports.websocket import SUBPROTOCOL, accept_websocket

log = logging.getLogger(__name__)

MCP_PATH = "/mcp"

ANSWER_SECONDS = 30.0
"""For a page to be read by a slow peer."""

MAX_PENDING = 512
"""Connections that have not been admitted yet; below the usual limit of open files. Further ones are closed."""

R = TypeVar("R")
Serve = Callable[[Incoming, Outgoing, R], Awaitable[None]]


class PortStatistics(Struct, frozen=True):
    """The connections of a `Port` at one moment, from its `statistics()`."""

    pending: int
    """Connections that have not been admitted or refused yet."""

    websockets: int
    """Connections on which MCP is spoken."""


class Port(Generic[R]):
    """Serves the connections of one port. `serve` serves MCP on a pair of streams, for the role of the token."""

    def __init__(self, gate: Gate[R], serve: Serve[R], pages: dict[str, Page] | None = None) -> None:
        self._gate = gate
        self._serve = serve
        self._pages = read_pages() if pages is None else pages
        self._pending = self._websockets = 0

    def __repr__(self) -> str:
        return f"<Port with {self._websockets} WebSockets, {self._pending} pending connections>"

    def statistics(self) -> PortStatistics:
        """Count the connections."""
        return PortStatistics(self._pending, self._websockets)

    async def receive(self, stream: trio.abc.Stream) -> None:
        """Serve one connection to its end, and close it. An unexpected error is logged."""
        try:
            await self._receive(stream)
        except Exception:
            log.exception("a connection failed")
        finally:
            await trio.aclose_forcefully(stream)

    async def _receive(self, stream: trio.abc.Stream) -> None:
        self._pending += 1
        try:
            if self._pending > MAX_PENDING:
                return
            upgrade = await self._answer(stream)
        except Refused as refusal:
            log.info("refused: %s", refusal)
            with trio.move_on_after(ANSWER_SECONDS):
                body = f"{refusal.reason}\n".encode()
                headers = {**SECURITY_HEADERS, **refusal.headers, "Content-Type": "text/plain; charset=utf-8"}
                await answer(stream, refusal.status, {**headers, "Content-Length": str(len(body))}, body)
            return
        finally:
            self._pending -= 1
        if upgrade is not None:
            await self._serve_websocket(stream, *upgrade)

    async def _serve_websocket(self, stream: trio.abc.Stream, head: Head, role: R) -> None:
        self._websockets += 1
        try:
            async with accept_websocket(stream, head) as (incoming, outgoing):
                await self._serve(incoming, outgoing, role)
        finally:
            self._websockets -= 1

    async def _answer(self, stream: trio.abc.Stream) -> tuple[Head, R] | None:
        """Answer a request for a page; return one for the WebSocket, with the role of its token."""
        head = await read_head(stream)
        if head is None:
            return None
        self._gate.check_source(head)
        if head.path == MCP_PATH:
            role = self._gate.admit(head)
            _check_upgrade(head)
            return head, role
        if head.wants_websocket:
            raise Refused(HTTPStatus.NOT_FOUND, f"the WebSocket is at {MCP_PATH}")
        status, headers, body = answer_page(self._pages, head)
        with trio.move_on_after(ANSWER_SECONDS):
            await answer(stream, status, headers, body)
        return None


def _check_upgrade(head: Head) -> None:
    """Check what wsproto requires: it raises where HTTP demands a status, and reads only one line of a header.

    Raises:
        Refused: 400 or 426.
    """
    upgrades, connections = head.values("upgrade"), head.values("connection")
    ready = [each.lower() for each in upgrades] == ["websocket"] and len(connections) == 1
    if not ready or "upgrade" not in [each.lower() for each in head.tokens("connection")]:
        raise Refused(HTTPStatus.UPGRADE_REQUIRED, "speak WebSocket here", {"Upgrade": "websocket"})
    if head.method != "GET" or len(head.values("sec-websocket-key")) != 1:
        raise Refused(HTTPStatus.BAD_REQUEST, "not a WebSocket handshake")
    if head.values("sec-websocket-version") != ["13"]:
        raise Refused(HTTPStatus.UPGRADE_REQUIRED, "WebSocket version 13 only", {"Sec-WebSocket-Version": "13"})
    if SUBPROTOCOL not in head.tokens("sec-websocket-protocol"):
        raise Refused(HTTPStatus.BAD_REQUEST, f"offer the subprotocol {SUBPROTOCOL}")


Listeners = Sequence[trio.abc.Listener[Any]]


async def serve_port(port: Port[R], listeners: Listeners) -> None:
    """Serve until cancelled; then every WebSocket is closed with 1001, and the listeners are closed."""
    await trio.serve_listeners(port.receive, list(listeners))
