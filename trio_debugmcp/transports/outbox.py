"""Messages on their way to a peer: they wait here for the one task that writes, which takes all of them at once.

    outbox = Outbox()
    await outbox.send(message)  # in any task
    messages = await outbox.take()  # in the task that writes

A change notifies hundreds of clients of several resources each; one task switch per message would dominate.
"""

from collections import deque
from types import TracebackType
from typing import Self

import anyio
import trio
from mcp.shared.message import SessionMessage

MAX_MESSAGES = 16
"""Messages before senders have to wait: updates of all resources, and some responses. Updates for a slow client are
better kept in its mailbox, where each URI is stored once."""


class Outbox:
    """A queue with the SDK's write stream at one end and `take` at the other."""

    def __init__(self) -> None:
        self._messages: deque[SessionMessage] = deque()
        self._mail = trio.Event()
        self._senders = trio.lowlevel.ParkingLot()
        self._closed = self._abandoned = False

    def __repr__(self) -> str:
        state = "closed" if self._closed else "abandoned" if self._abandoned else "open"
        return f"<Outbox {state}, {len(self._messages)} messages, {self.waiting} waiting senders>"

    @property
    def waiting(self) -> int:
        """Number of senders that wait until there is room."""
        return len(self._senders)

    async def send(self, item: SessionMessage, /) -> None:
        """Add a message; does not yield if there is room, so that several messages are written together.

        Raises:
            anyio.ClosedResourceError: this end is closed.
            anyio.BrokenResourceError: the task that writes has ended.
        """
        full = len(self._messages) >= MAX_MESSAGES or self.waiting  # not before those who wait already
        if full and not self._closed and not self._abandoned:
            await self._senders.park()
        if self._closed:
            raise anyio.ClosedResourceError
        if self._abandoned:
            raise anyio.BrokenResourceError
        self._messages.append(item)
        self._mail.set()

    async def take(self) -> list[SessionMessage]:
        """Wait for messages, and take all of them.

        Raises:
            trio.EndOfChannel: there are none, and `close` was called.
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
        """Refuse further messages; those in the queue can still be taken."""
        self._closed = True
        self._mail.set()
        self._senders.unpark_all()

    def abandon(self) -> None:
        """Drop all messages: the task that writes has ended."""
        self._abandoned = True
        self._messages.clear()
        self._senders.unpark_all()

    async def aclose(self) -> None:
        """Close, as the SDK expects it."""
        self.close()
        await trio.lowlevel.checkpoint()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class SharedStream(trio.abc.Stream):
    """A stream on which several tasks may send; the data of one `send_all` stays in one piece."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._sending = trio.Lock()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        async with self._sending:
            await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._stream.aclose()
