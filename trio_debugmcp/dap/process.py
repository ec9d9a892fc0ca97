"""Processes that cannot be orphaned: each in its own process session (`setsid`), which ends with the block.

    async with open_process(["gdb", "--interpreter=dap"], watchdog) as process:
        await process.stdin.send_all(...)

A process is ended in steps: close its input, wait, SIGTERM to every process of its session, wait, SIGKILL, wait.
Every step is bounded, and shielded from cancellation. If this server itself is killed, a `Watchdog` does the last one.
"""

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import trio

from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.dap.watchdog_process import session_members, signal_session
from trio_debugmcp.errors import CannotRun
from trio_debugmcp.patience import Patience

_INPUT_GRACE_SECONDS = 0.5
"""For a process to exit after its input was closed; debugpy's adapter needs about 0.05."""

_TERM_GRACE_SECONDS = 1.0
"""For a process to clean up between SIGTERM and SIGKILL."""

_KILL_SECONDS = 2.0
"""For killed processes to be reaped; only one in uninterruptible sleep takes longer."""

_POLL_SECONDS = 0.01
"""Between two checks whether a process session is empty, for which the system has no event."""


class Program(Protocol):
    """A running program with pipes, as `trio.Process` is one."""

    @property
    def pid(self) -> int: ...

    @property
    def stdin(self) -> trio.abc.SendStream | None: ...

    @property
    def stdout(self) -> trio.abc.ReceiveStream | None: ...

    @property
    def stderr(self) -> trio.abc.ReceiveStream | None: ...

    async def wait(self) -> int:
        """Wait until the program has ended and return its exit code."""


@asynccontextmanager
async def open_process(
    argv: Sequence[str],
    watchdog: Watchdog,
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    ends_with_input: bool = True,
) -> AsyncIterator[trio.Process]:
    """Run a program until the end of the block, with pipes for its three streams.

    `ends_with_input`: it may be expected to exit when its input is closed, and is given the time for it.

    Resource handling: at the end of the block the whole process session is gone and the pipes are closed.

    Raises:
        CannotRun: the program could not be started.
    """
    if not argv:
        raise CannotRun("an empty command line", "it names no program")
    try:
        process = await trio.lowlevel.open_process(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL character, or an invalid name of a variable
        raise CannotRun(argv[0], _why_not_started(error, cwd)) from error
    try:
        watchdog.watch(process.pid)
        yield process
    finally:
        with trio.CancelScope(shield=True):
            await _end(process, watchdog.patience, ends_with_input)
        watchdog.forget(process.pid)


def _why_not_started(error: Exception, cwd: str | Path | None) -> str:
    """Return the system's reason, which is about the working directory where that is the file the error names."""
    reason = getattr(error, "strerror", None) or str(error)
    is_directory = cwd is not None and getattr(error, "filename", None) == cwd
    return f"{reason} for the working directory {cwd}" if is_directory else reason


async def _end(process: trio.Process, patience: Patience, ends_with_input: bool) -> None:
    if process.stdin is not None:
        await process.stdin.aclose()
    with trio.move_on_after(patience.seconds(_INPUT_GRACE_SECONDS) if ends_with_input else 0.0):
        await process.wait()
    # Members of the session are looked up anew for each signal: children that outlive the leader are among them.
    terminated, killed = patience.seconds(_TERM_GRACE_SECONDS), patience.seconds(_KILL_SECONDS)
    for number, seconds in ((signal.SIGTERM, terminated), (signal.SIGKILL, killed)):
        if signal_session(process.pid, number):
            with trio.move_on_after(seconds):
                await process.wait()
                await _wait_empty(process.pid)
    with trio.move_on_after(killed):
        await process.wait()  # one that has ended without a signal is reaped as well
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            await pipe.aclose()


async def _wait_empty(sid: int) -> None:
    while session_members(sid):  # noqa: ASYNC110 (the system has no event for it)
        await trio.sleep(_POLL_SECONDS)


def environment(extra: Mapping[str, str | None]) -> dict[str, str]:
    """Merge `extra` into this process's environment; a value of None removes the variable."""
    merged: dict[str, str | None] = {**os.environ, **extra}
    return {name: value for name, value in merged.items() if value is not None}
