"""A program under debugpy that dials in, and a DAP client of a few lines for it."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import debugpy
import trio

from trio_debugmcp.dap.profiles.python.startup import STARTUP_EXPRESSION
from trio_debugmcp.probe import bootstrap

BOUND_SECONDS = 400
"""For everything that a test waits for; on a busy machine a start takes seconds."""


class Debuggee:
    """The connection: requests, and events that nothing has waited for yet."""

    def __init__(self, stream: trio.SocketStream, process: trio.Process) -> None:
        self.process = process
        self._stream = stream
        self._sent = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._events: list[dict[str, Any]] = []
        self._arrived = trio.Condition()

    async def read(self) -> None:
        """Read until the end of the connection."""
        buffer = b""
        while True:
            head, found, rest = buffer.partition(b"\r\n\r\n")
            size = int(head.rpartition(b"Content-Length: ")[2].split(b"\r\n")[0]) if found else 0
            if not found or len(rest) < size:
                try:
                    more = await self._stream.receive_some()
                    self._stream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)  # else 44 ms a request
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    return
                if not more:
                    return
                buffer += more
                continue
            message, buffer = json.loads(rest[:size]), rest[size:]
            async with self._arrived:
                if message["type"] == "response":
                    self._answers[message["request_seq"]] = message
                else:
                    self._events.append(message)
                self._arrived.notify_all()

    async def send(self, command: str, **arguments: Any) -> int:
        self._sent += 1
        body = json.dumps({"seq": self._sent, "type": "request", "command": command, "arguments": arguments}).encode()
        await self._stream.send_all(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return self._sent

    async def answer(self, seq: int) -> Any:
        with trio.fail_after(BOUND_SECONDS):
            async with self._arrived:
                while seq not in self._answers:
                    await self._arrived.wait()
        message = self._answers.pop(seq)
        assert message["success"], message
        return message.get("body") or {}

    async def request(self, command: str, **arguments: Any) -> Any:
        return await self.answer(await self.send(command, **arguments))

    async def event(self, name: str) -> Any:
        """Wait for an event and return its body."""
        with trio.fail_after(BOUND_SECONDS):
            async with self._arrived:
                while not any(event["event"] == name for event in self._events):
                    await self._arrived.wait()
        found = next(event for event in self._events if event["event"] == name)
        self._events.remove(found)
        return found.get("body") or {}

    def events(self, name: str) -> list[Any]:
        """The bodies of the events that nothing has waited for."""
        return [event.get("body") or {} for event in self._events if event["event"] == name]

    async def evaluate(self, expression: str) -> str:
        body = await self.request("evaluate", expression=expression, context=bootstrap.CONTEXT)
        return str(body["result"])

    async def install(self) -> None:
        if await self.evaluate(bootstrap.install_expression()) == bootstrap.SOURCES_NEEDED:
            assert await self.evaluate(bootstrap.install_expression(with_sources=True)) == "installed"

    async def ask(self, question: str, **parameters: Any) -> Any:
        """Ask the probe; return its answer."""
        reply = json.loads(await self.evaluate(bootstrap.call_expression(question, **parameters)))
        assert "error" not in reply, reply
        return reply["answer"]


def command(python: str, port: int, token: str, program: Path) -> list[str]:
    """The command line of a debuggee. Our debugpy's directory stands for `-m debugpy`: the program's need have none."""
    ours = str(Path(debugpy.__file__).parent)
    return [
        python,
        "-X",
        "frozen_modules=off",
        ours,
        "--connect",
        f"127.0.0.1:{port}",
        "--adapter-access-token",
        token,
        str(program),
    ]


@asynccontextmanager
async def open_debuggee(
    program: Path, *, breakpoints: tuple[int, ...] = (), python: str = sys.executable, just_my_code: bool = False
) -> AsyncIterator[Debuggee]:
    """Start a program that dials in, and let it run from its first line; kill it at the end."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYDEVD"))}
    argv = command(python, port, secrets.token_hex(8), program)
    process = await trio.lowlevel.open_process(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # so that what the program warns of counts as its output
        start_new_session=True,
        env=environment,
    )
    try:
        with trio.fail_after(BOUND_SECONDS):
            stream = await listeners[0].accept()
        async with stream, trio.open_nursery() as nursery:
            debuggee = Debuggee(stream, process)
            nursery.start_soon(debuggee.read)
            await _handshake(debuggee, program, breakpoints, just_my_code)
            yield debuggee
            nursery.cancel_scope.cancel("the test is done")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        with trio.CancelScope(shield=True):
            for listener in listeners:
                await listener.aclose()
            await process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    await pipe.aclose()


async def _handshake(debuggee: Debuggee, program: Path, breakpoints: tuple[int, ...], just_my_code: bool) -> None:
    await debuggee.request("pydevdAuthorize", debugServerAccessToken=None)
    await debuggee.request("initialize", adapterID="test", pathFormat="path")
    await debuggee.request("launch", justMyCode=just_my_code, program=str(program), showReturnValue=True)
    await debuggee.event("initialized")
    await debuggee.request(
        "setBreakpoints", source={"path": str(program)}, breakpoints=[{"line": line} for line in breakpoints]
    )
    await debuggee.evaluate(STARTUP_EXPRESSION)
    await debuggee.request("configurationDone")
