"""MCP over Streamable HTTP, at `/mcp`: the SDK's session manager, behind the gate, on HTTP/1.1.

Each MCP session of the handshake era has an SDK server of its own, hence its own subscriptions, and is identified by
its `Mcp-Session-Id` together with the role of its token. Requests of the modern era are self-contained and share one
server for each role. A session ends when its client deletes it or sends nothing for `IDLE_SECONDS`.

Sessions are bounded for each role. Past that bound a client in control gets 503; of the observers' sessions the one
that has been idle for longest ends, so that one observer cannot keep the others out.
"""

import logging
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from math import inf
from typing import Any

import anyio
import trio
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from msgspec import Struct

from trio_debugmcp.patience import Patience
from trio_debugmcp.sparse_log import SparseLog
from trio_debugmcp.transports.accept import accept_connections
from trio_debugmcp.transports.admission import Admission, Refused, Visitor
from trio_debugmcp.transports.connection_tap import Role
from trio_debugmcp.transports.gate import HEALTH_PATH, HEALTHY, Gate
from trio_debugmcp.transports.http11 import HttpExchange, serve_http11
from trio_debugmcp.transports.jsonrpc import complaint_about, has_unusable_id, message_text

log = logging.getLogger(__name__)

MCP_PATH = "/mcp"

IDLE_SECONDS = 600.0
"""Without a request or an open stream before a session ends. An agent may think for minutes between two calls."""

MAX_SESSIONS = 1000
"""MCP sessions of the handshake era that are open at the same time, of each role. Each takes some tens of kilobytes."""

MAX_BODY_BYTES: dict[Role, int] = {"control": 4 * 1024 * 1024, "observe": 256 * 1024}
"""Size of one request. Over WebSocket the bound is the same number of characters. The longest one of an observer
subscribes to a thousand sources."""

STALL_SECONDS = 20.0
"""Before the kernel drops a connection whose peer has vanished: a sleeping laptop acknowledges nothing."""

GOODBYE_SECONDS = 3.0
"""For responses that are being sent when the server ends; as long as for the closing handshake of a WebSocket."""

OpenServer = Callable[[Role, bool], AbstractAsyncContextManager[Server[Any]]]
"""Makes the server for the clients of a role: for one of them, or (True) for all of them together."""


class _Session:
    """One SDK server and the requests that it is serving. Alive while `run` runs. `shared`: of all modern clients."""

    def __init__(self, role: Role, *, shared: bool) -> None:
        self.role = role
        self.shared = shared
        self.requests = 0
        self.idle_since = inf
        self._scope = trio.CancelScope()
        self._manager: StreamableHTTPSessionManager | None = None

    async def run(self, open_server: OpenServer, *, task_status: trio.TaskStatus[None]) -> None:
        async with open_server(self.role, self.shared) as server:
            manager = StreamableHTTPSessionManager(
                server, session_idle_timeout=None, max_request_body_size=MAX_BODY_BYTES[self.role]
            )
            async with manager.run():
                self._manager = manager
                task_status.started()
                with self._scope:
                    await trio.sleep_forever()

    async def serve(self, exchange: HttpExchange, send: Callable[[Any], Awaitable[None]]) -> None:
        """Serve a request; while there is one, the session is not idle."""
        if self._manager is None:
            raise AssertionError("the session does not run")
        self.requests += 1
        self._scope.deadline = self.idle_since = inf
        try:
            await self._manager.handle_request(exchange.scope, exchange.receive, send)
        finally:
            self.requests -= 1
            if not self.requests:
                self.idle_since = trio.current_time()
                self._scope.deadline = self.idle_since + IDLE_SECONDS

    def end(self, reason: str = "the client has ended its MCP session") -> None:
        self._scope.cancel(reason=reason)


class HttpStatistics(Struct, frozen=True):
    """The state of an `HttpApp`, from its `statistics()`."""

    sessions: int
    """MCP sessions that are running, the shared ones of the modern era included."""

    requests: int
    """Requests that are being served, open streams of notifications included."""


class HttpApp:
    """Serves the requests of all connections. Its sessions run in `nursery`."""

    def __init__(self, gate: Gate[Role], open_server: OpenServer, nursery: trio.Nursery) -> None:
        self._gate = gate
        self._open_server = open_server
        self._nursery = nursery
        self._sessions: dict[tuple[Role, str | None], _Session] = {}
        self._opening_shared = trio.Lock()
        self._running: set[_Session] = set()
        self._log = SparseLog(log)

    def __repr__(self) -> str:
        now = self.statistics()
        return f"<HttpApp with {now.sessions} MCP sessions, {now.requests} requests>"

    def statistics(self) -> HttpStatistics:
        """Count sessions and requests."""
        return HttpStatistics(len(self._running), sum(session.requests for session in self._running))

    async def serve(self, exchange: HttpExchange) -> None:
        """Serve one request, or refuse it."""
        try:
            if exchange.head.path == HEALTH_PATH and exchange.head.method in ("GET", "HEAD"):
                await exchange.respond(HTTPStatus.OK, HEALTHY, "text/plain; charset=utf-8", {"Connection": "close"})
                return
            role = self._admit(exchange)
            await exchange.visitor.wait_turn()
            body = await exchange.read_body(MAX_BODY_BYTES[role])
            if has_unusable_id(body):
                await exchange.respond(HTTPStatus.BAD_REQUEST, message_text(complaint_about(body)), "application/json")
                return
            head = exchange.head
            version, session_id = head.value("mcp-protocol-version"), head.value("mcp-session-id")
            if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
                await (await self._shared(role)).serve(exchange, exchange.send)
            elif session_id is None:
                await self._serve_first(role, exchange)
            elif (session := self._sessions.get((role, session_id))) is not None:
                await self._serve_next(session, exchange)
            else:
                raise Refused(HTTPStatus.NOT_FOUND, "there is no such MCP session: initialize again")
        except Refused as refusal:
            self._log.log(logging.INFO, "refused: %s", refusal)
            await exchange.refuse(refusal)

    def _admit(self, exchange: HttpExchange) -> Role:
        head = exchange.head
        self._gate.check_source(head)
        if head.path != MCP_PATH:
            raise Refused(HTTPStatus.NOT_FOUND, f"MCP is at {MCP_PATH}")
        role = self._gate.admit(head)
        exchange.visitor.admit(role)
        if head.wants_websocket:
            raise Refused(HTTPStatus.BAD_REQUEST, "no WebSocket here: serve --ws opens a port for it")
        return role

    async def _shared(self, role: Role) -> _Session:
        """The session that serves the modern era for that role; it is opened by the first request."""
        async with self._opening_shared:  # opening takes time, in which another request may ask for it
            session = self._sessions.get((role, None))
            if session is None:
                session = self._sessions[role, None] = await self._open(role, shared=True)
            return session

    async def _serve_first(self, role: Role, exchange: HttpExchange) -> None:
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
            await exchange.send(message)

        try:
            await session.serve(exchange, watch)
        finally:
            if not established:
                session.end()

    async def _serve_next(self, session: _Session, exchange: HttpExchange) -> None:
        """Serve a request of an open session; a DELETE ends it, and later requests get 404."""
        ending = False

        async def watch(message: Any) -> None:
            nonlocal ending
            deletes = exchange.head.method == "DELETE"
            if deletes and message.get("status", HTTPStatus.BAD_REQUEST) < HTTPStatus.BAD_REQUEST:
                # Before the response is sent: the client's next request must not find the session.
                ending = True
                self._forget(session)
            await exchange.send(message)

        await session.serve(exchange, watch)
        # Only now, because ending the session cancels its requests, this one among them.
        if ending:
            session.end()

    def _forget(self, session: _Session) -> None:
        self._running.discard(session)
        for key in [key for key, other in self._sessions.items() if other is session]:
            del self._sessions[key]

    async def _open(self, role: Role, *, shared: bool = False) -> _Session:
        if not shared:
            self._make_room(role)
        session = _Session(role, shared=shared)
        self._running.add(session)  # at once: others may open one meanwhile
        await self._nursery.start(self._live, session)
        return session

    def _make_room(self, role: Role) -> None:
        peers = [peer for peer in self._running if peer.role == role and not peer.shared]
        if len(peers) < MAX_SESSIONS:
            return
        idle = [peer for peer in peers if peer.idle_since < inf]
        if role == "control" or not idle:  # the client of an idle session in control may own the debug session
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "too many MCP sessions are open", {"Retry-After": "10"})
        oldest = min(idle, key=lambda peer: peer.idle_since)
        self._forget(oldest)
        oldest.end("another observer needs its place")

    async def _live(self, session: _Session, *, task_status: trio.TaskStatus[None]) -> None:
        try:
            await session.run(self._open_server, task_status=task_status)
        except Exception:
            log.exception("an MCP session failed")
        finally:
            self._forget(session)


async def serve_http(
    app: HttpApp,
    listeners: Sequence[trio.SocketListener],
    admission: Admission,
    tls: ssl.SSLContext | None,
    patience: Patience,
) -> None:
    """Serve until cancelled.

    Resource handling: the listeners are closed, and all connections. A peer that does not read delays the end for at
    most `GOODBYE_SECONDS`.
    """
    for listener in listeners:
        # Accepted connections inherit the option. Other systems than Linux drop a vanished peer much later.
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(STALL_SECONDS * 1000))
    secured = (
        [trio.SSLListener(listener, tls, https_compatible=True) for listener in listeners] if tls is not None else None
    )
    sdk_logs = [logging.getLogger(f"mcp.server.streamable_http{suffix}") for suffix in ("", "_manager")]
    for sdk_log in sdk_logs:
        sdk_log.addFilter(is_relevant)
    streams: dict[trio.abc.Stream, None] = {}

    async def handler(stream: trio.abc.Stream, visitor: Visitor) -> None:
        streams[stream] = None
        try:
            await serve_http11(stream, visitor, app.serve, patience)
        finally:
            del streams[stream]

    over = trio.Event()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cut_off_when_cancelled, streams, over, patience)
            try:
                await accept_connections(secured or listeners, admission, handler)
            finally:
                over.set()
    finally:
        for sdk_log in sdk_logs:
            sdk_log.removeFilter(is_relevant)


async def _cut_off_when_cancelled(streams: dict[trio.abc.Stream, None], over: trio.Event, patience: Patience) -> None:
    """Wait until cancelled; then give the connections `GOODBYE_SECONDS` to end, and close what is left."""
    try:
        await trio.sleep_forever()
    finally:
        # Closing the streams is the only way out of shielded sends.
        with trio.move_on_after(patience.seconds(GOODBYE_SECONDS), shield=True):
            await over.wait()
        for stream in list(streams):
            await trio.aclose_forcefully(stream)


def is_relevant(record: logging.LogRecord) -> bool:
    """Filter out what the SDK logs as an error when a session is deleted, or a client leaves, during a request.

    And its news of each session: an observer could fill a disk with these.
    """
    if record.levelno < logging.WARNING:
        return False
    error = record.exc_info[1] if record.exc_info else None
    ended = (anyio.ClosedResourceError, anyio.BrokenResourceError)
    if isinstance(error, BaseExceptionGroup):
        return error.split(ended)[1] is not None
    return not isinstance(error, ended)
