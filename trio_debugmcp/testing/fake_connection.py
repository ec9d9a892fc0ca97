"""`FakeConnection`: a fake adapter's end of its connection, with everything that can go wrong on it.

    adapter.connection.wrap(Trickling)                     # from now on, every byte by itself
    adapter.connection.twist(late(events, 3))              # every event 3 s late
    adapter.connection.complain("out of file handles")

The wraps and twists are those of `testing.faults`.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import trio
import trio.testing

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.codec import FrameDecoder, encode_frame
from trio_debugmcp.dap.process import Program

DapMessage = dict[str, Any]
OwnProcess = Program | None
Send = Callable[[DapMessage], Awaitable[None]]
Twist = Callable[[DapMessage, Send], Awaitable[None]]
"""Gets each message that an adapter is about to send, and a way to send it: late, twice, changed, or not at all."""
Wrap = Callable[[trio.abc.Stream], trio.abc.Stream]


class FakeConnection:
    """One connection at a time.

    Args:
        received: called with each request at once, in the order of the wire.
        respond: run with each request, in a task of its own.

    Attributes:
        process: set before it is opened: the adapter's process, which then is the program.
    """

    def __init__(self, received: Callable[[DapMessage], None], respond: Send) -> None:
        self.deaf = False
        self.process: OwnProcess = None
        self._received = received
        self._respond = respond
        self._send: Send = self._write
        self._wraps: list[Wrap] = []
        self._adapter: Adapter | None = None
        self._stream: trio.abc.Stream | None = None
        self._seq = count(1)
        self._writing = trio.Lock()
        self._reverse: dict[int, trio.MemorySendChannel[DapMessage]] = {}

    # --- Sending ------------------------------------------------------------------------------------------------------

    async def send(self, message: DapMessage) -> None:
        """Number a message and send it, through all twists."""
        await self._send({"seq": next(self._seq), **message})

    async def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be DAP. If the other end is closed, they are lost."""
        stream = self._stream
        if stream is not None:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                async with self._writing:
                    await stream.send_all(data)

    async def request(self, command: str, arguments: DapMessage) -> DapMessage:
        """Send a reverse request, past all twists, and wait for its whole response."""
        seq = next(self._seq)
        answer, answered = trio.open_memory_channel[DapMessage](1)
        self._reverse[seq] = answer
        await self._write({"seq": seq, "type": "request", "command": command, "arguments": arguments})
        return await answered.receive()

    async def _write(self, message: DapMessage) -> None:
        await self.send_raw(encode_frame(json.dumps(message).encode()))

    # --- What can go wrong --------------------------------------------------------------------------------------------

    def twist(self, twist: Twist) -> None:
        """Send every message through `twist` from now on. Raw bytes and reverse requests do not pass it."""
        send = self._send
        self._send = lambda message: twist(message, send)

    def wrap(self, wrap: Wrap) -> None:
        """Put a wrapper around this end of the connection: of the one that is open, and of later ones."""
        self._wraps.append(wrap)
        if self._stream is not None:
            self._stream = wrap(self._stream)

    def unwrap(self) -> None:
        """Put no wrappers around later connections."""
        self._wraps.clear()

    def complain(self, text: str) -> None:
        """Write to the adapter's standard error."""
        if self._adapter is not None:
            self._adapter.keep_stderr(text.encode())

    async def mute(self) -> None:
        """Close the half of the connection that this end sends on. It still receives."""
        if isinstance(self._stream, trio.abc.HalfCloseableStream):
            await self._stream.send_eof()

    async def crash(self) -> None:
        """Break the connection off."""
        if self._stream is not None:
            await trio.aclose_forcefully(self._stream)

    # --- Receiving ----------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Adapter]:
        """Connect for the length of the block."""
        ours, theirs = trio.testing.memory_stream_pair()
        self._stream = theirs
        for wrap in self._wraps:
            self._stream = wrap(self._stream)
        self._adapter = Adapter(ours, process=self.process, is_program=self.process is not None)
        # Shielded, as a real adapter is not cancelled with its session either: it answers the `disconnect`.
        serving = trio.CancelScope(shield=True)

        async def serve(*, task_status: trio.TaskStatus[None]) -> None:
            with serving:
                async with trio.open_nursery() as nursery:
                    task_status.started()
                    await self._serve(nursery)

        async with trio.open_nursery() as outer:
            await outer.start(serve)
            try:
                yield self._adapter
            finally:
                serving.cancel(reason="the fake adapter is closed")

    async def _serve(self, nursery: trio.Nursery) -> None:
        decoder = FrameDecoder()
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while self._stream is not None and (data := await self._stream.receive_some()):
                if self.deaf:
                    await trio.sleep_forever()
                for body in decoder.feed(bytes(data)):
                    self._take(json.loads(body), nursery)

    def _take(self, message: DapMessage, nursery: trio.Nursery) -> None:
        if message["type"] == "response":
            if (asker := self._reverse.pop(message["request_seq"], None)) is not None:
                asker.send_nowait(message)
            return
        self._received(message)
        nursery.start_soon(self._respond, message)
