"""The direct line: DAP straight to the debugger inside the program, with no adapter process in between.

To a session a direct line is an adapter like any other: a stream of DAP. What an adapter would do before the program
runs is done here, in the same words of the protocol:

1. `runInTerminal` is asked of the session, with the program's command line: the program is the session's, with its
   process group, pipes and exit status. (An attachment has an injector run instead.)
2. The program dials in (`dial_in`). From then on every frame is passed on as it is, both ways.
3. A child that dials in is announced with `startDebugging`, as adapters do; its session takes it by its process id.

Because all of it is DAP, a recording of a session has it, and replays it with no program at all.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import count
from typing import Any

import msgspec
import trio

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.codec import decode_message
from trio_debugmcp.dap.dial_in import Caller, DialIns, acknowledge_at_once, exists, is_alive
from trio_debugmcp.dap.framing import FrameDecoder, encode_frame
from trio_debugmcp.dap.messages import Event, Request, Response, RunInTerminal
from trio_debugmcp.dap.process import open_process
from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.errors import CannotRun, ProtocolViolation

log = logging.getLogger(__name__)

_OUR_NUMBERS = 2_000_000_000
"""Where the sequence numbers of our own requests begin: far above those of the debugger inside the program."""

_POLL_SECONDS = 0.02
"""Between two checks whether a process lives that is not ours to wait for."""

_REAP_SECONDS = 0.5
"""For a process that has ended to be reaped by its parent, which is this server if it was launched."""

_CHUNK_BYTES = 64 * 1024

_SAID_BYTES = 4000
"""Of what an injector that fails has written: its last line is the reason."""

_FRAMES_AHEAD = 64
"""Frames read from the program before the session takes them."""


class DirectStream(trio.abc.Stream):
    """The DAP stream of one program that dials in. Made by `open_launched`, `open_attached` and `open_child`."""

    def __init__(self, dial_ins: DialIns, child_arguments: Mapping[str, Any]) -> None:
        self._dial_ins = dial_ins
        self._child_arguments = child_arguments
        self._numbers = count(_OUR_NUMBERS)
        self._frames, self._incoming = trio.open_memory_channel[bytes](_FRAMES_AHEAD)
        self._decoder = FrameDecoder()
        self._early: list[bytes] = []
        self._asked = trio.Event()
        self._caller: Caller | None = None
        self._pid = trio.Event()
        self.pid: int | None = None
        self._run_number: int | None = None
        self._announced: dict[int, int] = {}
        self._end: bytes | None = None

    def __repr__(self) -> str:
        return f"<DirectStream to {self._caller!r}>" if self._caller else f"<DirectStream, waiting for pid {self.pid}>"

    # --- The session's side -------------------------------------------------------------------------------------------

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Pass frames on to the program; what the session writes before it has dialed in waits."""
        for body in self._decoder.feed(bytes(data)):
            if self._is_ours(body):
                continue
            frame = encode_frame(body)
            if self._caller is None:
                self._early.append(frame)
                self._asked.set()
            else:
                await self._caller.stream.send_all(frame)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return the next frame, or nothing at the end."""
        try:
            return await self._incoming.receive()
        except (trio.EndOfChannel, trio.ClosedResourceError):
            return b""

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        self._incoming.close()
        if self._caller is not None:
            await trio.aclose_forcefully(self._caller.stream)
        await trio.lowlevel.checkpoint()

    def _is_ours(self, body: bytes) -> bool:
        """Take the session's responses to our own requests, of which the program knows nothing."""
        if b'"response"' not in body:
            return False
        with suppress(ProtocolViolation):
            message = decode_message(body)
            if isinstance(message, Response) and message.request_seq >= _OUR_NUMBERS:
                child = self._announced.pop(message.request_seq, None)
                if child is not None and not message.success:
                    self._dial_ins.dismiss(child)
                if message.request_seq == self._run_number:
                    answer = msgspec.json.decode(message.body) if message.success and message.body else {}
                    pid = answer.get("processId")
                    self.pid = pid if isinstance(pid, int) else None
                    self._pid.set()
                return True
        return False

    # --- The program's side -------------------------------------------------------------------------------------------

    async def run_program(self, wanted: RunInTerminal) -> int | None:
        """Have the session run the program; return its process id, or None if it could not."""
        await self._asked.wait()  # as an adapter does: it is spoken to first
        self._run_number, frame = self._encoded("runInTerminal", wanted)
        await self._frames.send(frame)
        await self._pid.wait()
        return self.pid

    async def serve(self, caller: Caller) -> None:
        """Pass frames on until the program's connection ends."""
        self._caller, self.pid = caller, caller.pid
        self._dial_ins.own(caller.pid, self._announce_nowait)
        for frame in self._early:
            await caller.stream.send_all(frame)
        self._early.clear()
        decoder = FrameDecoder()
        data = caller.received
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while True:
                for body in decoder.feed(data):
                    if not self._is_the_end(body):
                        await self._frames.send(encode_frame(body))
                data = bytes(await caller.stream.receive_some(_CHUNK_BYTES))
                acknowledge_at_once(caller.stream)
                if not data:
                    break

    def _is_the_end(self, body: bytes) -> bool:
        """Keep back `terminated`, which is sent when the program begins to end; `report_end` sends it when it has."""
        if b'"terminated"' in body:
            message = decode_message(body)
            if isinstance(message, Event) and message.event == "terminated":
                self._end = encode_frame(body)
                return True
        return False

    async def report_end(self) -> None:
        """Send `terminated`, now that the process has ended."""
        if self._end is not None:
            await self._frames.send(self._end)

    def hang_up(self) -> None:
        """End the stream: the session reads its end."""
        if self.pid is not None:
            self._dial_ins.disown(self.pid, self._announce_nowait)
        self._frames.close()

    async def refuse(self, reason: str) -> None:
        """Answer the session's first request with a failure, as an adapter that cannot start the program does."""
        await self._asked.wait()
        request = decode_message(FrameDecoder().feed(self._early[0])[0])
        if isinstance(request, Request):
            answer = {
                "seq": next(self._numbers),
                "type": "response",
                "request_seq": request.seq,
                "command": request.command,
                "success": False,
                "message": reason,
            }
            await self._frames.send(encode_frame(msgspec.json.encode(answer)))

    def _announce_nowait(self, caller: Caller) -> None:
        configuration = {
            **self._child_arguments,
            "subProcessId": caller.pid,
            "parentProcessId": caller.parent_pid,
            "dialedIn": True,
        }
        body = {"request": "attach", "configuration": configuration}
        with suppress(trio.WouldBlock, trio.ClosedResourceError, trio.BrokenResourceError):
            number, frame = self._encoded("startDebugging", body)
            self._frames.send_nowait(frame)
            self._announced[number] = caller.pid
            return
        log.warning("%r was not announced: its parent's session does not read", caller)
        self._dial_ins.dismiss(caller.pid)

    def _encoded(self, command: str, arguments: object) -> tuple[int, bytes]:
        number = next(self._numbers)
        request = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        return number, encode_frame(msgspec.json.encode(request))


Connect = Callable[[DirectStream], Awaitable[None]]


def open_launched(
    wanted: RunInTerminal, dial_ins: DialIns, child_arguments: Mapping[str, Any]
) -> AbstractAsyncContextManager[Adapter]:
    """Open the direct line to a program that the session is asked to run with this command line."""

    async def connect(stream: DirectStream) -> None:
        pid = await stream.run_program(wanted)
        if pid is not None:  # otherwise the session knows already why it could not run it
            await _connect(stream, pid, dial_ins)

    return _open_line(connect, dial_ins, child_arguments)


def open_caller(
    pid: int, dial_ins: DialIns, child_arguments: Mapping[str, Any]
) -> AbstractAsyncContextManager[Adapter]:
    """Open the direct line to a process that has dialed in: a child."""

    async def connect(stream: DirectStream) -> None:
        await _connect(stream, pid, dial_ins)

    return _open_line(connect, dial_ins, child_arguments)


def open_injected(
    pid: int, command: Sequence[str], dial_ins: DialIns, watchdog: Watchdog, child_arguments: Mapping[str, Any]
) -> AbstractAsyncContextManager[Adapter]:
    """Open the direct line to a running process; `command` puts the debugger into it."""

    async def connect(stream: DirectStream) -> None:
        async with open_process(command, watchdog) as injector, trio.open_nursery() as nursery:
            if injector.stdout is None or injector.stderr is None:
                raise AssertionError("the process was opened with pipes")
            said = bytearray()
            nursery.start_soon(_read, injector.stdout, said)
            nursery.start_soon(_read, injector.stderr, said)

            async def watch() -> None:
                code = await injector.wait()
                if code:
                    last = said.decode(errors="replace").strip().rpartition("\n")[2]
                    await stream.refuse(last or f"the debugger could not be put into the process (exit code {code})")
                    nursery.cancel_scope.cancel(reason="the injector has failed")

            nursery.start_soon(watch)
            await _connect(stream, pid, dial_ins)
            nursery.cancel_scope.cancel(reason="the line is over")

    return _open_line(connect, dial_ins, child_arguments)


@asynccontextmanager
async def _open_line(connect: Connect, dial_ins: DialIns, child_arguments: Mapping[str, Any]) -> AsyncIterator[Adapter]:
    """Run `connect` beside the block. Shielded, as an adapter process is: it must answer the session's goodbye."""
    stream = DirectStream(dial_ins, child_arguments)
    serving = trio.CancelScope(shield=True)

    async def serve() -> None:
        with serving:
            try:
                await connect(stream)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass  # the session has closed the stream
            except (ProtocolViolation, CannotRun) as error:
                log.warning("a direct line: %s", error)
                await stream.refuse(str(error))
            finally:
                stream.hang_up()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        try:
            yield Adapter(stream)
        finally:
            serving.cancel(reason="the session is over")


async def _connect(stream: DirectStream, pid: int, dial_ins: DialIns) -> None:
    """Wait until the process has dialed in, and serve it until it has ended."""
    caller = await _wait_caller(dial_ins, pid)
    if caller is None:
        await stream.refuse("the program ended before the debugger inside it had connected")
        return
    await stream.serve(caller)
    # The connection is over, but perhaps not the process: after an `exec` it dials in anew, and is announced as a child
    # of itself; its session here lasts as long as the process does.
    while is_alive(pid):  # noqa: ASYNC110 (the system has no event for a process that is not our child)
        await trio.sleep(_POLL_SECONDS)
    # A launched program's exit code must be known, to its session and in a recording, before its end is reported.
    with trio.move_on_after(_REAP_SECONDS):
        while exists(pid):  # noqa: ASYNC110
            await trio.sleep(_POLL_SECONDS)
        await trio.sleep(_POLL_SECONDS)
    await stream.report_end()


async def _wait_caller(dial_ins: DialIns, pid: int) -> Caller | None:
    """Wait until the process has dialed in; None if it ends before."""
    caller: Caller | None = None
    async with trio.open_nursery() as nursery:

        async def watch() -> None:
            while is_alive(pid):  # noqa: ASYNC110
                await trio.sleep(_POLL_SECONDS)
            await trio.sleep(_POLL_SECONDS)  # it may have dialed in just before
            nursery.cancel_scope.cancel(reason="the process has ended")

        nursery.start_soon(watch)
        caller = await dial_ins.take(pid)
        nursery.cancel_scope.cancel(reason="it has dialed in")
    return caller


async def _read(pipe: trio.abc.ReceiveStream, into: bytearray) -> None:
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        while data := await pipe.receive_some():
            into += data
            del into[:-_SAID_BYTES]
