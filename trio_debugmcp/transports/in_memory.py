"""Connections inside one process: message streams for MCP, byte streams and pipes. For replays, tests and embedding.

    with memory_pair() as (left, right): ...   # MCP messages; each end is a pair of streams
    ours, theirs = byte_stream_pair()          # bytes both ways, as on a socket
    writer, reader = byte_pipe()               # bytes one way, as of a program's output

The byte streams hold any number of bytes: a write does not wait for the reader.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import anyio
import trio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

End = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage | Exception]]


@contextmanager
def memory_pair() -> Iterator[tuple[End, End]]:
    """Make two connected ends, closed when the block ends."""
    to_left, left = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_right, right = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    with to_left, left, to_right, right:
        yield (left, to_right), (right, to_left)


class PipeWriter(trio.abc.SendStream):
    """The end of a pipe that is written to. The pipe holds any number of bytes. Made by `byte_pipe`."""

    def __init__(self, to: trio.MemorySendChannel[bytes]) -> None:
        self._to = to

    def write(self, data: bytes) -> None:
        """Write without waiting.

        Raises:
            trio.BrokenResourceError: the reader is closed.
        """
        self._to.send_nowait(data)

    def close(self) -> None:
        """Close this end; the reader sees the end of file after what was written."""
        self._to.close()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._to.send(bytes(data))

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()


class PipeReader(trio.abc.ReceiveStream):
    """The end of a pipe that is read from: each read returns what one write wrote. Made by `byte_pipe`."""

    def __init__(self, from_: trio.MemoryReceiveChannel[bytes]) -> None:
        self._from = from_

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        try:
            return await self._from.receive()
        except trio.EndOfChannel:
            return b""

    async def aclose(self) -> None:
        self._from.close()
        await trio.lowlevel.checkpoint()


def byte_pipe() -> tuple[PipeWriter, PipeReader]:
    """Make a pipe in memory."""
    to, from_ = trio.open_memory_channel[bytes](inf)
    return PipeWriter(to), PipeReader(from_)


ByteStream = trio.StapledStream[PipeWriter, PipeReader]


def byte_stream_pair() -> tuple[ByteStream, ByteStream]:
    """Make two connected byte streams."""
    to_left, left = byte_pipe()
    to_right, right = byte_pipe()
    return trio.StapledStream(to_right, left), trio.StapledStream(to_left, right)
