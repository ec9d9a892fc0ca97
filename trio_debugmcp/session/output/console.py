r"""The program's standard streams: its output in a bounded ring with sequence numbers, and its input.

    console.append("stdout", "hello\n")
    [entry] = console.entries(since_seq=0)          # OutputEntry(seq=1, stream="stdout", text="hello\n", …)
    await console.input.write("42\n", close_after=False)

Pumps fill the ring from the program's pipes, or the event pump from the adapter's `output` events. What was written is
announced as changes of the state: resources and timeline show it. A change follows what was written before it: a task
that merges one announces first.
"""

import array
import codecs
import fcntl
import termios
from collections import Counter, defaultdict, deque
from collections.abc import Hashable
from contextlib import suppress
from itertools import takewhile

import trio
import trio.lowlevel
from msgspec.structs import replace

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.pipe_descriptor import descriptor_of
from trio_debugmcp.masking.mask import masked_value
from trio_debugmcp.masking.stream_mask import StreamMasker
from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.program_input import ProgramInput
from trio_debugmcp.session.output.whole_lines import Stream, WholeLines, Writer
from trio_debugmcp.state.changes import OutputWritten, WrittenPiece
from trio_debugmcp.state.payloads import (
    MAX_VALUE_LENGTH,
    OutputEntry,
    OutputPayload,
    end_of,
    iso_time,
    json_size,
    shortened,
)

ANNOUNCE_SECONDS = 0.05
"""Between two announcements of output: a flood costs twenty changes a second, not one per fragment; people do not see
the lag."""


class OutputAnnouncements:
    """What was written and is not announced yet: of each stream the beginning, and how much."""

    def __init__(self, merger: Merger, *, show_secrets: bool) -> None:
        self._merger = merger
        self._show_secrets = show_secrets
        self._maskers: defaultdict[str, StreamMasker] = defaultdict(StreamMasker)
        self._total = 0
        self._pieces: dict[str, WrittenPiece] = {}
        self._arrived = trio.Event()

    def __repr__(self) -> str:
        return f"<OutputAnnouncements: {len(self._pieces)} of {self._total} characters>"

    def add(self, stream: str, text: str) -> None:
        """Add what a program has written to one of its streams."""
        self._total += len(text)
        piece = self._pieces.get(stream, WrittenPiece(stream, "", 0))
        beginning = piece.beginning + text[: MAX_VALUE_LENGTH - len(piece.beginning)]
        self._pieces[stream] = WrittenPiece(stream, beginning, piece.length + len(text))
        self._arrived.set()

    async def announce(self, session_id: str) -> None:
        """Merge what a session wrote since the last time, so that it precedes the change that follows."""
        if self._pieces:
            pieces, self._pieces = tuple(self._clean(piece) for piece in self._pieces.values()), {}
            self._arrived = trio.Event()
            await self._merger.merge(OutputWritten(session_id, self._total, pieces))

    def _clean(self, piece: WrittenPiece) -> WrittenPiece:
        # Cut before it is masked: a secret at the place of the cut shows by the mark of the cut.
        given = shortened(piece.beginning, length=piece.length)
        clean = given if self._show_secrets else self._maskers[piece.stream].feed([given])[0]
        return WrittenPiece(piece.stream, clean, piece.length)

    async def keep_announcing(self, session_id: str) -> None:
        """Announce output as it arrives, until cancelled."""
        while True:
            await self._arrived.wait()
            await self.announce(session_id)
            await trio.sleep(ANNOUNCE_SECONDS)


MAX_OUTPUT_LENGTH = 4 * 1024 * 1024
"""Characters of program output kept per session; the oldest goes first, and is counted."""

MAX_ENTRY_LENGTH = 16 * 1024
"""Characters joined into one entry: output comes in fragments, and people read lines."""

SHOWN_BYTES = 28_000
"""Bytes of output in the resource, as JSON. Its readers follow along, and page back with process_read_output."""

_CHUNK_BYTES = 64 * 1024
"""Read at once: as much as a pipe holds."""

_SETTLE_SECONDS = 0.1
"""For output that has arrived to be read: a program that writes without end must not hold up its stop."""

_NEW = object()
"""Stands for readers that have not been given anything yet."""


class Console:
    """Output and input of one root session and its children; the output can be read after the session has ended.

    Tracepoint messages are entries among the output, but not announced as output: the program did not write them.
    Those who write and those who read each have methods of their own, hence so many.

    Attributes:
        announcements: of what the program has written, in the state.
        input: what clients write to the program.
    """

    def __init__(self, clock: Clock, merger: Merger, patience: Patience = USUAL, *, show_secrets: bool = False) -> None:
        self._clock = clock
        self._show_secrets = show_secrets
        self._patience = patience
        self._maskers: defaultdict[str, StreamMasker] = defaultdict(StreamMasker)
        self.announcements = OutputAnnouncements(merger, show_secrets=show_secrets)
        self.input = ProgramInput(patience)
        self._entries: deque[OutputEntry] = deque()
        self._length = 0
        self.next_seq = 1
        self.dropped = 0
        self._read: dict[Hashable, int] = {}
        self._lost: dict[Hashable, Counter[str]] = {_NEW: Counter()}
        self._sealed = 1
        self._lines = WholeLines()
        self._pipes: dict[int, int] = {}
        self.is_piped = False

    def __repr__(self) -> str:
        return f"<Console of {len(self._entries)} entries, {self._length} characters, input={self.input!r}>"

    def message(self, template: str, text: str) -> str:
        """Return the message of a tracepoint without secrets; `template` has the names of what is in it."""
        return text if self._show_secrets else masked_value(template, text)

    def append(self, stream: Stream, text: str, writer: Writer | None = None) -> None:
        """Add output; text after an unfinished line of the same stream is joined to it.

        `writer`: one of several processes. Its lines are kept until they are whole, or a client reads.
        """
        if not text:
            return
        if writer is not None:
            self.announcements.add(stream, text)
            self._add(stream, self._lines.take(stream, text, writer))
            return
        self._add(stream, text)
        if stream != "tracepoint":
            self.announcements.add(stream, text)

    def _add(self, stream: Stream, added: str) -> None:
        for start in range(0, len(added), MAX_ENTRY_LENGTH):
            text = added[start : start + MAX_ENTRY_LENGTH]
            last = self._entries[-1] if self._entries else None
            joins = (
                last is not None
                and last.stream == stream
                and last.seq >= self._sealed
                and not last.text.endswith("\n")
                and len(last.text) + len(text) <= MAX_ENTRY_LENGTH
            )
            if joins and last is not None:
                self._entries[-1] = OutputEntry(last.seq, stream, last.text + text, last.time)
            else:
                self._entries.append(OutputEntry(self.next_seq, stream, text, iso_time(self._clock.now())))
                self.next_seq += 1
            self._length += len(text)
        while self._length > MAX_OUTPUT_LENGTH and len(self._entries) > 1:
            entry = self._entries.popleft()
            self._length -= len(entry.text)
            self.dropped += 1
            for reader, lost in self._lost.items():
                if entry.seq >= self._read.get(reader, 1):
                    lost[entry.stream] += len(entry.text)

    def entries(self, since_seq: int = 0) -> list[OutputEntry]:
        """Return the entries with a sequence number of at least `since_seq`, oldest first."""
        self._seal()
        return self.unsealed(since_seq)

    def unsealed(self, since_seq: int) -> list[OutputEntry]:
        """Return the entries from that number on as they are: the last may grow, and secrets are not masked."""
        found = takewhile(lambda entry: entry.seq >= since_seq, reversed(self._entries))
        return [*found][::-1]

    def _seal(self) -> None:
        """Make the entries final, and mask the secrets in them.

        A reader that has seen an entry pages on from the next number, so nothing may be joined to it later. Masked only
        now, as a secret often arrives in pieces.
        """
        for of, unfinished in self._lines.rest():
            self._sealed = self.next_seq  # that of another process is not joined to it
            self._add(of, unfinished)
        fresh = list(
            takewhile(lambda at: self._entries[at].seq >= self._sealed, range(-1, -len(self._entries) - 1, -1))
        )
        self._sealed = self.next_seq
        if self._show_secrets:
            return
        by_stream: defaultdict[str, list[int]] = defaultdict(list)
        for at in reversed(fresh):
            by_stream[self._entries[at].stream].append(at)
        for stream, places in by_stream.items():
            clean = self._maskers[stream].feed([self._entries[at].text for at in places])
            for at, text in zip(places, clean, strict=True):
                self._length += len(text) - len(self._entries[at].text)
                self._entries[at] = replace(self._entries[at], text=text)

    def news(self, reader: Hashable = None) -> list[OutputEntry]:
        """Return the entries that this reader has not been given yet; they stay new until `mark_read`."""
        return self.entries(self._read.get(reader, 1))

    def lost(self, reader: Hashable = None) -> Counter[str]:
        """Return how many characters of each stream were dropped before this reader had been given them."""
        return self._lost.get(reader, self._lost[_NEW])

    def mark_read(self, next_seq: int, reader: Hashable) -> None:
        """Record that this reader has been given all entries before that number."""
        self._read[reader] = max(next_seq, self._read.get(reader, 1))
        self._lost[reader] = Counter()

    def payload(self, revision: int) -> OutputPayload:
        """Return `debugger://output`: the end of what the program wrote, its oldest entry cut to fit."""
        self._seal()
        kept: list[OutputEntry] = []
        room = SHOWN_BYTES
        for entry in reversed(self._entries):
            if entry.stream == "tracepoint":
                continue
            size = json_size(entry)
            if size > room:
                around = size - json_size(entry.text) + len("…".encode())
                shown = end_of(entry.text, room - around) if room > around else ""
                kept += [OutputEntry(entry.seq, entry.stream, f"…{shown}", entry.time)] if shown else []
                break
            kept.append(entry)
            room -= size
        return OutputPayload(kept[::-1], self.next_seq, self.dropped, revision)

    async def pump(self, pipe: trio.abc.ReceiveStream, stream: Stream) -> None:
        """Read a pipe of the program to its end."""
        self.is_piped = True
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        descriptor = descriptor_of(pipe)
        if descriptor is not None:
            self._pipes[descriptor] = 0
        try:
            with suppress(trio.ClosedResourceError, trio.BrokenResourceError):
                while data := await pipe.receive_some(_CHUNK_BYTES):
                    self.append(stream, decoder.decode(data))
                    if descriptor is not None:
                        self._pipes[descriptor] += len(data)
        finally:
            self._pipes.pop(descriptor if descriptor is not None else -1, None)
            self.append(stream, decoder.decode(b"", final=True))

    async def settle(self) -> None:
        """Wait until the output that is in the pipes by now has been read: a stop event overtakes it.

        Not until they are empty: of a program that writes without end they never are.
        """
        wanted = {pipe: self._pipes[pipe] + _unread(pipe) for pipe in self._pipes}
        with trio.move_on_after(self._patience.seconds(_SETTLE_SECONDS)):
            # A pump does not report what it has read, so it is checked after every turn of the pumps.
            while any(self._pipes.get(pipe, until) < until for pipe, until in wanted.items()):  # noqa: ASYNC110
                await trio.lowlevel.checkpoint()


def _unread(descriptor: int) -> int:
    """Return how many bytes wait in a pipe."""
    waiting = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
    return waiting[0]
