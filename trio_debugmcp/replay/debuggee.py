"""`ReplayedProgram`: a program of a recording that ran in a terminal. It writes and exits as it did then."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
import trio

from trio_debugmcp.recording.format import AdapterEntry, AnyEntry, ProgramEntry
from trio_debugmcp.transports.in_memory import PipeWriter, byte_pipe


class ReplayedProgram:
    """A program with pipes. What is written to its standard input is discarded: its output is the recorded one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.started = trio.Event()
        self._writers: dict[Literal["stdout", "stderr"], PipeWriter] = {}
        self._writers["stdout"], self.stdout = byte_pipe()
        self._writers["stderr"], self.stderr = byte_pipe()
        self.stdin = _Sink()
        self._exited = trio.Event()
        self._exit_code = 0

    def __repr__(self) -> str:
        return f"<ReplayedProgram {self.pid}>"

    def write(self, name: Literal["stdout", "stderr"], text: str | None) -> None:
        """Write to a standard stream, or close it if `text` is None."""
        if text is None:
            self._writers[name].close()
        else:
            self._writers[name].write(text.encode(errors="replace"))

    def exit(self, code: int) -> None:
        self._exit_code = code
        self._exited.set()

    async def wait(self) -> int:
        """Wait until the program has ended and return its exit code."""
        await self._exited.wait()
        return self._exit_code


class _Sink(trio.abc.SendStream):
    """Takes everything and keeps nothing."""

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await trio.lowlevel.checkpoint()

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


def launches(entries: Iterable[AnyEntry]) -> Iterator[int | str]:
    """Yield, for each `runInTerminal` in order, the process id, or why the program could not be started."""
    requests: list[Any] = []
    started: list[int] = []
    for entry in entries:
        match entry:
            case AdapterEntry(dir="in"):
                message = msgspec.json.decode(entry.msg)
                if message.get("type") == "request" and message.get("command") == "runInTerminal":
                    requests.append(message.get("seq"))
            case ProgramEntry(pid=pid, process="terminal"):
                started.append(pid)
            case AdapterEntry(dir="out"):
                message = msgspec.json.decode(entry.msg)
                if message.get("type") == "response" and message.get("request_seq") in requests:
                    requests.remove(message["request_seq"])
                    if message.get("success"):
                        yield started.pop(0) if started else "the recording does not know it"
                    else:
                        yield str(message.get("message")).rpartition(": ")[2]
            case _:
                pass
    yield from started  # whose `runInTerminal` was not answered before the recording ended
