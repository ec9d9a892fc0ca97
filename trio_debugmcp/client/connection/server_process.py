"""A server that is a command: its process group, its pipes as a pair of message streams, its standard error.

Owns the process from spawn to reaping. The SDK's own stdio transport reports neither the exit code nor what was written
to standard error, which is just what a person needs to know when a server ends.

    process = ServerProcess(StdioServerParameters(command="my-server"), on_stderr=print)
    async with process.open() as (read, write):
        ...
    process.exit_code

Shutdown ladder (the protocol's, then ours): flush and close stdin, wait; SIGTERM to the group, wait; SIGKILL to the
group. All of it is shielded and bounded, so that a cancelled caller neither leaks a process nor hangs on one.
"""

import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio
import trio
from mcp import StdioServerParameters, types
from mcp.client._transport import TransportStreams
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.transports.jsonrpc import unreadable_response
from trio_debugmcp.transports.lines import LineSplitter
from trio_debugmcp.transports.streams import ClosingStream, MessageReader

FLUSH_SECONDS = 0.5
"""For messages already accepted to reach the server before its stdin is closed."""

EXIT_SECONDS = 2.0
"""For a server to end by itself once its stdin is closed; many node servers never do."""

TERM_SECONDS = 2.0
"""From SIGTERM to SIGKILL."""

REAP_SECONDS = 2.0
"""For the kernel to deliver a kill; only an unkillable process uses them all."""

LAST_STDERR_SECONDS = 0.5
"""To read what an ended server left on its standard error; a grandchild may hold it open for ever."""

MAX_LINE_BYTES = 64 * 1024 * 1024
"""The longest message accepted of a server; one that never ends its line would otherwise fill our memory."""

_CHUNK_BYTES = 64 * 1024
"""One read: dozens of usual messages."""

_KILL = signal.SIGKILL if os.name == "posix" else signal.SIGTERM


class _Incoming(MessageReader):
    """The server's stdout as the SDK's read stream."""

    def __init__(self, stdout: trio.abc.ReceiveStream) -> None:
        self._stdout = stdout
        self._splitter = LineSplitter(MAX_LINE_BYTES)
        self._lines: list[bytes | None] = []

    async def __anext__(self) -> SessionMessage | Exception:
        # Even if a line is there already: many lines may have come in one read, and other tasks must run between them.
        await trio.lowlevel.checkpoint()
        while not self._lines:
            try:
                data = await self._stdout.receive_some(_CHUNK_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                data = b""
            if not data:
                raise StopAsyncIteration
            self._lines = self._splitter.feed(data)[::-1]
        line = self._lines.pop()
        if line is None:
            raise ProtocolViolation(f"a line of more than {MAX_LINE_BYTES} bytes")
        return _parse(line)

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


class _Outgoing(ClosingStream):
    """The server's stdin as the SDK's write stream.

    A task of its own writes: a cancelled `send_all` may leave half a line behind, which would corrupt the next message.
    """

    def __init__(self) -> None:
        self._send, self.frames = trio.open_memory_channel[bytes](0)

    async def send(self, item: SessionMessage, /) -> None:
        frame = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            await self._send.send(frame)
        except trio.BrokenResourceError:
            raise anyio.BrokenResourceError from None
        except trio.ClosedResourceError:
            raise anyio.ClosedResourceError from None

    async def aclose(self) -> None:
        self._send.close()
        await trio.lowlevel.checkpoint()


class ServerProcess:
    """A server command, started and stopped by `open()`; `exit_code` is known once it has ended by itself.

    Args:
        parameters: command, arguments, environment, working directory.
        on_stderr: called with each line of standard error, without its newline.
    """

    def __init__(self, parameters: StdioServerParameters, on_stderr: Callable[[str], None]) -> None:
        self.exit_code: int | None = None
        self._parameters = parameters
        self._on_stderr = on_stderr
        self._pid: int | None = None

    def __repr__(self) -> str:
        if self._pid is None:
            state = "not started"
        else:
            state = f"pid {self._pid}" if self.exit_code is None else f"exit code {self.exit_code}"
        return f"<ServerProcess {self._parameters.command!r}, {state}>"

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[TransportStreams, None]:
        """Start the process, yield its pipes as a pair of message streams, and stop it on leaving.

        Resource handling: the process and everything in its group has ended when the block is left, also by a
        cancellation; this takes at most the sum of the times above.

        Raises:
            OSError: the command cannot be run.
        """
        process = await self._spawn()
        self._pid = process.pid
        outgoing = _Outgoing()
        assert process.stdin is not None
        assert process.stdout is not None
        async with trio.open_nursery() as nursery:
            flushed, silent = trio.Event(), trio.Event()
            nursery.start_soon(_write, process.stdin, outgoing.frames, flushed)
            nursery.start_soon(self._watch_stderr, process, silent)
            try:
                yield _Incoming(process.stdout), outgoing
            finally:
                with trio.CancelScope(shield=True):  # every wait in _stop is bounded
                    await outgoing.aclose()
                    nursery.start_soon(_drain, process.stdout)
                    await self._stop(process, flushed, silent)
                nursery.cancel_scope.cancel("the server process was stopped")

    async def _spawn(self) -> trio.Process:
        spawn = partial(
            trio.lowlevel.open_process,
            [self._parameters.command, *self._parameters.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=get_default_environment() | (self._parameters.env or {}),
            cwd=self._parameters.cwd,
        )
        # In a group of its own, so that what the server starts is killed with it. Windows has no groups to kill.
        return await (spawn(start_new_session=True) if os.name == "posix" else spawn())

    async def _watch_stderr(self, process: trio.Process, silent: trio.Event) -> None:
        assert process.stderr is not None
        splitter = LineSplitter(MAX_LINE_BYTES)
        try:
            async with process.stderr:
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    async for data in process.stderr:
                        for line in splitter.feed(data):
                            if line is not None:
                                self._on_stderr(line.decode(errors="replace").rstrip("\r"))
        finally:
            silent.set()

    async def _stop(self, process: trio.Process, flushed: trio.Event, silent: trio.Event) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        stopped_by: list[int] = []
        with trio.move_on_after(FLUSH_SECONDS):
            await flushed.wait()
        await trio.aclose_forcefully(process.stdin)
        for deadline, next_signal in ((EXIT_SECONDS, signal.SIGTERM), (TERM_SECONDS, _KILL), (REAP_SECONDS, _KILL)):
            with trio.move_on_after(deadline):
                await process.wait()
                break
            stopped_by.append(-next_signal)
            _signal_group(process, next_signal)
        _signal_group(process, _KILL)  # what the server started and left behind; the pid stays the group's id
        # What a signal of ours did is not how the server ended: it would hide why we sent it.
        self.exit_code = process.returncode if process.returncode not in stopped_by else None
        with trio.move_on_after(LAST_STDERR_SECONDS):
            await silent.wait()
        await trio.aclose_forcefully(process.stdout)


def _signal_group(process: trio.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)  # the leader's pid is the group's id, also after the leader is gone
        else:
            process.terminate()


async def _write(stdin: trio.abc.SendStream, frames: trio.MemoryReceiveChannel[bytes], flushed: trio.Event) -> None:
    try:
        with frames, suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async for frame in frames:
                await stdin.send_all(frame)
    finally:
        flushed.set()


async def _drain(stdout: trio.abc.ReceiveStream) -> None:
    """Read and discard after the session: a server that flushes into a full pipe would never get to its exit."""
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
        while await stdout.receive_some(_CHUNK_BYTES):
            pass


def _parse(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        violation = ProtocolViolation(f"not a JSON-RPC message: {type(error).__name__}", line[:200])
        return unreadable_response(line) or violation
