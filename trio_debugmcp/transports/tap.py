"""Taps on the SDK's message streams: a `Tap` sees every message in wire order, and the end of the stream.

The SDK hands each notification to a task of its own, so that two of them, or a notification and a response, can change
places above it. A `Tap` is called synchronously, before the SDK gets the message:

    class Printing(Tap):
        def received(self, item: SessionMessage) -> bool:
            print(message_text(item))
            return True

    async with transport as streams:
        read, write = tapped(streams, Printing())
"""

from mcp.shared.message import SessionMessage

from trio_debugmcp.transports.streams import ClosingStream, Incoming, MessageReader, Outgoing, Streams


class Tap:
    """An observer of one connection. Its methods do nothing here; none of them may wait or raise."""

    def sent(self, item: SessionMessage) -> None:
        """Called with each message before it is written."""

    def received(self, item: SessionMessage) -> bool:
        """Called with each message that has arrived; return False to keep it from the SDK."""
        return True

    def garbled(self, error: Exception) -> None:
        """Called when something has arrived that is not a message."""

    def failed(self, error: Exception) -> None:
        """Called before `ended` when nothing more can be read, for another reason than the end of file."""

    def ended(self, *, cancelled: bool) -> None:
        """Called when nothing more will arrive: at the end of file, or when the reading task was cancelled."""


def tapped(streams: Streams, tap: Tap) -> Streams:
    """Wrap a pair of message streams so that `tap` observes them."""
    read, write = streams
    return _TappedRead(read, tap), _TappedWrite(write, tap)


class _TappedRead(MessageReader):
    def __init__(self, inner: Incoming, tap: Tap) -> None:
        self._inner = inner
        self._tap = tap

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            try:
                item = await self._inner.__anext__()
            except BaseException as error:  # whatever it was, StopAsyncIteration or Cancelled, it was the last
                if isinstance(error, Exception) and not isinstance(error, StopAsyncIteration):
                    self._tap.failed(error)
                self._tap.ended(cancelled=not isinstance(error, Exception))
                raise
            if isinstance(item, Exception):
                self._tap.garbled(item)
            elif not self._tap.received(item):
                continue
            return item

    async def aclose(self) -> None:
        await self._inner.aclose()


class _TappedWrite(ClosingStream):
    def __init__(self, inner: Outgoing, tap: Tap) -> None:
        self._inner = inner
        self._tap = tap

    async def send(self, item: SessionMessage, /) -> None:
        # Before the write: the peer's answer can arrive before `send` returns, and must not be seen first.
        self._tap.sent(item)
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()
