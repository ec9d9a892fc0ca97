"""One connection to a server, from the first byte to the last: opened once, ended once.

Owns the SDK's client, the transport below it and the nursery of the tasks that live as long as the connection. Its
`ConnectionWire` sees every message in wire order, its `ConnectionRequests` make the requests.

    connection = open_connection(target, options, state=state, bus=bus, roots=roots, stderr_tail=tail)
    ending = await connection.serve(live)       # opens it, runs `live` on it, closes it
    tools = await connection.call("tools/list", lambda sdk, _: sdk.list_tools())    # within `live`

Whatever the cause (`disconnect()`, a crash, an end of file, a handshake that takes too long), it ends through `end()`,
and `serve()` returns what was learned: reason, exit code, last lines of standard error.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

import trio
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.shared.dispatcher import ProgressFnT

from trio_debugmcp.client.client_errors import ConnectFailed, NotAuthorized
from trio_debugmcp.client.connection.connection_end import ConnectionEnding, explained, refusal_of, shown_url
from trio_debugmcp.client.connection.connection_requests import ConnectionRequests, Work
from trio_debugmcp.client.connection.sdk_client import OutputCheck, make_sdk_client, take_over_output_check
from trio_debugmcp.client.options import InspectorOptions, Roots
from trio_debugmcp.client.statistics import ClientConnectionStatistics
from trio_debugmcp.errors import leaf
from trio_debugmcp.transports.tap import tapped

T = TypeVar("T")


class Live(Protocol):
    """What runs on an open connection: called once, with the nursery for what runs beside it, until done."""

    async def __call__(self, connection: "ClientConnection", nursery: trio.Nursery) -> None: ...


class ClientConnection:
    """See the module's docstring.

    Args:
        requests: of this one connection, with its wire and its route.
        options: of the client.
        roots: returns the roots that the server may list, None to have no such capability.
    """

    def __init__(
        self, requests: ConnectionRequests, options: InspectorOptions, roots: Callable[[], Roots | None]
    ) -> None:
        self.output_problem: OutputCheck
        """Checks a tool's result against the output schema that was listed; returns what is wrong, if anything is."""
        self.log_level = options.log_level
        self._requests = requests
        self._wire = requests.wire
        self._end = requests.end
        self._options = options
        self._roots = roots

    def __repr__(self) -> str:
        state = "alive" if self.alive else self._end.reason
        return f"<ClientConnection, {state}, {self._requests.open_requests} open requests>"

    @property
    def alive(self) -> bool:
        """False from the moment that the end is known; nothing may be committed from then on."""
        return self._end.alive

    @property
    def sdk(self) -> Client:
        """The SDK's client, from the handshake on."""
        return self._requests.sdk

    @property
    def modern(self) -> bool:
        """Whether the connection is of the era of 2026-07-28 and later."""
        return self._requests.modern

    def on_gap(self, missed: Callable[[], None]) -> None:
        """Call `missed` when notifications may have been missed although the connection continues."""
        if self._requests.route.watch is not None:
            self._requests.route.watch.on_gap = missed

    def statistics(self) -> ClientConnectionStatistics:
        """How many messages passed, and how many calls are not finished."""
        wire = self._wire
        return ClientConnectionStatistics(
            self.alive, wire.sent_count, wire.received_count, self._requests.open_requests
        )

    async def call(
        self, method: str, work: Work[T], *, timeout: float | None = None, progress: ProgressFnT | None = None
    ) -> T:
        """Run one request, as `ConnectionRequests.call`."""
        return await self._requests.call(method, work, timeout=timeout, progress=progress)

    # --- Life ---------------------------------------------------------------------------------------------------------

    def end(self, reason: str, *, requested: bool, unauthorized: bool = False) -> None:
        """Begin to end the connection; the first reason counts. Never waits: `serve()` closes everything."""
        self._end.begin(reason, requested=requested, unauthorized=unauthorized)

    def ending(self) -> ConnectionEnding:
        """Why and how the connection ended, as far as is known."""
        return self._requests.ending()

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
        deadlines = self._requests.deadlines
        sdk_client = make_sdk_client(self._tapped_transport(), self._options, deadlines, self._roots)
        with deadlines.until(deadlines.now() + self._options.connect_timeout) as handshake:
            try:
                async with sdk_client as self._requests.sdk:
                    self._wire.version = self.sdk.session.protocol_version
                    deadlines.extend(handshake, float("inf"))
                    self._check_era()
                    self.output_problem = take_over_output_check(self.sdk, self._wire.screen.tools.__contains__)
                    opened = True
                    try:
                        await self._live(live)
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
                self._end.closed.set()
        if handshake.cancelled_caught:
            raise self._failed(TimeoutError(f"no handshake within {self._options.connect_timeout:g} s"))
        return self.ending()

    async def _live(self, live: Live) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._end.cancel_when_begun, nursery.cancel_scope)
            if (liveness := self._requests.liveness()) is not None:
                nursery.start_soon(liveness.run)
            await live(self, nursery)

    @asynccontextmanager
    async def _tapped_transport(self) -> AsyncGenerator[TransportStreams, None]:
        async with self._requests.route.transport as streams:
            yield tapped(streams, self._wire)

    def _check_era(self) -> None:
        if self._options.mode == "modern" and not self.modern:
            raise ConnectFailed(f"The server speaks only {self.sdk.protocol_version}, not the modern era as wanted")

    def _failed(self, error: BaseException) -> ConnectFailed:
        if isinstance(error, ConnectFailed):
            return error
        watch, url = self._requests.route.watch, self._requests.route.url
        if (refusal := refusal_of(url, error) if watch is None else watch.last_refusal) is not None:
            return refusal.as_error(self._options.headers)
        ending, where = self._requests.route.exit_code, f" to {shown_url(url)}" if url is not None else ""
        return ConnectFailed(f"Cannot connect{where}: {explained(error)}", ending, self._requests.stderr_tail())
