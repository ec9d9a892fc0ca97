"""`EditorChannel`: DAP as a server speaks it with one editor: requests in, responses and events out, in order.

    async with open_channel(stream, MAX_STRANGER_BYTES, patience) as channel:
        while (request := await channel.receive()) is not None:
            channel.respond(request, {"threads": []})

Nothing that is sent waits: it is put in a queue, which one task writes. An editor that does not read is cut off when
the queue has `MAX_WAITING_BYTES`, or when it has taken nothing for `STALLED_SECONDS`. So it delays no other client.
"""

from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import msgspec
import trio

from trio_debugmcp.dap.codec import FrameDecoder, decode_message, encode_frame, failure_text
from trio_debugmcp.dap.messages import Request, Response
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.patience import Patience

MAX_STRANGER_BYTES = 64 * 1024
"""One message of a connection that has shown no token: a configuration with a large environment fits."""

MAX_MESSAGE_BYTES = 4 * 1024 * 1024
"""One message of an editor: the largest that people cause are texts that they paste into the console."""

MAX_WAITING_BYTES = 16 * 1024 * 1024
"""What may wait for an editor to read: the output that is kept of a program, and some large lists."""

STALLED_SECONDS = 30.0
"""For an editor to read `PIECE_BYTES` while something waits for it. One behind a slow tunnel reads, if slowly."""

PIECE_BYTES = 64 * 1024
"""Written at once, so that it shows whether anything is read."""

_CHUNK_BYTES = 64 * 1024

_encoder = msgspec.json.Encoder()


class ChannelStatistics(msgspec.Struct, frozen=True):
    """What waits to be read by the editor, in messages and bytes, and whether it was cut off for that."""

    messages: int
    bytes: int
    cut_off: bool


class EditorChannel:
    """One editor's connection. Made by `open_channel`."""

    def __init__(
        self, stream: trio.abc.Stream, max_message_bytes: int, patience: Patience, scope: trio.CancelScope
    ) -> None:
        self._stream = stream
        self._patience = patience
        self._decoder = FrameDecoder(max_body_bytes=max_message_bytes)
        self._scope = scope
        self._numbers = count(1)
        self._read: deque[bytes] = deque()
        self._queue: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._mail = trio.Event()
        self._closing = False
        self._asked: dict[int, trio.MemorySendChannel[Response]] = {}
        self.cut_off = False

    def __repr__(self) -> str:
        return f"<EditorChannel {self.statistics()}>"

    def statistics(self) -> ChannelStatistics:
        """Return what waits at this moment."""
        return ChannelStatistics(len(self._queue), self._waiting_bytes, self.cut_off)

    # --- In --------------------------------------------------------------------------------------------------

    def admit(self) -> None:
        """Accept messages of any size that editors send: this one has shown a token."""
        self._decoder.allow(MAX_MESSAGE_BYTES)

    async def receive(self) -> Request | None:
        """Return the editor's next request; None once it has closed the connection.

        Raises:
            ProtocolViolation: it does not speak DAP.
        """
        while True:
            while self._read:
                message = decode_message(self._read.popleft())
                if isinstance(message, Request):
                    return message
                if isinstance(message, Response):
                    self._answered(message)
            self._decoder.feed(b"")  # raises what it has found behind the messages that it returned
            try:
                data = await self._stream.receive_some(_CHUNK_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return None
            if not data:
                return None
            self._read.extend(self._decoder.feed(bytes(data)))

    def _answered(self, response: Response) -> None:
        waiting = self._asked.pop(response.request_seq, None)
        if waiting is not None:
            waiting.send_nowait(response)

    # --- Out -------------------------------------------------------------------------------------------------

    def respond(self, request: Request, body: object = None) -> None:
        """Answer a request."""
        self._send(type="response", request_seq=request.seq, success=True, command=request.command, body=body)

    def refuse(self, request: Request, sentence: str, *, word: str | None = None, show: bool = False) -> None:
        """Answer a request with a failure. `word`: DAP's own for it; `show`: the editor is to show it to the person."""
        error = {"id": 1, "format": sentence, "showUser": show}
        self._send(
            type="response",
            request_seq=request.seq,
            success=False,
            command=request.command,
            message=word or sentence,
            body={"error": error},
        )

    def event(self, name: str, body: Mapping[str, Any] | msgspec.Raw | None = None) -> None:
        """Report what has happened. The body may be encoded already, for all that get the same."""
        self._send(type="event", event=name, body=body)

    async def ask(self, command: str, arguments: Mapping[str, Any]) -> None:
        """Send the editor a request and wait until it has agreed; the caller bounds the wait.

        Raises:
            AdapterRefused: it has not.
        """
        answer, answered = trio.open_memory_channel[Response](1)
        number = self._send(type="request", command=command, arguments=arguments)
        self._asked[number] = answer
        try:
            response = await answered.receive()
        finally:
            self._asked.pop(number, None)
        if not response.success:
            raise AdapterRefused(command, failure_text(response))

    def _send(self, **message: Any) -> int:
        number = next(self._numbers)
        if self._closing or self.cut_off:
            return number
        present = {name: value for name, value in message.items() if value is not None}
        frame = encode_frame(_encoder.encode({"seq": number, **present}))
        self._queue.append(frame)
        self._waiting_bytes += len(frame)
        self._mail.set()
        if self._waiting_bytes > MAX_WAITING_BYTES:
            self._cut_off()
        return number

    def _cut_off(self) -> None:
        self.cut_off = True
        self._queue.clear()
        self._scope.cancel(reason="it does not read what it is sent")

    async def write(self) -> None:
        """Write what is sent, until `finish` was called and all is written."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while self._queue or not self._closing:
                if not self._queue:
                    self._mail = trio.Event()
                    await self._mail.wait()
                    continue
                data = b"".join(self._queue)
                self._queue.clear()
                for start in range(0, len(data), PIECE_BYTES):
                    piece = memoryview(data)[start : start + PIECE_BYTES]
                    with trio.move_on_after(self._patience.seconds(STALLED_SECONDS)) as limit:
                        await self._stream.send_all(piece)
                    self._waiting_bytes -= len(piece)
                    if limit.cancelled_caught:  # half a message may be written: nothing can follow it
                        self._cut_off()
                        return

    def finish(self) -> None:
        """Send nothing more; what was sent is still written."""
        self._closing = True
        self._mail.set()


FINISH_SECONDS = 1.0
"""For the last messages to be written to an editor that is about to be disconnected."""


@asynccontextmanager
async def open_channel(
    stream: trio.abc.Stream, max_message_bytes: int, patience: Patience
) -> AsyncIterator[EditorChannel]:
    """Speak DAP with an editor for the length of the block, which is cancelled if it is cut off.

    Resource handling: at the end of the block what was sent is written, within a bounded time. The caller closes the
    stream.
    """
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            channel = EditorChannel(stream, max_message_bytes, patience, scope)
            writing = trio.CancelScope(shield=True)

            async def write() -> None:
                with writing:
                    await channel.write()

            nursery.start_soon(write)
            try:
                yield channel
            finally:
                channel.finish()
                seconds = 0.0 if channel.cut_off else patience.seconds(FINISH_SECONDS)
                writing.deadline = trio.current_time() + seconds
