"""`LuaProgram`: the line to the debugger inside a program of Lua, two FIFOs and the file that says there is something.

    program = LuaProgram(directory)
    ...                                             # `lua main.lua DIRECTORY …` is started
    async for event in program.events(): ...        # in a task of its own; begins with {"event": "begun"}
    body = await program.request("evaluate", expression="n")

The FIFOs are held open at both ends until the program has opened them, so that neither side reads an end before.
One request is under way at a time, as its caller sees to. Where the program runs, the file is there before the request
is written, and the program removes it as it reads: so it never waits for a request that does not come.
"""

import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import trio

from trio_debugmcp.errors import AdapterGone, AdapterRefused, ProtocolViolation

_MAX_LINE_BYTES = 32 * 1024 * 1024
"""Of one message: a thousand children of a value, each with a long text, are 2 MB."""

_GONE = "the program has ended"

_EVALUATES = frozenset({"evaluate", "setVariable"})

_MOVES = frozenset({"continue", "next", "stepIn", "stepOut"})


class LuaProgram:
    """The debugger's end.

    Attributes:
        runs: the program runs, so that a file is to say that there is something to read.
    """

    def __init__(self, directory: str) -> None:
        self.runs = False
        self._wanted = Path(directory, "wanted")
        self._numbers = count(1)
        self._answers: dict[int, trio.MemorySendChannel[dict[str, Any]]] = {}
        self._over = False
        self._asked: int | None = None
        self._interrupt = Path(directory, "interrupt")
        ends = []
        for name in ("requests", "events"):
            path = Path(directory, name)
            os.mkfifo(path, 0o600)
            ends += [os.open(path, os.O_RDONLY | os.O_NONBLOCK), os.open(path, os.O_WRONLY | os.O_NONBLOCK)]
        self._held = [ends[0], ends[3]]
        self._requests, self._events = trio.lowlevel.FdStream(ends[1]), trio.lowlevel.FdStream(ends[2])

    def __repr__(self) -> str:
        return f"<LuaProgram, {'over' if self._over else 'running' if self.runs else 'stopped'}>"

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the program's events in order until it has ended; the answers to requests are passed to who asked.

        Raises:
            ProtocolViolation: what it writes is not what our side of it would write.
        """
        try:
            async for line in self._lines():
                message = _decoded(line)
                number = message.get("id")
                if number is None:
                    self._release()
                    self.runs = self.runs and message.get("event") != "stopped"
                    yield message
                elif number in self._answers:
                    self._answers[number].send_nowait(message)
        finally:
            self._end()

    async def request(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Ask the program, and return its answer.

        Raises:
            AdapterRefused: it says why not.
            AdapterGone: it has ended.
        """
        if self._over:
            raise AdapterGone(_GONE)
        number = next(self._numbers)
        answered, answer = trio.open_memory_channel[dict[str, Any]](1)
        self._answers[number] = answered
        self._asked = number if command in _EVALUATES else None
        try:
            await self._send({"id": number, "command": command, **arguments})
            response = await answer.receive()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.EndOfChannel):
            raise AdapterGone(_GONE) from None
        finally:
            self._answers.pop(number, None)
            self._asked = None
        body = response.get("body")
        if not isinstance(body, dict):
            raise AdapterRefused(command, str(response.get("error", "it gave no reason")))
        return body

    def interrupt(self) -> bool:
        """Interrupt what is evaluated for a request, or in a condition as the program runs; return whether it may."""
        number = 0 if self.runs else self._asked
        if number is not None and not self._over:
            written = self._interrupt.with_suffix(".new")
            written.write_text(f"{number}\n")
            written.replace(self._interrupt)
        return number is not None and not self._over

    async def aclose(self) -> None:
        """Close the FIFOs: the program reads their end, if it lives."""
        self._end()
        self._release()
        for stream in (self._requests, self._events):
            await trio.aclose_forcefully(stream)

    # --- Parts --------------------------------------------------------------------------------------------------------

    async def _send(self, message: dict[str, Any]) -> None:
        if self.runs:
            message["announced"] = True
            self._wanted.touch()
        elif message["command"] in _MOVES:
            self._interrupt.unlink(missing_ok=True)  # of a pause that the program did not see before it stopped
            self.runs = True  # from here on; it may stop again before its answer is read
        await self._requests.send_all(f"{lua_text(message)}\n".encode())

    async def _lines(self) -> AsyncIterator[bytes]:
        pending = bytearray()
        while data := await self._received():
            pending += data
            if b"\n" in data:
                *lines, rest = pending.split(b"\n")
                pending = bytearray(rest)
                for line in lines:
                    yield bytes(line)
            elif len(pending) > _MAX_LINE_BYTES:
                raise ProtocolViolation("a line of the program's debugger is too long", bytes(pending[:200]))

    async def _received(self) -> bytes:
        try:
            return bytes(await self._events.receive_some())
        except trio.ClosedResourceError:
            return b""

    def _release(self) -> None:
        """Close the program's ends of the FIFOs, which it has opened itself by now."""
        for descriptor in self._held:
            os.close(descriptor)
        self._held = []

    def _end(self) -> None:
        self._over = True
        for answered in self._answers.values():
            answered.close()


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line.decode(errors="replace"))
    except (ValueError, RecursionError) as error:
        raise ProtocolViolation(f"the program's debugger does not write JSON: {error}", line[:200]) from error
    if not isinstance(message, dict):
        raise ProtocolViolation("the program's debugger does not write messages", line[:200])
    return message


_ESCAPED = re.compile(rb"[^ !#-\[\]-~]")


def lua_text(value: object) -> str:
    """Return an expression of Lua, in one line, for a value as JSON has them.

    lua_text({"lines": {3: ["a.lua"]}})     # '{["lines"]={[3]={"a.lua"}}}'
    """
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            text = _ESCAPED.sub(lambda found: b"\\%03d" % found[0][0], value.encode(errors="surrogateescape"))
            return f'"{text.decode()}"'
        case Mapping():
            members = [f"[{lua_text(key)}]={lua_text(member)}" for key, member in value.items() if member is not None]
            return "{" + ",".join(members) + "}"
        case list() | tuple():
            return "{" + ",".join(lua_text(item) for item in value) + "}"
        case _:
            raise TypeError(f"no value of Lua for {value!r}")
