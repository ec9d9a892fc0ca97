"""What is answered before the SDK is there is what the SDK's server answers, byte for byte, and is answered once."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import product
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock, memory_stream_pair

from trio_debugmcp.server.early_answers import EarlyAnswers
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.server_options import Options
from trio_debugmcp.testing import open_server
from trio_debugmcp.transports.early_stdio import EarlyAnswer, Handover
from trio_debugmcp.transports.stdio import open_lines

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PREFIX = "io.modelcontextprotocol/"

CLIENTS: list[dict[str, Any]] = [
    {"name": "a", "version": "0"},
    {"name": "ü", "version": "1.0", "title": "A", "description": "x", "websiteUrl": "https://a.example", "icons": []},
    {"name": "a", "version": "0", "icons": [{"src": "data:,", "mimeType": "image/png", "sizes": ["48x48"]}]},
]
CAPABILITIES: list[dict[str, Any]] = [
    {},
    {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}, "experimental": {"a": {"b": 1}}},
    {"roots": {}, "sampling": {"tools": {}, "context": {}}, "elicitation": {"form": {}, "url": {}}},
    {"extensions": {f"{PREFIX}ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}, "experimental": {"debugger": {}}},
]


def initialize(version: Any = HANDSHAKES[-1], request_id: Any = 1, **parameters: Any) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENTS[0], **parameters}
    return {"jsonrpc": "2.0", "id": request_id, "method": "initialize", "params": params}


def discover(capabilities: Any = None, client: Any = None, **meta: Any) -> dict[str, Any]:
    envelope = {f"{PREFIX}protocolVersion": "2026-07-28", f"{PREFIX}clientCapabilities": capabilities or {}, **meta}
    envelope |= {} if client is None else {f"{PREFIX}clientInfo": client}
    return {"jsonrpc": "2.0", "id": "d-1", "method": "server/discover", "params": {"_meta": envelope}}


SENDERS = [{"capabilities": each, "clientInfo": client} for each, client in product(CAPABILITIES, CLIENTS)]

OPENINGS = [
    *(initialize(version, **of) for version, of in product(HANDSHAKES, SENDERS)),
    *(initialize(request_id=each) for each in (0, -1, 2**70, "", "ü\n\"", "a" * 100)),
    *(discover(each, client) for each, client in product(CAPABILITIES, [None, *CLIENTS])),
]  # fmt: skip
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}


def line(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


class Client:
    """A client on lines of bytes."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._buffer = b""

    async def ask(self, *messages: Any) -> bytes:
        """Send messages, and return the next line that comes."""
        return await self.ask_raw(b"".join(map(line, messages)))

    async def ask_raw(self, data: bytes) -> bytes:
        """Send bytes, and return the next line that comes."""
        await self._stream.send_all(data)
        with trio.fail_after(60):
            while b"\n" not in self._buffer:
                self._buffer += await self._stream.receive_some()
        found, _, self._buffer = self._buffer.partition(b"\n")
        return found


NOTHING = Handover()


@asynccontextmanager
async def served(handover: Handover = NOTHING, *, core_only: bool = True) -> AsyncIterator[Client]:
    """A client of the SDK's server."""
    ours, theirs = memory_stream_pair()
    async with (
        open_server(Options(core_tools_only=core_only)) as server,
        open_lines(theirs, theirs, handover) as streams,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(server.app.serve_connection, *streams)
        yield Client(ours)
        nursery.cancel_scope.cancel()


def early(message: Any, *, core_only: bool = True) -> EarlyAnswer:
    found = EarlyAnswers(core_only=core_only).answer(line(message)[:-1])
    assert found is not None, message
    return found


@pytest.mark.parametrize("core_only", [True, False], ids=["short", "full"])
async def test_it_is_what_the_sdks_server_answers_in_every_era(autojump_clock: MockClock, core_only: bool) -> None:
    for message in OPENINGS:
        async with served(core_only=core_only) as client:
            assert await client.ask(message) == early(message, core_only=core_only).text


async def test_what_is_answered_is_not_answered_again_and_the_server_knows_the_client(
    autojump_clock: MockClock,
) -> None:
    answers = EarlyAnswers(core_only=True)
    messages = [initialize(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, PING]
    given = [answers.answer(line(each)) for each in messages]
    assert [each and each.id for each in given] == [1, None, 2]
    listing = LIST_TOOLS
    received = b"".join(map(line, [*messages, listing]))[:-9]  # its last line is there in part
    async with served(Handover(received, tuple(filter(None, given)))) as client:
        assert json.loads(await client.ask_raw(line(listing)[-9:]))["id"] == 3
        ping = {**PING, "id": 1}  # an id may be used again
        assert json.loads(await client.ask(ping)) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        query = {"name": "timeline_query", "arguments": {"full": True}}
        asked = json.loads(await client.ask({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": query}))
        (connected,) = asked["result"]["structuredContent"]["events"]
        assert (connected["type"], connected["payload"]["name"]) == ("clientJoined", "a")


@pytest.mark.parametrize("core_only", [True, False], ids=["short", "full"])
async def test_the_list_of_tools_is_answered_as_soon_as_it_is_known_as_the_sdks_server_answers_it(
    autojump_clock: MockClock, core_only: bool
) -> None:
    tools = open_toolbox(core_only=core_only).listed()
    for version in HANDSHAKES:
        answers = EarlyAnswers(core_only=core_only)
        assert answers.answer(line(initialize(version)))
        assert answers.answer(line(LIST_TOOLS)) is None, "the client is not ready yet"
        assert answers.answer(line(INITIALIZED)) is None
        assert answers.answer(line({**LIST_TOOLS, "id": "early"})) is None
        (waited,) = answers.know_tools(tools)
        assert (waited.id, json.loads(waited.text)["id"]) == ("early", "early")
        found = answers.answer(line(LIST_TOOLS))
        assert found is not None
        async with served(core_only=core_only) as client:
            await client.ask(initialize(version))
            assert await client.ask(INITIALIZED, LIST_TOOLS) == found.text


def test_a_host_with_cards_and_one_that_asks_for_a_page_get_the_list_of_the_sdks_server() -> None:
    cards = EarlyAnswers(core_only=True)
    plain = EarlyAnswers(core_only=True)
    assert cards.answer(line(initialize(capabilities=CAPABILITIES[-1])))
    assert plain.answer(line(initialize()))
    for answers in (cards, plain):
        answers.answer(line(INITIALIZED))
        assert answers.know_tools(open_toolbox().listed()) == []
    assert cards.answer(line(LIST_TOOLS)) is None
    assert plain.answer(line({**LIST_TOOLS, "params": {"cursor": "2"}})) is None


@pytest.mark.parametrize(
    "message",
    [
        initialize("2023-01-01"),
        initialize(7),
        initialize(request_id=None),
        initialize(request_id=1.5),
        initialize(request_id=True),
        initialize(capabilities=None),
        initialize(capabilities={"sampling": 3}),
        initialize(capabilities={"tasks": {}}),
        initialize(clientInfo={"name": "a"}),
        initialize(more=1),
        {**initialize(), "jsonrpc": "1.0"},
        [initialize()],
        discover({"roots": 1}),
        discover(more=1),
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}},
        PING,
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        "x",
    ],
)
def test_what_is_not_as_expected_is_left_to_the_sdk(message: Any) -> None:
    assert EarlyAnswers(core_only=True).answer(line(message)) is None


def test_only_the_first_message_opens_a_conversation() -> None:
    answers = EarlyAnswers(core_only=True)
    assert answers.answer(line(PING)) is None
    assert answers.answer(line(initialize())) is None
    again = EarlyAnswers(core_only=True)
    assert again.answer(line(discover()))
    assert again.answer(line(PING)) is None, "it is an error in this era"
    assert again.answer(line(initialize())) is None


@given(st.binary(max_size=200))
def test_no_line_breaks_it(data: bytes) -> None:
    EarlyAnswers(core_only=True).answer(data)
    for part in range(0, len(line(initialize())), 7):
        EarlyAnswers(core_only=True).answer(line(initialize())[:part] + data)


UNREAD = """
import select, sys, time
from trio_debugmcp.transports.early_stdio import EarlyAnswer, EarlyStdio

early = EarlyStdio(lambda line: EarlyAnswer(1, b"x" * 100_000))
early.start()
while select.select([], [1], [], 0)[1]:
    time.sleep(0.01)  # until the pipe is full
print(len(early.hand_over().unsent), file=sys.stderr, flush=True)
"""


@pytest.mark.real
def test_a_client_that_does_not_read_its_early_answers_does_not_hold_up_the_server() -> None:
    command = [sys.executable, "-c", UNREAD]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        process.stdin.write(b"{}\n")
        process.stdin.flush()
        unsent = int(process.stderr.readline())
        sent = len(process.stdout.read())
    assert unsent > 0
    assert sent + unsent == 100_001
