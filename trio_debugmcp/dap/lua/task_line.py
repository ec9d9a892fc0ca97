"""`TaskLine`: both ends of the stream of DAP between a session and an adapter that is a task of this server.

    line = TaskLine()
    await line.send_all(frame)              # the session's end: a stream
    async for request in line.requests:     # the adapter's
        ...
    await line.answer(request, {"threads": []})

Each end may be some messages ahead of the other; the session bounds how many requests are under way.
"""

from contextlib import suppress
from itertools import count
from typing import Any

import msgspec
import trio

from trio_debugmcp.dap.codec import FrameDecoder, decode_message, encode_frame
from trio_debugmcp.dap.messages import Request, Response
from trio_debugmcp.errors import AdapterRefused

_AHEAD = 64
"""Messages that one end may be ahead of the other."""


class TaskLine(trio.abc.Stream):
    """A stream for the session; for the adapter the requests that come over it, and ways to answer them.

    Attributes:
        requests: what the session asks, in order; ends when the session closes the stream.
    """

    def __init__(self) -> None:
        self._frames, self._outgoing = trio.open_memory_channel[bytes](_AHEAD)
        self._incoming, self.requests = trio.open_memory_channel[Request](_AHEAD)
        self._decoder = FrameDecoder()
        self._numbers = count(1)
        self._asked: dict[int, trio.MemorySendChannel[Response]] = {}

    def __repr__(self) -> str:
        return f"<TaskLine, {len(self._asked)} requests to the session>"

    # --- The session's end --------------------------------------------------------------------------------------------

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        for body in self._decoder.feed(bytes(data)):
            message = decode_message(body)
            if isinstance(message, Request):
                await self._incoming.send(message)
            elif isinstance(message, Response) and message.request_seq in self._asked:
                self._asked[message.request_seq].send_nowait(message)
        await trio.lowlevel.checkpoint()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        try:
            return await self._outgoing.receive()
        except trio.EndOfChannel:
            return b""

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        self._incoming.close()
        self._outgoing.close()
        await trio.lowlevel.checkpoint()

    # --- The adapter's end --------------------------------------------------------------------------------------------

    async def answer(self, request: Request, body: object = None, *, failure: str | None = None) -> None:
        """Send the response to a request; `failure` is why it was refused."""
        answer = {"type": "response", "request_seq": request.seq, "command": request.command}
        await self._send({**answer, "success": failure is None, "message": failure or "", "body": body or {}})

    async def tell(self, event: str, body: object = None) -> None:
        """Send an event."""
        await self._send({"type": "event", "event": event, "body": body or {}})

    async def ask(self, command: str, arguments: object) -> dict[str, Any]:
        """Send a request to the session, and return the body of its response.

        Raises:
            AdapterRefused: the session does not do that.
        """
        number = next(self._numbers)
        answered, answer = trio.open_memory_channel[Response](1)
        self._asked[number] = answered
        try:
            await self._send({"type": "request", "command": command, "arguments": arguments}, number)
            response = await answer.receive()
        finally:
            del self._asked[number]
        if not response.success:
            raise AdapterRefused(command, response.message or "the session gave no reason")
        return msgspec.json.decode(response.body, type=dict[str, Any]) if response.body else {}

    def hang_up(self) -> None:
        """End the stream: the session reads its end."""
        self._frames.close()
        self.requests.close()

    async def _send(self, message: dict[str, Any], number: int | None = None) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # the session does not read any more
            numbered = {"seq": number or next(self._numbers), **message}
            await self._frames.send(encode_frame(msgspec.json.encode(numbered)))
