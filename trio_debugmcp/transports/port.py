"""One port for the dashboard's page and the WebSocket that it talks to.

    connection → head read (bounded) → is it for us, from us? ─ no → 4xx
                                        ├ /mcp, Upgrade, token → WebSocket, for as long as it lasts
                                        └ GET, HEAD            → a page; then the connection is closed

A connection costs its own task and nobody else's: whatever happens on it ends with it.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any, Generic, TypeVar

import trio

from trio_debugmcp.transports.gate import Gate
from trio_debugmcp.transports.head import Head, Refused, answer, read_head
from trio_debugmcp.transports.jsonrpc import Incoming, Outgoing
from trio_debugmcp.transports.static import SECURITY_HEADERS, Page, answer_page, read_pages
from trio_debugmcp.transports.websocket import SUBPROTOCOL, accept_websocket

log = logging.getLogger(__name__)

MCP_PATH = "/mcp"

ANSWER_SECONDS = 30.0
"""For a page to reach a slow reader."""

MAX_PENDING = 512
"""Connections that have not been let in yet; below the usual limit of open files. Past it newcomers are turned away."""

R = TypeVar("R")
Serve = Callable[[Incoming, Outgoing, R], Awaitable[None]]


class Port(Generic[R]):
    """What happens to a connection. `serve` serves MCP on a pair of streams, for the role that the gate found."""

    def __init__(self, gate: Gate[R], serve: Serve[R], pages: dict[str, Page] | None = None) -> None:
        self._gate = gate
        self._serve = serve
        self._pages = read_pages() if pages is None else pages
        self._pending = 0

    async def receive(self, stream: trio.abc.Stream) -> None:
        """Deal with one connection to its end, and close it. A bug in what serves it is logged and ends here."""
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
            head, role = upgrade
            async with accept_websocket(stream, head) as (incoming, outgoing):
                await self._serve(incoming, outgoing, role)

    async def _answer(self, stream: trio.abc.Stream) -> tuple[Head, R] | None:
        """Answer a request for a page; one for the WebSocket is returned, with what its sender may do."""
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
    """Whether wsproto will take it: where a status is due it raises, and of a header it reads one line."""
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
    """Serve until cancelled; then every connection is closed with a goodbye."""
    await trio.serve_listeners(port.receive, list(listeners))
