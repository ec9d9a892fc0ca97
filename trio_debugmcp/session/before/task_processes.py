"""The process of one task: what it writes as it comes, whether it is ready or listens, and how it has failed."""

import codecs
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from trio_debugmcp.dap.daemons import OwnProcess, detached_from, end_all
from trio_debugmcp.dap.process import Watchdog, environment, open_process
from trio_debugmcp.dap.profiles.compilers import first_error
from trio_debugmcp.errors import CannotRun, UsageError
from trio_debugmcp.launch_json.task_definitions import Task, TaskCommand
from trio_debugmcp.patience import Patience
from trio_debugmcp.session.output.terminal_sequences import PlainText
from trio_debugmcp.state.payloads import end_of, shortened

_CONNECT_SECONDS = 2.0
"""For one connection: a host that answers at all takes milliseconds."""

_POLL_SECONDS = 0.1
"""Between two tries, as nothing tells that a port of another process is listened at."""


async def listens(host: str, port: int, patience: Patience) -> bool:
    """Return whether a connection is accepted there."""
    with trio.move_on_after(patience.seconds(_CONNECT_SECONDS)):
        try:
            stream = await trio.open_tcp_stream(host, port)
        except OSError:
            return False
        await stream.aclose()
        return True
    return False


async def wait_listening(host: str, port: int, over: trio.Event, patience: Patience) -> None:
    """Wait until something listens there, or the task that should is over. The caller bounds the wait."""
    while not over.is_set() and not await listens(host, port, patience):  # noqa: ASYNC110 (as above)
        await trio.sleep(_POLL_SECONDS)


async def wait_free(host: str, port: int, patience: Patience) -> None:
    """Wait until nothing listens there any more. The caller bounds the wait."""
    while await listens(host, port, patience):  # noqa: ASYNC110 (as above)
        await trio.sleep(_POLL_SECONDS)


_KEPT_LENGTH = 256 * 1024
"""Characters of output in which the first error is looked for."""

_DETAILS_LENGTH = 4000
"""Characters of a failed task's output in the details of the error."""

_LINE_LENGTH = 16 * 1024
"""Characters of a line that are looked at to see whether a task is ready."""

_DRAIN_SECONDS = 1.0
"""For the last output of a task; what it has left running may keep the pipes open."""

_CHUNK_BYTES = 64 * 1024


async def run_task_process(
    task: Task, command: TaskCommand, watchdog: Watchdog, write: Callable[[str], None], ready: trio.Event | None = None
) -> None:
    """Run the command of a task to its end. `ready` is set when a line of its output says so. The caller bounds it.

    Resource handling: when this returns or is cancelled, no process of the task is left.

    Raises:
        UsageError: `LAUNCH_FAILED`: it cannot run, or fails.
    """
    output = _Output(task, write, ready)
    try:
        async with _open_whole_process(command, watchdog) as process, trio.open_nursery() as pumps:
            if process.stdin is None or process.stdout is None or process.stderr is None:
                raise AssertionError("the process was opened with pipes")
            await process.stdin.aclose()
            for pipe in (process.stdout, process.stderr):
                pumps.start_soon(output.fill, pipe)
            code = await process.wait()
            pumps.cancel_scope.deadline = trio.current_time() + watchdog.patience.seconds(_DRAIN_SECONDS)
    except CannotRun as error:
        raise _failure(task, f"cannot run {error.program}: {error.reason}", "") from error
    if code != 0:
        raise _failure(task, f"ended with exit code {code}", output.text)


@asynccontextmanager
async def _open_whole_process(command: TaskCommand, watchdog: Watchdog) -> AsyncIterator[trio.Process]:
    """Run a command until the end of the block, at which its descendants end, too, that are in sessions of their own.

    A dev server starts its workers so, to survive the Ctrl-C of a terminal.
    """
    detached = list[OwnProcess]()
    try:
        async with open_process(command.argv, watchdog, cwd=command.cwd, env=environment(command.env)) as process:
            try:
                yield process
            finally:
                detached = detached_from(process.pid)
    finally:
        with trio.CancelScope(shield=True):
            await end_all(detached, watchdog.patience)


class _Output:
    """What a task writes, without colours: passed on, kept for an error, and searched for the line that it is ready."""

    def __init__(self, task: Task, write: Callable[[str], None], ready: trio.Event | None) -> None:
        self.text = ""
        self._pattern = None if task.ready is None or ready is None else re.compile(task.ready)
        self._write = write
        self._ready = ready

    async def fill(self, pipe: trio.abc.ReceiveStream) -> None:
        """Read a pipe to its end."""
        decoder, plain = codecs.getincrementaldecoder("utf-8")(errors="replace"), PlainText()
        line = ""
        while data := await pipe.receive_some(_CHUNK_BYTES):
            text = plain.feed(decoder.decode(data))
            self._write(text)
            self.text = (self.text + text)[-_KEPT_LENGTH:]
            if self._pattern is None or self._ready is None or self._ready.is_set():
                continue
            lines = (line + text).splitlines(keepends=True)
            if any(self._pattern.search(line[:_LINE_LENGTH].rstrip("\r\n")) for line in lines):
                self._ready.set()
            line = lines[-1][-_LINE_LENGTH:] if lines and not lines[-1].endswith("\n") else ""


def _failure(task: Task, what: str, output: str) -> UsageError:
    error = first_error(output)
    place = "" if error.file is None else f"{error.file}:{error.line}: "
    why = f": {place}{shortened(error.text).rstrip('. ')}" if error.text else ""
    return UsageError(
        "LAUNCH_FAILED",
        f"The task '{task.label}' {what}{why}. Correct it, and call debug_launch again.",
        {"task": task.label, **({"output": end_of(output, _DETAILS_LENGTH)} if output else {})},
    )
