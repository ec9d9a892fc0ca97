"""`LocalTries`: tries of a hunt on this machine, each under a keeper that ends all that it has started.

    answer = await tries.run(wanted, "/tmp/hunt-1/try-1")

A keeper is a process, `try_keeper.py`; what it is passed and answers is JSON.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec
import trio

from trio_debugmcp.dap.process import Watchdog, open_process
from trio_debugmcp.errors import UsageError

KEEPER = Path(__file__).parent / "try_keeper.py"
"""The program that runs a try."""

_KEEPER_SECONDS = 15.0
"""For a keeper to start, and to end what a try has left, beside the time of the try."""

MAX_PARALLEL = 64

_CHUNK_BYTES = 64 * 1024


class TryEngine(Protocol):
    """What runs tries.

    Attributes:
        slots: how many at once.
        problems: what they have said beside their answers.
    """

    slots: int
    problems: dict[str, None]

    async def run(self, wanted: Mapping[str, Any], directory: str) -> dict[str, Any]:
        """Run one try, with this directory for its files, and return what its keeper answers.

        Raises:
            UsageError: `LAUNCH_FAILED` or `TIMEOUT`: it cannot be run there.
        """


def processors() -> int:
    """Return how many processors this process may use."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(count, MAX_PARALLEL))


class LocalTries:
    """Tries by processes of this server, as many at once as it has slots."""

    def __init__(self, watchdog: Watchdog, slots: int) -> None:
        self.slots = slots
        self.problems: dict[str, None] = {}
        self._watchdog = watchdog

    def __repr__(self) -> str:
        return f"<LocalTries {self.slots} at once>"

    async def run(self, wanted: Mapping[str, Any], directory: str) -> dict[str, Any]:
        """Run one try. Cancelling ends it with everything that it has started."""
        line = msgspec.json.encode({**wanted, "directory": directory}) + b"\n"
        command = [sys.executable, "-I", "-S", str(KEEPER)]
        written = bytearray()
        seconds = wanted["seconds"] + self._watchdog.patience.seconds(_KEEPER_SECONDS)
        async with open_process(command, self._watchdog, cwd="/") as keeper:
            if keeper.stdin is None or keeper.stdout is None:
                raise AssertionError("the process was opened with pipes")
            with trio.move_on_after(seconds):
                try:
                    await keeper.stdin.send_all(line)
                except trio.BrokenResourceError:  # it has ended: that is said below
                    line = b""
                while data := await keeper.stdout.receive_some(_CHUNK_BYTES):
                    written += data
                return answer_of(bytes(written), keeper.returncode)
        raise UsageError(
            "TIMEOUT", f"A try of the hunt was not over {seconds:g} s after its start. Pass a smaller try_timeout."
        )


def answer_of(written: bytes, code: int | None) -> dict[str, Any]:
    """Return what a keeper has answered.

    Raises:
        UsageError: `LAUNCH_FAILED`: nothing, or that the program does not start.
    """
    try:
        answer: dict[str, Any] = msgspec.json.decode(written)
    except msgspec.DecodeError:
        reason = f"what keeps the try was ended (exit code {code})" if code is not None else "its keeper was ended"
        raise UsageError("LAUNCH_FAILED", f"A try of the hunt was lost: {reason}. Call debug_hunt again.") from None
    return checked_answer(answer)


def checked_answer(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what a keeper has answered, of a program that has started.

    Raises:
        UsageError: `LAUNCH_FAILED`: it does not start.
    """
    if "refused" in answer:
        raise UsageError("LAUNCH_FAILED", f"A try does not start: {answer['refused']}. Correct it, and call again.")
    return answer
