"""MCP over Streamable HTTP, at `/mcp`: the SDK's session manager as an ASGI application, served by hypercorn on Trio.

Each MCP session of the handshake era has an SDK server of its own, hence its own subscriptions, and is identified by
its `Mcp-Session-Id` together with the role of its token. Requests of the modern era are self-contained and share one
server for each role. A session ends when its client deletes it or sends nothing for `IDLE_SECONDS`.
"""

import logging
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from math import inf
from typing import Any, Generic, TypeVar

import anyio
import trio
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from msgspec import Struct

from trio_debugmcp.transports.asgi import Receive, Scope, Send, serve_asgi
from trio_debugmcp.transports.gate import Gate
from trio_debugmcp.transports.head import MAX_HEAD_BYTES, Head, Refused

log = logging.getLogger(__name__)

MCP_PATH = "/mcp"

IDLE_SECONDS = 600.0
"""Without a request or an open stream before a session ends. An agent may think for minutes between two calls."""

MAX_SESSIONS = 1000
"""MCP sessions that are open at the same time. Each takes some tens of kilobytes."""

MAX_BODY_BYTES = 4 * 1024 * 1024
"""Size of one request. Over WebSocket the bound is the same number of characters."""

STALL_SECONDS = 20.0
"""Before the kernel drops a connection whose peer does not read what was sent. hypercorn would wait for ever."""

REFUSED_SECONDS = 1.0
"""For the rest of a refused request. If it were left unread the connection would be closed, and the next request of a
client that has not noticed would fail."""

R = TypeVar("R")
OpenServer = Callable[[R], AbstractAsyncContextManager[Server[Any]]]


class _Session(Generic[R]):
    """One SDK server and the requests that it is serving. Alive while `run` runs."""

    def __init__(self) -> None:
        self.requests = 0
        self._scope = trio.CancelScope()
        self._manager: StreamableHTTPSessionManager | None = None

    async def run(self, open_server: OpenServer[R], role: R, *, task_status: trio.TaskStatus[None]) -> None:
        async with open_server(role) as server:
            manager = StreamableHTTPSessionManager(
                server, session_idle_timeout=None, max_request_body_size=MAX_BODY_BYTES
            )
            async with manager.run():
                self._manager = manager
                task_status.started()
                with self._scope:
                    await trio.sleep_forever()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; while there is one, the session is not idle."""
        if self._manager is None:
            raise AssertionError("the session does not run")
        self.requests += 1
        self._scope.deadline = inf
        try:
            await self._manager.handle_request(scope, receive, send)
        finally:
            self.requests -= 1
            if not self.requests:
                self._scope.deadline = trio.current_time() + IDLE_SECONDS

    def end(self) -> None:
        self._scope.cancel(reason="the client has ended its MCP session")


class HttpStatistics(Struct, frozen=True):
    """The state of an `HttpApp`, from its `statistics()`."""

    sessions: int
    """MCP sessions that are running, the shared ones of the modern era included."""

    requests: int
    """Requests that are being served, open streams of notifications included."""


class HttpApp(Generic[R]):
    """The ASGI application. Its sessions run in `nursery`."""

    def __init__(self, gate: Gate[R], open_server: OpenServer[R], nursery: trio.Nursery) -> None:
        self._gate = gate
        self._open_server = open_server
        self._nursery = nursery
        self._sessions: dict[tuple[R, str | None], _Session[R]] = {}
        self._opening_shared = trio.Lock()
        self._running: set[_Session[R]] = set()

    def __repr__(self) -> str:
        now = self.statistics()
        return f"<HttpApp with {now.sessions} MCP sessions, {now.requests} requests>"

    def statistics(self) -> HttpStatistics:
        """Count sessions and requests."""
        return HttpStatistics(len(self._running), sum(each.requests for each in self._running))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; a WebSocket is refused."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = _head(scope)
        try:
            # hypercorn's own bound does not apply to a head that arrives in one piece.
            if sum(len(name) + len(value) for name, value in head.headers) > MAX_HEAD_BYTES:
                raise Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the request head is too large")
            self._gate.check_source(head)
            if head.path != MCP_PATH:
                raise Refused(HTTPStatus.NOT_FOUND, f"MCP is at {MCP_PATH}")
            role = self._gate.admit(head)
            version, session_id = head.value("mcp-protocol-version"), head.value("mcp-session-id")
            if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
                await (await self._shared(role)).serve(scope, receive, send)
            elif session_id is None:
                await self._serve_first(role, scope, receive, send)
            elif (session := self._sessions.get((role, session_id))) is not None:
                await self._serve_next(session, scope, receive, send)
            else:
                raise Refused(HTTPStatus.NOT_FOUND, "there is no such MCP session: initialize again")
        except Refused as refusal:
            log.info("refused: %s", refusal)
            await _refuse(receive, send, refusal)

    async def _shared(self, role: R) -> _Session[R]:
        """The session that serves the modern era for that role; it is opened by the first request."""
        async with self._opening_shared:  # opening takes time, in which another request may ask for it
            session = self._sessions.get((role, None))
            if session is None:
                session = self._sessions[role, None] = await self._open(role)
            return session

    async def _serve_first(self, role: R, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request without a session: `initialize` opens one; the SDK refuses everything else."""
        session = await self._open(role)
        established = False

        async def watch(message: Any) -> None:
            nonlocal established
            if message["type"] == "http.response.start" and message["status"] < HTTPStatus.BAD_REQUEST:
                for name, value in message["headers"]:
                    if name.lower() == b"mcp-session-id":
                        established = True
                        self._sessions[role, value.decode("ascii")] = session
            await send(message)

        try:
            await session.serve(scope, receive, watch)
        finally:
            if not established:
                session.end()

    async def _serve_next(self, session: _Session[R], scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of an open session; a DELETE ends it, and later requests get 404."""
        ending = False

        async def watch(message: Any) -> None:
            nonlocal ending
            if scope["method"] == "DELETE" and message.get("status", HTTPStatus.BAD_REQUEST) < HTTPStatus.BAD_REQUEST:
                # Before the response is sent: the client's next request must not find the session.
                ending = True
                self._forget(session)
            await send(message)

        await session.serve(scope, receive, watch)
        # Only now, because ending the session cancels its requests, this one among them.
        if ending:
            session.end()

    def _forget(self, session: _Session[R]) -> None:
        for key in [key for key, each in self._sessions.items() if each is session]:
            del self._sessions[key]

    async def _open(self, role: R) -> _Session[R]:
        if len(self._running) >= MAX_SESSIONS:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "too many MCP sessions are open")
        session: _Session[R] = _Session()
        await self._nursery.start(self._live, session, role)
        return session

    async def _live(self, session: _Session[R], role: R, *, task_status: trio.TaskStatus[None]) -> None:
        self._running.add(session)
        try:
            await session.run(self._open_server, role, task_status=task_status)
        except Exception:
            log.exception("an MCP session failed")
        finally:
            self._running.discard(session)
            self._forget(session)


async def _refuse(receive: Receive, send: Send, refusal: Refused) -> None:
    with trio.move_on_after(REFUSED_SECONDS):
        while (await receive()).get("more_body"):
            pass
    headers = {**refusal.headers, "Content-Type": "text/plain; charset=utf-8"}
    pairs = [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status.value, "headers": pairs})
    await send({"type": "http.response.body", "body": f"{refusal.reason}\n".encode()})


def _head(scope: Scope) -> Head:
    headers = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])
    return Head(method=scope["method"], path=scope["path"], headers=headers)


async def serve_http(
    app: HttpApp[R],
    listeners: Sequence[trio.SocketListener],
    tls: ssl.SSLContext | None = None,
    *,
    task_status: trio.TaskStatus[Any] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until cancelled; then the listeners are closed."""
    for listener in listeners:
        # Accepted connections inherit the option. Other systems than Linux drop a stalled peer much later.
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(STALL_SECONDS * 1000))
    secured = [trio.SSLListener(each, tls, https_compatible=True) for each in listeners] if tls is not None else None
    sdk_log = logging.getLogger("mcp.server.streamable_http")
    sdk_log.addFilter(is_relevant)
    try:
        await serve_asgi(app, secured or listeners, task_status=task_status)
    finally:
        sdk_log.removeFilter(is_relevant)


def is_relevant(record: logging.LogRecord) -> bool:
    """Filter out what the SDK logs as an error when a session is deleted, or a client leaves, during a request."""
    error = record.exc_info[1] if record.exc_info else None
    ended = (anyio.ClosedResourceError, anyio.BrokenResourceError)
    if isinstance(error, BaseExceptionGroup):
        return error.split(ended)[1] is not None
    return not isinstance(error, ended)
