"""One port for the dashboard's page and the WebSocket that it talks to.

    connection → head read (bounded) → are Host and Origin ours? ─ no → 4xx
                                        ├ /healthz             → 200, for every Host
                                        ├ /mcp, Upgrade, token → WebSocket, until either side closes it
                                        └ GET, HEAD            → a page; then the next head, up to MAX_REQUESTS

A connection is one task. Requests on it are answered one after another, in their order. An error on it, and a request
that is refused, ends that connection and no other.
"""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus

import trio

from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.sparse_log import SparseLog
from trio_debugmcp.transports.admission import Refused, Visitor
from trio_debugmcp.transports.connection_tap import Role
from trio_debugmcp.transports.gate import HEALTH_PATH, HEALTHY, Gate
from trio_debugmcp.transports.head import Head, answer, read_head, receive_bytes
from trio_debugmcp.transports.jsonrpc import Incoming, Outgoing
from trio_debugmcp.transports.static import SECURITY_HEADERS, StaticFile, answer_page
from trio_debugmcp.transports.websocket import (
    MAX_MESSAGE_SIZE,
    MAX_OBSERVER_MESSAGE_SIZE,
    SUBPROTOCOL,
    Courtesy,
    accept_websocket,
)

log = logging.getLogger(__name__)

MCP_PATH = "/mcp"

MAX_REQUESTS = 4
"""For pages on one connection: the dashboard is loaded by four. Each costs processor time, as a connection does, and
these come at a bounded rate."""

IDLE_SECONDS = 5.0
"""For the next request to begin. A browser asks at once for what a page needs."""

KEPT_SECONDS = 10.0
"""From the connection on, until no further request is waited for: what begins later might not be answered within the
whole time of a stranger."""

HEALTH = StaticFile("text/plain; charset=utf-8", HEALTHY.encode(), "no-store")

FindPage = Callable[[str], StaticFile | None]

Serve = Callable[[Incoming, Outgoing, Role], Awaitable[None]]


class Port:
    """Serves the connections of one port. `serve` serves MCP on a pair of streams, for the role of the token."""

    def __init__(self, gate: Gate[Role], serve: Serve, find_page: FindPage, patience: Patience = USUAL) -> None:
        self._patience = patience
        self._gate = gate
        self._serve = serve
        self._find_page = find_page
        self._websockets = 0
        self._log = SparseLog(log)

    def __repr__(self) -> str:
        return f"<Port with {self._websockets} WebSockets>"

    async def receive(self, stream: trio.abc.Stream, visitor: Visitor) -> None:
        """Serve one connection to its end. The caller closes it."""
        try:
            upgrade = await self._answer_pages(stream, visitor)
        except Refused as refusal:
            self._log.log(logging.INFO, "refused: %s", refusal)
            body = f"{refusal.reason}\n".encode()
            headers = {**SECURITY_HEADERS, **refusal.headers, "Content-Type": "text/plain; charset=utf-8"}
            await answer(stream, refusal.status, {**headers, "Content-Length": str(len(body))}, body)
            return
        if upgrade is not None:
            await self._serve_websocket(stream, visitor, *upgrade)

    async def _serve_websocket(self, stream: trio.abc.Stream, visitor: Visitor, head: Head, role: Role) -> None:
        self._websockets += 1
        try:
            size = MAX_MESSAGE_SIZE if role == "control" else MAX_OBSERVER_MESSAGE_SIZE
            courtesy = Courtesy(visitor.wait_turn, self._log, self._patience)
            async with accept_websocket(stream, head, size, courtesy) as (incoming, outgoing):
                await self._serve(incoming, outgoing, role)
        finally:
            self._websockets -= 1

    async def _answer_pages(self, stream: trio.abc.Stream, visitor: Visitor) -> tuple[Head, Role] | None:
        """Answer requests for pages until there is none; return one for the WebSocket, with the role of its token."""
        head = await read_head(stream)
        for number in range(1, MAX_REQUESTS + 1):
            if head is None:
                return None
            role = self._admit(head, visitor)
            if role is not None:
                return head, role
            page = HEALTH if head.path == HEALTH_PATH else self._find_page(head.path)
            status, headers, body = answer_page(page, head)
            kept = number < MAX_REQUESTS and not head.is_last and trio.current_time() < visitor.since + KEPT_SECONDS
            await answer(stream, status, headers, body, last=not kept)
            head = await _next_head(stream, visitor, head.rest) if kept else None
        return None

    def _admit(self, head: Head, visitor: Visitor) -> Role | None:
        """Return the role of the token of a request for the WebSocket; None if it is for a page."""
        if head.path == HEALTH_PATH:
            return None
        self._gate.check_source(head)
        if head.path == MCP_PATH:
            role = self._gate.admit(head)
            _check_upgrade(head)
            visitor.admit(role)
            return role
        if head.wants_websocket:
            raise Refused(HTTPStatus.NOT_FOUND, f"the WebSocket is at {MCP_PATH}")
        return None


async def _next_head(stream: trio.abc.Stream, visitor: Visitor, begun: bytes) -> Head | None:
    """Wait for another request; None if there is none. `begun`: what was sent ahead."""
    if not begun:
        visitor.idle_since = trio.current_time()
        with trio.move_on_after(IDLE_SECONDS):
            begun = await receive_bytes(stream)
        visitor.idle_since = None
    return await read_head(stream, begun) if begun else None


def _check_upgrade(head: Head) -> None:
    """Check what wsproto requires: it raises where HTTP demands a status, and reads only one line of a header.

    Raises:
        Refused: 400 or 426.
    """
    upgrades, connections = head.values("upgrade"), head.values("connection")
    ready = [upgrade.lower() for upgrade in upgrades] == ["websocket"] and len(connections) == 1
    if not ready or "upgrade" not in [token.lower() for token in head.tokens("connection")]:
        raise Refused(HTTPStatus.UPGRADE_REQUIRED, "speak WebSocket here", {"Upgrade": "websocket"})
    if head.method != "GET" or len(head.values("sec-websocket-key")) != 1:
        raise Refused(HTTPStatus.BAD_REQUEST, "not a WebSocket handshake")
    if head.values("sec-websocket-version") != ["13"]:
        raise Refused(HTTPStatus.UPGRADE_REQUIRED, "WebSocket version 13 only", {"Sec-WebSocket-Version": "13"})
    if SUBPROTOCOL not in head.tokens("sec-websocket-protocol"):
        raise Refused(HTTPStatus.BAD_REQUEST, f"offer the subprotocol {SUBPROTOCOL}")
