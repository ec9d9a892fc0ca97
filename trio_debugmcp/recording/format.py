"""The format of recordings: JSON Lines, a header and then what crossed the server's edges, in that order.

    recording = read_recording("bug.jsonl")
    for entry in recording.entries:
        if isinstance(entry, ProgramOutputEntry): ...

docs/recording.md describes the file; one whose last line is torn can be read. Pure, but for `read_recording`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from trio_debugmcp.patience import MAX_FACTOR
from trio_debugmcp.state.payloads import shortened

FORMAT = "trio-debugmcp recording"

VERSION = 1
"""Rises when an older replay would misunderstand a newer recording."""

MAX_MESSAGE_BYTES = 4 * 1024 * 1024
"""Bytes of one message; of a larger one only the envelope is kept. The largest seen from a real adapter has 0.6 MB."""

MAX_TIME_SECONDS = 10 * 366 * 86_400
"""Of a moment in a recording, since its start: no server runs for ten years. Larger times would overflow clocks."""

MAX_ANCHOR_SECONDS = 4_102_444_800
"""The year 2100, as Unix time."""

_PAYLOADS = frozenset({"body", "arguments", "params", "result", "error"})
"""The members in which messages are large."""

Direction = Literal["in", "out"]
"""As the server sees it: `in` is what it received."""


class NotARecording(Exception):
    """The file cannot be replayed; the text gives the reason in a sentence."""


class NotJson(Exception):
    """Raised by `one_line` and `envelope` for a text that is not JSON."""


class Header(Struct, frozen=True, rename="camel", kw_only=True):
    """The first line. `anchor`: Unix time at `t` 0; `debounce`, `max_wait` and `linger`: the server's, in seconds.

    `adapters`: their names, the preferred ones first; `tables`: those of users, as TOML has them.
    `started_at` and `anchor` are filled in by the recorder when the server starts.
    """

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
    patience: Annotated[float, Meta(ge=1, le=MAX_FACTOR)] = 1.0
    tables: dict[str, dict[str, Any]] | UnsetType = UNSET


class RecordingEntry(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True, tag_field="edge"):
    """The base of all other lines. `t`: seconds since the start, by the server's own clock."""

    t: float


class SessionEntry(RecordingEntry, frozen=True, kw_only=True, tag="session"):
    """A debug session opens its adapter. `target`: what is launched or attached to."""

    session: str
    adapter: str
    start: Literal["launch", "attach", "child"]
    target: str | None = None
    parent: str | None = None


class SessionEndEntry(RecordingEntry, frozen=True, kw_only=True, tag="sessionEnd"):
    """A debug session is over, and its adapter closed."""

    session: str


class AdapterEntry(RecordingEntry, frozen=True, kw_only=True, tag="adapter"):
    """A DAP message. `cut`: the size of one that was too large, of which only the envelope is kept."""

    session: str
    dir: Direction
    msg: Raw
    cut: int = 0


class GarbageEntry(RecordingEntry, frozen=True, kw_only=True, tag="garbage"):
    """Bytes of an adapter that are not a DAP message, as text in Latin-1; the connection is over."""

    session: str
    text: str


class HangUpEntry(RecordingEntry, frozen=True, kw_only=True, tag="hangUp"):
    """The adapter closed its end of the connection; `stderr`: the last lines of its standard error."""

    session: str
    stderr: str = ""


class ProgramEntry(RecordingEntry, frozen=True, kw_only=True, tag="program"):
    """The program runs in a session's terminal; or the adapter's process has its standard streams, or is it."""

    session: str
    pid: int
    process: Literal["terminal", "streams", "program"] = "terminal"


class ProgramOutputEntry(RecordingEntry, frozen=True, kw_only=True, tag="output"):
    """The program wrote to a standard stream; without `text`, it closed the stream."""

    session: str
    pid: int
    stream: Literal["stdout", "stderr"]
    text: str | None = None


class ExitEntry(RecordingEntry, frozen=True, kw_only=True, tag="exit"):
    """The program exited with that code."""

    session: str
    pid: int
    exit_code: int


class RecordedError(Struct, frozen=True):
    """A `UsageError` that was the answer to a query."""

    code: str
    message: str
    details: dict[str, Any] = {}


class QueryEntry(RecordingEntry, frozen=True, kw_only=True, tag="look"):
    """The server queried its host: for a file, its text, an adapter."""

    question: str
    answer: Any = None
    error: RecordedError | None = None


class ClientEntry(RecordingEntry, frozen=True, kw_only=True, tag="client"):
    """An MCP client sent its first message."""

    client: str
    transport: str
    role: Literal["control", "observe"]
    era: Literal["handshake", "modern"]


class ClientEndEntry(RecordingEntry, frozen=True, kw_only=True, tag="clientEnd"):
    """An MCP client disconnected."""

    client: str


class McpEntry(RecordingEntry, frozen=True, kw_only=True, tag="mcp"):
    """A JSON-RPC message. `cut` as in `AdapterEntry`."""

    client: str
    dir: Direction
    msg: Raw
    cut: int = 0


class EndEntry(RecordingEntry, frozen=True, kw_only=True, tag="end"):
    """The last line. `complete`: the server ended; otherwise the recording ended before it, for that reason."""

    reason: str
    complete: bool = True


AnyEntry = (
    SessionEntry
    | SessionEndEntry
    | AdapterEntry
    | GarbageEntry
    | HangUpEntry
    | ProgramEntry
    | ProgramOutputEntry
    | ExitEntry
    | QueryEntry
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
    """A recording that was read. `torn`: its last line is not whole, as the server that wrote it was killed."""

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


def encode_line(line: Header | RecordingEntry) -> bytes:
    """Encode one line of the file, with its newline."""
    return _encoder.encode(line) + b"\n"


def read_recording(path: str | Path) -> Recording:
    """Read a recording from a file.

    Raises:
        NotARecording: it is not a recording, or has a newer version, or is damaged before its last line.
        OSError: the file cannot be read.
    """
    return parse_recording(Path(path).read_bytes())


def parse_recording(data: bytes) -> Recording:
    """Parse the content of a recording's file.

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
    try:  # a last line that lacks only its newline is whole
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
        header = _headers.decode(line)
    except (msgspec.DecodeError, ValueError) as error:
        raise NotARecording(f"its header is damaged: {error}") from None
    _check_time("line 1 is damaged: anchor", header.anchor, MAX_ANCHOR_SECONDS)
    for name in ("debounce", "max_wait", "linger"):
        _check_time(f"line 1 is damaged: {name}", getattr(header, name), MAX_TIME_SECONDS)
    return header


def _parsed(line: bytes, number: int) -> Iterator[AnyEntry]:
    if not line.strip():
        return
    try:
        entry = _entries.decode(line)
        if isinstance(entry, AdapterEntry | McpEntry):
            msgspec.json.decode(entry.msg)  # of a Raw the decoder reads neither characters nor escape sequences
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotARecording(f"line {number} is damaged: {error}") from None
    if isinstance(entry, AdapterEntry | McpEntry) and bytes(entry.msg)[:1] != b"{":
        raise NotARecording(f"line {number} is damaged: its message is not an object")
    _check_time(f"line {number} is damaged: t", entry.t, MAX_TIME_SECONDS)
    yield entry


def _check_time(what: str, seconds: float, most: float) -> None:
    if not 0 <= seconds <= most:  # nor NaN
        raise NotARecording(f"{what} is {seconds:g} s, and must be between 0 and {most:g}")


# --- Messages that fit into a recording -------------------------------------------------------------------------------


def one_line(text: bytes) -> bytes:
    """Return a JSON text without line breaks, valid for any reader.

    Raises:
        NotJson: the text is not JSON.
    """
    try:
        text.decode()
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _written_again(text)
    return msgspec.json.format(text, indent=-1) if b"\n" in text or b"\r" in text else text


def _written_again(text: bytes) -> bytes:
    """Replace bytes that are not UTF-8 by replacement characters: some adapters pass on such bytes of a program."""
    try:
        loose = json.loads(text.decode(errors="replace"))
        return json.dumps(loose, ensure_ascii=False, allow_nan=False).encode(errors="replace")
    except (ValueError, RecursionError):
        raise NotJson from None


def envelope(text: bytes) -> bytes:
    """Return a JSON message without the members that make it large.

    Raises:
        NotJson: the text is not a JSON object.
    """
    try:
        members: dict[str, Any] = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise NotJson from None
    return one_line(msgspec.json.encode({name: member for name, member in members.items() if name not in _PAYLOADS}))
