"""MCP over byte streams: both directions, malformed lines, and a client that does not read."""

import json
import subprocess
import sys

import anyio
import pytest
import trio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest
from trio.testing import MockClock, memory_stream_one_way_pair

from trio_debugmcp.transports.early_stdio import Handover
from trio_debugmcp.transports.jsonrpc import request_id_in
from trio_debugmcp.transports.line_splitter import MAX_LINE_BYTES
from trio_debugmcp.transports.stdio import open_lines

STRAY = """
import os, trio, trio.testing
from trio_debugmcp.transports.stdio import open_stdio

async def main():
    async with open_stdio() as (incoming, outgoing):
        print("printed", os.read(0, 100), flush=True)
        await outgoing.send(await incoming.receive())
        await trio.testing.wait_all_tasks_blocked()

trio.run(main)
"""

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


class Client:
    """The other end of a pair of pipes."""

    def __init__(self) -> None:
        self.to_server, self.source = memory_stream_one_way_pair()
        self.sink, self.from_server = memory_stream_one_way_pair()

    async def line(self) -> dict[str, object]:
        data = b""
        while not data.endswith(b"\n"):
            data += bytes(await self.from_server.receive_some(1))
        answer: dict[str, object] = json.loads(data)
        return answer


async def test_messages_go_both_ways_until_the_end_of_input(autojump_clock: MockClock) -> None:
    client = Client()
    async with open_lines(client.source, client.sink) as (incoming, outgoing):
        await client.to_server.send_all(PING)
        received = await incoming.receive()
        assert isinstance(received, SessionMessage)
        assert isinstance(received.message, JSONRPCRequest)
        assert received.message.method == "ping"
        await outgoing.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/hello")))
        assert await client.line() == {"jsonrpc": "2.0", "method": "notifications/hello"}
        await client.to_server.aclose()
        try:
            await incoming.receive()
        except anyio.EndOfStream:
            ended = True
        assert ended


async def test_an_end_that_was_read_before_the_server_was_there_is_not_waited_for_again(
    autojump_clock: MockClock,
) -> None:
    client = Client()
    before = Handover(received=PING, ended=True)
    with trio.fail_after(1):
        async with open_lines(client.source, client.sink, before) as (incoming, _):
            received = await incoming.receive()
            assert isinstance(received, SessionMessage)
            with pytest.raises(anyio.EndOfStream):
                await incoming.receive()


async def test_a_malformed_line_is_answered_and_the_next_one_is_served(autojump_clock: MockClock) -> None:
    client = Client()
    async with open_lines(client.source, client.sink) as (incoming, _):
        await client.to_server.send_all(b"\xff\n" + PING)
        complaint = await client.line()
        assert (complaint["id"], complaint["error"]["code"]) == (None, -32700)  # type: ignore[index]
        received = await incoming.receive()
        assert isinstance(received, SessionMessage)


async def test_a_line_over_the_bound_is_refused_and_the_next_one_is_served(autojump_clock: MockClock) -> None:
    client = Client()
    async with open_lines(client.source, client.sink) as (incoming, _):
        await client.to_server.send_all(b"x" * (MAX_LINE_BYTES + 1) + b"\n" + PING)
        complaint = await client.line()
        assert complaint["error"] == {"code": -32600, "message": f"a message is over {MAX_LINE_BYTES} bytes"}
        assert isinstance(await incoming.receive(), SessionMessage)


async def test_a_request_over_the_bound_is_answered_by_its_id_where_it_begins_with_that(
    autojump_clock: MockClock,
) -> None:
    client = Client()
    async with open_lines(client.source, client.sink):
        long = b"x" * MAX_LINE_BYTES
        await client.to_server.send_all(b'{"id": 7, "method": "m", "params": {"a": "' + long + b'"}}\n')
        assert (await client.line())["id"] == 7
        await client.to_server.send_all(b'{"id": "8", "result": {"a": "' + long + b'"}}\n')
        assert (await client.line())["id"] is None


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b'{"id":7,"params":{"id":8,"a":"', 7),
        (b'{"params":{"id":8},"id":"a-1","method":"', "a-1"),
        (b'{"params":{"id":8,"a":"', None),
        (b'{"jsonrpc":"2.0","id":12', None),
        (b'{"id":7,"result":{"a":"', None),
        (b'{"id":null,"params":"', None),
        (b'[{"id":7', None),
        (b"\xff", None),
    ],
)
def test_the_id_of_a_request_is_found_in_its_beginning_and_nowhere_deeper(head: bytes, found: int | str | None) -> None:
    assert request_id_in(head) == found


async def test_a_client_may_close_its_end_while_it_is_written_to(autojump_clock: MockClock) -> None:
    client = Client()
    async with open_lines(client.source, client.sink) as (incoming, outgoing):
        await client.from_server.aclose()
        for _ in range(3):
            await outgoing.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/hello")))
        await client.to_server.send_all(PING)
        assert isinstance(await incoming.receive(), SessionMessage)


async def test_a_client_that_does_not_read_does_not_delay_the_end(
    autojump_clock: MockClock,
) -> None:
    client = Client()
    client.sink.send_all_hook = trio.sleep_forever
    with trio.fail_after(1):
        async with open_lines(client.source, client.sink) as (_, outgoing):
            await outgoing.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/hello")))


@pytest.mark.real
def test_what_a_library_prints_or_reads_does_not_get_between_the_messages() -> None:
    command = [sys.executable, "-c", STRAY]
    done = subprocess.run(command, input=PING, capture_output=True, timeout=60, check=False)
    assert json.loads(done.stdout) == json.loads(PING)
    assert done.stderr == b"printed b''\n"
