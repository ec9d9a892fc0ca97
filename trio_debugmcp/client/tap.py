"""Between the transport and the SDK: sees every message in the order of the wire, and the end of the stream.

The SDK hands each notification to a task of its own, so that two of them, or a notification and a response,
can change places. Here they cannot: `Wire` is told synchronously, before the SDK gets the message. It decides
state; the SDK correlates, validates and answers.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

from trio_debugmcp.client.streams import Closing, Reading

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager

    from mcp.client._transport import ReadStream, TransportStreams, WriteStream
    from mcp.shared.message import SessionMessage


class Wire(Protocol):
    """Who is told what passes. No method may wait."""

    def sent(self, message: dict[str, Any]) -> None:
        """`message` is about to be written."""

    def received(self, message: dict[str, Any]) -> bool:
        """`message` has arrived; False keeps it from the SDK, which has no use for it."""

    def garbled(self, error: Exception) -> None:
        """Something arrived that is no message."""

    def ended(self, *, cancelled: bool) -> None:
        """Nothing will arrive any more: end of file, or the reader was cancelled with all around it."""


class _TappedRead(Reading):
    def __init__(self, inner: ReadStream[SessionMessage | Exception], wire: Wire) -> None:
        self._inner = inner
        self._wire = wire

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            try:
                item = await self._inner.__anext__()
            except BaseException as error:  # whatever it was, StopAsyncIteration or Cancelled, it was the last
                self._wire.ended(cancelled=not isinstance(error, Exception))
                raise
            if isinstance(item, Exception):
                self._wire.garbled(item)
            elif not self._wire.received(_plain(item)):
                continue
            return item

    async def aclose(self) -> None:
        await self._inner.aclose()


class _TappedWrite(Closing):
    def __init__(self, inner: WriteStream[SessionMessage], wire: Wire) -> None:
        self._inner = inner
        self._wire = wire

    async def send(self, item: SessionMessage, /) -> None:
        self._wire.sent(_plain(item))
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def tapped(
    transport: AbstractAsyncContextManager[TransportStreams], wire: Wire
) -> AsyncGenerator[TransportStreams, None]:
    """Enter `transport` with `wire` listening in; the result is a transport of the SDK too."""
    async with transport as (read, write):
        yield _TappedRead(read, wire), _TappedWrite(write, wire)


def _plain(item: SessionMessage) -> dict[str, Any]:
    """Show the message as it is on the wire; parameters and results are the same objects, not copies."""
    message = item.message
    fields = {name: getattr(message, name) for name in type(message).model_fields if name in message.model_fields_set}
    if (error := fields.get("error")) is not None:
        fields["error"] = error.model_dump(exclude_unset=True)
    return fields
