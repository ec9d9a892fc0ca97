"""One connection to a server, from the first byte to the last: opened once, ended once.

Owns the SDK's client, the transport below it and the nursery of the tasks that live as long as the connection. As the
`Tap` of the transport it sees every message in wire order, logs it, and passes notifications on.

    connection = ClientConnection(resolve_target(target, options, print), options, log=log, bus=bus, **callbacks)
    ending = await connection.serve(live)       # opens it, runs `live` on it, closes it
    tools = await connection.call("tools/list", lambda sdk, _: sdk.list_tools())    # within `live`

Whatever the cause (`disconnect()`, a crash, an end of file, a handshake that takes too long), it ends through `end()`,
and `serve()` returns what was learned: reason, exit code, last lines of standard error.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Protocol, TypeVar

import trio
from mcp import Client, MCPError, types
from mcp.client._transport import TransportStreams
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.message import SessionMessage
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.client_errors import ConnectFailed, NotAuthorized
from trio_debugmcp.client.connection.disconnection import ConnectionEnding
from trio_debugmcp.client.connection.liveness import Liveness
from trio_debugmcp.client.connection.refusal import HttpRefusal, explained, leaf, refusal_of, shown_url
from trio_debugmcp.client.connection.screen import Screen
from trio_debugmcp.client.connection.sdk_client import OutputCheck, make_sdk_client, take_over_output_check
from trio_debugmcp.client.connection.targets import Route
from trio_debugmcp.client.connection.wire import plain
from trio_debugmcp.client.events import ErrorEvent, MessageEvent
from trio_debugmcp.client.options import InspectorOptions, Roots
from trio_debugmcp.client.state.message_log import MessageLog, Origin
from trio_debugmcp.client.statistics import ClientConnectionStatistics
from trio_debugmcp.deadlines import Deadlines
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.transports.jsonrpc import UNREADABLE
from trio_debugmcp.transports.tap import Tap, tapped

T = TypeVar("T")
Params = Mapping[str, Any]
OnNotification = Callable[[str, Params], bool]
Work = Callable[[Client, ProgressFnT], Awaitable[T]]


_SESSION_FORGOTTEN = (-32600, "Session terminated")
"""How the SDK's HTTP transport, if it is a target as it is, reports a 404: the session is gone."""


class NoAnswer(MCPError):
    """Ours, and not an error of the server: it did not answer in time."""


class Live(Protocol):
    """What runs on an open connection: called once, with the nursery for what runs beside it, until done."""

    async def __call__(self, connection: "ClientConnection", nursery: trio.Nursery) -> None: ...


class ClientConnection(Tap):
    """See the module's docstring.

    Args:
        route: the transport to enter; good for this one connection.
        options: of the client.
        deadlines: of this connection; they stand still while a person is asked. Shared with the route.
        log, bus: where messages are logged and announced.
        on_notification: called with each notification, in wire order; returns whether the SDK needs it too.
        stderr_tail: returns the last lines of standard error of this connection.
        roots: returns the roots that the server may list, None to have no such capability.
    """

    def __init__(
        self,
        route: Route,
        options: InspectorOptions,
        deadlines: Deadlines,
        *,
        log: MessageLog,
        bus: EventBus,
        on_notification: OnNotification,
        stderr_tail: Callable[[], str],
        roots: Callable[[], Roots | None],
    ) -> None:
        self.sdk: Client
        self.output_problem: OutputCheck
        """Checks a tool's result against the output schema that was listed; returns what is wrong, if anything is."""
        self.log_level = options.log_level
        self._route = route
        self._options = options
        self._deadlines = deadlines
        self._log = log
        self._bus = bus
        self._on_notification = on_notification
        self._stderr_tail = stderr_tail
        self._roots = roots
        self._reason: str | None = None
        self._requested = self._unauthorized = False
        self._reading = True
        self._screen = Screen(lambda: self.sdk.session.protocol_version if hasattr(self, "sdk") else None, self._report)
        self._over = trio.Event()
        self._closed = trio.Event()
        self._sent = self._received = self._requests = 0
        self._last_received = trio.current_time()

    def __repr__(self) -> str:
        return f"<ClientConnection, {'alive' if self.alive else self._reason}, {self._requests} open requests>"

    @property
    def alive(self) -> bool:
        """False from the moment that the end is known; nothing may be committed from then on."""
        return self._reason is None and self._reading

    @property
    def modern(self) -> bool:
        """Whether the connection is of the era of 2026-07-28 and later."""
        return self.sdk.protocol_version in MODERN_PROTOCOL_VERSIONS

    def on_gap(self, missed: Callable[[], None]) -> None:
        """Call `missed` when notifications may have been missed although the connection continues."""
        if self._route.watch is not None:
            self._route.watch.on_gap = missed

    def statistics(self) -> ClientConnectionStatistics:
        """How many messages passed, and how many calls are not finished."""
        return ClientConnectionStatistics(self.alive, self._sent, self._received, self._requests)

    # --- Life ---------------------------------------------------------------------------------------------------------

    def end(self, reason: str, *, requested: bool, unauthorized: bool = False) -> None:
        """Begin to end the connection; the first reason counts. Never waits: `serve()` closes everything."""
        if self._reason is None:
            self._reason = reason
            self._requested = requested
            self._unauthorized = unauthorized
            self._over.set()

    async def serve(self, live: Live) -> ConnectionEnding:
        """Open the connection, run `live` on it, and return when everything is closed.

        Resource handling: the transport, its process and every task started in the nursery are finished when this
        returns or raises.

        Error handling: what the transport raises ends the connection, with the error as its reason; what `live` and its
        tasks raise is a bug and is raised unchanged.

        Raises:
            ConnectFailed: there was no handshake.
        """
        opened = False
        fault: Exception | None = None
        sdk_client = make_sdk_client(self._tapped_transport(), self._options, self._deadlines, self._roots)
        deadline = self._deadlines.now() + self._options.connect_timeout
        with self._deadlines.until(deadline) as handshake:
            try:
                async with sdk_client as self.sdk:
                    self._deadlines.extend(handshake, float("inf"))
                    self._check_era()
                    self.output_problem = take_over_output_check(self.sdk, self._screen.tools.__contains__)
                    opened = True
                    try:
                        async with trio.open_nursery() as nursery:
                            nursery.start_soon(self._cancel_when_over, nursery.cancel_scope)
                            if (liveness := self._liveness()) is not None:
                                nursery.start_soon(liveness.run)
                            await live(self, nursery)
                    except Exception as error:
                        fault = error  # ours: the transport may raise, or wrap it in groups, on the way out
                        raise
            except Exception as error:  # the seam where failures of transports, of whatever kind, become ours
                if fault is not None:
                    raise fault from None
                if not opened:
                    raise self._failed(leaf(error)) from error
                denied = isinstance(leaf(error), NotAuthorized)
                what = "the server denies access" if denied else "the transport failed"
                self.end(f"{what}: {explained(leaf(error))}", requested=False, unauthorized=denied)
            finally:
                self.end("the client was closed", requested=True)
                self._closed.set()
        if handshake.cancelled_caught:
            raise self._failed(TimeoutError(f"no handshake within {self._options.connect_timeout:g} s"))
        return self.ending()

    def ending(self) -> ConnectionEnding:
        """Why and how the connection ended, as far as is known."""
        return ConnectionEnding(
            reason=self._reason or "still connected",
            requested=self._requested,
            exit_code=self._route.exit_code,
            stderr_tail="" if self._requested else self._stderr_tail(),
            unauthorized=self._unauthorized,
        )

    # --- Requests -----------------------------------------------------------------------------------------------------

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
        self._requests += 1
        try:
            return await self._call(method, work, seconds, progress)
        finally:
            self._requests -= 1

    async def _call(self, method: str, work: Work[T], seconds: float, heard: ProgressFnT | None) -> T:
        latest = self._deadlines.now() + max(self._options.request_max_time, seconds)
        refused = self._refused()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            if heard is not None:
                await heard(progress, total, message)
            self._deadlines.extend(scope, min(self._deadlines.now() + seconds, latest))

        with self._deadlines.until(min(self._deadlines.now() + seconds, latest)) as scope:
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
            await self._closed.wait()  # bounded by the transport's shutdown; then the exit code is known
            raise self.ending().as_error() from end
        raise NoAnswer(types.REQUEST_TIMEOUT, f"{method}: no answer within {seconds:g} s")

    async def _reports_the_end(self, error: MCPError, refused: int) -> bool:
        """Whether `error` is not an answer of the server, but how the SDK reports that the connection has ended."""
        if self._refused() > refused and self.modern and (refusal := self._access_denied()) is not None:
            self.end(f"the server denies access: {refusal}", requested=False, unauthorized=True)
            return True
        if self._refused() > refused and (liveness := self._liveness()) is not None:
            await liveness.check()  # a request was refused by HTTP: is it this one, or the session?
            return not self.alive
        if (error.code, error.message) == _SESSION_FORGOTTEN:
            self.end("the server does not know the session any more", requested=False)
            return True
        return error.code == types.CONNECTION_CLOSED and not self.alive

    def _refused(self) -> int:
        return self._route.watch.refused if self._route.watch is not None else 0

    def _access_denied(self) -> HttpRefusal | None:
        """The last refusal, if it was of our authorisation and not, as 403 may be, of one request."""
        refusal = self._route.watch.last_refusal if self._route.watch is not None else None
        return refusal if refusal is not None and refusal.status == HTTPStatus.UNAUTHORIZED else None

    def _liveness(self) -> Liveness | None:
        """What finds out whether the server still has the session; the modern era has no sessions."""
        watch = self._route.watch
        if watch is None or self.modern:
            return None
        return Liveness(
            watch,
            ping=self.sdk.session.send_ping,
            heard=lambda: self._last_received,
            end=lambda reason, denied: self.end(reason, requested=False, unauthorized=denied),
            heartbeat=self._options.heartbeat,
        )

    # --- What the tap observes, in wire order -------------------------------------------------------------------------

    def sent(self, item: SessionMessage) -> None:
        """Log a message that is about to be written."""
        self._sent += 1
        message = plain(item)
        self._screen.sent(message)
        self._record("client", message)

    def received(self, item: SessionMessage) -> bool:
        """Log a message that has arrived and act on it; False keeps it from the SDK."""
        self._received += 1
        self._last_received = trio.current_time()
        message = plain(item)
        self._record("server", message)
        if "method" not in message or "id" in message:
            self._screen.received(item, message)
            return True
        # Here and not in the SDK's callbacks: the SDK starts a task per notification, so that two of them, or a
        # notification and a response, can change places. State may only change in the order of the wire.
        for_sdk = self._on_notification(message["method"], message.get("params") or {})
        return for_sdk and self._screen.admits(message)

    def failed(self, error: Exception) -> None:
        """End the connection, because of what could not be read: too long a line, or a broken stream."""
        self.end(f"the connection was cut: {explained(error)}", requested=False)

    def garbled(self, error: Exception) -> None:
        """Report what is not a message, often a stray print to stdout; the connection continues."""
        self._report(error, f"The server sent something that is not a message: {error}")

    def ended(self, *, cancelled: bool) -> None:
        """End the connection: end of file is the last message of every connection."""
        self._reading = False
        if not cancelled:  # a cancelled reader does not know the reason; `serve()` does
            failure = self._route.watch.last_failure if self._route.watch is not None else None
            reason = "closed the connection" if failure is None else f"cannot be reached: {explained(failure)}"
            self.end(f"the server {reason}", requested=False)

    def _report(self, error: Exception, message: str | None = None) -> None:
        self._bus.publish(ErrorEvent(message=message or str(error), error=error))

    def _record(self, origin: Origin, message: dict[str, Any]) -> None:
        self._bus.publish(MessageEvent(entry=self._log.record(origin, message)))

    async def _cancel_when_over(self, scope: trio.CancelScope) -> None:
        await self._over.wait()
        scope.cancel(self._reason)

    # --- The transport -----------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _tapped_transport(self) -> AsyncGenerator[TransportStreams, None]:
        async with self._route.transport as streams:
            yield tapped(streams, self)

    def _check_era(self) -> None:
        if self._options.mode == "modern" and not self.modern:
            raise ConnectFailed(f"The server speaks only {self.sdk.protocol_version}, not the modern era as wanted")

    def _failed(self, error: BaseException) -> ConnectFailed:
        if isinstance(error, ConnectFailed):
            return error
        watch, url = self._route.watch, self._route.url
        if (refusal := refusal_of(url, error) if watch is None else watch.last_refusal) is not None:
            return refusal.as_error(self._options.headers)
        where = f" to {shown_url(url)}" if url is not None else ""
        return ConnectFailed(f"Cannot connect{where}: {explained(error)}", self._route.exit_code, self._stderr_tail())
