"""Run a command to its end: a compiler, for example. No shell, no input, and what it writes is bounded.

    ran = await run_command(["gcc", "-g", "-o", "shop", "shop.c"], watchdog, cwd="/src")
    ran.exit_code, ran.stdout, ran.stderr

Cancelling ends it with everything that it has started.
"""

from collections.abc import Mapping, Sequence

import trio
from msgspec import Struct

from trio_debugmcp.dap.process import Watchdog, open_process

_HEAD_BYTES, _TAIL_BYTES = 128 * 1024, 1024 * 1024
"""Kept of each stream: a compiler's first error, and at the end what it has made."""

_DRAIN_SECONDS = 1.0
"""For the last output after the end; what the command has left running may keep the pipes open."""

_CHUNK_BYTES = 64 * 1024


class Ran(Struct, frozen=True):
    """How a command has ended, and what it has written."""

    exit_code: int
    stdout: str
    stderr: str


async def run_command(
    argv: Sequence[str], watchdog: Watchdog, *, cwd: str | None = None, env: Mapping[str, str] | None = None
) -> Ran:
    """Run a command and return what it has written. The caller bounds the time.

    Resource handling: when this returns or is cancelled, no process of the command is left.

    Raises:
        CannotRun: it could not be started.
    """
    stdout, stderr = _Kept(), _Kept()
    async with open_process(argv, watchdog, cwd=cwd, env=env) as process, trio.open_nursery() as pumps:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise AssertionError("the process was opened with pipes")
        await process.stdin.aclose()
        pumps.start_soon(stdout.fill, process.stdout)
        pumps.start_soon(stderr.fill, process.stderr)
        exit_code = await process.wait()
        pumps.cancel_scope.deadline = trio.current_time() + watchdog.patience.seconds(_DRAIN_SECONDS)
    return Ran(exit_code, stdout.text(), stderr.text())


class _Kept:
    """The beginning and the end of a stream."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._left_out = 0

    async def fill(self, pipe: trio.abc.ReceiveStream) -> None:
        """Read to the end."""
        while data := await pipe.receive_some(_CHUNK_BYTES):
            room = _HEAD_BYTES - len(self._head)
            self._head += data[:room]
            self._tail += data[room:] if room < len(data) else b""
            too_many = max(0, len(self._tail) - _TAIL_BYTES)
            self._left_out += too_many
            del self._tail[:too_many]

    def text(self) -> str:
        middle = f"\n… {self._left_out} bytes left out …\n".encode() if self._left_out else b""
        return (self._head + middle + self._tail).decode(errors="replace")
