"""`ChannelLink`: many streams over one connection, of which none can stop the others.

    link = ChannelLink(stream, patience, opened)    # opened(channel, greeting) is called for each that the peer opens
    nursery.start_soon(link.run)
    channel = link.open(b'{"pid": 4711}')           # a stream of bytes, as the peer's channel is

A frame is a kind, the number of a channel, a size, and so many bytes. What one channel has sent and the other side has
not read is bounded by a window; then the sender waits, while the connection is there for the others. Where neither side
has anything to say they say that they are there, so that a connection that was cut without a word is noticed.
"""

import struct
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import count

import trio

from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.patience import USUAL, Patience

WINDOW_BYTES = 256 * 1024
"""What a channel may have sent that the other side's reader has not taken."""

MAX_CHANNELS = 4096
"""At a time: a thousand programs, each with a connection for records, and some."""

PING_SECONDS = 10.0
"""Between two signs of life."""

SILENT_SECONDS = 40.0
"""Without any sign of life, or without a byte that the peer takes: then the connection counts as cut."""

_OPEN, _DATA, _END, _CLOSE, _CREDIT, _PING = range(6)

_HEAD = struct.Struct(">BII")
_AMOUNT = struct.Struct(">I")

_PIECE_BYTES = 16 * 1024
"""Of one channel's data in a frame: channels take turns after each."""

_MAX_GREETING_BYTES = 4096

_QUEUED_FRAMES = 32
"""Frames of data that wait to be written."""

_CHUNK_BYTES = 64 * 1024


class Channel(trio.abc.HalfCloseableStream):
    """One of the streams. Made by `ChannelLink`."""

    def __init__(self, link: "ChannelLink", number: int) -> None:
        self.number = number
        self._link = link
        self._received = bytearray()
        self._taken = 0
        self._room = WINDOW_BYTES
        self._changed = trio.lowlevel.ParkingLot()
        self._has_ended = self._is_broken = self._is_closed = self._said_end = False

    def __repr__(self) -> str:
        return f"<Channel {self.number}>"

    @property
    def unread(self) -> int:
        """How many bytes have arrived and were not received."""
        return len(self._received)

    # --- The user's side ----------------------------------------------------------------------------------------------

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes; this waits while the other side does not read. One task at a time sends."""
        rest = memoryview(bytes(data))
        await trio.lowlevel.checkpoint()
        while rest:
            await self.wait_send_all_might_not_block()
            size = min(len(rest), self._room, _PIECE_BYTES)
            piece, rest = bytes(rest[:size]), rest[size:]
            self._room -= size
            await self._link.send_data(self.number, piece)

    async def wait_send_all_might_not_block(self) -> None:
        self._check()
        while self._room <= 0:
            await self._changed.park()
            self._check()

    async def send_eof(self) -> None:
        """Send the end of what this side has to say."""
        await trio.lowlevel.checkpoint()
        self._check()
        if not self._said_end:
            self._said_end = True
            self._link.say(_END, self.number)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return what has arrived, or wait for it; nothing at the end."""
        await trio.lowlevel.checkpoint()
        while not self._received:
            if self._is_closed:
                raise trio.ClosedResourceError("the channel was closed")
            if self._is_broken:
                raise trio.BrokenResourceError("the other side has closed the channel, or the connection is cut")
            if self._has_ended:
                return b""
            await self._changed.park()
        data = bytes(self._received[: max_bytes or _CHUNK_BYTES])
        del self._received[: len(data)]
        self._taken += len(data)
        if self._taken >= WINDOW_BYTES // 2 and not self._is_closed:
            self._link.say(_CREDIT, self.number, _AMOUNT.pack(self._taken))
            self._taken = 0
        return data

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """End the channel in both directions."""
        if not self._is_closed:
            self._is_closed = True
            self._received.clear()
            if not self._is_broken:
                self._link.forget(self.number)
            self._changed.unpark_all()

    def _check(self) -> None:
        if self._is_closed:
            raise trio.ClosedResourceError("the channel was closed")
        if self._is_broken:
            raise trio.BrokenResourceError("the other side has closed the channel, or the connection is cut")

    # --- The link's side ----------------------------------------------------------------------------------------------

    def take(self, data: bytes) -> None:
        """Take bytes that have arrived."""
        if len(self._received) + self._taken + len(data) > WINDOW_BYTES or self._has_ended:
            raise ProtocolViolation("a channel got more than it has room for")
        self._received += data
        self._changed.unpark_all()

    def take_credit(self, amount: int) -> None:
        """The other side has read so many bytes."""
        self._room += amount
        if self._room > WINDOW_BYTES:
            raise ProtocolViolation("a channel was given more room than it had taken")
        self._changed.unpark_all()

    def end(self) -> None:
        """The other side has said all."""
        self._has_ended = True
        self._changed.unpark_all()

    def break_off(self) -> None:
        """The other side has closed it, or is gone; what has arrived can still be received."""
        self._is_broken = True
        self._changed.unpark_all()


Opened = Callable[[Channel, bytes], None]
"""Called with a channel that the peer has opened, and its greeting."""


class ChannelLink:
    """The connection, and its channels.

    Attributes:
        over: it has ended.
        why: how; empty: the peer has closed it.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        patience: Patience = USUAL,
        opened: Opened | None = None,
        *,
        received: bytes = b"",
    ) -> None:
        self.over = trio.Event()
        self.why = ""
        self._stream = stream
        self._patience = patience
        self._opened = opened
        self._received = bytearray(received)
        self._numbers = count(1)
        self._last_opened = 0
        self._channels: dict[int, Channel] = {}
        self._frames = deque[bytes]()
        self._data_frames = 0
        self._has_frames = trio.Event()
        self._has_room = trio.lowlevel.ParkingLot()
        self._emptied = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<ChannelLink with {len(self._channels)} channels{', over' if self.over.is_set() else ''}>"

    def open(self, greeting: bytes) -> Channel:
        """Open a channel.

        Raises:
            trio.BrokenResourceError: the connection is over.
        """
        if self.over.is_set():
            raise trio.BrokenResourceError("the connection is over")
        channel = Channel(self, next(self._numbers))
        self._channels[channel.number] = channel
        self.say(_OPEN, channel.number, greeting)
        return channel

    async def run(self) -> None:
        """Carry the channels until the connection ends; then they are broken, and it is closed."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._write, nursery.cancel_scope)
                nursery.start_soon(self._say_that_it_is_there)
                await self._read()
                nursery.cancel_scope.cancel(reason="the peer has closed the connection")
        finally:
            self.over.set()
            for channel in self._channels.values():
                channel.break_off()
            self._channels.clear()
            self._emptied.unpark_all()
            self._has_room.unpark_all()
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(self._stream)

    async def wait_empty(self) -> None:
        """Wait until no channel is open, and all that was said about them is written."""
        while (self._channels or self._frames) and not self.over.is_set():
            await self._emptied.park()

    # --- Of the channels ----------------------------------------------------------------------------------------------

    async def send_data(self, number: int, data: bytes) -> None:
        """Send bytes of a channel when it is its turn. What was not queued before a cancellation is not sent."""
        while self._data_frames >= _QUEUED_FRAMES and not self.over.is_set():
            await self._has_room.park()
        if self.over.is_set():
            raise trio.BrokenResourceError("the connection is over")
        self._data_frames += 1
        self.say(_DATA, number, data)

    def say(self, kind: int, number: int, payload: bytes = b"") -> None:
        """Queue a frame. Those without data are as many as there are channels, times a few."""
        self._frames.append(_HEAD.pack(kind, number, len(payload)) + payload)
        self._has_frames.set()

    def forget(self, number: int) -> None:
        """A channel was closed on this side."""
        if self._channels.pop(number, None) is not None:
            self.say(_CLOSE, number)

    # --- The connection -----------------------------------------------------------------------------------------------

    async def _write(self, scope: trio.CancelScope) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while True:
                await self._has_frames.wait()
                self._has_frames = trio.Event()
                frames, self._frames = self._frames, deque[bytes]()
                self._data_frames = 0
                self._has_room.unpark_all()
                data = b"".join(frames)
                while data:
                    with trio.move_on_after(self._patience.seconds(SILENT_SECONDS)) as late:
                        await self._stream.send_all(data[:_CHUNK_BYTES])
                    if late.cancelled_caught:
                        self.why = "the other side does not read"
                        scope.cancel(reason=self.why)
                        return
                    data = data[_CHUNK_BYTES:]
                self._emptied.unpark_all()

    async def _say_that_it_is_there(self) -> None:
        while True:
            await trio.sleep(PING_SECONDS)
            if not self._frames:
                self.say(_PING, 0)

    async def _read(self) -> None:
        try:
            while True:
                while (frame := self._next_frame()) is not None:
                    self._take(*frame)
                with trio.move_on_after(self._patience.seconds(SILENT_SECONDS)) as silent:
                    data = await self._stream.receive_some(_CHUNK_BYTES)
                if silent.cancelled_caught:
                    self.why = "no sign of life from the other side"
                    return
                if not data:
                    return
                self._received += data
        except ProtocolViolation as violation:
            self.why = str(violation)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.why = self.why or "the connection was cut"

    def _next_frame(self) -> tuple[int, int, bytes] | None:
        if len(self._received) < _HEAD.size:
            return None
        kind, number, size = _HEAD.unpack_from(self._received)
        limit = {_OPEN: _MAX_GREETING_BYTES, _DATA: _PIECE_BYTES, _CREDIT: _AMOUNT.size}.get(kind, 0)
        if size > limit or kind > _PING:
            raise ProtocolViolation("a frame that has no sense", bytes(self._received[:20]))
        end = _HEAD.size + size
        if len(self._received) < end:
            return None
        payload = bytes(self._received[_HEAD.size : end])
        del self._received[:end]
        return kind, number, payload

    def _take(self, kind: int, number: int, payload: bytes) -> None:
        if kind == _OPEN:
            self._take_opened(number, payload)
            return
        channel = self._channels.get(number)
        if channel is None:  # it was closed on this side, which the peer did not know; or a sign of life
            return
        if kind == _DATA:
            channel.take(payload)
        elif kind == _CREDIT:
            channel.take_credit(int.from_bytes(payload, "big"))
        elif kind == _END:
            channel.end()
        elif kind == _CLOSE:
            del self._channels[number]
            channel.break_off()
            self._emptied.unpark_all()

    def _take_opened(self, number: int, greeting: bytes) -> None:
        if self._opened is None or number <= self._last_opened:
            raise ProtocolViolation("a channel that this side does not take")
        self._last_opened = number
        if len(self._channels) >= MAX_CHANNELS:
            self.say(_CLOSE, number)
            return
        channel = self._channels[number] = Channel(self, number)
        self._opened(channel, greeting)
