"""What can be connected to."""

from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from trio.testing import MockClock

from tests.client.peer import Peer
from trio_debugmcp.client import (
    InspectorClient,
    InspectorOptions,
    Reconnect,
)
from trio_debugmcp.errors import UsageError


@pytest.mark.parametrize(
    ("target", "said"),
    [("ftp://x", "not an http"), (42, "Not an MCP server")],
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
