"""What a recorder writes, and that whatever goes wrong with it does not disturb the session."""

import json
import logging
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from tests.recording.secrets import SECRETS, readings
from trio_debugmcp.errors import UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.recording.format import (
    MAX_MESSAGE_BYTES,
    AdapterEntry,
    ClientEndEntry,
    ClientEntry,
    EndEntry,
    GarbageEntry,
    HangUpEntry,
    Header,
    McpEntry,
    QueryEntry,
    RecordedError,
    Recording,
    SessionEndEntry,
    SessionEntry,
    read_recording,
)
from trio_debugmcp.recording.recorder import Recorder, open_recorder
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server
from trio_debugmcp.testing.connect import Era

SECRET = "open-sesame-5521"


def recorder_to(file: Path, **changes: Any) -> Recorder:
    return open_recorder(file, directory="/", debounce=0.3, max_wait=0.9, linger=120, **changes)


@asynccontextmanager
async def recording(
    file: Path, adapter: FakeAdapter, era: Era = "legacy", **changes: Any
) -> AsyncIterator[DebugClient]:
    """A client of a server that records."""
    with recorder_to(file, **changes) as recorder:
        async with open_server(adapter.options().recorded(recorder)) as server, server.connect(era) as client:
            yield client


async def launch(client: DebugClient, adapter: FakeAdapter, **more: Any) -> None:
    await client.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False, **more)


def commands(read: Recording) -> list[tuple[str, str]]:
    """Who said what to the adapter and back, in a word each."""
    messages = [(each.dir, msgspec.json.decode(each.msg)) for each in read.entries if isinstance(each, AdapterEntry)]
    return [(way, message.get("command") or message["event"]) for way, message in messages]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_messages_of_adapters_and_clients_are_recorded_both_ways_with_their_times(
    era: Era, tmp_path: Path, autojump_clock: MockClock
) -> None:
    adapter, file = FakeAdapter(), tmp_path / "a.jsonl"
    await trio.sleep(1000)
    async with recording(file, adapter, era) as client:
        await trio.sleep(1.5)
        await launch(client, adapter)
        await trio.sleep(2)
        await adapter.stop("breakpoint")
        await trio.sleep(1)
        await adapter.exit(0)
        await trio.sleep(1)
    read = read_recording(file)
    assert (read.complete, read.torn) == (True, False)
    (session,) = [each for each in read.entries if isinstance(each, SessionEntry)]
    assert (session.t, session.adapter, session.start, session.target) == (1.5, "fake", "launch", adapter.program)
    (client_entry,) = [each for each in read.entries if isinstance(each, ClientEntry)]
    assert (client_entry.t, client_entry.role) == (0.0, "control")
    assert client_entry.era == ("handshake" if era == "legacy" else "modern")
    said = commands(read)
    assert said[:2] == [("out", "initialize"), ("in", "initialize")]
    assert [each for each in said if each[1] == "stopped"] == [("in", "stopped")]
    stopped = [each.t for each in read.entries if isinstance(each, AdapterEntry) and b"stopped" in bytes(each.msg)]
    assert stopped == [3.5]
    assert any(isinstance(each, SessionEndEntry) for each in read.entries)
    assert isinstance(read.entries[-2], ClientEndEntry)
    calls = [msgspec.json.decode(each.msg) for each in read.entries if isinstance(each, McpEntry) and each.dir == "in"]
    assert "debug_launch" in [call["params"]["name"] for call in calls if call.get("method") == "tools/call"]


@pytest.mark.real
async def test_no_secret_is_in_the_file(tmp_path: Path, autojump_clock: MockClock) -> None:
    adapter, file = FakeAdapter(), tmp_path / "a.jsonl"
    tokens = ("control-token-77", "observe-token-88")
    argv = ["serve", "--token", tokens[0], f"--observe-token={tokens[1]}"]
    async with recording(file, adapter, argv=argv, secrets=tokens) as client:
        await launch(client, adapter, env={"API_TOKEN": SECRET, "PLAIN": "value-of-plain"})
        await adapter.event("output", {"category": "stdout", "output": f"{tokens[0]} {SECRET}\n"})
        await adapter.event("output", {"category": "console", "output": "Authorization: Bearer abc-def-ghi"})
        with trio.move_on_after(1):
            await adapter.reverse_request("runInTerminal", {"args": ["false"], "env": {"PASSWORD": "hunter-2-hunter"}})
        await trio.sleep(1)
        assert SECRET in await client.read_text("debugger://output")
    text = file.read_text()
    for secret in (*tokens, SECRET, "value-of-plain", "abc-def-ghi", "hunter-2-hunter"):
        assert secret not in text
    for name in ("API_TOKEN", "PLAIN", "PASSWORD", "--token", "--observe-token"):
        assert name in text
    assert read_recording(file).complete


async def test_a_private_key_and_a_long_token_are_nowhere_in_the_file_however_they_are_shown(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """A launch gives them, the program prints them, variables and results show their repr, cut and whole."""
    key = next(each for each in SECRETS if each.startswith("-----BEGIN RSA") and len(each) > 500)
    token = next(each for each in SECRETS if 400 < len(each) < 600 and each.count(".") == 2)
    adapter, file = FakeAdapter(), tmp_path / "a.jsonl"
    adapter.locals = {"key": repr(key), "token": repr(token), "environ": f"environ({{'SIGNING_KEY': {key!r}}})"}
    adapter.values = {"key": repr(key), "token": repr(token)}
    async with recording(file, adapter) as client:
        await launch(client, adapter, env={"PRIVATE_KEY": key}, args=["--token", token, "--db-password=hunter-22"])
        await adapter.stop("breakpoint")
        await adapter.event("output", {"category": "stdout", "output": key + token})
        await trio.sleep(1)
        for path in ("key", "token"):
            await client.call("evaluate", expression=path)
        await client.call("variables_get", max_value_length=100)
        await client.call("stacktrace_get")
        for uri in ("session", "stack", "output", "timeline"):
            await client.read(f"debugger://{uri}")
    read = "\n".join(reading for line in file.read_bytes().splitlines() for reading in readings(line))
    for secret in (*key.splitlines()[1:-1], token, "hunter-22"):
        assert secret[:20] not in read
        assert secret[-20:] not in read
    assert "PRIVATE_KEY" in read
    assert "--db-password=" in read


async def test_what_programs_inherit_under_a_name_of_a_secret_is_taken_out(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"DEPLOY_TOKEN": SECRET, "AUTHOR": "Ada Lovelace", "SSH_AUTH_SOCK": "/tmp/agent.7", "AUTH": "basic"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    adapter, file = FakeAdapter(), tmp_path / "a.jsonl"
    async with recording(file, adapter) as client:
        await launch(client, adapter)
        await adapter.event("output", {"category": "stdout", "output": " ".join(values.values())})
        await trio.sleep(1)
    text = file.read_text()
    assert SECRET not in text
    assert all(value in text for name, value in values.items() if name != "DEPLOY_TOKEN")


async def test_the_patience_of_the_server_is_kept_for_its_replay(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with recording(tmp_path / "a.jsonl", FakeAdapter(), patience=Patience(5)) as client:
        await client.call("debug_state")
    assert read_recording(tmp_path / "a.jsonl").header.patience == 5


async def test_the_times_of_entries_count_from_the_anchor_of_the_clock_however_long_the_header_takes(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replaced_slowly(header: Header, **changes: Any) -> Header:
        autojump_clock.jump(0.5)
        return replace(header, **changes)

    monkeypatch.setattr("trio_debugmcp.recording.recorder.replace", replaced_slowly)
    with recorder_to(tmp_path / "a.jsonl") as recorder:
        clock = recorder.clock()
        recorder.query("source /app.py", lambda: "pass")
        now = clock.now()
    read = read_recording(tmp_path / "a.jsonl")
    assert read.header.anchor + read.entries[0].t == pytest.approx(now, abs=1e-6)


async def test_only_the_user_may_read_the_file_and_one_that_exists_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    with recorder_to(file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("precious")
    with pytest.raises(FileExistsError):
        recorder_to(file)
    assert file.read_text() == "precious"


async def test_in_a_directory_each_recording_makes_a_new_file(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with recording(tmp_path, FakeAdapter()):
        pass
    (file,) = tmp_path.iterdir()
    assert file.suffix == ".jsonl"
    assert read_recording(file).complete


async def test_a_server_that_does_not_start_leaves_no_file(tmp_path: Path) -> None:
    with recorder_to(tmp_path / "a.jsonl"):
        pass
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_has_reached_its_largest_size_ends_with_the_reason(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    adapter, file = FakeAdapter(), tmp_path / "a.jsonl"
    async with recording(file, adapter, max_bytes=400_000) as client:
        await launch(client, adapter)
        for _ in range(900):
            await adapter.event("output", {"category": "stdout", "output": "x" * 400})
        await trio.sleep(1)
        assert (await client.call("debug_state"))["state"] == "Running"
    read = read_recording(file)
    assert read.entries[-1] == EndEntry(
        t=read.entries[-1].t, reason="the file has reached its largest size", complete=False
    )
    assert file.stat().st_size < 400_500
    said = [each.message for each in caplog.records if each.name.startswith("trio_debugmcp.recording")]
    soon, ended = said
    assert soon.endswith("ends soon: 0.1 of 0 MiB are left. The debug session continues")
    assert "has ended: the file has reached its largest size" in ended


async def test_the_envelope_of_a_message_that_is_too_large_is_kept(tmp_path: Path, autojump_clock: MockClock) -> None:
    adapter, file = FakeAdapter(), tmp_path / "a.jsonl"
    async with recording(file, adapter) as client:
        await launch(client, adapter)
        await adapter.event("output", {"category": "telemetry", "output": "x" * MAX_MESSAGE_BYTES})
        await trio.sleep(1)
    (cut,) = [each for each in read_recording(file).entries if isinstance(each, AdapterEntry) and each.cut]
    assert cut.cut > MAX_MESSAGE_BYTES
    message = msgspec.json.decode(cut.msg)
    assert {name: message[name] for name in message if name != "seq"} == {"type": "event", "event": "output"}


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b'{"seq":1,\n"type":"event",\r\n"event":"odd"}', {"seq": 1, "type": "event", "event": "odd"}),
        (
            b'{"type":"event","event":"odd","body":"\xff"}',
            {"type": "event", "event": "odd", "body": "\N{REPLACEMENT CHARACTER}"},
        ),
    ],
)
async def test_odd_json_of_an_adapter_is_recorded_as_one_valid_line(
    body: bytes, kept: Any, tmp_path: Path, autojump_clock: MockClock
) -> None:
    adapter, file = FakeAdapter(), tmp_path / "a.jsonl"
    async with recording(file, adapter) as client:
        await launch(client, adapter)
        await adapter.send_raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        await trio.sleep(1)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert kept in [line.get("msg") for line in lines]


@pytest.mark.parametrize(
    ("data", "garbage"),
    [
        (b"Traceback (most recent call last):\n", "Traceback (most recent call last):\n"),
        (b"Content-Length: 4\r\n\r\nnope", "nope"),
    ],
)
async def test_bytes_that_are_not_a_message_are_recorded_unchanged(
    data: bytes, garbage: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    adapter, file = FakeAdapter(), tmp_path / "a.jsonl"
    async with recording(file, adapter) as client:
        await launch(client, adapter)
        await adapter.send_raw(data)
        await trio.sleep(1)
    (entry,) = [each for each in read_recording(file).entries if isinstance(each, GarbageEntry)]
    assert entry.text == garbage


async def test_an_adapter_that_hangs_up_is_recorded_with_the_time(tmp_path: Path, autojump_clock: MockClock) -> None:
    adapter, file = FakeAdapter(), tmp_path / "a.jsonl"
    async with recording(file, adapter) as client:
        await launch(client, adapter)
        await trio.sleep(1)
        await adapter.crash()
        await trio.sleep(1)
    (entry,) = [each for each in read_recording(file).entries if isinstance(each, HangUpEntry)]
    assert entry.t == 1.0


async def test_a_fault_of_the_recorder_ends_the_recording_and_not_the_session(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    adapter, file = FakeAdapter(), tmp_path / "a.jsonl"
    nested: Any = "x"
    for _ in range(900):
        nested = {"x": nested}
    async with recording(file, adapter) as client:
        await launch(client, adapter)
        with caplog.at_level(logging.CRITICAL, "trio_debugmcp.recording"):
            await adapter.event("odd", {"env": {}, **nested})
        await trio.sleep(1)
        assert (await client.call("debug_state"))["state"] == "Running"
    assert read_recording(file).entries[-1].reason == "the recorder failed"  # type: ignore[union-attr]


async def test_what_takes_its_time_is_recorded_when_it_is_known_refusals_too(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async def built() -> str:
        await trio.sleep(3)
        return "/t/app"

    async def broken() -> str:
        raise UsageError("LAUNCH_FAILED", "no", {"line": 3})

    with recorder_to(tmp_path / "a.jsonl") as recorder:
        recorder.clock()
        assert await recorder.find_out("build of /a.c", built) == "/t/app"
        with pytest.raises(UsageError, match="no"):
            await recorder.find_out("build of /b.c", broken)
    entries = read_recording(tmp_path / "a.jsonl").entries
    made, refused = [each for each in entries if isinstance(each, QueryEntry)]
    assert (made.question, made.answer) == ("build of /a.c", "/t/app")
    assert made.t == pytest.approx(3, abs=1e-6)
    assert refused.error == RecordedError("LAUNCH_FAILED", "no", {"line": 3})
