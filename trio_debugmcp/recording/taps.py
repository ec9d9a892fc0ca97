"""Streams that can be listened to: bytes of an adapter, pipes of a program, messages of a client."""

import codecs
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Literal, Protocol, Self

import trio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.framing import FrameDecoder
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.session.host import Program

Incoming = SessionMessage | Exception


class Ear(Protocol):
    """Who is told what passes on a connection to an adapter. No method may wait or raise."""

    def message(self, direction: Literal["in", "out"], body: bytes) -> None:
        """A message, which may be no JSON."""

    def garbage(self, data: bytes) -> None:
        """Bytes that are no message."""

    def hung_up(self) -> None:
        """The adapter has closed its end."""


class TappedAdapter(Adapter):
    """An adapter whose connection is listened to."""

    def __init__(self, adapter: Adapter, ear: Ear) -> None:
        super().__init__(_TappedStream(adapter.stream, ear), pid=adapter.pid)
        self._adapter = adapter

    @property
    def stderr_tail(self) -> str:
        """The adapter's."""
        return self._adapter.stderr_tail


class _TappedStream(trio.abc.Stream):
    def __init__(self, stream: trio.abc.Stream, ear: Ear) -> None:
        self._stream = stream
        self._ear = ear
        self._read, self._written = FrameDecoder(), FrameDecoder()
        self._deaf = False

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        for body in self._written.feed(bytes(data)):
            self._ear.message("out", body)
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        try:
            data = await self._stream.receive_some(max_bytes)
        except trio.BrokenResourceError:
            self._hear(b"")
            raise
        self._hear(bytes(data))
        return data

    def _hear(self, data: bytes) -> None:
        if self._deaf:
            return
        if not data:
            self._deaf = True
            self._ear.hung_up()
            return
        try:
            for body in self._read.feed(data):
                self._ear.message("in", body)
        except ProtocolViolation as violation:
            self._deaf = True
            self._ear.garbage(violation.head or data)

    async def aclose(self) -> None:
        await self._stream.aclose()


class TappedProgram:
    """A program whose output and end are listened to."""

    def __init__(
        self,
        program: Program,
        wrote: Callable[[Literal["stdout", "stderr"], str | None], None],
        exited: Callable[[int], None],
    ) -> None:
        self.pid = program.pid
        self.stdin = program.stdin
        self.stdout = program.stdout and _TappedPipe(program.stdout, lambda text: wrote("stdout", text))
        self.stderr = program.stderr and _TappedPipe(program.stderr, lambda text: wrote("stderr", text))
        self._program = program
        self._exited = exited

    async def wait(self) -> int:
        """Until it has ended."""
        code = await self._program.wait()
        self._exited(code)
        return code


class _TappedPipe(trio.abc.ReceiveStream):
    """Tells of text, decoded as the console does; None at the end."""

    def __init__(self, pipe: trio.abc.ReceiveStream, heard: Callable[[str | None], None]) -> None:
        self._pipe = pipe
        self._heard = heard
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def fileno(self) -> int:
        """The system's descriptor."""
        if not isinstance(self._pipe, trio.lowlevel.FdStream):
            raise TypeError("not a pipe of the system")
        return self._pipe.fileno()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._pipe.receive_some(max_bytes)
        text = self._decoder.decode(data, final=not data)
        if text:
            self._heard(text)
        if not data:
            self._heard(None)
        return data

    async def aclose(self) -> None:
        await self._pipe.aclose()


class McpTap:
    """Listens to a client's pair of message streams."""

    def __init__(self, received: Callable[[SessionMessage], None], sent: Callable[[SessionMessage], None]) -> None:
        self._received = received
        self._sent = sent

    def reading(self, stream: ReadStream[Incoming]) -> ReadStream[Incoming]:
        """What comes in."""
        return _TappedRead(stream, self._received)

    def writing(self, stream: WriteStream[SessionMessage]) -> WriteStream[SessionMessage]:
        """What goes out."""
        return _TappedWrite(stream, self._sent)


class _Closing(ABC):
    @abstractmethod
    async def aclose(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        await self.aclose()
        return None


class _TappedRead(_Closing):
    def __init__(self, inner: ReadStream[Incoming], received: Callable[[SessionMessage], None]) -> None:
        self._inner = inner
        self._received = received

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Incoming:
        return self._heard(await self._inner.__anext__())

    async def receive(self) -> Incoming:
        return self._heard(await self._inner.receive())

    def _heard(self, item: Incoming) -> Incoming:
        if isinstance(item, SessionMessage):
            self._received(item)
        return item

    async def aclose(self) -> None:
        await self._inner.aclose()


class _TappedWrite(_Closing):
    def __init__(self, inner: WriteStream[SessionMessage], sent: Callable[[SessionMessage], None]) -> None:
        self._inner = inner
        self._sent = sent

    async def send(self, item: SessionMessage, /) -> None:
        self._sent(item)
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()
