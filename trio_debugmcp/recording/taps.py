"""Taps that turn what they see into recording entries: an adapter's connection, a program's pipes, a client's messages.

Each passes everything on unchanged. What they write goes to a `RecordingFile`, which neither waits nor raises.
"""

import codecs
import json
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import trio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.codec import FrameDecoder
from trio_debugmcp.dap.pipe_descriptor import descriptor_of
from trio_debugmcp.dap.process import Program
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.recording.file import RecordingFile
from trio_debugmcp.recording.format import (
    MAX_MESSAGE_BYTES,
    AdapterEntry,
    ClientEndEntry,
    ClientEntry,
    Direction,
    ExitEntry,
    GarbageEntry,
    HangUpEntry,
    McpEntry,
    NotJson,
    ProgramOutputEntry,
    RecordingEntry,
)
from trio_debugmcp.transports.connection_tap import Role
from trio_debugmcp.transports.jsonrpc import message_text
from trio_debugmcp.transports.tap import Tap

# --- Adapters ---------------------------------------------------------------------------------------------------------


class TappedAdapter(Adapter):
    """An adapter whose DAP messages, and the end of whose connection, are recorded."""

    def __init__(self, adapter: Adapter, session_id: str, file: RecordingFile) -> None:
        process = adapter.process
        super().__init__(
            _TappedStream(adapter, session_id, file),
            pid=adapter.pid,
            address=adapter.address,
            process=None if process is None else TappedProgram(process, session_id, file),
            is_program=adapter.is_program,
        )
        self._adapter = adapter

    @property
    def stderr_tail(self) -> str:
        return self._adapter.stderr_tail


class _TappedStream(trio.abc.Stream):
    def __init__(self, adapter: Adapter, session_id: str, file: RecordingFile) -> None:
        self._adapter = adapter
        self._stream = adapter.stream
        self._session_id = session_id
        self._file = file
        self._read, self._written = FrameDecoder(), FrameDecoder()
        self._over = False

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        # Before the write: the adapter's answer can arrive before `send_all` returns, and belongs after its request.
        for body in self._written.feed(bytes(data)):
            self._record_message("out", body)
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        try:
            data = await self._stream.receive_some(max_bytes)
        except trio.BrokenResourceError:
            self._record(b"")
            raise
        self._record(bytes(data))
        return data

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _record(self, data: bytes) -> None:
        if self._over:
            return
        if not data:
            self._over = True
            entry = partial(HangUpEntry, session=self._session_id, stderr=self._adapter.stderr_tail)
            self._file.add(lambda t: entry(t=t))
            return
        try:
            for body in self._read.feed(data):
                self._record_message("in", body)
        except ProtocolViolation as violation:
            # The server ends the connection at the same bytes; a decoder that has failed can read no further.
            self._over = True
            rest = violation.head or data
            self._file.add(lambda t: self._garbage(t, rest))

    def _record_message(self, direction: Direction, body: bytes) -> None:
        def make(t: float) -> RecordingEntry:
            try:
                return self._file.with_message(
                    body, partial(AdapterEntry, t=t, session=self._session_id, dir=direction)
                )
            except NotJson:
                return self._garbage(t, body)

        self._file.add(make)

    def _garbage(self, t: float, data: bytes) -> GarbageEntry:
        return GarbageEntry(t=t, session=self._session_id, text=data[:MAX_MESSAGE_BYTES].decode("latin-1"))


# --- Programs ---------------------------------------------------------------------------------------------------------


class TappedProgram:
    """A program in a terminal whose output and exit are recorded."""

    def __init__(self, program: Program, session_id: str, file: RecordingFile) -> None:
        self.pid = program.pid
        self.stdin = program.stdin
        self.stdout = program.stdout and _TappedPipe(program.stdout, lambda text: self._wrote("stdout", text))
        self.stderr = program.stderr and _TappedPipe(program.stderr, lambda text: self._wrote("stderr", text))
        self._program = program
        self._session_id = session_id
        self._file = file

    async def wait(self) -> int:
        """Wait until the program has ended and return its exit code."""
        code = await self._program.wait()
        self._file.add(lambda t: ExitEntry(t=t, session=self._session_id, pid=self.pid, exit_code=code))
        return code

    def _wrote(self, stream: Literal["stdout", "stderr"], text: str | None) -> None:
        entry = partial(ProgramOutputEntry, session=self._session_id, pid=self.pid, stream=stream, text=text)
        self._file.add(lambda t: entry(t=t))


class _TappedPipe(trio.abc.ReceiveStream):
    """Reports text, decoded as the console decodes it, and None at the end."""

    def __init__(self, pipe: trio.abc.ReceiveStream, wrote: Callable[[str | None], None]) -> None:
        self._pipe = pipe
        self._wrote = wrote
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def fileno(self) -> int | None:
        return descriptor_of(self._pipe)

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._pipe.receive_some(max_bytes)
        text = self._decoder.decode(data, final=not data)
        if text:
            self._wrote(text)
        if not data:
            self._wrote(None)
        return data

    async def aclose(self) -> None:
        await self._pipe.aclose()


# --- Clients ----------------------------------------------------------------------------------------------------------


class ClientTap(Tap):
    """Records the MCP messages of one client. `observe` does so for transports whose streams are the SDK's own."""

    def __init__(self, client: str, role: Role, transport: str, file: RecordingFile) -> None:
        self._client = client
        self._role = role
        self._transport = transport
        self._file = file
        self._known = False

    def sent(self, item: SessionMessage) -> None:
        self._record("out", message_text(item).encode())

    def received(self, item: SessionMessage) -> bool:
        self._record("in", message_text(item).encode())
        return True

    async def observe(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Record requests, their answers and notifications, as the SDK's middleware."""
        number = {} if ctx.request_id is None else {"id": ctx.request_id}
        parameters = {} if ctx.params is None else {"params": dict(ctx.params)}
        self._record_members("in", **number, method=ctx.method, **parameters)
        try:
            result = await call_next(ctx)
        except MCPError as error:
            dumped = error.error.model_dump(by_alias=True, exclude_none=True, mode="json")
            self._record_members("out", **number, error=dumped)
            raise
        if number:
            self._record_members("out", **number, result=result)
        return result

    def left(self) -> None:
        """Record that the client has disconnected, if it ever sent anything."""
        if self._known:
            self._file.add(lambda t: ClientEndEntry(t=t, client=self._client))

    def _record_members(self, direction: Direction, **members: Any) -> None:
        self._record(direction, json.dumps({"jsonrpc": "2.0", **members}, default=str).encode())

    def _record(self, direction: Direction, text: bytes) -> None:
        if not self._known:  # the first message tells the era; a client that never sends one is not recorded
            self._known = True
            self._record_arrival("handshake" if b'"initialize"' in text else "modern")
        self._file.add(
            lambda t: self._file.with_message(text, partial(McpEntry, t=t, client=self._client, dir=direction))
        )

    def _record_arrival(self, era: Literal["handshake", "modern"]) -> None:
        entry = partial(ClientEntry, client=self._client, transport=self._transport, role=self._role, era=era)
        self._file.add(lambda t: entry(t=t))
