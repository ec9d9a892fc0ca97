"""`DirectStream`: a program that dials in, as the stream of DAP that a session expects from its debug adapter.

Every frame is passed on as it is, both ways, but for those that only an adapter can send or answer: `runInTerminal`,
`startDebugging`, the time of `terminated`, and answers for a program that cannot answer any more. `direct` opens it.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
import trio

from trio_debugmcp.dap.adapter_messages import GOODBYES, OUR_NUMBERS, AdapterRequests, AdapterWords
from trio_debugmcp.dap.codec import FrameDecoder, decode_message, encode_frame
from trio_debugmcp.dap.dial_in import DialIns
from trio_debugmcp.dap.incoming_connection import IncomingConnection
from trio_debugmcp.dap.messages import DapEvent, Request, Response, RunInTerminal
from trio_debugmcp.dap.records import HitRecords, with_records_key, written_before
from trio_debugmcp.dap.sockets import acknowledge_at_once
from trio_debugmcp.errors import ProtocolViolation

log = logging.getLogger(__name__)

PROGRAM_ENDED = "the program has ended"
PROGRAM_LOST = "the program has left the debugger: it replaced itself (exec), or closed the connection"
_TOO_LATE = f"{PROGRAM_LOST}. Breakpoints and tracepoints have no effect in it any more.\n"

_CHUNK_BYTES = 64 * 1024

_FRAMES_AHEAD = 64
"""Frames read from the program before the session takes them."""


class _StartedPython(msgspec.Struct, frozen=True):
    """The body of `pythonStarted`, which our engine sends."""

    pid: int


class _ChildEnded(msgspec.Struct, frozen=True, rename="camel"):
    """The body of `childEnded`, which our engine sends when the program has waited for a process."""

    pid: int
    exit_code: int


class DirectStream(trio.abc.Stream):
    """The DAP stream of one program that dials in. Made by `open_launched`, `open_injected` and `open_caller`.

    Attributes:
        pid: the program's process id, once it is known.
        is_ours: the session started the process and ends it, so it is never released.
        is_engines: our engine debugs the program.
        ends_program: the session has said goodbye, and wants the program to end.
        reading: what the program sends, until its connection is given up.
        requests: those of this side, for the session.
    """

    # A dict of so many attributes has 1.5 KB, and each of a thousand programs has a stream.
    __slots__ = (
        "_asked",
        "_broken",
        "_caller",
        "_closed",
        "_configured",
        "_decoder",
        "_dial_ins",
        "_early",
        "_end",
        "_flushed",
        "_frames",
        "_incoming",
        "_is_guest",
        "_is_replaced",
        "_lost",
        "_nursery",
        "_records",
        "_records_key",
        "_saying_goodbye",
        "_words",
        "ends_program",
        "is_engines",
        "is_ours",
        "pid",
        "reading",
        "requests",
    )

    def __init__(
        self,
        dial_ins: DialIns,
        nursery: trio.Nursery,
        child_arguments: Mapping[str, Any],
        *,
        is_ours: bool = False,
        is_guest: bool = False,
    ) -> None:
        self.pid: int | None = None
        self._dial_ins = dial_ins
        self._nursery = nursery
        self.is_ours = is_ours
        self.is_engines = False
        self._is_guest = is_guest
        self._frames, self._incoming = trio.open_memory_channel[bytes](_FRAMES_AHEAD)
        self._words = AdapterWords(self._frames)
        self.requests = AdapterRequests(self._frames, self._words.numbers, nursery, dial_ins, child_arguments)
        self._decoder = FrameDecoder()
        self._early: list[bytes] = []
        self._asked = trio.Event()
        self._caller: IncomingConnection | None = None
        self._flushed = False
        self._configured = self._closed = False
        self._lost: str | None = None
        self.reading = trio.CancelScope()
        self._broken: ProtocolViolation | None = None
        self._end: bytes | None = None
        self._is_replaced = False
        self._saying_goodbye = self.ends_program = False
        self._records = HitRecords(self._frames.send, nursery, self._words.numbers, dial_ins.patience)
        self._records_key: str | None = None

    def __repr__(self) -> str:
        if self._caller is None:
            return f"<DirectStream, waiting for pid {self.pid}>"
        return f"<DirectStream to {self._caller!r}{', ' + self._lost if self._lost else ''}>"

    # --- The session's side -------------------------------------------------------------------------------------------

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Pass frames on to the program; what the session writes before it has dialed in waits.

        What a program that is lost cannot answer any more is answered here.
        """
        if self._closed:
            raise trio.ClosedResourceError("the direct line was closed")
        for body in self._decoder.feed(bytes(data)):
            message = decode_message(body)
            if isinstance(message, Request):
                self._words.unanswered[message.seq] = message
                self._configured = self._configured or message.command == "configurationDone"
                if message.command in GOODBYES:
                    self.ends_program, self._saying_goodbye = not _detaches(message), True
            elif isinstance(message, Response) and message.request_seq >= OUR_NUMBERS:
                self.requests.take_response(message)
                continue
            if self._lost is not None:
                await self.lose(self._lost)
            elif not self._flushed:
                self._early.append(encode_frame(body))
                self._asked.set()
            elif self._caller is not None:
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # the reader notices it, too
                    await self._caller.stream.send_all(encode_frame(body))

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return the frames that are there, or the next one, or nothing at the end.

        Raises:
            ProtocolViolation: the program does not speak DAP.
        """
        try:
            frames = [await self._incoming.receive()]
        except trio.EndOfChannel:
            if self._broken is not None:
                raise self._broken from None
            return b""
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            while True:  # what has come together is decoded in one turn
                frames.append(self._incoming.receive_nowait())
        return b"".join(frames)

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        self._closed = True
        self._incoming.close()
        self._release()
        await trio.lowlevel.checkpoint()

    # --- The program's side -------------------------------------------------------------------------------------------

    async def run_program(self, command_line: RunInTerminal) -> int | None:
        """Have the session run the program; return its process id, or None if it could not."""
        await self._asked.wait()  # as an adapter does: it is spoken to first
        self.pid = await self.requests.run_program(command_line)
        return self.pid

    def connect(self, caller: IncomingConnection) -> None:
        """Speak to this caller from now on."""
        self._caller, self.pid, self.is_engines = caller, caller.pid, caller.is_engine
        self._dial_ins.exit_codes.forget(caller.pid)  # of another process, which had the same id
        if self._closed:
            self._release()
        else:
            if not self._is_guest:  # whose process may be on another machine, and whose children come in at its door
                self._dial_ins.owners.own(caller.pid, self.requests.announce)
            self._records_key = self._dial_ins.records.expect(self._records.connect)

    async def serve(self) -> None:
        """Pass frames on until the connection ends."""
        caller = self._caller
        if caller is None:
            return
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError), self.reading:
            while self._early:
                await caller.stream.send_all(self._early.pop(0))
            self._flushed = True  # from here on the session's task writes
            try:
                if await _read(caller, self._pass_on):
                    self._release()  # of a program that was detached from, so that its children do not dial in
            except ProtocolViolation as violation:
                log.warning("%r: %s", self, violation)
                self._broken = violation
                self._frames.close()

    async def _pass_on(self, body: bytes) -> bool:
        """Pass a frame on to the session; return whether it was the response to a detaching `disconnect`."""
        message = decode_message(body)
        detached = False
        match message:
            case DapEvent(event="stopped", body=stop):
                await self._records.settle(written_before(stop))
            case DapEvent(event="terminated"):
                self._end = encode_frame(body)  # the program begins to end; `report_end` sends it on when it has
                return False
            case DapEvent(event="exited") if b'"processReplaced"' in body:
                self._is_replaced = True  # an exec: the process lives, and dials in again
                return False
            case DapEvent(event="pythonStarted", body=started):
                with suppress(msgspec.DecodeError):
                    self.requests.starting.add(msgspec.json.decode(started, type=_StartedPython).pid)
                return False
            case DapEvent(event="childEnded", body=ended):
                with suppress(msgspec.DecodeError):
                    child = msgspec.json.decode(ended, type=_ChildEnded)
                    self._dial_ins.exit_codes.put(child.pid, child.exit_code)
                return False
            case Response(request_seq=number):
                request = self._words.unanswered.pop(number, None)
                detached = message.success and request is not None and _detaches(request)
                if request is not None and request.command == "initialize":
                    body = with_records_key(body, self._records_key)
            case _:
                pass
        if detached:
            await self._records.settle()
        frame = encode_frame(body)
        try:
            self._frames.send_nowait(frame)  # what was read together is received together
        except trio.WouldBlock:
            await self._frames.send(frame)
        return detached

    async def lose(self, why: str) -> None:
        """Answer for a program that cannot any more, from now on: `PROGRAM_ENDED` or `PROGRAM_LOST`."""
        # A program that was asked to end, or has announced its end, closes its connection some moments before it has.
        if self._saying_goodbye or self._end is not None:
            why = PROGRAM_ENDED
        if why == PROGRAM_LOST and self._lost is None:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # the session does not read any more
                if not self._is_replaced:
                    await self._frames.send(self._words.event("output", {"category": "console", "output": _TOO_LATE}))
                await self._frames.send(self._words.event("programLost", {"reason": why}))
        self._lost = why
        await self._words.answer_for_lost(why)

    async def report_end(self, exit_code: int | None = None) -> None:
        """Send `terminated`, now that the process has ended; its last records come before, and its exit code."""
        await self._records.drain()
        if exit_code is not None:
            await self._frames.send(self._words.event("exited", {"exitCode": exit_code}))
        await self._frames.send(self._end or self._words.event("terminated", {}))

    def hang_up(self) -> None:
        """End the stream: the session reads its end."""
        self._frames.close()
        self._release()

    async def refuse(self, reason: str) -> None:
        """Answer what the session has requested with a failure, as an adapter that cannot start the program does."""
        await self._asked.wait()
        await self._words.refuse(reason)

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _release(self) -> None:
        """Give the connection up: a process that is not ours, and that still waits to be allowed to run, may."""
        self.requests.dismiss_children()
        caller, self._caller = self._caller, None
        if caller is None:
            return
        self.reading.cancel(reason="the connection is given up")
        if self._records_key is not None:
            self._dial_ins.records.refuse(self._records_key)
        self._records.close()
        self._dial_ins.owners.disown(caller.pid, self.requests.announce)
        if self._configured or self.is_ours or self._lost is not None:
            self._nursery.start_soon(trio.aclose_forcefully, caller.stream)
        else:
            self._dial_ins.release(caller)


def _detaches(request: Request) -> bool:
    if request.command != "disconnect":
        return False
    arguments = msgspec.json.decode(request.arguments) if request.arguments else None
    return not (isinstance(arguments, dict) and arguments.get("terminateDebuggee"))


async def _read(caller: IncomingConnection, pass_on: Callable[[bytes], Awaitable[bool]]) -> bool:
    """Pass on what a program sends until its connection ends; return whether it was detached from before."""
    decoder = FrameDecoder()
    data = caller.received
    while True:
        for body in decoder.feed(data):
            if await pass_on(body):
                return True
        data = bytes(await caller.stream.receive_some(_CHUNK_BYTES))
        acknowledge_at_once(caller.stream)
        if not data:
            return False
