"""`ScenarioClient`: a client in a scenario. It does what lines say, and keeps what it was notified of, and when."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import trio
import trio.testing
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from msgspec import Struct

from trio_debugmcp.server.auth import Role
from trio_debugmcp.testing.debug_client import DebugClient, ToolFailed, connect_streams, over
from trio_debugmcp.testing.scenario.script_lines import Era
from trio_debugmcp.transports.in_memory import memory_pair
from trio_debugmcp.transports.streams import Incoming, Outgoing

NOT_FOUND = (-32002, -32602)
"""The code for a resource that does not exist: in the handshake era, in the modern one."""

LEAVE_SECONDS = 10.0
"""Virtual time for the server to notice that a client has disconnected."""

ServeConnection = Callable[[Incoming, Outgoing, Role], Awaitable[None]]
"""Serves a client over two streams until it disconnects."""


class CallFailure(Struct, frozen=True):
    """How a call failed: the code of a tool or the number of JSON-RPC, and the message."""

    code: str | int
    message: str


class LoggedNotice(Struct, frozen=True):
    """A notification that no line has claimed yet: its number, its subject, its time, and its entry in the log."""

    number: int
    what: str
    at: float
    entry: int


class ScenarioCall:
    """A call that a line has begun. Once it is `over` there is a `result` or a `failure`, unless it was cancelled.

    `expected`: a line has checked the failure; `entry` is the number of its answer in the log.
    """

    def __init__(self, what: str, line: int) -> None:
        self.what = what
        self.line = line
        self.entry = 0
        self.result: Any = None
        self.failure: CallFailure | None = None
        self.ended_at: float | None = None
        self.over = trio.Event()
        self.expected = False
        self.scope = trio.CancelScope()


class Valve:
    """Stands between the server and a client. While it is closed, the client receives nothing."""

    def __init__(self) -> None:
        self._opened = trio.Event()
        self._opened.set()
        self._taking = trio.CancelScope()

    def close(self) -> None:
        """Hold all messages back from now on."""
        if self._opened.is_set():
            self._opened = trio.Event()
            self._taking.cancel(reason="the client stops reading")

    def open(self) -> None:
        """Let all messages pass again."""
        self._opened.set()

    async def pump(
        self,
        source: MemoryObjectReceiveStream[SessionMessage | Exception],
        sink: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        """Pass messages on until either side closes."""
        with sink:
            try:
                while True:
                    await self._opened.wait()
                    with trio.CancelScope() as self._taking:
                        message = await source.receive()
                    if not self._taking.cancelled_caught:
                        await sink.send(message)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return


class ScenarioClient:
    """Made by `open_client`. Requests are made one after another, except calls and reads, which run beside them.

    `unclaimed` are the notices that no line has claimed yet. `latest_claim` and `after_edge` are the numbers of the
    latest notice that was claimed, and of the latest `list_changed`: what comes after it in the file comes after it.
    """

    def __init__(self, name: str, client: DebugClient, valve: Valve, nursery: trio.Nursery) -> None:
        self.name = name
        self.mcp = client
        self.valve = valve
        self.calls: list[ScenarioCall] = []
        self.calls_by_name: dict[str | None, ScenarioCall] = {}
        self.unclaimed: list[LoggedNotice] = []
        self.on_answer: Callable[[ScenarioCall], None] | None = None
        self.after_edge = 0
        self.latest_claim = 0
        self._nursery = nursery
        self._uris: tuple[str, ...] = ()
        self._stream: trio.CancelScope | None = None

    def __repr__(self) -> str:
        return f"<ScenarioClient {self.name}>"

    async def subscribe(self, uris: list[str]) -> None:
        """Subscribe to further resources."""
        if self.mcp.modern:
            await self._listen((*self._uris, *(uri for uri in uris if uri not in self._uris)))
            return
        for uri in uris:
            await self.mcp.request(types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri)))

    async def unsubscribe(self, uris: list[str]) -> None:
        """Unsubscribe from some of the resources."""
        if self.mcp.modern:
            await self._listen(tuple(uri for uri in self._uris if uri not in uris))
            return
        for uri in uris:
            await self.mcp.request(types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri)))

    async def listen(self) -> None:
        """Be notified when the list changes, as a client of the handshake era is without asking."""
        if self.mcp.modern:
            await self._listen(())

    def begin(self, what: str, line: int, name: str | None, request: Callable[[], Awaitable[Any]]) -> None:
        """Begin a call. Lines can refer to it by its name, or as the last one."""
        call = ScenarioCall(what, line)
        self.calls_by_name[name] = self.calls_by_name[None] = call
        self.calls.append(call)
        self._nursery.start_soon(self._call, call, request)

    def claim(self, notice: LoggedNotice) -> None:
        """Record that a line has checked the notice."""
        self.unclaimed.remove(notice)
        self.latest_claim = max(self.latest_claim, notice.number)

    def forget(self) -> None:
        """Drop all notices and calls so far: no line refers to them."""
        self.unclaimed.clear()
        self.calls.clear()

    async def _call(self, call: ScenarioCall, request: Callable[[], Awaitable[Any]]) -> None:
        with call.scope:
            try:
                call.result = await request()
            except ToolFailed as failed:
                call.failure = CallFailure(failed.code, failed.message)
            except MCPError as error:
                call.failure = CallFailure(error.error.code, error.error.message)
        call.ended_at = trio.current_time()
        if self.on_answer is not None:
            self.on_answer(call)
        call.over.set()

    async def _listen(self, uris: tuple[str, ...]) -> None:
        """Replace the modern era's one stream. Its successor is acknowledged first, so that no notice is lost."""
        before, scope = self._stream, trio.CancelScope()
        await self._nursery.start(self._hold_stream, uris, scope)
        self._uris, self._stream = uris, scope
        if before is not None:
            before.cancel(reason="another stream has taken its place")
            await trio.testing.wait_all_tasks_blocked()

    async def _hold_stream(
        self, uris: tuple[str, ...], scope: trio.CancelScope, *, task_status: trio.TaskStatus[None]
    ) -> None:
        with scope:
            async with self.mcp.subscribed(*uris):
                task_status.started()
                await trio.sleep_forever()


@asynccontextmanager
async def open_client(serve: ServeConnection, name: str, era: Era, role: Role) -> AsyncIterator[ScenarioClient]:
    """Connect a client for the length of the block. At its end the client disconnects, and the server has noticed."""
    valve = Valve()
    sink, source = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    with memory_pair() as (left, (incoming, outgoing)), sink, source:
        async with trio.open_nursery() as nursery:
            gone = trio.Event()

            async def run_connection() -> None:
                await serve(*left, role)
                gone.set()

            nursery.start_soon(run_connection)
            nursery.start_soon(valve.pump, incoming, sink)
            async with connect_streams(over((source, outgoing)), era) as client, trio.open_nursery() as own:
                made = ScenarioClient(name, client, valve, own)
                await made.listen()
                yield made
                own.cancel_scope.cancel(reason="the client disconnects")
            outgoing.close()
            incoming.close()
            with trio.move_on_after(LEAVE_SECONDS):
                await gone.wait()
            nursery.cancel_scope.cancel(reason="the client has disconnected")
