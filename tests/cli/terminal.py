"""A terminal with a person at it: a pseudo-terminal, its screen as the person sees it, and keys.

async with open_terminal(["trio-debugmcp", "shell", ...]) as terminal:
    await terminal.shows("mcp>")
    await terminal.types("tools\\r")
"""

import os
import pty
import re
import signal
import termios
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

import pyte
import trio

WAIT_SECONDS = 100
COLUMNS, LINES = 110, 400


class _Screen(pyte.Screen):
    """Answers the program, which asks where the cursor is."""

    def __init__(self, columns: int, lines: int, reply: Callable[[bytes], object]) -> None:
        super().__init__(columns, lines)
        self._reply = reply

    def write_process_input(self, data: str) -> None:
        self._reply(data.encode())


class Terminal:
    """The person's side of a pseudo-terminal."""

    def __init__(self, descriptor: int, process: trio.Process) -> None:
        self._descriptor = descriptor
        self._process = process
        self._screen = _Screen(COLUMNS, LINES, partial(os.write, descriptor))
        self._stream = pyte.ByteStream(self._screen)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    @property
    def echoes(self) -> bool:
        """Whether the terminal is in its usual mode: lines, with an echo."""
        return bool(termios.tcgetattr(self._descriptor)[3] & termios.ECHO)

    async def shows(self, pattern: str) -> str:
        """Wait until `pattern` is on the screen, and return what matches."""
        with trio.move_on_after(WAIT_SECONDS):
            while (found := re.search(pattern, self.text)) is None:
                if not await self._read():
                    break
        if found is None:
            raise AssertionError(f"{pattern!r} is not on the screen:\n{self.text}")
        return found[0]

    async def types(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())
        await trio.lowlevel.checkpoint()

    async def talks(self, *turns: tuple[str, str]) -> None:
        """Type each of the texts and wait for what it must bring to the screen."""
        for keys, pattern in turns:
            await self.types(keys)
            await self.shows(pattern)

    async def ends(self) -> int:
        """Wait for the end of the program; returns its exit code."""
        with trio.fail_after(WAIT_SECONDS):
            while await self._read():
                pass
            return await self._process.wait()

    async def _read(self) -> bool:
        await trio.lowlevel.wait_readable(self._descriptor)
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:  # how Linux reports that the other side is closed
            return False
        self._stream.feed(data)
        return bool(data)


@asynccontextmanager
async def open_terminal(command: Sequence[str]) -> AsyncGenerator[Terminal, None]:
    """Run `command` on a terminal of its own until the end of the block, where it is killed if it still runs."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (LINES, COLUMNS))
    environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    environment.pop("DISPLAY", None)
    process = await trio.lowlevel.open_process(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
        preexec_fn=_take_terminal,
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Terminal(ours, process)
    finally:
        with trio.CancelScope(shield=True):
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        os.close(ours)


def _take_terminal() -> None:
    import fcntl

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
