"""Editors that misbehave: `RawEditor` sends bytes of any kind, and `EDITOR_FAULTS` lists what it can do wrong.

    async with connect_raw_editor(door, admission) as raw:
        await raw.join("the control token")
        await raw.send("next", {"threadId": 1})
        await raw.abort()

What the server sends is kept as it is, and not compared with the protocol.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import trio
import trio.testing
from msgspec import Struct

from trio_debugmcp.dap.codec import FrameDecoder, encode_frame
from trio_debugmcp.editors.channel import MAX_MESSAGE_BYTES
from trio_debugmcp.editors.editor_listener import EditorDoor
from trio_debugmcp.testing.faults.faulty_clients import FLOOD_REQUESTS
from trio_debugmcp.transports.admission import Admission


class RawEditor:
    """The editor's end of two pipes without a buffer: the server cannot send a message that the editor does not read.

    `received` are the messages received. Made by `connect_raw_editor`.
    """

    def __init__(self, stream: trio.StapledStream[Any, Any]) -> None:
        self.received: list[dict[str, Any]] = []
        self._stream = stream
        self._numbers = count(1)
        self._decoder = FrameDecoder()
        self._reading = trio.CancelScope()
        self._came = trio.lowlevel.ParkingLot()

    async def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be DAP. If the server has closed the connection, they are lost."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self._stream.send_all(data)

    async def send(self, command: str, arguments: object = None) -> int:
        """Send a request; returns its number."""
        number = next(self._numbers)
        message = {"seq": number, "type": "request", "command": command, "arguments": arguments or {}}
        await self.send_raw(encode_frame(json.dumps(message).encode()))
        return number

    async def wait(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for a message that fulfils a condition, and return the first."""
        while True:
            for message in self.received:
                if condition(message):
                    return message
            await self._came.park()

    async def request(self, command: str, arguments: object = None) -> dict[str, Any]:
        """Send a request and wait for its whole response."""
        number = await self.send(command, arguments)
        return await self.wait(lambda message: message.get("request_seq") == number)

    async def join(self, token: str, command: str = "attach", **configuration: Any) -> None:
        """Greet, join the session that there is or comes, and be configured."""
        await self.request("initialize", {"adapterID": "raw", "clientName": "raw"})
        await self.send(command, {"token": token, "wait": True, **configuration})
        await self.wait(lambda message: message.get("event") == "initialized")
        await self.request("configurationDone")

    def stop_reading(self) -> None:
        """Read nothing more from the server."""
        self._reading.cancel(reason="the editor stops reading")

    async def abort(self) -> None:
        """Close the connection at once, whatever is under way."""
        self.stop_reading()
        await trio.aclose_forcefully(self._stream)

    async def close_sending(self) -> None:
        """Close the pipe to the server, and keep reading."""
        await self._stream.send_stream.aclose()

    async def read(self) -> None:
        """Read until `stop_reading` is called or the server closes. Run by `connect_raw_editor`."""
        with self._reading, suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while data := await self._stream.receive_some():
                self.received += [json.loads(body) for body in self._decoder.feed(bytes(data))]
                self._came.unpark_all()


@asynccontextmanager
async def connect_raw_editor(door: EditorDoor, admission: Admission) -> AsyncIterator[RawEditor]:
    """Connect an editor to a door in this process."""
    ours, theirs = trio.testing.lockstep_stream_pair()
    editor = RawEditor(ours)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(admission.serve, theirs, door.receive)  # noqa: ASYNC113 (it ends with the block, begun or not)
        nursery.start_soon(editor.read)
        yield editor
        await editor.abort()


class EditorFault(Struct, frozen=True):
    """One way for an editor to misbehave: `inject` makes it do so."""

    name: str
    description: str
    inject: Callable[[RawEditor], Awaitable[None]]


async def _stop_reading(editor: RawEditor) -> None:
    editor.stop_reading()
    await trio.lowlevel.checkpoint()


async def _flood(editor: RawEditor) -> None:
    editor.stop_reading()
    with trio.move_on_after(1):  # a server does not take so many from an editor that does not read the answers
        for _ in range(FLOOD_REQUESTS):
            await editor.send("threads")


async def _half_message(editor: RawEditor) -> None:
    await editor.send_raw(encode_frame(b'{"seq": 999, "type": "request", "command": "continue"}')[:-20])


async def _half_message_and_vanish(editor: RawEditor) -> None:
    await _half_message(editor)
    await editor.abort()


async def _garbage(editor: RawEditor) -> None:
    await editor.send_raw(b"\xff\xfe\x00hello\r\n\r\nContent-Length: many\r\n\r\n{}")


async def _no_dap(editor: RawEditor) -> None:
    for body in (
        b'{"seq": 7, "type": "event", "event": "stopped", "body": {"threadId": 1}}',
        b'{"seq": 8, "type": "response", "request_seq": 424242, "success": true, "command": "x"}',
        b'{"seq": 9, "type": "request", "command": "no/such", "arguments": {}}',
        b'{"seq": 10, "type": "request", "command": "variables", "arguments": []}',
        b'{"seq": 11, "type": "request", "command": "next", "arguments": {"threadId": "one"}}',
        b'{"seq": 12, "type": "request", "command": "scopes", "arguments": {"frameId": 1e300}}',
        rb'{"seq": 13, "type": "request", "command": "evaluate", "arguments": {"expression": "\ud800"}}',
        b'{"seq": 14, "type": "nonsense"}',
        b"[" * 100_000,
    ):
        await editor.send_raw(encode_frame(body))


async def _endless_message(editor: RawEditor) -> None:
    await editor.send_raw(b"Content-Length: %d\r\n\r\n" % (MAX_MESSAGE_BYTES + 1))
    await editor.send_raw(b"x" * MAX_MESSAGE_BYTES)


async def _same_number(editor: RawEditor) -> None:
    body = b'{"seq": 500, "type": "request", "command": "evaluate", "arguments": {"expression": "x"}}'
    await editor.send_raw(encode_frame(body) * 3)


async def _greet_again(editor: RawEditor) -> None:
    await editor.send("initialize", {"adapterID": "raw"})
    await editor.send("attach", {"token": "another"})
    await editor.send("configurationDone")


async def _foreign_numbers(editor: RawEditor) -> None:
    for number in (0, -1, 1, 2**31, 2**70):
        await editor.send("scopes", {"frameId": number})
        await editor.send("variables", {"variablesReference": number})
        await editor.send("continue", {"threadId": number})


async def _cancel_everything(editor: RawEditor) -> None:
    for number in range(50):
        await editor.send("cancel", {"requestId": number})


EDITOR_FAULTS = (
    EditorFault("stops reading", "it reads nothing more", _stop_reading),
    EditorFault("floods", "it sends requests and reads no answers", _flood),
    EditorFault("half a message", "it sends half a message, and nothing more", _half_message),
    EditorFault("half a message, gone", "it sends half a message and vanishes", _half_message_and_vanish),
    EditorFault("garbage", "it sends what is not DAP", _garbage),
    EditorFault("no request", "it sends events, answers to no question and requests that fit no schema", _no_dap),
    EditorFault("endless message", "it sends a message over the bound", _endless_message),
    EditorFault("vanishes", "it closes the connection without notice", RawEditor.abort),
    EditorFault("hangs up", "it closes its half and keeps reading", RawEditor.close_sending),
    EditorFault("repeats a number", "it sends three requests with the same number", _same_number),
    EditorFault("greets again", "it sends `initialize` and `attach` again", _greet_again),
    EditorFault("foreign numbers", "it asks for frames, values and threads that it was never given", _foreign_numbers),
    EditorFault("cancels everything", "it cancels requests that it has sent, and others", _cancel_everything),
)
