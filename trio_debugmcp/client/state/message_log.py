"""The log of JSON-RPC messages, each response beside its request, and the log of a server's standard error.

    log = MessageLog(max_entries=1000, max_bytes=16_000_000, clock=clock.utc)
    log.record("client", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    entry = log.record("server", {"jsonrpc": "2.0", "id": 1, "result": {}})     # the request's, now with its response

Owns two rings, bounded in entries and in bytes. Pure: the connection records what passed, in wire order.

A request is identified by its direction *and* its id: client and server count their ids independently, so `3` of one is
not `3` of the other. When a request leaves the ring, its late response is logged by itself.
"""

import json
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.client.state.memory_size import memory_size

Origin = Literal["client", "server"]
Direction = Literal["request", "response", "notification"]
Body = Mapping[str, Any]

LARGEST_SHARE = 4
"""A single message may fill a quarter of the log; of a larger one only size and beginning are kept."""

HEAD_CHARACTERS = 1000
"""Kept of the beginning of a message that is too large."""

MAX_STDERR_LINES = 1000
MAX_STDERR_LINE_CHARACTERS = 4000
"""Bounds of the standard error log: a traceback fits, and a server that writes without end does no harm."""

STDERR_TAIL_LINES = 20
"""In an error message: the end of a traceback, with the exception."""


class MessageEntry(Struct, frozen=True, kw_only=True, eq=False, rename="camel"):
    """One message; for a request, also its response.

    Attributes:
        id: of the entry, not of the message.
        timestamp: when the message passed.
        direction: request, notification, or a response whose request is not in the log.
        origin: the side that sent it.
        message: the JSON-RPC message; `{"truncated": true, "size", "head"}` when it was too large for the log.
        response: the response's JSON-RPC message, once there is one.
        duration: seconds from request to response.
        size: bytes held, estimated.
    """

    id: int
    timestamp: datetime
    direction: Direction
    origin: Origin
    message: Body
    size: int
    response: Body | None = None
    duration: float | None = None


class MessageLogStatistics(Struct, frozen=True):
    """`MessageLog.statistics()`.

    Attributes:
        entries: held now.
        bytes: held now, estimated.
        unanswered: requests among the entries that have no response yet.
    """

    entries: int
    bytes: int
    unanswered: int


class MessageLog:
    """The last `max_entries` messages that fit into `max_bytes`; 0 entries keeps none.

    Args:
        max_entries: bound in entries.
        max_bytes: bound in bytes.
        clock: returns the time of day.
    """

    def __init__(self, max_entries: int, max_bytes: int, clock: Callable[[], datetime]) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._clock = clock
        self._entries: OrderedDict[int, MessageEntry] = OrderedDict()
        self._open: dict[tuple[Origin, str | int], int] = {}
        self._bytes = 0
        self._last_id = 0

    def __repr__(self) -> str:
        return f"<MessageLog: {len(self._entries)} entries, {self._bytes} bytes, {len(self._open)} unanswered>"

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[MessageEntry]:
        return iter(tuple(self._entries.values()))

    def statistics(self) -> MessageLogStatistics:
        """What is held; never above the bounds."""
        return MessageLogStatistics(len(self._entries), self._bytes, len(self._open))

    def record(self, origin: Origin, message: Body) -> MessageEntry:
        """Log one message; a response is added to its request's entry, which is returned."""
        if "method" in message:
            return self._record_call(origin, message)
        asked_by: Origin = "server" if origin == "client" else "client"
        key = (asked_by, message.get("id", ""))
        request = self._entries.get(self._open.pop(key, 0))
        return self._add("response", origin, message) if request is None else self._answer(request, message)

    def request(self, origin: Origin, request_id: str | int) -> MessageEntry | None:
        """Find the unanswered request `request_id` of `origin`."""
        return self._entries.get(self._open.get((origin, request_id), 0))

    def clear(self) -> None:
        """Remove all entries."""
        self._entries.clear()
        self._open.clear()
        self._bytes = 0

    def _record_call(self, origin: Origin, message: Body) -> MessageEntry:
        if "id" not in message:
            return self._add("notification", origin, message)
        entry = self._add("request", origin, message)
        if entry.id in self._entries:  # it is not if the log keeps no entries at all
            self._open[origin, message["id"]] = entry.id
        return entry

    def _add(self, direction: Direction, origin: Origin, message: Body) -> MessageEntry:
        self._last_id += 1
        message, size = self._within_bounds(message)
        entry = MessageEntry(
            id=self._last_id,
            timestamp=self._clock(),
            direction=direction,
            origin=origin,
            message=message,
            size=size,
        )
        self._entries[entry.id] = entry
        self._bytes += size
        self._trim()
        return entry

    def _answer(self, request: MessageEntry, message: Body) -> MessageEntry:
        message, size = self._within_bounds(message)
        duration = (self._clock() - request.timestamp).total_seconds()
        answered = replace(request, response=message, duration=duration, size=request.size + size)
        self._entries[request.id] = answered
        self._bytes += size
        self._trim()
        return answered

    def _trim(self) -> None:
        while self._entries and (len(self._entries) > self._max_entries or self._bytes > self._max_bytes):
            _, oldest = self._entries.popitem(last=False)
            self._bytes -= oldest.size
            key = (oldest.origin, oldest.message.get("id", ""))
            if self._open.get(key) == oldest.id:
                del self._open[key]

    def _within_bounds(self, message: Body) -> tuple[Body, int]:
        size = memory_size(message)
        if size > self._max_bytes // LARGEST_SHARE:
            head = json.dumps(message, default=str)[:HEAD_CHARACTERS]
            kept = {key: message[key] for key in ("jsonrpc", "id", "method") if key in message}
            message = {**kept, "truncated": True, "size": size, "head": head}
            size = memory_size(message)
        return message, size


class StderrLine(Struct, frozen=True, kw_only=True):
    """A line of a server's standard error, without its newline."""

    timestamp: datetime
    line: str


class StderrLog:
    """The last lines of standard error, of all connections of a client: they explain why one ended."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lines: deque[StderrLine] = deque(maxlen=MAX_STDERR_LINES)

    def __repr__(self) -> str:
        return f"<StderrLog: {len(self._lines)} lines>"

    def __iter__(self) -> Iterator[StderrLine]:
        return iter(tuple(self._lines))

    def record(self, line: str) -> str:
        """Keep a line, shortened if it is too long, and return what was kept."""
        line = line[:MAX_STDERR_LINE_CHARACTERS]
        self._lines.append(StderrLine(timestamp=self._clock(), line=line))
        return line

    def tail(self, since: datetime) -> str:
        """The last lines written at or after `since`, joined by newlines."""
        lines = [entry.line for entry in self._lines if entry.timestamp >= since]
        return "\n".join(lines[-STDERR_TAIL_LINES:])

    def clear(self) -> None:
        """Remove all lines."""
        self._lines.clear()
