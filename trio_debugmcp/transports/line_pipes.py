r"""Lines over a pair of byte streams: what is read is split at newlines, what is written is written by one task.

    async with open_pipes(await trio.open_unix_socket("/run/user/1000/server.sock")) as pipes:
        await pipes.frames.send(b"one line\n")
        line = await anext(pipes.lines)

`transports.command` has the pipes of a program.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Self

import trio
from msgspec import Struct

from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.transports.line_splitter import LineSplitter

FLUSH_SECONDS = 0.5
"""For messages already accepted to reach the server before the stream to it is closed."""

MAX_LINE_BYTES = 64 * 1024 * 1024
"""The longest message accepted of a server; one that never ends its line would otherwise fill our memory."""

CHUNK_BYTES = 64 * 1024
"""One read: dozens of usual messages."""


class ReceivedLines:
    """The lines that the other side writes, each without its newline."""

    def __init__(self, stream: trio.abc.ReceiveStream) -> None:
        self._stream = stream
        self._splitter = LineSplitter(MAX_LINE_BYTES)
        self._waiting: list[bytes | None] = []

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """Wait for the next line; the end of file is the end.

        Raises:
            ProtocolViolation: a line is too long; nothing more can be read.
        """
        # Even if a line is there already: many lines may have come in one read, and other tasks must run between them.
        await trio.lowlevel.checkpoint()
        while not self._waiting:
            try:
                data = await self._stream.receive_some(CHUNK_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                data = b""
            if not data:
                raise StopAsyncIteration
            self._waiting = self._splitter.feed(data)[::-1]
        line = self._waiting.pop()
        if line is None:
            raise ProtocolViolation(f"a line of more than {MAX_LINE_BYTES} bytes")
        return line


class Pipes(Struct, frozen=True):
    """The way to a peer.

    Attributes:
        lines: what it writes.
        frames: what it reads, each with its newline. A task of its own writes them: a cancelled `send_all` may leave
            half a line behind, which would corrupt the next message.
    """

    lines: ReceivedLines
    frames: trio.MemorySendChannel[bytes]


@asynccontextmanager
async def open_pipes(stream: trio.abc.Stream) -> AsyncGenerator[Pipes]:
    """Open pipes over a stream, a socket for example, for the length of the block; at its end the stream is closed."""
    frames, outgoing = trio.open_memory_channel[bytes](0)
    flushed = trio.Event()
    async with stream, trio.open_nursery() as nursery:
        nursery.start_soon(write_frames, stream, outgoing, flushed)
        try:
            yield Pipes(ReceivedLines(stream), frames)
        finally:
            frames.close()
            with trio.move_on_after(FLUSH_SECONDS, shield=True):
                await flushed.wait()
            nursery.cancel_scope.cancel("the connection is over")


async def write_frames(
    stream: trio.abc.SendStream, frames: trio.MemoryReceiveChannel[bytes], flushed: trio.Event
) -> None:
    """Write what comes until its sender closes, or the peer reads no more; then `flushed` is set."""
    try:
        with frames, suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async for frame in frames:
                await stream.send_all(frame)
    finally:
        flushed.set()
