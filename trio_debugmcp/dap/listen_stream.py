"""A door that the user has opened for programs that dial in by themselves, as the stream of DAP that a session expects.

    async with open_listening("127.0.0.1", 5678, token, dial_ins, child_arguments) as adapter: ...
    # in any process, on any machine that reaches the address:
    #   debugpy.connect(("127.0.0.1", 5678), access_token="…")

It plays an adapter that has no program: it answers the handshake, and announces each program that has dialed in with
`startDebugging`, as other adapters announce their children. So each is a session of its own, and its children, which
dial in at the same door, are too. Because all of it is DAP, a recording of a session has it, and replays it.

Process ids of other machines and containers mean nothing here. So no program is looked for by its id: it is known by
its connection, and has ended for us when that ends.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import msgspec
import trio

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.codec import FrameDecoder, decode_message, encode_frame
from trio_debugmcp.dap.dial_in import DialIns
from trio_debugmcp.dap.door_tls import DoorTls
from trio_debugmcp.dap.incoming_connection import IncomingConnection
from trio_debugmcp.dap.listener import Door, ListenerAddress
from trio_debugmcp.dap.messages import Request, Response
from trio_debugmcp.dap.relayed_programs import Relays
from trio_debugmcp.descriptors import many_open_files
from trio_debugmcp.errors import AdapterGone

NO_PROGRAM = (
    "this session only listens: each program that has dialed in is a session of its own, to be named with session_id"
)

MAX_REFUSALS_REPORTED = 20
"""Lines of output about callers that were not let in; a port scan, or a worker that tries for ever, is not news."""

_FRAMES_AHEAD = 64
"""Frames written before the session takes them."""

_ANSWERS: Mapping[str, object] = {
    "initialize": {"supportsConfigurationDoneRequest": True},
    "attach": {},
    "configurationDone": {},
    "disconnect": {},
    "terminate": {},
    "threads": {"threads": []},
}


class ListeningStream(trio.abc.Stream):
    """The DAP stream of an adapter that has no program of its own. Made by `open_listening`.

    Attributes:
        address: where it listens, once it does.
    """

    def __init__(self, nursery: trio.Nursery, dial_ins: DialIns, child_arguments: Mapping[str, Any]) -> None:
        self.address: ListenerAddress | None = None
        self._nursery = nursery
        self._dial_ins = dial_ins
        self._child_arguments = child_arguments
        self._numbers = count(1)
        self._frames, self._incoming = trio.open_memory_channel[bytes](_FRAMES_AHEAD)
        self._decoder = FrameDecoder()
        self._announced: dict[int, tuple[int, str]] = {}
        self._refusals = 0

    def __repr__(self) -> str:
        return f"<ListeningStream at {self._place}>"

    @property
    def _place(self) -> str:
        return "nowhere yet" if self.address is None else str(self.address)

    # --- The session's side -------------------------------------------------------------------------------------------

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Answer the session's requests."""
        for body in self._decoder.feed(bytes(data)):
            message = decode_message(body)
            if isinstance(message, Request):
                await self._answer(message)
            elif isinstance(message, Response):
                await self._take_response(message)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return the next frame, or nothing at the end."""
        try:
            return await self._incoming.receive()
        except trio.EndOfChannel:
            return b""

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """End the stream, and let programs that no session has taken run on."""
        self._incoming.close()
        for number, _ in self._announced.values():
            self._dial_ins.dismiss(number)
        self._announced.clear()

    async def _answer(self, request: Request) -> None:
        answer: dict[str, Any] = {"type": "response", "request_seq": request.seq, "command": request.command}
        if request.command not in _ANSWERS:
            await self._send({**answer, "success": False, "message": NO_PROGRAM})
            return
        await self._send({**answer, "success": True, "body": _ANSWERS[request.command]})
        if request.command == "attach":
            process = {"name": self._place, "startMethod": "attach"}
            await self._send({"type": "event", "event": "process", "body": process})
            await self._send({"type": "event", "event": "initialized", "body": {}})

    async def _take_response(self, response: Response) -> None:
        number, who = self._announced.pop(response.request_seq, (None, ""))
        if number is not None and not response.success:
            self._dial_ins.dismiss(number)
            why = (response.message or "").removeprefix("startDebugging: ")
            await self._say(f"{who} dialed in and runs on without a debugger: {why}")

    # --- The programs' side -------------------------------------------------------------------------------------------

    def welcome(self, caller: IncomingConnection) -> None:
        """Have a session opened for a program that has dialed in."""
        guest = self._dial_ins.receive_guest(caller)
        number = next(self._numbers)
        self._announced[number] = guest, f"process {caller.pid} at {caller.place or _peer(caller.stream)}"
        self._nursery.start_soon(self._announce, number, caller, guest)

    async def _announce(self, number: int, caller: IncomingConnection, guest: int) -> None:
        configuration = {
            **self._child_arguments,
            "subProcessId": caller.pid,
            "parentProcessId": caller.parent_pid,
            "dialedIn": True,
            "guest": guest,
        }
        request = {"type": "request", "command": "startDebugging", "seq": number}
        await self._say(f"process {caller.pid} at {caller.place or _peer(caller.stream)} has dialed in")
        await self._send({**request, "arguments": {"request": "attach", "configuration": configuration}})

    def report_refusal(self, stream: trio.abc.Stream, why: str) -> None:
        """Report a caller that was not let in: it has the token of an earlier time, more often than it is an enemy."""
        self._refusals += 1
        if self._refusals <= MAX_REFUSALS_REPORTED:
            last = "; further ones are not reported" if self._refusals == MAX_REFUSALS_REPORTED else ""
            self._nursery.start_soon(self._say, f"a caller from {_peer(stream)} was not let in: {why}{last}")

    async def _say(self, line: str) -> None:
        body = {"category": "console", "output": f"{line}\n"}
        await self._send({"type": "event", "event": "output", "body": body})

    async def _send(self, message: dict[str, Any]) -> None:
        frame = encode_frame(msgspec.json.encode({"seq": next(self._numbers), **message}))
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # the session does not read any more
            await self._frames.send(frame)


@asynccontextmanager
async def open_listening(
    host: str,
    port: int,
    token: str,
    dial_ins: DialIns,
    child_arguments: Mapping[str, Any],
    tls: DoorTls | None = None,
) -> AsyncIterator[Adapter]:
    """Listen on an address for the length of the block, and announce each program that dials in.

    Raises:
        AdapterGone: this machine does not give that address.
    """
    failure: OSError | None = None
    with many_open_files():
        async with trio.open_nursery() as nursery:
            stream = ListeningStream(nursery, dial_ins, child_arguments)
            relays = Relays(stream.welcome, dial_ins.records, token, dial_ins.patience)

            def take_relay(connection: trio.abc.Stream, received: bytes) -> None:
                dial_ins.nursery.start_soon(relays.serve, connection, received, _peer(connection))

            door = Door(
                nursery,
                stream.welcome,
                stream.report_refusal,
                token=token,
                records=dial_ins.records,
                patience=dial_ins.patience,
                tls=tls,
                relays=take_relay,
            )
            try:
                stream.address = await door.listen(host, port)
            except OSError as error:
                failure = error
            else:
                try:
                    yield Adapter(stream)
                finally:
                    stream.close()
                    relays.end()
                    nursery.cancel_scope.cancel(reason="the session is over")
    if failure is not None:  # raised here, as a nursery would put it into a group
        raise AdapterGone(f"cannot listen on {host}:{port}: {failure.strerror or failure}") from failure


def _peer(stream: trio.abc.Stream) -> str:
    """Where a connection comes from."""
    if isinstance(stream, trio.SSLStream):
        stream = stream.transport_stream
    if isinstance(stream, trio.SocketStream):
        with suppress(OSError):
            return str(stream.socket.getpeername()[0])
    return "another place"
