"""Base classes for streams of MCP messages, as the SDK's protocols describe them.

    class Lines(MessageReader):  # implements `__anext__` and `aclose`
        async def __anext__(self) -> SessionMessage | Exception: ...

`MessageReader` and `ClosingStream` add the context manager, the iteration protocol and `receive`.
"""

from abc import ABC, abstractmethod
from typing import Self

import anyio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

Incoming = ReadStream[SessionMessage | Exception]
Outgoing = WriteStream[SessionMessage]
Streams = tuple[Incoming, Outgoing]
"""A transport as the SDK sees it: one stream to read messages from, one to write messages to."""


class ClosingStream(ABC):
    """A stream that is its own context manager: leaving the block closes it."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close the stream; a second call does nothing."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class MessageReader(ClosingStream):
    """A read stream that implements `__anext__`, and has `receive` for readers that do not iterate."""

    @abstractmethod
    async def __anext__(self) -> SessionMessage | Exception:
        """Wait for the next message, or the error of a malformed one; `StopAsyncIteration` is the end."""

    def __aiter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage | Exception:
        """Wait for the next message.

        Raises:
            anyio.EndOfStream: the stream has ended.
        """
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None
