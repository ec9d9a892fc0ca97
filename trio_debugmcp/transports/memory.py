"""MCP inside one process: two pairs of streams, one for each end. For tests and for embedding."""

from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

End = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage | Exception]]


@contextmanager
def memory_pair() -> Iterator[tuple[End, End]]:
    """Two connected ends, closed when the block ends."""
    to_left, left = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_right, right = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    with to_left, left, to_right, right:
        yield (left, to_right), (right, to_left)
