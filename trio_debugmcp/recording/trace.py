"""`TracingHost`: logs what a debug adapter and the server say to each other, for `serve --log-level debug`.

    settings = replace(settings, host=TracingHost(settings.host, Redactor([token])))

Each message is one line, shortened, with secrets taken out as in a recording. Another host, a recorder say, is used as
before.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

import trio

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.codec import FrameDecoder
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.dap.process import Program, Watchdog
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.patience import Patience
from trio_debugmcp.recording.redact import Redactor
from trio_debugmcp.session.host import Host, Opening
from trio_debugmcp.session.looking.from_outside.process_sample import ProcessSample
from trio_debugmcp.session.looking.machine_code.kernel_threads import KernelThreads

log = logging.getLogger(__name__)

MAX_MESSAGE_LENGTH = 500
"""Characters of a message: what it is, and the beginning of what it says. A recording has the whole of it."""

T = TypeVar("T")


class TracingHost(Host):
    """A host that logs the DAP messages of every session."""

    def __init__(self, host: Host, redactor: Redactor) -> None:
        self._host = host
        self._redactor = redactor

    def clock(self) -> Clock:
        return self._host.clock()

    def open_adapter(
        self, opening: Opening, connect: Callable[[], AbstractAsyncContextManager[Adapter]]
    ) -> AbstractAsyncContextManager[Adapter]:
        """Open the session's debug adapter; from then on its messages are logged."""

        @asynccontextmanager
        async def opened() -> AsyncIterator[Adapter]:
            async with self._host.open_adapter(opening, connect) as adapter:
                adapter.stream = _TracedStream(adapter.stream, opening.session_id, self._redactor)
                yield adapter

        return opened()

    def open_program(
        self, session: str, request: RunInTerminal, watchdog: Watchdog
    ) -> AbstractAsyncContextManager[Program]:
        """Run the program as the other host does."""
        return self._host.open_program(session, request, watchdog)

    async def look_into(self, pid: int, patience: Patience) -> bytes:
        """Return what the other host sees of a process."""
        return await self._host.look_into(pid, patience)

    def processor_seconds(self, pid: int) -> float | None:
        """Return what the other host knows of a process."""
        return self._host.processor_seconds(pid)

    def sample(self, pid: int) -> ProcessSample | None:
        """Return what the other host knows of a process."""
        return self._host.sample(pid)

    def kernel_threads(self, pid: int) -> KernelThreads | None:
        """Return what the other host knows of a process."""
        return self._host.kernel_threads(pid)

    async def find_out(self, question: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Return what the other host finds out."""
        return await self._host.find_out(question, ask)

    def query(self, question: str, ask: Callable[[], T]) -> T:
        """Return what the other host answers."""
        return self._host.query(question, ask)


class _TracedStream(trio.abc.Stream):
    def __init__(self, stream: trio.abc.Stream, session_id: str, redactor: Redactor) -> None:
        self._stream = stream
        self._session_id = session_id
        self._redactor = redactor
        self._read, self._written = FrameDecoder(), FrameDecoder()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        # Before the write: the answer can arrive before `send_all` returns.
        self._log("to", self._written, bytes(data))
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._stream.receive_some(max_bytes)
        self._log("from", self._read, bytes(data))
        return data

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _log(self, direction: str, decoder: FrameDecoder, data: bytes) -> None:
        if not data:
            log.debug("%s: end of file %s the adapter", self._session_id, direction)
        try:
            for body in decoder.feed(data):
                log.debug("%s %s the adapter: %s", self._session_id, direction, self._shown(body))
        except ProtocolViolation as violation:  # the connection ends at the same bytes
            log.debug("%s: the adapter breaks the protocol: %s", self._session_id, violation.reason)

    def _shown(self, body: bytes) -> str:
        try:
            text = self._redactor.message(body).decode(errors="replace")
        except (ValueError, RecursionError):
            return f"{len(body)} bytes that are not JSON"
        if len(text) <= MAX_MESSAGE_LENGTH:
            return text
        return f"{text[:MAX_MESSAGE_LENGTH]}… ({len(text) - MAX_MESSAGE_LENGTH} more characters)"
