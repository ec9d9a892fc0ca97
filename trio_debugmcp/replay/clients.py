"""The clients of a recording, which say again what they said then, to the server that replays it.

Each message goes out at its moment, and not before what had come before it in the recording has come: the answers to
what the same client had asked, and whatever the server was about to do.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

import anyio
import msgspec
import trio
from mcp.shared.message import SessionMessage

from trio_debugmcp.recording.format import AnyEntry, ClientEndEntry, ClientEntry, McpEntry
from trio_debugmcp.replay.playhead import Playhead
from trio_debugmcp.transports.jsonrpc import message_text, parse_message
from trio_debugmcp.transports.memory import End, memory_pair

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0
"""For an answer to come, beyond what it took in the recording; then the replay goes on without it."""

SEND_SECONDS = 1.0
"""For the server to take a message; one that takes none any more is about to close the connection."""

Serve = Callable[..., Awaitable[None]]
"""Serves MCP on a pair of streams, for a role."""


class Answer(msgspec.Struct, frozen=True):
    """What the replaying server answered, and what was answered in the recording."""

    client: str
    method: str
    now: dict[str, Any]
    then: dict[str, Any]


class _Ghost:
    """One client. It knows what it was answered then, and when; `answers` has what it is answered now."""

    def __init__(self, entry: ClientEntry, entries: Iterable[McpEntry]) -> None:
        self.name = entry.client
        self.role = entry.role
        self.answers: list[Answer] = []
        self._then: dict[Any, tuple[float, dict[str, Any]]] = {}
        self._open: dict[Any, str] = {}
        self._answered = trio.lowlevel.ParkingLot()
        self._end: End | None = None
        for each in entries:
            if each.client == self.name and each.dir == "out":
                message = msgspec.json.decode(each.msg)
                if "method" not in message and isinstance(number := message.get("id"), int | str):
                    self._then.setdefault(number, (each.t, message))

    async def run(self, serve: Serve, *, task_status: trio.TaskStatus[None]) -> None:
        """Be connected until it leaves."""
        with memory_pair() as (left, right):
            self._end = right
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._hear)
                task_status.started()
                await serve(*left, self.role)
                nursery.cancel_scope.cancel(reason="the recorded client has left")

    async def say(self, entry: McpEntry) -> None:
        """Send a message again."""
        message = parse_message(bytes(entry.msg))
        if message is None or self._end is None:
            return
        plain = msgspec.json.decode(entry.msg)
        if "method" not in plain:  # an answer to the server, which asks nothing
            return
        if isinstance(number := plain.get("id"), int | str):
            self._open[number] = plain["method"]
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # it is closed already
            await self._end[1].send(message)

    def leave(self) -> None:
        """Close the connection."""
        if self._end is not None:
            self._end[1].close()

    async def wait_answers(self, before: float) -> None:
        """Wait until all is answered that was answered before that moment of the recording."""
        while any(self._then[id_][0] < before for id_ in self._open if id_ in self._then):
            await self._answered.park()

    async def _hear(self) -> None:
        if self._end is None:
            raise AssertionError("the ghost is connected")
        async for item in self._end[0]:
            if isinstance(item, SessionMessage):
                self._note(msgspec.json.decode(message_text(item)))
        self._open.clear()
        self._answered.unpark_all()

    def _note(self, message: dict[str, Any]) -> None:
        method = self._open.pop(message.get("id"), None) if "method" not in message else None
        if method is not None and message["id"] in self._then:
            self.answers.append(Answer(self.name, method, message, self._then[message["id"]][1]))
        self._answered.unpark_all()


class Ghosts:
    """All clients of a recording."""

    def __init__(self, entries: Iterable[AnyEntry], playhead: Playhead) -> None:
        self._entries = [each for each in entries if isinstance(each, ClientEntry | McpEntry | ClientEndEntry)]
        self._playhead = playhead
        self._ghosts: dict[str, _Ghost] = {}

    @property
    def answers(self) -> list[Answer]:
        """What they were answered."""
        return [answer for ghost in self._ghosts.values() for answer in ghost.answers]

    async def play(self, serve: Serve, end: float, *, over: Callable[[], None]) -> None:
        """Let them come, speak and leave; `over` is called at the end of the recording. Those that stayed stay on."""
        async with trio.open_nursery() as nursery:
            for entry in self._entries:
                if not isinstance(entry, McpEntry) or entry.dir == "in":
                    await self._wait(entry)
                    await self._do(entry, serve, nursery)
            self._playhead.release(end)
            await self._playhead.reach(end)
            await self._playhead.wait_quiet()
            over()

    async def _wait(self, entry: ClientEntry | McpEntry | ClientEndEntry) -> None:
        self._playhead.release(entry.t)
        await self._playhead.reach(entry.t)
        ghost = self._ghosts.get(entry.client)
        if ghost is not None:
            with trio.move_on_after(PATIENCE_SECONDS) as patience:
                await ghost.wait_answers(entry.t)
            if patience.cancelled_caught:
                log.warning("the replay goes on at %.3f s without an answer that was there then", entry.t)
        await self._playhead.wait_quiet()

    async def _do(self, entry: ClientEntry | McpEntry | ClientEndEntry, serve: Serve, nursery: trio.Nursery) -> None:
        match entry:
            case ClientEntry():
                mine = [each for each in self._entries if isinstance(each, McpEntry)]
                ghost = self._ghosts[entry.client] = _Ghost(entry, mine)
                await nursery.start(ghost.run, serve)
            case McpEntry():
                if (known := self._ghosts.get(entry.client)) is not None:
                    with trio.move_on_after(SEND_SECONDS):
                        await known.say(entry)
            case ClientEndEntry():
                if (known := self._ghosts.get(entry.client)) is not None:
                    known.leave()
