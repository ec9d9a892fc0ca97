"""The light client over any stream: our own server in memory, and one on a Unix socket; as the SDK has the protocol."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from trio_debugmcp.light_client import protocol
from trio_debugmcp.light_client.exchange import Exchange
from trio_debugmcp.light_client.negotiation import list_items, negotiate
from trio_debugmcp.light_client.protocol import EraMode, Json, RequestFailed
from trio_debugmcp.light_client.repeatable import ask
from trio_debugmcp.light_client.tool_call import ToolCall, call_tool
from trio_debugmcp.testing import FakeAdapter, open_server
from trio_debugmcp.transports.in_memory import byte_stream_pair
from trio_debugmcp.transports.line_pipes import Pipes, open_pipes
from trio_debugmcp.transports.stdio import open_lines

ERAS: tuple[EraMode, ...] = ("legacy", "modern")


class Listener:
    """An audience that remembers, and answers with its one answer."""

    def __init__(self, answer: Json | None = None) -> None:
        self.heard: list[Any] = []
        self._answer = answer or {"result": {"action": "decline"}}

    def progress(self, name: str, progress: float, total: float | None, message: str | None) -> None:
        self.heard.append((name, progress, total, message))

    def log(self, level: str, logger: object, data: object) -> None:
        self.heard.append((level, logger, data))

    def warn(self, text: str) -> None:
        self.heard.append(text)

    async def roots(self) -> list[dict[str, str]]:
        return [{"uri": "file:///here", "name": "here"}]

    async def answer(self, method: str, params: Any) -> Json:
        self.heard.append((method, params))
        await trio.sleep(100)  # a person takes longer than any time limit
        return self._answer


def call_of(tool: str, listener: Listener | None = None, **arguments: Any) -> ToolCall:
    return ToolCall(tool, lambda _schema: arguments, listener or Listener())


@asynccontextmanager
async def connected() -> AsyncIterator[Pipes]:
    """Pipes to our own server, in memory."""
    ours, theirs = byte_stream_pair()
    async with open_server(FakeAdapter().options()) as server, trio.open_nursery() as nursery:

        async def serve() -> None:
            async with open_lines(theirs, theirs) as (incoming, outgoing):
                await server.app.serve_connection(incoming, outgoing)

        nursery.start_soon(serve)  # noqa: ASYNC113  # what is sent before it runs waits in the stream
        async with open_pipes(ours) as pipes:
            yield pipes
        nursery.cancel_scope.cancel()


class Peer:
    """A server of the handshake era whose answer to `tools/call` the test writes."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._lines = b""
        self.received: list[Json] = []

    async def send(self, **message: Any) -> None:
        await self._stream.send_all(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")

    async def read(self) -> Json:
        with trio.fail_after(1000):  # virtual seconds, or a message that does not come would be waited for without end
            while b"\n" not in self._lines:
                self._lines += await self._stream.receive_some(65536)
        line, _, self._lines = self._lines.partition(b"\n")
        message: Json = msgspec.json.decode(line)
        self.received.append(message)
        return message

    async def read_call(self) -> int:
        """Answer everything before the call of the tool `t`; returns the call's id."""
        while (message := await self.read())["method"] != "tools/call":
            results: dict[str, Json] = {
                "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}},
                "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
            }
            if "id" in message:
                await self.send(id=message["id"], result=results[message["method"]])
        return int(message["id"])


@pytest.mark.parametrize("era", ERAS)
async def test_lists_and_tools_are_those_of_the_server(era: EraMode, autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as pipes:
        exchange = Exchange(pipes)
        server = await negotiate(exchange, era, {})
        assert server is not None
        assert server["serverInfo"]["name"] == "trio-debugmcp"
        assert (server["protocolVersion"] == protocol.MODERN_VERSION) == (era == "modern")
        tools = await list_items(exchange, server, "tools/list")
        assert tools is not None
        assert "debug_launch" in [tool["name"] for tool in tools]


@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_is_called_with_arguments_as_its_schema_wants_them(
    era: EraMode, autojump_clock: trio.testing.MockClock
) -> None:
    async with connected() as pipes:
        call = call_of("debug_launch", program=FakeAdapter.program, wait="false", stop_at_entry="false")
        result = await call_tool(pipes, call, era=era, seconds=5)
        assert result is not None
        assert not result.get("isError"), result


@pytest.mark.parametrize("era", ERAS)
async def test_the_result_of_a_tool_that_is_not_there_is_an_error(
    era: EraMode, autojump_clock: trio.testing.MockClock
) -> None:
    async with connected() as pipes:
        result = await call_tool(pipes, call_of("no_such_tool"), era=era, seconds=5)
    assert result is not None
    assert result["isError"]


async def test_an_error_of_json_rpc_refuses_the_call(autojump_clock: trio.testing.MockClock) -> None:
    ours, theirs = byte_stream_pair()
    peer = Peer(theirs)

    async def serve() -> None:
        await peer.send(id=await peer.read_call(), error={"code": -32602, "message": "too old"})

    async with open_pipes(ours) as pipes, trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        with pytest.raises(RequestFailed, match="too old") as refusal:
            await call_tool(pipes, call_of("t"), era="legacy", seconds=5)
    assert (refusal.value.kind, refusal.value.code) == ("refused", -32602)


async def test_a_question_to_a_person_stops_the_clock_of_the_call(autojump_clock: trio.testing.MockClock) -> None:
    ours, theirs = byte_stream_pair()
    peer, listener = Peer(theirs), Listener({"result": {"action": "accept"}})

    async def serve() -> None:
        number = await peer.read_call()
        await peer.send(id="q", method="elicitation/create", params={"message": "which?"})
        await peer.send(id="r", method="roots/list")
        replies = {message["id"]: message["result"] for message in [await peer.read(), await peer.read()]}
        assert replies == {"q": {"action": "accept"}, "r": {"roots": await listener.roots()}}
        await peer.send(id=number, result={"content": []})

    async with open_pipes(ours) as pipes, trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        assert await call_tool(pipes, call_of("t", listener), era="legacy", seconds=5) == {"content": []}
    assert listener.heard == [("elicitation/create", {"message": "which?"})]
    assert trio.current_time() >= 100


async def test_progress_prolongs_a_call_and_the_server_hears_of_its_end(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, theirs = byte_stream_pair()
    peer, listener = Peer(theirs), Listener()

    async def serve() -> None:
        number = await peer.read_call()
        for step in (1, 2):
            await trio.sleep(4)
            progress = {"progressToken": "call", "progress": step, "total": 9}
            await peer.send(method="notifications/progress", params=progress)
        cancelled = await peer.read()
        assert cancelled["method"] == "notifications/cancelled"
        assert cancelled["params"]["requestId"] == number

    async with open_pipes(ours) as pipes, trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        begun = trio.current_time()
        with pytest.raises(RequestFailed, match="no answer within 5 s") as failure:
            await call_tool(pipes, call_of("t", listener), era="legacy", seconds=5)
    assert (failure.value.kind, trio.current_time() - begun) == ("timeout", 4 + 4 + 5)
    assert listener.heard == [("t", 1, 9, None), ("t", 2, 9, None)]


async def test_a_connection_that_ends_during_the_call_is_lost(autojump_clock: trio.testing.MockClock) -> None:
    ours, theirs = byte_stream_pair()

    async def serve() -> None:
        await Peer(theirs).read_call()
        await theirs.aclose()

    async with open_pipes(ours) as pipes, trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        with pytest.raises(RequestFailed) as failure:
            await call_tool(pipes, call_of("t"), era="legacy", seconds=5)
    assert (failure.value.kind, str(failure.value)) == ("lost", "the server closed the connection")


async def test_a_server_that_says_nothing_costs_the_time_limit(autojump_clock: trio.testing.MockClock) -> None:
    ours, _theirs = byte_stream_pair()
    async with open_pipes(ours) as pipes:
        with pytest.raises(RequestFailed) as failure:
            await ask(pipes, era="legacy", method="ping", params={}, seconds=3)
    assert (failure.value.kind, trio.current_time()) == ("no handshake", 3)


async def test_a_server_that_says_nothing_before_a_call_made_no_handshake(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, _theirs = byte_stream_pair()
    async with open_pipes(ours) as pipes:
        with pytest.raises(RequestFailed, match="Cannot connect: no handshake within 3 s") as failure:
            await call_tool(pipes, call_of("t"), era="legacy", seconds=3)
    assert failure.value.kind == "no handshake"


@pytest.mark.parametrize("era", ERAS)
async def test_a_ping_is_answered_in_both_eras(era: EraMode, autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as pipes:
        assert await ask(pipes, era=era, method="ping", params={}, seconds=5) == {}


async def test_the_time_limit_of_a_request_begins_with_it(autojump_clock: trio.testing.MockClock) -> None:
    ours, theirs = byte_stream_pair()
    peer = Peer(theirs)

    async def serve() -> None:
        initialize = await peer.read()
        await trio.sleep(4)
        answer = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}}
        await peer.send(id=initialize["id"], result=answer)
        assert (await peer.read())["method"] == "notifications/initialized"
        ping = await peer.read()
        await trio.sleep(4)
        await peer.send(id=ping["id"], result={})

    async with open_pipes(ours) as pipes, trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        assert await ask(pipes, era="legacy", method="ping", params={}, seconds=5) == {}
    assert trio.current_time() == 8


async def test_what_was_sent_is_written_before_the_stream_is_closed() -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with open_pipes(ours) as pipes:
        await pipes.frames.send(b"one\n")
    assert await theirs.receive_some() == b"one\n"
    assert await theirs.receive_some() == b""


@pytest.mark.real
async def test_a_unix_socket_is_a_stream_like_any_other(tmp_path: Path) -> None:
    path = str(tmp_path / "server.sock")

    with trio.socket.socket(trio.socket.AF_UNIX, trio.socket.SOCK_STREAM) as listening:
        await listening.bind(path)
        listening.listen()
        async with open_server(FakeAdapter().options()) as server, trio.open_nursery() as nursery:

            async def serve(stream: trio.SocketStream) -> None:
                async with stream, open_lines(stream, stream) as (incoming, outgoing):
                    await server.app.serve_connection(incoming, outgoing)

            nursery.start_soon(trio.serve_listeners, serve, [trio.SocketListener(listening)])
            async with open_pipes(await trio.open_unix_socket(path)) as pipes:
                answer = await ask(pipes, era="auto", method="ping", params={}, seconds=120)
            assert answer == {}
            nursery.cancel_scope.cancel()


def test_it_speaks_the_versions_of_the_sdk() -> None:
    from mcp.types import version

    assert version.HANDSHAKE_PROTOCOL_VERSIONS == protocol.HANDSHAKE_VERSIONS
    assert version.LATEST_MODERN_VERSION == protocol.MODERN_VERSION
