"""Bounds on WebSocket messages that their size does not set: how long one may take, and in how many pieces it may come.

    bounded = BoundedFrames(stream, head.rest)  # below trio-websocket, behind the handshake
    bounded.give_up = close  # called with the reason; from then on nothing more is received

Only the headers of frames are read here; wsproto checks everything else.
"""

import logging
from collections.abc import Callable
from math import inf

import trio

log = logging.getLogger(__name__)

MESSAGE_SECONDS = 60.0
"""From the first byte of a message to its last: 4 MiB at half a megabit per second. As long as for a body over HTTP."""

MAX_FRAGMENTS = 1000
"""Frames of one message. Each costs processor time, even an empty one; clients send a message in one frame."""

_FIN, _MASKED, _CONTROL = 0x80, 0x80, 0x08
_LENGTHS = {126: 2, 127: 8}


GiveUp = Callable[[str], None]
"""Ends the connection for that reason."""


class FrameCounter:
    """Follows the frames in a stream of bytes: is a message incomplete, and how many frames has it so far?"""

    def __init__(self) -> None:
        self.fragments = 0
        """Frames of the message that is incomplete."""
        self.complete = 0
        """Messages so far, without control frames."""
        self._in_message = False
        self._header = bytearray()
        self._payload = 0

    @property
    def incomplete(self) -> bool:
        """Whether the last byte was not the last of a message."""
        return self._in_message or bool(self._header) or self._payload > 0

    def feed(self, data: bytes) -> None:
        """Follow the next bytes."""
        at = 0
        while at < len(data):
            if self._payload:
                step = min(self._payload, len(data) - at)
                self._payload -= step
                at += step
                continue
            needed = _header_size(self._header) - len(self._header)
            self._header += data[at : at + needed]
            at += needed
            if len(self._header) == _header_size(self._header):
                self._begin_frame()

    def _begin_frame(self) -> None:
        first, second = self._header[:2]
        size = second & 0x7F
        extended = _LENGTHS.get(size, 0)
        self._payload = int.from_bytes(self._header[2 : 2 + extended]) if extended else size
        self._header.clear()
        if not first & _CONTROL:
            self.fragments += 1
            self._in_message = not first & _FIN
            if not self._in_message:
                self.fragments = 0
                self.complete += 1


def _header_size(header: bytearray) -> int:
    """How many bytes a header that begins like this has, as far as its beginning tells."""
    if len(header) < 2:
        return 2
    return 2 + _LENGTHS.get(header[1] & 0x7F, 0) + (4 if header[1] & _MASKED else 0)


class BoundedFrames(trio.abc.Stream):
    """A stream whose peer may take `MESSAGE_SECONDS` and `MAX_FRAGMENTS` for a message; else `give_up` is called.

    `received` are bytes that were read before. After `give_up` nothing is received, but the closing frame can be sent.
    """

    def __init__(self, stream: trio.abc.Stream, received: bytes = b"") -> None:
        self.give_up: GiveUp = log.info
        self._stream = stream
        self._frames = FrameCounter()
        self._deadline = inf
        self._follow(received)

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Receive bytes; wait for ever once the peer has passed a bound."""
        problem = f"a message took over {MESSAGE_SECONDS:g} s"
        with trio.move_on_at(self._deadline):
            data = await self._stream.receive_some(max_bytes)
            self._follow(bytes(data))
            if self._frames.fragments <= MAX_FRAGMENTS:
                return data
            problem = f"a message came in over {MAX_FRAGMENTS} pieces"
        self.give_up(problem)
        await trio.sleep_forever()
        raise AssertionError("unreachable")

    def _follow(self, data: bytes) -> None:
        before = self._frames.complete
        self._frames.feed(data)
        if not self._frames.incomplete:
            self._deadline = inf
        elif self._deadline == inf or self._frames.complete != before:
            self._deadline = trio.current_time() + MESSAGE_SECONDS

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()
