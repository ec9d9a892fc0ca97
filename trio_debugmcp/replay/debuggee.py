"""Programs that ran in a terminal, in a replay: they write and end as they did, and what is written to them is lost."""

from collections.abc import Iterable, Iterator
from math import inf
from typing import Any, Literal

import msgspec
import trio

from trio_debugmcp.recording.format import AdapterEntry, AnyEntry, ProgramEntry


class ReplayedProgram:
    """A program that ran in a terminal. What is written to it is lost."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.started = trio.Event()
        self.stdin: trio.abc.SendStream = _Sink()
        self.stdout: trio.abc.ReceiveStream
        self.stderr: trio.abc.ReceiveStream
        out, self.stdout = _one_way()
        err, self.stderr = _one_way()
        self._pipes: dict[Literal["stdout", "stderr"], _Pipe] = {"stdout": out, "stderr": err}
        self._exited = trio.Event()
        self._exit_code = 0

    def write(self, name: Literal["stdout", "stderr"], text: str | None) -> None:
        """It writes to a stream, or closes it."""
        if text is None:
            self._pipes[name].close()
        else:
            self._pipes[name].put(text.encode(errors="replace"))

    def exit(self, code: int) -> None:
        """It ends."""
        self._exit_code = code
        self._exited.set()

    async def wait(self) -> int:
        """Until it has ended."""
        await self._exited.wait()
        return self._exit_code


class _Pipe(trio.abc.ReceiveStream):
    """Bytes that nobody waits for to be read."""

    def __init__(self) -> None:
        self._to, self._from = trio.open_memory_channel[bytes](inf)

    def put(self, data: bytes) -> None:
        self._to.send_nowait(data)

    def close(self) -> None:
        self._to.close()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        try:
            return await self._from.receive()
        except trio.EndOfChannel:
            return b""

    async def aclose(self) -> None:
        self._from.close()
        await trio.lowlevel.checkpoint()


def _one_way() -> tuple[_Pipe, _Pipe]:
    pipe = _Pipe()
    return pipe, pipe


class _Sink(trio.abc.SendStream):
    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await trio.lowlevel.checkpoint()

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


def launches(entries: Iterable[AnyEntry]) -> Iterator[int | str]:
    """For each `runInTerminal`, in order: the process id, or why the program could not be started."""
    asked: list[Any] = []
    started: list[int] = []
    for entry in entries:
        match entry:
            case AdapterEntry(dir="in"):
                message = msgspec.json.decode(entry.msg)
                if message.get("type") == "request" and message.get("command") == "runInTerminal":
                    asked.append(message.get("seq"))
            case ProgramEntry(pid=pid):
                started.append(pid)
            case AdapterEntry(dir="out"):
                message = msgspec.json.decode(entry.msg)
                if message.get("type") == "response" and message.get("request_seq") in asked:
                    asked.remove(message["request_seq"])
                    if message.get("success"):
                        yield started.pop(0) if started else "the recording does not know it"
                    else:
                        yield str(message.get("message")).rpartition(": ")[2]
            case _:
                pass
    yield from started
