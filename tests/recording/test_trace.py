"""`--log-level debug`: every DAP message is a short line, in both directions, without secrets."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from trio.testing import MockClock, memory_stream_pair

from trio_debugmcp.app import Options
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.dap.profiles.starts import Attach
from trio_debugmcp.recording.redact import Redactor
from trio_debugmcp.recording.trace import MAX_MESSAGE_LENGTH, TracingHost
from trio_debugmcp.session.host import Host, Opening
from trio_debugmcp.testing import FakeAdapter, open_server

LOGGER = "trio_debugmcp.recording.trace"
SECRET = "hunter2-hunter2"


def traced(options: Options) -> Options:
    host = TracingHost(options.settings.host, Redactor([SECRET]))
    return replace(options, settings=replace(options.settings, host=host))


async def test_what_adapter_and_server_say_is_logged_without_secrets(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    async with open_server(traced(FakeAdapter().options())) as server, server.connect() as client:
        await client.call("debug_launch", program=__file__, env={"API_TOKEN": "abcdefghijkl"}, args=[SECRET])
        await client.call("debug_disconnect")
    lines = [record.getMessage() for record in caplog.records if record.name == LOGGER]
    for words in ('to the adapter: {"', '"command":"initialize"', 'from the adapter: {"', '"event": "stopped"'):
        assert any(words in line for line in lines), words
    assert "[redacted]" in caplog.text
    for secret in (SECRET, "abcdefghijkl"):
        assert not any(secret in line for line in lines)
    assert max(map(len, lines)) < MAX_MESSAGE_LENGTH + 200


async def test_a_message_is_shortened_and_what_is_not_a_message_is_named(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    ours, theirs = memory_stream_pair()

    @asynccontextmanager
    async def open_it() -> AsyncIterator[Adapter]:
        yield Adapter(ours)

    opening = Opening("s-1", None, "fake", Attach(port=1))
    async with TracingHost(Host(), Redactor()).open_adapter(opening, open_it) as adapter:
        frame = encode_frame(b'{"x":"' + b"y" * 1000 + b'"}')
        await adapter.stream.send_all(frame[:50])
        await theirs.send_all(encode_frame(b"{}"))
        await adapter.stream.receive_some()
        await adapter.stream.send_all(frame[50:])
        await theirs.send_all(encode_frame(b'{"env": nonsense'))
        await adapter.stream.receive_some()
        await theirs.send_all(b"no header\r\n\r\n")
        await adapter.stream.receive_some()
        await theirs.aclose()
        await adapter.stream.receive_some()
    short, long, *rest = (record.getMessage() for record in caplog.records)
    assert short == "s-1 from the adapter: {}"
    assert long.endswith(f"yy… ({1008 - MAX_MESSAGE_LENGTH} more characters)")
    assert rest[0] == "s-1 from the adapter: 16 bytes that are not JSON"
    assert "breaks the protocol" in rest[1]
    assert rest[2] == "s-1: end of file from the adapter"
