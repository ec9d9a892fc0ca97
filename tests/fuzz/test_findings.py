"""Defects that fuzzing has found, each in a few lines."""

import json

import pytest
from trio.testing import MockClock

from tests.fuzz.targets import head, seeds
from tests.fuzz.wire import wire
from trio_debugmcp.testing import FakeAdapter, ToolFailed, connect


async def test_a_malformed_request_with_half_a_surrogate_pair_as_id_is_answered_without_the_id(
    autojump_clock: MockClock,
) -> None:
    async with wire() as client:
        await client.send(b'{"jsonrpc": "2.0", "id": "\\ud800", "method": 5}')
        complaint = await client.line()
        assert (complaint["id"], complaint["error"]["code"]) == (None, -32600)
        assert (await client.request("ping"))["result"] == {}


async def test_a_frame_may_be_in_a_file_with_an_impossible_path(autojump_clock: MockClock) -> None:
    fake = FakeAdapter()
    fake.frames = [("main", "/src/a\0b.py", 1), ("main", "a\0b.py", 1)]
    async with connect(options=fake.options()) as client:
        launched = await client.call("debug_launch", program=fake.program)
        assert launched["at"] == r"/src/a\x00b.py:1 in main"
        for file in ("/src/a\0b.py", "a\0b.py"):
            with pytest.raises(ToolFailed, match="INVALID_PATH"):
                await client.call("source_get", file=file)


async def test_a_cursor_in_the_timeline_may_be_larger_than_64_bits(autojump_clock: MockClock) -> None:
    async with wire() as client:
        answer = await client.request("tools/call", name="timeline_query", arguments={"after_event_id": 10**30})
        assert json.loads(answer["result"]["content"][0]["text"])["events"] == []


@pytest.mark.parametrize("name", [b"Upgrade", b"Connection", b"Sec-WebSocket-Protocol"])
def test_a_no_break_space_in_an_upgrade_does_not_count_as_a_space(name: bytes) -> None:
    head(seeds("head")[1].replace(name + b": ", name + b": \xa0"))


@pytest.mark.parametrize(
    "lines",
    [
        b"Upgrade: websocket\r\nUpgrade: h2c",
        b"Upgrade: websocket, h2c",
        b"Upgrade: websocket\r\nConnection: keep-alive",
    ],
    ids=["two lines", "two protocols", "two connections"],
)
def test_an_upgrade_with_more_than_one_value_does_not_hang(lines: bytes) -> None:
    head(seeds("head")[1].replace(b"Upgrade: websocket", lines))
