"""The requests of one connection, and how the SDK's errors tell a server's refusal from the end of the connection."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from mcp import Client, MCPError, types
from mcp.shared.dispatcher import ProgressFnT
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from trio_debugmcp.client.connection.connection_end import ConnectionEnding
from trio_debugmcp.client.connection.connection_wire import ConnectionWire
from trio_debugmcp.client.connection.liveness import Liveness
from trio_debugmcp.client.connection.targets import Route
from trio_debugmcp.client.options import InspectorOptions
from trio_debugmcp.deadlines import Deadlines
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.transports.jsonrpc import UNREADABLE

T = TypeVar("T")
Work = Callable[[Client, ProgressFnT], Awaitable[T]]

_SESSION_FORGOTTEN = (-32600, "Session terminated")
"""How the SDK's HTTP transport, if it is a target as it is, reports a 404: the session is gone."""


class NoAnswer(MCPError):
    """Ours, and not an error of the server: it did not answer in time."""


class ConnectionRequests:
    """Makes requests with the SDK's client, which `sdk` is from the handshake on.

    Args:
        route: that the connection takes.
        options: of the client.
        deadlines: stand still while a person is asked; shared with the route.
        wire: of the connection.
        stderr_tail: returns the last lines of standard error of this connection.

    Attributes:
        open_requests: those that are not finished.
    """

    def __init__(
        self,
        route: Route,
        options: InspectorOptions,
        deadlines: Deadlines,
        wire: ConnectionWire,
        stderr_tail: Callable[[], str],
    ) -> None:
        self.sdk: Client
        self.route = route
        self.deadlines = deadlines
        self.wire = wire
        self.end = wire.end
        self.stderr_tail = stderr_tail
        self.open_requests = 0
        self._options = options

    @property
    def modern(self) -> bool:
        """Whether the connection is of the era of 2026-07-28 and later."""
        return self.sdk.protocol_version in MODERN_PROTOCOL_VERSIONS

    def ending(self) -> ConnectionEnding:
        """Why and how the connection ended, as far as is known."""
        return ConnectionEnding(
            reason=self.end.reason or "still connected",
            requested=self.end.requested,
            exit_code=self.route.exit_code,
            stderr_tail="" if self.end.requested else self.stderr_tail(),
            unauthorized=self.end.unauthorized,
        )

    async def call(
        self, method: str, work: Work[T], *, timeout: float | None = None, progress: ProgressFnT | None = None
    ) -> T:
        """Run one request. If the caller is cancelled, the server is notified in the way of its era.

        Args:
            method: for error messages.
            work: makes the request with the SDK's client; its second argument is the progress callback.
            timeout: in place of the option `request_timeout`.
            progress: called with each progress notification.

        Raises:
            MCPError: the server refused, with its code and data; or `REQUEST_TIMEOUT`.
            ProtocolViolation: the answer does not have the shape that the protocol prescribes.
            ConnectionLost: the connection ended first; with exit code and standard error.
        """
        seconds = self._options.request_timeout if timeout is None else timeout
        self.open_requests += 1
        try:
            return await self._call(method, work, seconds, progress)
        finally:
            self.open_requests -= 1

    async def _call(self, method: str, work: Work[T], seconds: float, heard: ProgressFnT | None) -> T:
        latest = self.deadlines.now() + max(self._options.request_max_time, seconds)
        refused = self._refused()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            if heard is not None:
                await heard(progress, total, message)
            self.deadlines.extend(scope, min(self.deadlines.now() + seconds, latest))

        with self.deadlines.until(min(self.deadlines.now() + seconds, latest)) as scope:
            try:
                return await work(self.sdk, on_progress)
            except MCPError as error:
                end = error
            except ValueError as error:  # pydantic's, when the SDK validates the answer
                raise ProtocolViolation(f"{method}: the answer is not what the protocol says: {error}") from error
            if not await self._reports_the_end(end, refused):
                if end.code == types.PARSE_ERROR and end.message.startswith(UNREADABLE):
                    raise ProtocolViolation(f"{method}: {end.message}") from end
                raise end
            await self.end.closed.wait()  # bounded by the transport's shutdown; then the exit code is known
            raise self.ending().as_error() from end
        raise NoAnswer(types.REQUEST_TIMEOUT, f"{method}: no answer within {seconds:g} s")

    async def _reports_the_end(self, error: MCPError, refused: int) -> bool:
        """Whether `error` is not an answer of the server, but how the SDK reports that the connection has ended."""
        watch = self.route.watch
        if self._refused() > refused and self.modern and watch is not None and watch.access_denied is not None:
            self.end.begin(f"the server denies access: {watch.access_denied}", requested=False, unauthorized=True)
            return True
        if self._refused() > refused and (liveness := self.liveness()) is not None:
            await liveness.check()  # a request was refused by HTTP: is it this one, or the session?
            return not self.end.alive
        if (error.code, error.message) == _SESSION_FORGOTTEN:
            self.end.begin("the server does not know the session any more", requested=False)
            return True
        return error.code == types.CONNECTION_CLOSED and not self.end.alive

    def _refused(self) -> int:
        return self.route.watch.refused if self.route.watch is not None else 0

    def liveness(self) -> Liveness | None:
        """What finds out whether the server still has the session; the modern era has no sessions."""
        watch = self.route.watch
        if watch is None or self.modern:
            return None
        return Liveness(
            watch,
            ping=self.sdk.session.send_ping,
            heard=lambda: self.wire.last_received,
            end=lambda reason, denied: self.end.begin(reason, requested=False, unauthorized=denied),
            heartbeat=self._options.heartbeat,
        )
