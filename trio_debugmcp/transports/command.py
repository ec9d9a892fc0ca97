r"""A program that speaks over its standard streams: its process group, its pipes, its standard error, and its end.

Owns the process from spawn to reaping, and knows nothing of messages.

    command = Command(["my-server"], env=None, cwd=None, on_stderr=print)
    async with command.open() as pipes:
        await pipes.frames.send(b"one line\n")
        line = await anext(pipes.lines)
    command.exit_code

Shutdown ladder (the protocol's, then ours): flush and close stdin, wait; SIGTERM to the group, wait; SIGKILL to the
group. All of it is shielded and bounded, so that a cancelled caller neither leaks a process nor hangs on one.
"""

import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

import trio

from trio_debugmcp.transports.line_pipes import (
    CHUNK_BYTES,
    FLUSH_SECONDS,
    MAX_LINE_BYTES,
    Pipes,
    ReceivedLines,
    write_frames,
)
from trio_debugmcp.transports.line_splitter import LineSplitter

EXIT_SECONDS = 2.0
"""For a server to end by itself once its stdin is closed; many node servers never do."""

TERM_SECONDS = 2.0
"""From SIGTERM to SIGKILL."""

REAP_SECONDS = 2.0
"""For the kernel to deliver a kill; only an unkillable process uses them all."""

LAST_STDERR_SECONDS = 0.5
"""To read what an ended server left on its standard error; a grandchild may hold it open for ever."""

_KILL = signal.SIGKILL if os.name == "posix" else signal.SIGTERM


class Command:
    """A program, started and stopped by `open()`; `exit_code` is known once it has ended by itself.

    Args:
        argv: the command and its arguments.
        env: its whole environment, None for ours.
        cwd: its working directory, None for ours.
        on_stderr: called with each line of standard error, without its newline.
    """

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None,
        cwd: str | os.PathLike[str] | None,
        on_stderr: Callable[[str], None],
    ) -> None:
        self.exit_code: int | None = None
        self._argv = argv
        self._env = env
        self._cwd = cwd
        self._on_stderr = on_stderr
        self._pid: int | None = None

    def __repr__(self) -> str:
        if self._pid is None:
            state = "not started"
        else:
            state = f"pid {self._pid}" if self.exit_code is None else f"exit code {self.exit_code}"
        return f"<{type(self).__name__} {self._argv[0]!r}, {state}>"

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Pipes]:
        """Start the process, yield its pipes, and stop it on leaving.

        Resource handling: the process and everything in its group has ended when the block is left, also by a
        cancellation; this takes at most the sum of the times above.

        Raises:
            OSError: the command cannot be run.
        """
        process = await self._spawn()
        self._pid = process.pid
        assert process.stdin is not None
        assert process.stdout is not None
        frames, outgoing = trio.open_memory_channel[bytes](0)
        async with trio.open_nursery() as nursery:
            flushed, silent = trio.Event(), trio.Event()
            nursery.start_soon(write_frames, process.stdin, outgoing, flushed)
            nursery.start_soon(self._watch_stderr, process, silent)
            try:
                yield Pipes(ReceivedLines(process.stdout), frames)
            finally:
                with trio.CancelScope(shield=True):  # every wait in _stop is bounded
                    frames.close()
                    nursery.start_soon(_drain, process.stdout)
                    await self._stop(process, flushed, silent)
                nursery.cancel_scope.cancel("the process was stopped")

    async def _spawn(self) -> trio.Process:
        spawn = partial(
            trio.lowlevel.open_process,
            list(self._argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._env,
            cwd=self._cwd,
        )
        try:
            # In a group of its own, so that what the server starts is killed with it. Windows has no groups to kill.
            return await (spawn(start_new_session=True) if os.name == "posix" else spawn())
        except OSError as error:
            raise type(error)(_not_run(error, self._argv[0], self._cwd)) from error

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


async def _drain(stdout: trio.abc.ReceiveStream) -> None:
    """Read and discard after the session: a server that flushes into a full pipe would never get to its exit."""
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
        while await stdout.receive_some(CHUNK_BYTES):
            pass


def _not_run(error: OSError, program: str, cwd: str | os.PathLike[str] | None) -> str:
    """Return why a program cannot be run, with what a server is: often a word stands there that names none."""
    if cwd is not None and not os.path.isdir(cwd):
        return f"there is no directory {os.fspath(cwd)!r} to run {program!r} in"
    if isinstance(error, FileNotFoundError):
        return f"there is no program {program!r}: a server is a URL, or a command with its arguments"
    return f"{program!r} cannot be run: {error.strerror}"
