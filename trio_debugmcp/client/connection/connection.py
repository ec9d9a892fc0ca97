"""One connection to a server, from the first byte to the last: opened once, ended once.

Owns the SDK's client, the transport below it and the nursery of the tasks that live as long as the
connection. Sees the wire through `tap`, logs what passes, and hands notifications on in order. Whatever ends
it (our own disconnect, a crash, an end of file, a handshake that takes too long), it ends through `end()`,
and `serve()` returns what was learned: reason, exit code, last lines of standard error.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import trio
from msgspec import Struct

from trio_debugmcp.client.errors import ConnectFailed, ConnectionLost
from trio_debugmcp.client.events import ErrorEvent, MessageEvent
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.transports.tap import Tap, tapped

if TYPE_CHECKING:
    from mcp import Client, MCPError, types
    from mcp.client._transport import TransportStreams
    from mcp.shared.dispatcher import ProgressFnT
    from mcp.shared.message import SessionMessage

    from trio_debugmcp.client.bus import EventBus
    from trio_debugmcp.client.connection.targets import Route
    from trio_debugmcp.client.options import InspectorOptions
    from trio_debugmcp.client.state.messages import MessageLog, Origin

T = TypeVar("T")
Params = Mapping[str, Any]
OnNotification = Callable[[str, Params], bool]
Work = Callable[["Client", "ProgressFnT"], Awaitable[T]]


_SESSION_FORGOTTEN = (-32600, "Session terminated")
"""How the SDK's HTTP transport reports a 404: the server was restarted, or gave the session up."""


class Ending(Struct, frozen=True, kw_only=True):
    """How a connection ended; fields as in the `disconnect` event."""

    reason: str
    requested: bool
    exit_code: int | None = None
    stderr_tail: str = ""

    def as_error(self) -> ConnectionLost:
        """Make what a caller gets whose request was still open."""
        return ConnectionLost(self.reason, self.exit_code, self.stderr_tail)


class Life(Protocol):
    """What runs on an open connection: called once, with the nursery for what runs beside it."""

    async def __call__(self, connection: ClientConnection, nursery: trio.Nursery) -> None:
        """Run, until cancelled or done."""


class ClientConnection(Tap):
    """See the module's docstring.

    Args:
        route: the transport to enter; good for this one connection.
        options: of the client.
        log, bus: where messages are logged and announced.
        on_notification: gets each notification of the server, in wire order, synchronously; returns whether
            the SDK needs it too.
        stderr_tail: gives the last lines of standard error of this connection.
        roots: gives the roots that the server may ask for, None to have no such capability.
    """

    def __init__(
        self,
        route: Route,
        options: InspectorOptions,
        *,
        log: MessageLog,
        bus: EventBus,
        on_notification: OnNotification,
        stderr_tail: Callable[[], str],
        roots: Callable[[], Sequence[types.Root] | None],
    ) -> None:
        self.sdk: Client
        self.log_level = options.log_level
        self._route = route
        self._options = options
        self._log = log
        self._bus = bus
        self._on_notification = on_notification
        self._stderr_tail = stderr_tail
        self._roots = roots
        self._reason: str | None = None
        self._requested = False
        self._reading = True
        self._over = trio.Event()
        self._closed = trio.Event()

    @property
    def alive(self) -> bool:
        """False from the moment that the end is known; nothing may be committed from then on."""
        return self._reason is None and self._reading

    @property
    def modern(self) -> bool:
        """Whether the connection speaks the era of 2026-07-28 and later."""
        from mcp.types.version import MODERN_PROTOCOL_VERSIONS

        return self.sdk.protocol_version in MODERN_PROTOCOL_VERSIONS

    def end(self, reason: str, *, requested: bool) -> None:
        """Let the connection end; the first reason counts. Never waits: `serve()` does what is to be done."""
        if self._reason is None:
            self._reason = reason
            self._requested = requested
            self._over.set()

    async def serve(self, live: Life) -> Ending:
        """Open the connection, run `live` on it, and return when everything is closed.

        Resource handling: the transport, its process and every task started in the nursery are gone when this
        returns or raises.

        Raises:
            ConnectFailed: there was no handshake.
        """
        opened = False
        fault: Exception | None = None
        deadline = trio.current_time() + self._options.connect_timeout
        with trio.CancelScope(deadline=deadline) as handshake:
            try:
                async with self._sdk_client() as self.sdk:
                    handshake.deadline = float("inf")
                    self._check_era()
                    opened = True
                    try:
                        async with trio.open_nursery() as nursery:
                            nursery.start_soon(self._cancel_when_over, nursery.cancel_scope)
                            await live(self, nursery)
                    except Exception as error:
                        fault = error  # ours: to be told from what the transport raises around it
                        raise
            except Exception as error:  # the seam where failures of transports, of whatever kind, become ours
                if fault is not None:
                    raise fault from None
                if not opened:
                    raise self._failed(_leaf(error)) from error
                self.end(f"the transport failed: {_leaf(error) or type(_leaf(error)).__name__}", requested=False)
            finally:
                self.end("the client was closed", requested=True)
                self._closed.set()
        if handshake.cancelled_caught:
            raise self._failed(TimeoutError(f"no handshake within {self._options.connect_timeout:g} s"))
        return self.ending()

    def ending(self) -> Ending:
        """Tell what is known about the end."""
        process = self._route.process
        return Ending(
            reason=self._reason or "still connected",
            requested=self._requested,
            exit_code=process.exit_code if process is not None else None,
            stderr_tail="" if self._requested else self._stderr_tail(),
        )

    async def call(self, method: str, work: Work[T]) -> T:
        """Run one request. Cancelling it tells the server, in the way of its era.

        Args:
            method: for the error message.
            work: makes the request with the SDK's client; its second argument is the progress callback.

        Raises:
            MCPError: the server refused, with code and data as it sent them; or `REQUEST_TIMEOUT`.
            ProtocolViolation: the answer is not of the protocol's shape.
            ConnectionLost: the connection ended first; with exit code and standard error.
        """
        from mcp import MCPError
        from mcp.types import REQUEST_TIMEOUT

        patience = self._options.request_timeout
        latest = trio.current_time() + self._options.request_max_time

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            scope.deadline = min(trio.current_time() + patience, latest)

        with trio.CancelScope(deadline=min(trio.current_time() + patience, latest)) as scope:
            try:
                return await work(self.sdk, on_progress)
            except MCPError as error:
                if not self._tells_the_end(error):
                    raise
                end = error
            except ValueError as error:  # pydantic's, from the SDK's look at the answer
                raise ProtocolViolation(f"{method}: the answer is not what the protocol says: {error}") from error
            await self._closed.wait()  # bounded by the transport's shutdown; then the exit code is known
            raise self.ending().as_error() from end
        raise MCPError(REQUEST_TIMEOUT, f"{method}: no answer within {patience:g} s")

    def _tells_the_end(self, error: MCPError) -> bool:
        """Whether this is no answer of the server, but the SDK's word for a connection that is over."""
        from mcp.types import CONNECTION_CLOSED

        forgotten = (error.code, error.message) == _SESSION_FORGOTTEN
        if forgotten:
            self.end("the server does not know the session any more", requested=False)
        return forgotten or (error.code == CONNECTION_CLOSED and not self.alive)

    # What the tap tells, in the order of the wire.

    def sent(self, item: SessionMessage) -> None:
        """Log a message that is about to be written."""
        self._record("client", _plain(item))

    def received(self, item: SessionMessage) -> bool:
        """Log a message that has arrived and act on it; False keeps it from the SDK."""
        message = _plain(item)
        self._record("server", message)
        if "method" not in message or "id" in message:
            return True
        return self._on_notification(message["method"], message.get("params") or {})

    def garbled(self, error: Exception) -> None:
        """Report what is no message, often a stray print to stdout; the connection goes on."""
        self._bus.publish(ErrorEvent(message=f"The server sent what is no message: {error}", error=error))

    def ended(self, *, cancelled: bool) -> None:
        """End of file is the last message of every connection.

        A cancelled reader knows no reason; `serve()` will.
        """
        self._reading = False
        if not cancelled:
            self.end("the server closed the connection", requested=False)

    def _record(self, origin: Origin, message: dict[str, Any]) -> None:
        self._bus.publish(MessageEvent(entry=self._log.record(origin, message)))

    async def _cancel_when_over(self, scope: trio.CancelScope) -> None:
        await self._over.wait()
        scope.cancel(self._reason)

    def _sdk_client(self) -> Client:
        from mcp import Client
        from mcp.types import Implementation

        options = self._options
        return Client(
            self._tapped_transport(),
            mode="legacy" if options.mode == "legacy" else "auto",
            client_info=Implementation(name=options.client_info.name, version=options.client_info.version),
            sampling_callback=options.sampling,
            elicitation_callback=options.elicitation,
            list_roots_callback=None if self._roots() is None else self._list_roots,
            logging_callback=options.on_log,
            cache=None,  # a read is a read: our own cache is for looking at, and never answers a request
        )

    @asynccontextmanager
    async def _tapped_transport(self) -> AsyncGenerator[TransportStreams, None]:
        async with self._route.transport as streams:
            yield tapped(streams, self)

    async def _list_roots(self, context: object) -> Any:
        from mcp.types import ListRootsResult

        return ListRootsResult(roots=list(self._roots() or ()))

    def _check_era(self) -> None:
        if self._options.mode == "modern" and not self.modern:
            raise ConnectFailed(
                f"The server speaks only {self.sdk.protocol_version}, not the modern era that was asked for"
            )

    def _failed(self, error: BaseException) -> ConnectFailed:
        if isinstance(error, ConnectFailed):
            return error
        process = self._route.process
        exit_code = process.exit_code if process is not None else None
        return ConnectFailed(f"Cannot connect: {error or type(error).__name__}", exit_code, self._stderr_tail())


def _leaf(error: BaseException) -> BaseException:
    """Find the one error of a handshake, which the SDK's task groups wrap several times."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _plain(item: SessionMessage) -> dict[str, Any]:
    """Show the message as it is on the wire; parameters and results are the same objects, not copies."""
    message = item.message
    fields = {name: getattr(message, name) for name in type(message).model_fields if name in message.model_fields_set}
    if (error := fields.get("error")) is not None:
        fields["error"] = error.model_dump(exclude_unset=True)
    return fields
