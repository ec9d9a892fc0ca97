"""Debug adapters as byte streams: a supervised process with DAP on its standard streams, or a TCP socket.

Owns the process, the socket and the end of the adapter's standard error.
"""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import trio

from trio_debugmcp.dap.process import open_process
from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.errors import AdapterGone

log = logging.getLogger(__name__)

_STDERR_TAIL_BYTES = 4000
"""Bytes of standard error that are kept for error messages: enough for a traceback."""

_CONNECT_SECONDS = 10
"""To connect to a port that already listens, also on a remote machine."""


class Adapter:
    """The byte stream of a debug adapter. `stream` is closed by the connection that speaks over it."""

    def __init__(self, stream: trio.abc.Stream, *, pid: int | None = None) -> None:
        self.stream = stream
        self.pid = pid
        self._stderr = bytearray()

    def __repr__(self) -> str:
        return f"<dap.Adapter pid={self.pid} on {self.stream!r}>"

    @property
    def stderr_tail(self) -> str:
        """The end of what the adapter wrote to its standard error."""
        return self._stderr.decode(errors="replace").strip()

    def keep_stderr(self, data: bytes | bytearray) -> None:
        log.debug("adapter stderr: %s", data.decode(errors="replace").rstrip())
        self._stderr += data
        del self._stderr[:-_STDERR_TAIL_BYTES]

    async def read_stderr(self, pipe: trio.abc.ReceiveStream) -> None:
        """Read standard error until it ends, and keep the last part of it."""
        with suppress(trio.ClosedResourceError, trio.BrokenResourceError):
            while data := await pipe.receive_some():
                self.keep_stderr(data)


@asynccontextmanager
async def open_stdio_adapter(argv: Sequence[str], watchdog: Watchdog) -> AsyncIterator[Adapter]:
    """Run an adapter that speaks DAP on its standard input and output.

    Raises:
        CannotRun: it could not be started.
    """
    async with open_process(argv, watchdog) as process, trio.open_nursery() as nursery:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise AssertionError("the process was opened with pipes")
        adapter = Adapter(trio.StapledStream(process.stdin, process.stdout), pid=process.pid)
        nursery.start_soon(adapter.read_stderr, process.stderr)
        try:
            yield adapter
        finally:
            nursery.cancel_scope.cancel(reason="the adapter is closed")


@asynccontextmanager
async def open_socket_adapter(host: str, port: int) -> AsyncIterator[Adapter]:
    """Connect to an adapter that listens on a TCP port.

    Raises:
        AdapterGone: nothing answers there.
    """
    try:
        with trio.fail_after(_CONNECT_SECONDS):
            stream = await trio.open_tcp_stream(host, port)
    except (OSError, trio.TooSlowError) as error:
        raise AdapterGone(f"nothing answers at {host}:{port}: {str(error) or 'timed out'}") from error
    async with stream:
        yield Adapter(stream)
