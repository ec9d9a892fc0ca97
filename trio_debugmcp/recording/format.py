"""The recording's file: JSON Lines, a header and then what crossed the edges, in the order in which it did.

docs/recording.md describes it. A file whose last line is torn, because the server was killed, can be read.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from trio_debugmcp.state.payloads import shortened

FORMAT = "trio-debugmcp recording"

VERSION = 1
"""Rises when an older replay would misunderstand a newer recording."""

Direction = Literal["in", "out"]
"""As the server sees it: `in` is what it was told."""


class NotARecording(Exception):
    """The file cannot be replayed; the text says why, in a sentence."""


class Header(Struct, frozen=True, rename="camel", kw_only=True):
    """The first line. `anchor`: Unix time at `t` 0; `debounce`, `max_wait` and `linger`: the server's, in seconds."""

    format: str
    version: int
    server: str
    python: str
    platform: str
    adapters: list[str]
    started_at: str
    anchor: float
    argv: list[str]
    directory: str
    roots: list[str]
    debounce: float
    max_wait: float
    linger: float
    tools: Literal["core", "full"] = "full"


class Entry(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True, tag_field="edge"):
    """The base of all other lines. `t`: seconds since the start, by the server's own clock."""

    t: float


class SessionEntry(Entry, frozen=True, kw_only=True, tag="session"):
    """A debug session opens its adapter. `target`: what is launched or attached to."""

    session: str
    adapter: str
    start: Literal["launch", "attach", "child"]
    target: str | None = None
    parent: str | None = None


class SessionEndEntry(Entry, frozen=True, kw_only=True, tag="sessionEnd"):
    """It is over, and its adapter closed."""

    session: str


class AdapterEntry(Entry, frozen=True, kw_only=True, tag="adapter"):
    """A DAP message. `cut`: the size of one that was too large, of which only the envelope is kept."""

    session: str
    dir: Direction
    msg: Raw
    cut: int = 0


class GarbageEntry(Entry, frozen=True, kw_only=True, tag="garbage"):
    """Bytes of an adapter that are no message, as text in Latin-1; the connection is over."""

    session: str
    text: str


class HangUpEntry(Entry, frozen=True, kw_only=True, tag="hangUp"):
    """The adapter closed its end of the connection; `stderr`: the last that it wrote there."""

    session: str
    stderr: str = ""


class ProgramEntry(Entry, frozen=True, kw_only=True, tag="program"):
    """The program was started in a session's terminal."""

    session: str
    pid: int


class OutputEntry(Entry, frozen=True, kw_only=True, tag="output"):
    """The program wrote to a standard stream; without a text it has closed it."""

    session: str
    pid: int
    stream: Literal["stdout", "stderr"]
    text: str | None = None


class ExitEntry(Entry, frozen=True, kw_only=True, tag="exit"):
    """The program ended."""

    session: str
    pid: int
    exit_code: int


class Refusal(Struct, frozen=True):
    """A `UsageError`."""

    code: str
    message: str
    details: dict[str, Any] = {}


class LookEntry(Entry, frozen=True, kw_only=True, tag="look"):
    """The server looked something up on its machine: a file, its text, an adapter."""

    question: str
    answer: Any = None
    error: Refusal | None = None


class ClientEntry(Entry, frozen=True, kw_only=True, tag="client"):
    """An MCP client spoke for the first time."""

    client: str
    transport: str
    role: Literal["control", "observe"]
    era: Literal["handshake", "modern"]


class ClientEndEntry(Entry, frozen=True, kw_only=True, tag="clientEnd"):
    """It left."""

    client: str


class McpEntry(Entry, frozen=True, kw_only=True, tag="mcp"):
    """A JSON-RPC message. `cut` as in `AdapterEntry`."""

    client: str
    dir: Direction
    msg: Raw
    cut: int = 0


class EndEntry(Entry, frozen=True, kw_only=True, tag="end"):
    """The last line. `complete`: the server ended; else nothing was recorded any more, for that reason."""

    reason: str
    complete: bool = True


AnyEntry = (
    SessionEntry
    | SessionEndEntry
    | AdapterEntry
    | GarbageEntry
    | HangUpEntry
    | ProgramEntry
    | OutputEntry
    | ExitEntry
    | LookEntry
    | ClientEntry
    | ClientEndEntry
    | McpEntry
    | EndEntry
)

_encoder = msgspec.json.Encoder()
_entries = msgspec.json.Decoder(AnyEntry)
_headers = msgspec.json.Decoder(Header)
_loose = msgspec.json.Decoder(dict[str, Any])


class Recording(Struct, frozen=True):
    """A recording that was read. `torn`: its last line is not whole, the server that wrote it was killed."""

    header: Header
    entries: tuple[AnyEntry, ...]
    torn: bool = False

    @property
    def length(self) -> float:
        """Seconds from the start to the last entry."""
        return self.entries[-1].t if self.entries else 0.0

    @property
    def complete(self) -> bool:
        """Whether it was recorded to the server's end."""
        last = self.entries[-1] if self.entries else None
        return isinstance(last, EndEntry) and last.complete


def encode_line(line: Header | Entry) -> bytes:
    """One line of the file, with its end."""
    return _encoder.encode(line) + b"\n"


def read_recording(path: str | Path) -> Recording:
    """Read a file.

    Raises:
        NotARecording: it is none, or of a newer version, or damaged elsewhere than in its last line.
        OSError: it cannot be read.
    """
    return parse_recording(Path(path).read_bytes())


def parse_recording(data: bytes) -> Recording:
    """The text of a file.

    Raises:
        NotARecording: as for `read_recording`.
    """
    first, end, rest = data.partition(b"\n")
    if not first.strip():
        raise NotARecording("it is empty")
    header = _header(first, whole=bool(end))
    entries: list[AnyEntry] = []
    lines = rest.split(b"\n")
    tail = lines.pop()
    for number, line in enumerate(lines, 2):
        entries += _parsed(line, number)
    try:  # whole but for the end of its line is whole
        entries += _parsed(tail, len(lines) + 2)
    except NotARecording:
        return Recording(header, tuple(entries), torn=True)
    return Recording(header, tuple(entries))


def _header(line: bytes, *, whole: bool) -> Header:
    try:
        loose = _loose.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        loose = {}
    if loose.get("format") != FORMAT:
        torn = "" if whole else ", or it was cut within its first line"
        raise NotARecording(f"its first line is not the header of a recording{torn}")
    version = loose.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise NotARecording(
            f"it has version {shortened(str(version))} of the format, and this program reads up to {VERSION}: update it"
        )
    try:
        return _headers.decode(line)
    except (msgspec.DecodeError, ValueError) as error:
        raise NotARecording(f"its header is damaged: {error}") from None


def _parsed(line: bytes, number: int) -> Iterator[AnyEntry]:
    if not line.strip():
        return
    try:
        entry = _entries.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotARecording(f"line {number} is damaged: {error}") from None
    if isinstance(entry, AdapterEntry | McpEntry) and bytes(entry.msg)[:1] != b"{":
        raise NotARecording(f"line {number} is damaged: its message is no object")
    yield entry
