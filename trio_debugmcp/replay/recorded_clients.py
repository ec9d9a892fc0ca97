"""`RecordedClients`: the MCP clients of a recording. Each sends its recorded messages again, to the replaying server.

A message is sent at its recorded time, and not before what preceded it in the recording has happened: the answers to
earlier requests of the same client, and whatever the server was about to do.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from math import inf
from typing import Any

import anyio
import msgspec
import trio
from mcp.shared.message import SessionMessage

from trio_debugmcp.recording.format import (
    AnyEntry,
    ClientEndEntry,
    ClientEntry,
    EndEntry,
    McpEntry,
    SessionEndEntry,
)
from trio_debugmcp.replay.playhead import Playhead
from trio_debugmcp.transports.connection_tap import Serve
from trio_debugmcp.transports.in_memory import End, memory_pair
from trio_debugmcp.transports.jsonrpc import message_text, parse_message

log = logging.getLogger(__name__)

ANSWER_SECONDS = 5.0
"""For an answer to arrive, beyond what it took in the recording; then the replay continues without it."""

SEND_SECONDS = 1.0
"""For the server to take a message; a server that takes none any more is about to close the connection."""

GOODBYE_SECONDS = 10.0
"""From a client's end to that of the session, at most, if the server ended with the client."""

AT_ONCE_SECONDS = 1.0
"""From the end of a session to that of the server, at most, if the session ended because the server did."""


class ReplayedAnswer(msgspec.Struct, frozen=True):
    """What the replaying server answered a recorded client, and what the answer was in the recording."""

    client: str
    method: str
    now: dict[str, Any]
    then: dict[str, Any]


class _RecordedClient:
    """One client. It knows the recorded answers and their times; `answers` collects what it is answered now."""

    def __init__(self, entry: ClientEntry, entries: Iterable[McpEntry]) -> None:
        self.name = entry.client
        self.role = entry.role
        self.answers: list[ReplayedAnswer] = []
        self._then: dict[Any, tuple[float, dict[str, Any]]] = {}
        self._open: dict[Any, str] = {}
        self._answered = trio.lowlevel.ParkingLot()
        self._end: End | None = None
        for sent in entries:
            if sent.client == self.name and sent.dir == "out":
                message = msgspec.json.decode(sent.msg)
                if "method" not in message and isinstance(number := message.get("id"), int | str):
                    self._then.setdefault(number, (sent.t, message))

    async def run(self, serve: Serve, *, task_status: trio.TaskStatus[None]) -> None:
        """Be connected until `disconnect` is called."""
        with memory_pair() as (left, right):
            self._end = right
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._receive)
                task_status.started()
                await serve(*left, self.role)
                nursery.cancel_scope.cancel(reason="the recorded client has disconnected")

    async def send(self, entry: McpEntry) -> None:
        """Send a recorded message again."""
        message = parse_message(bytes(entry.msg))
        if message is None or self._end is None:
            return
        plain = msgspec.json.decode(entry.msg)
        if "method" not in plain:  # an answer to a request of the server: it makes none in a replay
            return
        if isinstance(number := plain.get("id"), int | str):
            self._open[number] = plain["method"]
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has closed the connection
            await self._end[1].send(message)

    def disconnect(self) -> None:
        if self._end is not None:
            self._end[1].close()

    async def wait_answers(self, before: float) -> None:
        """Wait until all requests are answered whose recorded answer came before that time of the recording."""
        while any(self._then[id_][0] < before for id_ in self._open if id_ in self._then):
            await self._answered.park()

    async def _receive(self) -> None:
        if self._end is None:
            raise AssertionError("the client is not connected")
        # Closed in any case: a server that ends with this client writes to it, and would wait for it to read.
        with closing(self._end[0]) as incoming:
            async for item in incoming:
                if isinstance(item, SessionMessage):
                    self._keep(msgspec.json.decode(message_text(item)))
        # The server has closed the connection: no open request will be answered, and none may be waited for.
        self._open.clear()
        self._answered.unpark_all()

    def _keep(self, message: dict[str, Any]) -> None:
        method = self._open.pop(message.get("id"), None) if "method" not in message else None
        if method is not None and message["id"] in self._then:
            self.answers.append(ReplayedAnswer(self.name, method, message, self._then[message["id"]][1]))
        self._answered.unpark_all()


class RecordedClients:
    """All clients of a recording, played by one task."""

    def __init__(self, entries: Sequence[AnyEntry], playhead: Playhead) -> None:
        staying = staying_clients(entries)
        self._entries = [
            entry
            for entry in entries
            if isinstance(entry, ClientEntry | McpEntry)
            or (isinstance(entry, ClientEndEntry) and entry.client not in staying)
        ]
        self._playhead = playhead
        self._clients: dict[str, _RecordedClient] = {}

    def __repr__(self) -> str:
        return f"<RecordedClients {', '.join(self._clients)}>"

    @property
    def answers(self) -> list[ReplayedAnswer]:
        """What the server has answered them so far."""
        return [answer for client in self._clients.values() for answer in client.answers]

    async def play(self, serve: Serve, end: float, *, on_end: Callable[[], None]) -> None:
        """Let all clients connect, send and disconnect at their times.

        `on_end` is called when the recording's last moment has passed. Clients that were connected then, or
        disconnected as the server ended, stay connected: this runs until they end or it is cancelled.
        """
        async with trio.open_nursery() as nursery:
            for entry in self._entries:
                if not isinstance(entry, McpEntry) or entry.dir == "in":
                    await self._wait(entry)
                    await self._perform(entry, serve, nursery)
            self._playhead.release(end)
            await self._playhead.reach(end)
            await self._settle(end)
            on_end()

    async def _wait(self, entry: ClientEntry | McpEntry | ClientEndEntry) -> None:
        self._playhead.release(entry.t)
        await self._playhead.reach(entry.t)
        client = self._clients.get(entry.client)
        if client is not None:
            with trio.move_on_after(self._playhead.patience.seconds(ANSWER_SECONDS)) as limit:
                await client.wait_answers(entry.t)
            if limit.cancelled_caught:
                log.warning("the replay continues at %.3f s without an answer that the recording has", entry.t)
        await self._settle(entry.t)

    async def _settle(self, moment: float) -> None:
        await self._playhead.wait_quiet()
        await self._playhead.wait_asked(moment)
        await self._playhead.wait_quiet()

    async def _perform(
        self, entry: ClientEntry | McpEntry | ClientEndEntry, serve: Serve, nursery: trio.Nursery
    ) -> None:
        match entry:
            case ClientEntry():
                mine = [other for other in self._entries if isinstance(other, McpEntry)]
                client = self._clients[entry.client] = _RecordedClient(entry, mine)
                await nursery.start(client.run, serve)
            case McpEntry():
                if (receiver := self._clients.get(entry.client)) is not None:
                    with trio.move_on_after(self._playhead.patience.seconds(SEND_SECONDS)):
                        await receiver.send(entry)
            case ClientEndEntry():
                if (leaver := self._clients.get(entry.client)) is not None:
                    leaver.disconnect()


def staying_clients(entries: Sequence[AnyEntry]) -> set[str]:
    """Return the clients that disconnected as the recorded server ended, which is how most agents end theirs.

    A replay does not end with them, and shows the session as it was: in the place where the recording ends.
    """
    end = entries[-1] if entries else None
    session_end = max((entry.t for entry in entries if isinstance(entry, SessionEndEntry)), default=-inf)
    if not (isinstance(end, EndEntry) and end.complete) or end.t - session_end > AT_ONCE_SECONDS:
        return set()
    staying = set()
    for entry in reversed(entries):
        match entry:
            case ClientEntry() | McpEntry(dir="in"):
                break
            case ClientEndEntry() if session_end - GOODBYE_SECONDS <= entry.t <= session_end:
                staying.add(entry.client)
            case _:
                pass
    return staying
