"""What can be connected to."""

from functools import partial
from typing import Any

import pytest
import trio
from mcp.server.mcpserver import MCPServer
from trio.testing import MockClock

from tests.client.peer import Peer
from trio_debugmcp.client import (
    ConnectFailed,
    InspectorClient,
    InspectorOptions,
    Reconnect,
)
from trio_debugmcp.errors import UsageError


@pytest.mark.parametrize(
    ("target", "said"),
    [("ftp://x", "not an http"), ("http://[::1", "is not a URL"), (42, "Not an MCP server")],
)
async def test_a_target_of_another_kind_is_a_usage_error(target: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        async with InspectorClient(target):
            pytest.fail("connected to nothing")


async def test_an_in_process_server_is_a_target_in_either_era() -> None:
    server = MCPServer("here")

    @server.tool()
    def double(n: int) -> int:
        """Twice n."""
        return 2 * n

    for mode in ("legacy", "modern"):
        async with InspectorClient(server, InspectorOptions(mode=mode)) as client:
            assert [tool.name for tool in client.tools] == ["double"]
            called = await client.call_tool("double", {"n": "21"})
            assert called.result is not None
            assert called.result.structured_content == {"result": 42}


async def test_a_function_that_makes_transports_can_be_reconnected_to(autojump_clock: MockClock) -> None:
    peers = [Peer(), Peer()]
    made = iter(peers)
    async with InspectorClient(lambda: next(made).connect(), InspectorOptions(reconnect=Reconnect())) as client:
        back = client.wait_for("connect")
        peers[0].crash()
        await back
        assert peers[1].connections == 1


@pytest.mark.real
@pytest.mark.parametrize(("url", "first"), [("http", "POST /mcp"), ("http-sse", "GET /sse"), ("ws", "GET /mcp")])
async def test_the_headers_of_the_options_are_sent_to_a_url(url: str, first: str) -> None:
    heads: list[str] = []

    async def refuse(stream: trio.SocketStream) -> None:
        heads.append(bytes(await stream.receive_some(10_000)).decode())
        await stream.send_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await stream.aclose()

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            (listener,) = await nursery.start(partial(trio.serve_tcp, refuse, 0, host="127.0.0.1"))
            scheme, path = ("http", "sse") if url == "http-sse" else (url, "mcp")
            target = f"{scheme}://127.0.0.1:{listener.socket.getsockname()[1]}/{path}"
            with pytest.raises(ConnectFailed):
                async with InspectorClient(target, InspectorOptions(headers={"X-Mark": "hello"})):
                    pytest.fail("connected to nothing")
            nursery.cancel_scope.cancel("done")
    assert heads[0].startswith(first)
    assert "x-mark: hello" in heads[0].lower()
