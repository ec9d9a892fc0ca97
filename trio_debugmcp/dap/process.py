"""Processes that cannot be orphaned: each in a process session of its own, which ends with the block that opened it.

Ending is a ladder: close its input, wait, SIGTERM to every member of the session, wait, SIGKILL, and a last sweep
after the leader is reaped, for what outlived it. Every rung is bounded and shielded from cancellation. A `Watchdog`
does the last rung for a server that was killed itself.
"""

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from trio_debugmcp.dap.watchdog import Watchdog, session_members, signal_session
from trio_debugmcp.errors import CannotRun

_INPUT_GRACE = 0.5
"""Seconds for a process to leave by itself after its input was closed; debugpy's adapter needs about 0.05."""

_TERM_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL."""

_SWEEP_LIMIT = 2.0
"""Seconds for killed processes to be gone; only one in uninterruptible sleep takes longer."""

_POLL = 0.01
"""Seconds between looks at a process session, for whose emptiness the system has no event."""


@asynccontextmanager
async def open_process(
    argv: Sequence[str],
    watchdog: Watchdog,
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
) -> AsyncIterator[trio.Process]:
    """Run a program for the length of the block, with pipes for its three streams.

    At the end of the block the whole process session is gone and the pipes are closed.

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
    except (OSError, ValueError) as error:  # ValueError: a NUL character, or a name that no variable can have
        raise CannotRun(argv[0], getattr(error, "strerror", None) or str(error)) from error
    try:
        watchdog.watch(process.pid)
        yield process
    finally:
        with trio.CancelScope(shield=True):
            await _end(process)
        watchdog.forget(process.pid)


async def _end(process: trio.Process) -> None:
    if process.stdin is not None:
        await process.stdin.aclose()
    with trio.move_on_after(_INPUT_GRACE):
        await process.wait()
    for number, patience in ((signal.SIGTERM, _TERM_GRACE), (signal.SIGKILL, _SWEEP_LIMIT)):
        if signal_session(process.pid, number):
            with trio.move_on_after(patience):
                await process.wait()
                await _wait_empty(process.pid)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            await pipe.aclose()


async def _wait_empty(sid: int) -> None:
    while session_members(sid):  # noqa: ASYNC110 (no event tells of it)
        await trio.sleep(_POLL)


def environment(extra: Mapping[str, str | None]) -> dict[str, str]:
    """Our environment with `extra` laid over it; a value of None takes a variable away."""
    merged: dict[str, str | None] = {**os.environ, **extra}
    return {name: value for name, value in merged.items() if value is not None}
