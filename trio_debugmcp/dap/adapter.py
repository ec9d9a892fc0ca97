"""Debug adapters as byte streams: a supervised process with DAP on its standard streams, or a socket.

    async with open_stdio_adapter(["gdb", "--interpreter=dap"], watchdog) as adapter: ...
    async with open_listening_adapter(["dlv", "dap"], ListeningAdapter(announced=pattern), watchdog) as adapter: ...
    async with open_socket_adapter(TcpAddress("127.0.0.1", 5678), patience) as adapter: ...

Owns the process, the socket and the end of the adapter's standard error.
"""

import logging
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Literal

import trio
from msgspec import Struct

from trio_debugmcp.dap.held_pipe import HeldPipe
from trio_debugmcp.dap.own_lines import ProgramPipe
from trio_debugmcp.dap.process import Program, Watchdog, open_process
from trio_debugmcp.dap.sockets import SocketAddress, TcpAddress, connect
from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.patience import Patience

log = logging.getLogger(__name__)

_STDERR_TAIL_BYTES = 4000
"""Bytes of standard error that are kept for error messages: enough for a traceback."""

_CONNECT_SECONDS = 10
"""To connect to a port that already listens, also on a remote machine."""

LISTEN_SECONDS = 20.0
"""From an adapter's start until it listens; one that runs in a virtual machine of its own takes 2 on a busy machine."""

_POLL_SECONDS = 0.02
"""Between two attempts to connect to an adapter that does not say when it listens."""

_LAST_WORDS_SECONDS = 0.3
"""From the end of a process for what it has written to be read; a child of it may keep the pipes open."""

ProgramPart = Literal["none", "streams", "program"]
"""What of the adapter's process is the program's: nothing, its standard streams, or all: it is the program."""


class Adapter:
    """The byte stream of a debug adapter. `stream` is closed by the connection that speaks over it.

    Attributes:
        address: where it listens, for the connections of child sessions.
        process: its process, if the program's standard streams are those of it.
        is_program: the process is the program, whose exit code is the program's.
        program_port: where the program that it is to attach to listens, if that was found out.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        *,
        pid: int | None = None,
        address: SocketAddress | None = None,
        process: Program | None = None,
        is_program: bool = False,
    ) -> None:
        self.stream = stream
        self.pid = pid
        self.address = address
        self.process = process
        self.is_program = is_program
        self.program_port: int | None = None
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
async def open_stdio_adapter(
    argv: Sequence[str], watchdog: Watchdog, *, env: Mapping[str, str] | None = None
) -> AsyncIterator[Adapter]:
    """Run an adapter that speaks DAP on its standard input and output.

    Raises:
        CannotRun: it could not be started.
    """
    async with open_process(argv, watchdog, env=env) as process, trio.open_nursery() as nursery:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise AssertionError("the process was opened with pipes")
        adapter = Adapter(trio.StapledStream(process.stdin, process.stdout), pid=process.pid)
        nursery.start_soon(adapter.read_stderr, process.stderr)
        try:
            yield adapter
        finally:
            nursery.cancel_scope.cancel(reason="the adapter is closed")


def _is_refused(error: BaseException | None) -> bool:
    """Whether nothing listens at any of the addresses that were tried."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_refused, error.exceptions))
    return isinstance(error, ConnectionRefusedError) or (error is not None and _is_refused(error.__cause__))


@asynccontextmanager
async def open_socket_adapter(address: SocketAddress, patience: Patience) -> AsyncIterator[Adapter]:
    """Connect to an adapter that listens already.

    Raises:
        AdapterGone: nothing answers there.
    """
    try:
        with trio.fail_after(patience.seconds(_CONNECT_SECONDS)):
            stream = await connect(address)
    except (OSError, trio.TooSlowError) as error:
        if _is_refused(error):
            raise AdapterGone(f"nothing listens at {address}: the connection is refused") from error
        raise AdapterGone(f"nothing answers at {address}: {str(error) or 'timed out'}") from error
    async with stream:
        yield Adapter(stream, address=address)


# --- Adapters that listen ---------------------------------------------------------------------------------------------


class ListeningAdapter(Struct, frozen=True, kw_only=True):
    """How an adapter that listens is reached after its start.

    Attributes:
        announced: a pattern for what it writes to a standard stream when it listens; its first group is the port.
        address: where it listens, if it does not announce that.
        part: what of its process is the program's.
        own_lines: how lines begin that it writes itself into the program's streams.
    """

    announced: re.Pattern[bytes] | None = None
    address: SocketAddress | None = None
    part: ProgramPart = "none"
    own_lines: tuple[str, ...] = ()


@asynccontextmanager
async def open_listening_adapter(
    argv: Sequence[str],
    listening: ListeningAdapter,
    watchdog: Watchdog,
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
) -> AsyncIterator[Adapter]:
    """Run an adapter that listens on a socket, and connect to it.

    Resource handling: the socket and the process are gone at the end of the block.

    Raises:
        CannotRun: it could not be started.
        AdapterGone: it ended before it listened, or did not listen in time; the error has its last words.
    """
    async with open_process(argv, watchdog, cwd=cwd, env=env, ends_with_input=False) as process:
        if process.stdout is None or process.stderr is None:
            raise AssertionError("the process was opened with pipes")
        stdout, stderr = HeldPipe(process.stdout), HeldPipe(process.stderr)
        adapter = await _reach(process, stdout, stderr, listening, watchdog.patience)
        adapter.pid = process.pid
        async with adapter.stream, trio.open_nursery() as nursery:
            if listening.part == "none":
                nursery.start_soon(adapter.read_stderr, stderr)
                nursery.start_soon(adapter.read_stderr, stdout)  # which it has no other use for
            else:
                pipes = (ProgramPipe(pipe, listening.own_lines, adapter.keep_stderr) for pipe in (stdout, stderr))
                adapter.process = _WithPipes(process, *pipes)
                adapter.is_program = listening.part == "program"
            try:
                yield adapter
            finally:
                nursery.cancel_scope.cancel(reason="the adapter is closed")


async def _reach(
    process: trio.Process, stdout: HeldPipe, stderr: HeldPipe, listening: ListeningAdapter, patience: Patience
) -> Adapter:
    """Wait until the adapter listens, and connect to it."""
    found: Adapter | None = None
    seconds = patience.seconds(LISTEN_SECONDS)
    with trio.move_on_after(seconds) as limit:
        async with trio.open_nursery() as nursery:

            async def look_for_end() -> None:
                await process.wait()
                await trio.sleep(patience.seconds(_LAST_WORDS_SECONDS))
                nursery.cancel_scope.cancel(reason="it has ended")

            nursery.start_soon(look_for_end)
            address, announcement = listening.address, b""
            if listening.announced is not None:
                port, announcement = await _announcement((stdout, stderr), listening.announced)
                address = address or TcpAddress("127.0.0.1", port)
            if address is None:
                raise AssertionError("an adapter that listens has an address or announces it")
            found = Adapter(await _connected(address), address=address)
            found.keep_stderr(announcement)
            nursery.cancel_scope.cancel(reason="it listens")
    if found is not None:
        return found
    tail = b"\n".join(bytes(pipe.held) for pipe in (stdout, stderr))[-_STDERR_TAIL_BYTES:].decode(errors="replace")
    if limit.cancelled_caught:
        raise AdapterGone(f"it did not listen for a connection within {seconds:g} s", tail.strip())
    raise AdapterGone(f"it ended with exit code {process.returncode} before it listened for a connection", tail.strip())


async def _announcement(pipes: Sequence[HeldPipe], wanted: re.Pattern[bytes]) -> tuple[int, bytes]:
    """Wait for the text that announces the port; return the port, and the text up to there, which is taken off."""
    port, text = 0, b""
    async with trio.open_nursery() as nursery:

        async def listen(pipe: HeldPipe) -> None:
            nonlocal port, text
            found = None
            while found is None:
                # At the end of one stream the other may still announce; the process's end ends the wait for both.
                if not await pipe.hold_more():
                    await trio.sleep_forever()
                found = wanted.search(pipe.held)
            port, text = int(found[1]) if wanted.groups else 0, pipe.take(found.end())
            nursery.cancel_scope.cancel(reason="it was announced")

        for pipe in pipes:
            nursery.start_soon(listen, pipe)
    return port, text


async def _connected(address: SocketAddress) -> trio.abc.Stream:
    while True:
        try:
            return await connect(address)
        except OSError:  # it does not listen yet
            await trio.sleep(_POLL_SECONDS)


class _WithPipes:
    """A process whose pipes have been read before, and are the program's."""

    def __init__(self, process: trio.Process, stdout: ProgramPipe, stderr: ProgramPipe) -> None:
        self.pid = process.pid
        self.stdin = process.stdin
        self.stdout = stdout
        self.stderr = stderr
        self.wait = process.wait
