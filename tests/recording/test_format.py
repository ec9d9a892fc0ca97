"""Recording files, whole and damaged."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.recording.scene import RECORDINGS
from trio_debugmcp.recording.format import (
    VERSION,
    ExitEntry,
    NotARecording,
    ProgramOutputEntry,
    Recording,
    encode_line,
    parse_recording,
    read_recording,
)

HEADER: dict[str, Any] = {
    "format": "trio-debugmcp recording", "version": 1, "server": "0.1.0", "python": "3.11.7", "platform": "Linux",
    "adapters": ["debugpy"], "startedAt": "2026-01-01T00:00:00+00:00", "anchor": 0.0, "argv": [], "directory": "/",
    "roots": [], "debounce": 0.3, "maxWait": 0.9, "linger": 120.0,
}  # fmt: skip

SCALARS = st.none() | st.booleans() | st.floats() | st.text(max_size=9)
JSON = st.recursive(SCALARS, lambda each: st.lists(each) | st.dictionaries(st.text(max_size=9), each), max_leaves=9)

LINE = encode_line(ProgramOutputEntry(t=1.5, session="s-1", pid=7, stream="stdout", text="Grüße\n"))


def file(*lines: bytes, **header: Any) -> bytes:
    return json.dumps({**HEADER, **header}).encode() + b"\n" + b"".join(lines)


def test_an_entry_that_is_encoded_and_parsed_is_the_same() -> None:
    entry = ExitEntry(t=2.0, session="s-1", pid=7, exit_code=3)
    assert parse_recording(file(LINE, encode_line(entry))).entries[1] == entry


def test_the_kept_recording_is_complete() -> None:
    recording = read_recording(RECORDINGS / "till.jsonl")
    assert (recording.complete, recording.torn) == (True, False)
    assert "debugpy" in recording.header.adapters, "and others, where the machine has them"


def test_a_torn_last_line_is_left_out_and_reported() -> None:
    recording = parse_recording(file(LINE, LINE[:-9]))
    assert (len(recording.entries), recording.torn, recording.complete) == (1, True, False)


def test_a_last_line_that_lacks_only_its_newline_is_whole() -> None:
    recording = parse_recording(file(LINE, LINE[:-1]))
    assert (len(recording.entries), recording.torn) == (2, False)


def test_a_recording_without_entries_is_valid() -> None:
    assert parse_recording(file()).length == 0


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"\n\n", "it is empty"),
        (b"print('hello')\n", "not the header of a recording"),
        (b"\x7fELF\x00\xff", "cut within its first line"),
        (b'{"format":"trio-debugmcp rec', "cut within its first line"),
        (b'["format"]\n', "not the header"),
        (b'{"t":0.1,"dir":"c2a"}\n', "not the header"),
        (file(version=VERSION + 1), f"version {VERSION + 1} of the format, and this program reads up to {VERSION}"),
        (file(version="x"), "version x of the format"),
        (file(anchor="noon"), "its header is damaged"),
        (file(b"{]\n", LINE), "line 2 is damaged"),
        (file(LINE, b'{"edge":"tomorrow","t":1}\n', LINE), "line 3 is damaged"),
        (file(b'{"edge":"exit","t":"x"}\n', LINE), "line 2 is damaged"),
        (
            file(LINE, LINE.replace(b"1.5", b"1e300"), LINE),
            r"line 3 is damaged: t is 1e\+300 s, and must be between 0 and",
        ),
        (file(LINE.replace(b"1.5", b"-0.1"), LINE), "line 2 is damaged: t is -0.1 s"),
        (file(anchor=1e300), r"line 1 is damaged: anchor is 1e\+300 s"),
        (file(anchor=-1), "line 1 is damaged: anchor is -1 s"),
        (file(debounce=-0.3), "line 1 is damaged: debounce is -0.3 s"),
        (file(maxWait=1e300), "line 1 is damaged: max_wait"),
        (file(linger=-1), "line 1 is damaged: linger"),
        (file(patience=0), "its header is damaged"),
    ],
)
def test_bytes_that_are_not_a_recording_are_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(NotARecording, match=reason):
        parse_recording(data)


def test_members_that_a_later_version_adds_are_skipped() -> None:
    entry = json.loads(LINE) | {"colour": "blue"}
    assert len(parse_recording(file(json.dumps(entry).encode() + b"\n", novelty=1)).entries) == 1


def test_a_file_that_cannot_be_opened_raises_the_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_recording(tmp_path / "nothing")


def readable(data: bytes) -> Recording | None:
    try:
        return parse_recording(data)
    except NotARecording:
        return None


@given(st.integers(min_value=0))
def test_a_recording_cut_off_anywhere_is_a_shorter_one_or_refused(cut: int) -> None:
    data = (RECORDINGS / "till.jsonl").read_bytes()
    whole = parse_recording(data)
    cut %= len(data)
    part = readable(data[:cut])
    if cut > data.index(b"\n"):
        assert part is not None
        assert part.entries == whole.entries[: len(part.entries)]
    else:
        assert part is None or not part.entries


@given(st.lists(st.binary(max_size=60), max_size=5))
@example([b'{"edge":"mcp","t":1,"client":"c-1","dir":"in","msg":' + b"[" * 5000])
@example([b'{"edge":"output","t":1e400,"session":"s","pid":1,"stream":"stdout"}'])
def test_any_bytes_are_parsed_or_refused(lines: list[bytes]) -> None:
    readable(b"\n".join(lines))
    readable(file(*lines))
    readable(file(*(line + b"\n" for line in lines), LINE))


@given(JSON)
def test_any_header_is_parsed_or_refused(header: Any) -> None:
    readable(msgspec.json.encode(header) + b"\n")
    if isinstance(header, dict):
        readable(file(LINE, **header))


@pytest.mark.parametrize("message", [b'{"a": "\x9e"}', b'{"a": "\\x"}', b'{"a\xff": 1}'])
def test_a_message_with_a_damaged_text_is_refused_with_its_line(message: bytes) -> None:
    header, *_ = (RECORDINGS / "till.jsonl").read_bytes().partition(b"\n")
    line = b'{"edge":"adapter","t":1.0,"session":"s-1","dir":"in","msg":' + message + b"}"
    with pytest.raises(NotARecording, match="line 2 is damaged: "):
        parse_recording(header + b"\n" + line + b"\n" + line)
