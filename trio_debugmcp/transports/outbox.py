"""What is on its way to a peer: messages wait here for the one task that writes, and it takes all of them at once.

A change is told to hundreds of clients, to each of them of several resources. With one stop at the writer for each
message most of the time would go into switching tasks.
"""

from collections import deque
from types import TracebackType
from typing import Self

import anyio
import trio
from mcp.shared.message import SessionMessage

MAX_MESSAGES = 16
"""That wait without their senders waiting too: the updates of all resources, and some answers. What a slow client has
not been sent yet is better kept in its mailbox, where it holds each URI once."""


class Outbox:
    """The SDK's write stream, and `take` at its other end. First in, first out."""

    def __init__(self) -> None:
        self._messages: deque[SessionMessage] = deque()
        self._mail = trio.Event()
        self._senders = trio.lowlevel.ParkingLot()
        self._closed = self._abandoned = False

    @property
    def waiting(self) -> int:
        """Senders that wait for room."""
        return len(self._senders)

    async def send(self, item: SessionMessage, /) -> None:
        """Leave a message; returns at once when there is room, so that several of them go out together.

        Raises:
            anyio.ClosedResourceError: this end is closed.
            anyio.BrokenResourceError: nobody writes any more.
        """
        full = len(self._messages) >= MAX_MESSAGES or self.waiting
        if full and not self._closed and not self._abandoned:
            await self._senders.park()
        if self._closed:
            raise anyio.ClosedResourceError
        if self._abandoned:
            raise anyio.BrokenResourceError
        self._messages.append(item)
        self._mail.set()

    async def take(self) -> list[SessionMessage]:
        """Wait for messages, and take all that are there.

        Raises:
            trio.EndOfChannel: there are none, and none will come.
        """
        while not self._messages:
            if self._closed:
                raise trio.EndOfChannel
            self._mail = trio.Event()
            await self._mail.wait()
        messages = list(self._messages)
        self._messages.clear()
        self._senders.unpark(count=MAX_MESSAGES)
        return messages

    def close(self) -> None:
        """Nothing more is sent; what is there may still be taken."""
        self._closed = True
        self._mail.set()
        self._senders.unpark_all()

    def abandon(self) -> None:
        """Nothing more is taken."""
        self._abandoned = True
        self._messages.clear()
        self._senders.unpark_all()

    async def aclose(self) -> None:
        """As `close`; for the SDK."""
        self.close()
        await trio.lowlevel.checkpoint()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class SharedStream(trio.abc.Stream):
    """A stream on which several tasks send: what one of them sends goes out in one piece."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._sending = trio.Lock()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send, after those who came before."""
        async with self._sending:
            await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        """Wait."""
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Receive."""
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        """Close the stream below."""
        await self._stream.aclose()
