"""A client in a scenario: connected in memory, told what to do, remembering what it was told and when."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import trio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from msgspec import Struct

from trio_debugmcp.server.auth import Role
from trio_debugmcp.testing.connect import Server, connect_streams
from trio_debugmcp.testing.debug_client import DebugClient, ToolFailed
from trio_debugmcp.testing.scenario.lines import Era
from trio_debugmcp.transports.memory import memory_pair

NOT_FOUND = (-32002, -32602)
"""What a resource that does not exist is answered with: in the handshake era, in the modern one."""


class Failure(Struct, frozen=True):
    """How a call failed: a tool's code or JSON-RPC's number, and the message."""

    code: str | int
    message: str


class Told(Struct, frozen=True):
    """A notification that no line has spoken of yet: the how manieth, of what, when, and where in the log."""

    number: int
    what: str
    at: float
    entry: int


class Conversation:
    """A call that was begun. `result` or `failure` is there once it is `over`; neither when it was called off."""

    def __init__(self, what: str, line: int) -> None:
        self.what = what
        self.line = line
        self.entry = 0
        self.result: Any = None
        self.failure: Failure | None = None
        self.ended_at: float | None = None
        self.over = trio.Event()
        self.expected = False
        self.scope = trio.CancelScope()


class Valve:
    """Between the server and a client: closed, the client takes nothing more."""

    def __init__(self) -> None:
        self._opened = trio.Event()
        self._opened.set()
        self._taking = trio.CancelScope()

    def close(self) -> None:
        """Nothing more passes."""
        if self._opened.is_set():
            self._opened = trio.Event()
            self._taking.cancel(reason="the client stops reading")

    def open(self) -> None:
        """Let everything pass."""
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


class Guest:
    """Made by `open_guest`. Requests are made one after another, but for calls, which run beside."""

    def __init__(self, name: str, client: DebugClient, valve: Valve, nursery: trio.Nursery) -> None:
        self.name = name
        self.client = client
        self.valve = valve
        self.calls: dict[str | None, Conversation] = {}
        self.conversations: list[Conversation] = []
        self.unexpected: list[Told] = []
        self.on_answer: Callable[[Conversation], None] | None = None
        self.after_edge = 0
        self.latest_claim = 0
        self._nursery = nursery
        self._uris: tuple[str, ...] = ()
        self._stream: trio.CancelScope | None = None

    async def subscribe(self, uris: list[str]) -> None:
        """Be told of these too."""
        if self.client.modern:
            await self._listen((*self._uris, *(uri for uri in uris if uri not in self._uris)))
            return
        for uri in uris:
            await self.client.request(types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri)))

    async def unsubscribe(self, uris: list[str]) -> None:
        """Be told of these no more."""
        if self.client.modern:
            await self._listen(tuple(uri for uri in self._uris if uri not in uris))
            return
        for uri in uris:
            await self.client.request(types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri)))

    async def listen(self) -> None:
        """Hear when the list changes, which a client of the handshake era does anyway."""
        if self.client.modern:
            await self._listen(())

    def begin(self, what: str, line: int, name: str | None, call: Callable[[], Awaitable[Any]]) -> None:
        """Make a call beside everything else; under its name, and as the last one, it can be spoken of."""
        conversation = Conversation(what, line)
        self.calls[name] = self.calls[None] = conversation
        self.conversations.append(conversation)
        self._nursery.start_soon(self._converse, conversation, call)

    def claim(self, told: Told) -> None:
        """A line speaks of it."""
        self.unexpected.remove(told)
        self.latest_claim = max(self.latest_claim, told.number)

    def forget(self) -> None:
        """What was told and answered so far is nobody's business."""
        self.unexpected.clear()
        self.conversations.clear()

    async def _converse(self, conversation: Conversation, call: Callable[[], Awaitable[Any]]) -> None:
        with conversation.scope:
            try:
                conversation.result = await call()
            except ToolFailed as failed:
                conversation.failure = Failure(failed.code, failed.message)
            except MCPError as error:
                conversation.failure = Failure(error.error.code, error.error.message)
        conversation.ended_at = trio.current_time()
        if self.on_answer is not None:
            self.on_answer(conversation)
        conversation.over.set()

    async def _listen(self, uris: tuple[str, ...]) -> None:
        """The modern era's way: one stream, whose successor is acknowledged before it is closed."""
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
            async with self.client.subscribed(*uris):
                task_status.started()
                await trio.sleep_forever()


@asynccontextmanager
async def open_guest(server: Server, name: str, era: Era, role: Role) -> AsyncIterator[Guest]:
    """A client for the length of the block; at its end it leaves, and the server has noticed."""
    valve = Valve()
    sink, source = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    with memory_pair() as (left, (incoming, outgoing)), sink, source:
        async with trio.open_nursery() as nursery:
            gone = trio.Event()

            async def attend() -> None:
                await server.app.serve_connection(*left, role)
                gone.set()

            nursery.start_soon(attend)
            nursery.start_soon(valve.pump, incoming, sink)
            async with connect_streams(_transport((source, outgoing)), era) as client, trio.open_nursery() as own:
                guest = Guest(name, client, valve, own)
                await guest.listen()
                yield guest
                own.cancel_scope.cancel(reason="the client leaves")
            outgoing.close()
            incoming.close()
            with trio.move_on_after(LEAVE_SECONDS):
                await gone.wait()
            nursery.cancel_scope.cancel(reason="the client has left")


LEAVE_SECONDS = 10.0
"""Virtual time for the server to notice that a client has left."""


@asynccontextmanager
async def _transport(end: object) -> AsyncIterator[object]:
    yield end
