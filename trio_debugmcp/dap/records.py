"""Records of breakpoints' hits, which a program on the direct line writes over a connection of its own.

    records = HitRecords(pass_on, nursery, numbers)
    records.connect(stream, received)           # the program has connected; `record_connection` is its side of it
    await records.settle(written_before(stop))  # what the program has written before a stop has been passed on

Records that arrive together become one DAP `output` event, whose `data` has them, so a recording of the session has and
replays them. What the program prints cannot look like one: pydevd's own `output` events carry no `data`.
"""

import array
import fcntl
import logging
import os
import re
import secrets
import termios
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import count

import msgspec
import trio

from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.dap.messages import OutputEvent
from trio_debugmcp.patience import USUAL, Patience

log = logging.getLogger(__name__)

ACCEPTED = b"\0"
"""Sent when it is accepted: the program reads up to here."""

MAX_GREETING_BYTES = 1024

_MAX_RECORD_BYTES = 256 * 1024
"""A record is at most 8,000 characters, each of which takes up to 12 bytes in JSON, and some more."""

_CHUNK_BYTES = 64 * 1024

_LATE_SECONDS = 10.0
"""For records that were sent before a stop and have not arrived with it."""

_QUIET_SECONDS = 0.1
"""Without a record before a connection counts as read to its end: a forked child may hold it open."""

_TURNS = 50
"""Of all tasks, in which what has arrived is read: with TLS and in a channel of a relay it takes several of them."""


_SUMMED = frozenset({"count", "look"})
"""Kinds of records of which the last one of a breakpoint says all that those before it did."""


class _StopAfterRecords(msgspec.Struct, frozen=True):
    hitRecordBytes: int = 0  # noqa: N815 (as in `probe.inside.debugger.seam`)


class HitRecord(msgspec.Struct, array_like=True, frozen=True):
    """What became of one hit of a breakpoint. `kind` is one of `probe.inside.hits`; `hits` is its number."""

    kind: str
    breakpoint_id: str
    version: int
    hits: int
    text: str


class _Data(msgspec.Struct, frozen=True):
    hit_records: list[HitRecord]


def records_of(output: OutputEvent) -> list[HitRecord]:
    """Return the records that an `output` event of a direct line carries; none if it is another event."""
    if not isinstance(output.data, dict) or "hit_records" not in output.data:
        return []
    with suppress(msgspec.ValidationError):
        return msgspec.convert(output.data, _Data).hit_records
    return []


def with_records_key(body: bytes, key: str | None) -> bytes:
    """Return the response to `initialize` with the key under which the program's hits are recorded, if there is one."""
    response = msgspec.json.decode(body)
    if key is None or not response.get("success") or not isinstance(response.get("body"), dict):
        return body
    response["body"]["hitRecords"] = key
    return msgspec.json.encode(response)


def written_before(body: bytes | None) -> int:
    """Return how many bytes of records the program had written when it sent this body of a `stopped` event."""
    with suppress(msgspec.MsgspecError):
        return msgspec.json.decode(body or b"{}", type=_StopAfterRecords).hitRecordBytes
    return 0


TakeRecords = Callable[[trio.abc.Stream, bytes], None]
"""Called with a connection for records, and what the program has sent over it already."""


class RecordTakers:
    """The sessions that expect connections for records, each under a key; shared by all doors of a server."""

    def __init__(self) -> None:
        self._keys = count(1)
        self._takers: dict[str, TakeRecords] = {}

    def __repr__(self) -> str:
        return f"<RecordTakers {list(self._takers)}>"

    def expect(self, take: TakeRecords) -> str:
        """Hand over connections that begin with the key that is returned, until `refuse`."""
        key = str(next(self._keys))
        self._takers[key] = take
        return key

    def refuse(self, key: str) -> None:
        """Take no more connections with that key."""
        self._takers.pop(key, None)

    async def take(self, stream: trio.abc.Stream, received: bytes, token: str) -> bool:
        """Hand a connection over, if it has the token and a key; return whether it was. The caller bounds the wait."""
        greeting = await read_greeting(stream, received, token)
        taker = self._takers.get(greeting[0]) if greeting is not None else None
        if greeting is None or taker is None:
            log.info("a connection for records that no session waits for")
            return False
        taker(stream, greeting[1])
        return True


async def read_greeting(stream: trio.abc.Stream, received: bytes, token: str) -> tuple[str, bytes] | None:
    """Return the key that a connection for records says, and what it has sent after that; None without the token."""
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        while b"\n" not in received and len(received) < MAX_GREETING_BYTES:
            data = bytes(await stream.receive_some(MAX_GREETING_BYTES))
            if not data:
                return None
            received += data
    greeting, _, rest = received.partition(b"\n")
    words = greeting.split(b" ")
    if len(words) != 4 or not secrets.compare_digest(words[2], token.encode()):
        return None
    return words[3].decode(errors="replace"), rest


class HitRecords:
    """The connections of one program, and the way from them into its stream of DAP."""

    def __init__(
        self,
        pass_on: Callable[[bytes], Awaitable[None]],
        nursery: trio.Nursery,
        numbers: Iterator[int],
        patience: Patience = USUAL,
    ) -> None:
        self._pass_on = pass_on
        self._nursery = nursery
        self._streams: dict[trio.abc.Stream, trio.CancelScope] = {}
        self._received: dict[trio.abc.Stream, int] = {}
        self._passed_on: dict[trio.abc.Stream, int] = {}
        self._turn = trio.lowlevel.ParkingLot()
        self._numbers = numbers
        self._patience = patience

    def __repr__(self) -> str:
        return f"<HitRecords on {len(self._streams)} connections>"

    def connect(self, stream: trio.abc.Stream, received: bytes) -> None:
        """Read records from this stream until it ends; some bytes of them may have been received already."""
        self._streams[stream] = trio.CancelScope()
        self._received[stream], self._passed_on[stream] = len(received), 0
        self._nursery.start_soon(self._read, stream, received)

    async def settle(self, written: int = 0) -> None:
        """Wait until the records that the program has written by now have been passed on.

        Not until there are none: of a program whose other threads run on there always are. The system may bring what
        was `written` over the last connection later than what was sent over another one.
        """
        wanted = {stream: self._received[stream] + _unread(stream) for stream in self._streams}
        if self._streams:
            last = next(reversed(self._streams))
            wanted[last] = max(wanted[last], written)
        with trio.move_on_after(self._patience.seconds(_LATE_SECONDS)) as late:
            while any(self._passed_on.get(stream, until) < until for stream, until in wanted.items()):
                await self._turn.park()
        if late.cancelled_caught:
            log.warning("records of hits did not arrive before the stop that they are of")

    async def drain(self) -> None:
        """Wait until all records of a program that has ended have been passed on. Bounded."""
        while self._streams:
            before = dict(self._received)
            with trio.move_on_after(self._patience.seconds(_QUIET_SECONDS)) as quiet:
                await self._turn.park()
            if quiet.cancelled_caught:
                # On a busy machine this task may run before those that read what has arrived meanwhile.
                for _ in range(_TURNS):
                    await trio.lowlevel.checkpoint()
                if before == self._received == self._passed_on and not any(map(_unread, self._streams)):
                    return

    def close(self) -> None:
        """Take no more records."""
        for scope in list(self._streams.values()):
            scope.cancel(reason="no more records are taken")

    async def _read(self, stream: trio.abc.Stream, received: bytes) -> None:
        with self._streams[stream]:
            try:
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError, ConnectionError):
                    await stream.send_all(ACCEPTED)
                    rest, data = b"", received
                    while True:
                        *lines, rest = (rest + data).split(b"\n")
                        records = list(_decoded(lines))
                        if records:
                            await self._pass_on(self._event(records))
                        if len(rest) > _MAX_RECORD_BYTES:
                            log.warning("a record of a hit without an end")
                            break
                        self._passed_on[stream] = self._received[stream]
                        self._turn.unpark_all()
                        data = await _received_some(stream)
                        self._received[stream] += len(data)
                        if not data:
                            break
            finally:
                del self._streams[stream], self._received[stream], self._passed_on[stream]
                self._turn.unpark_all()
                with trio.CancelScope(shield=True):
                    await trio.aclose_forcefully(stream)

    def _event(self, records: list[HitRecord]) -> bytes:
        text = "".join(f"{record.text}\n" for record in records if record.kind == "log")
        body = {"category": "tracepoint", "output": text, "data": _Data(records)}
        event = {"seq": next(self._numbers), "type": "event", "event": "output", "body": body}
        return encode_frame(msgspec.json.encode(event))


def _decoded(lines: list[bytes]) -> Iterator[HitRecord]:
    """Decode records; of several that only count the same breakpoint, one after the other, give the last."""
    before: HitRecord | None = None
    lost = 0
    for line in lines:
        try:
            record = msgspec.json.decode(line, type=HitRecord)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            log.warning("a record of a hit without sense: %s", error)
            found = _without_text(line)
            if found is None:
                lost += 1
                continue
            record = found
        if before is not None and (before.kind not in _SUMMED or _name(before) != _name(record)):
            yield before
        before = record
    if before is not None:
        yield before
    if lost:
        yield HitRecord("log", "", 0, 0, f"<{lost} record{'s' if lost > 1 else ''} of hits could not be read>")


_HEAD = re.compile(rb'\["(stop|log|count|fail|capture|look)", ?"([\w.-]{1,100})", ?(\d{1,9}), ?(\d{1,18}), ?"')


def _without_text(line: bytes) -> HitRecord | None:
    """Return what is known of a record whose text cannot be decoded: whose hit it is, and its number."""
    head = _HEAD.match(line)
    if head is None:
        return None
    kind, id_ = head[1].decode(), head[2].decode(errors="replace")
    return HitRecord(kind, id_, int(head[3]), int(head[4]), "<the text of this hit could not be read>")


def _name(record: HitRecord) -> tuple[str, str, int]:
    return record.kind, record.breakpoint_id, record.version


async def _received_some(stream: trio.abc.Stream) -> bytes:
    """Receive bytes, nothing at the end. Once they are not `_unread` any more no other task runs before it returns."""
    if not isinstance(stream, trio.SocketStream):
        return bytes(await stream.receive_some(_CHUNK_BYTES))
    while True:
        await trio.lowlevel.wait_readable(stream.socket)
        with suppress(BlockingIOError, InterruptedError):
            return os.read(stream.socket.fileno(), _CHUNK_BYTES)  # trio's own way lets others run before it returns


def _unread(stream: trio.abc.Stream) -> int:
    """How many bytes have arrived that were not read yet; 0 for streams that cannot tell."""
    waiting = array.array("i", [0])
    if isinstance(stream, trio.SocketStream):
        with suppress(OSError):
            fcntl.ioctl(stream.socket.fileno(), termios.FIONREAD, waiting)
    return waiting[0]
