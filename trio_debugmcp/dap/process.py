"""Processes that cannot be orphaned: each in its own process session (`setsid`), which ends with the block.

    async with open_process(["gdb", "--interpreter=dap"], watchdog) as process:
        await process.stdin.send_all(...)

A process is ended in steps: close its input, wait, SIGTERM to every process of its session, wait, SIGKILL, wait.
Every step is bounded, and shielded from cancellation. If this server itself is killed, a `Watchdog` does the last one.

`Watchdog` runs watchdog_process.py as a script and sends it through a pipe which process sessions to watch. When the
pipe ends, because the server closed it or died, the script kills every process of the sessions that are still on its
list. A process session (`setsid`) contains an adapter or a debuggee with all its children, whatever process groups
they make for themselves. A daemon that has left them is watched as a process (`watch_process`). It removes directories,
too (`watching_directory`).

    watchdog = Watchdog()
    watchdog.watch(process.pid)  # the process was started with start_new_session=True
    ...
    watchdog.forget(process.pid)
    watchdog.close()

Beside it runs `keep`, which replaces a watchdog process that was killed: by a user, by the system, or by the program.
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Protocol

import trio

from trio_debugmcp.dap import watchdog_process
from trio_debugmcp.dap.pids import wait_ended
from trio_debugmcp.dap.watchdog_process import session_members, signal_session
from trio_debugmcp.errors import CannotRun
from trio_debugmcp.patience import USUAL, Patience

log = logging.getLogger(__name__)

_SHORT_LIFE_SECONDS = 1.0
"""What has killed two watchdog processes sooner than this will kill the next one: it is started no faster than that."""

_LIFE_POLL_SECONDS = 0.1
"""Between two checks whether the watchdog process lives, where the system has no event for its end."""

_CLOSE_SECONDS = 2.0
"""For the script to kill what is left and to exit; its sweeps take a second at most."""


class Watchdog:
    """The server's end: starts the watchdog process with the first that it is to watch.

    Attributes:
        patience: with the processes that it watches, when they are to listen or to end.
    """

    def __init__(self, patience: Patience = USUAL) -> None:
        self.patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: set[str] = set()
        self._started = trio.Event()

    def __repr__(self) -> str:
        return f"<dap.Watchdog pid={self.pid}, watching {len(self._watched)} process sessions>"

    @property
    def pid(self) -> int | None:
        """The id of the watchdog process, which may have been killed; None if there is no need for one yet."""
        return None if self._process is None else self._process.pid

    def watch(self, sid: int) -> None:
        """Have process session `sid` killed if this process ends before `forget`."""
        self._add(str(sid))

    def forget(self, sid: int) -> None:
        """Stop watching process session `sid`, which has ended."""
        self._remove(str(sid))

    def watches(self, sid: int) -> bool:
        """Return whether that process session is one of those that are watched."""
        return str(sid) in self._watched

    def watch_process(self, pid: int, started: str) -> None:
        """Have one process killed, which was started then, if this process ends before `forget_process`."""
        self._add(f"{pid} {started}")

    def forget_process(self, pid: int, started: str) -> None:
        """Leave one process alone again."""
        self._remove(f"{pid} {started}")

    @contextmanager
    def watching_directory(self, path: str) -> Iterator[None]:
        """Have a directory removed with all that is in it if this process ends within the block."""
        if not path.isprintable():  # the watchdog process reads lines
            yield
            return
        self._add(path)
        try:
            yield
        finally:
            self._remove(path)

    def _add(self, entry: str) -> None:
        self._watched.add(entry)
        # A watchdog that was killed is replaced, and the new one gets the whole list.
        if not _send(self._process, f"+{entry}\n"):
            self._start()

    def _remove(self, entry: str) -> None:
        self._watched.discard(entry)
        _send(self._process, f"-{entry}\n")

    async def keep(self) -> None:
        """Start another watchdog process with the whole list at once when one has ended, until this is cancelled."""
        short_lives = 0
        while True:
            process = self._process
            if process is None:
                await self._started.wait()
                continue
            since = trio.current_time()
            await _wait_child_ended(process)
            short_lives = short_lives + 1 if trio.current_time() < since + _SHORT_LIFE_SECONDS else 0
            if short_lives > 1:
                await trio.sleep(_SHORT_LIFE_SECONDS)
            if self._process is process:
                await self._replace(process)

    async def _replace(self, ended: "subprocess.Popen[bytes]") -> None:
        if not self._watched:
            self.close()  # the next process session to be watched starts one
            return
        log.warning("the watchdog process %d was killed; another one takes over", ended.pid)
        while self._process in (ended, None):
            try:
                self._start()
            except OSError as error:  # no memory, no descriptor
                log.error("there is no watchdog process: %s", error)
                await trio.sleep(_SHORT_LIFE_SECONDS)

    def close(self) -> None:
        """End the watchdog process; it kills what is still watched."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
            if not self._watched:  # it has nothing to do, and on a busy machine it may not have begun yet
                self._process.kill()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(self.patience.seconds(_CLOSE_SECONDS))
            self._process, self._started = None, trio.Event()

    def _start(self) -> None:
        self.close()
        # Popen without preexec_fn is a vfork and an exec: some milliseconds, once per server.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", watchdog_process.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        self._started.set()
        _send(self._process, "".join(f"+{entry}\n" for entry in sorted(self._watched)))


async def _wait_child_ended(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "pidfd_open"):
        await wait_ended(process.pid)
    while process.poll() is None:  # noqa: ASYNC110
        await trio.sleep(_LIFE_POLL_SECONDS)


def _send(process: "subprocess.Popen[bytes] | None", commands: str) -> bool:
    """Write a few bytes to an empty pipe, which does not block; False if no watchdog is running."""
    if process is None or process.stdin is None:
        return False
    try:
        process.stdin.write(commands.encode())
        process.stdin.flush()
    except OSError:
        return False
    return True


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
