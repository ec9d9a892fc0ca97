"""A client over WebSocket, with a server that answers nonsense. Real sockets on loopback: real clock."""

import json
from functools import partial
from typing import Any

import pytest
import trio
from trio_websocket import ConnectionClosed, WebSocketRequest, serve_websocket

from trio_debugmcp.client import InspectorClient, InspectorOptions
from trio_debugmcp.errors import ProtocolViolation

pytestmark = pytest.mark.real

WELCOME = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "odd", "version": "1"}}


async def answer(request: WebSocketRequest) -> None:
    """Complete the handshake; then each answer is null, which is not JSON-RPC."""
    connection = await request.accept(subprotocol="mcp")
    try:
        while True:
            message = json.loads(await connection.get_message())
            if "id" not in message:
                continue
            reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
            reply["result"] = WELCOME if message["method"] == "initialize" else None
            await connection.send_message(json.dumps(reply))
    except ConnectionClosed:
        pass


async def test_a_malformed_answer_ends_its_request_at_once() -> None:
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            server = await nursery.start(partial(serve_websocket, answer, "127.0.0.1", 0, ssl_context=None))
            url = f"ws://127.0.0.1:{server.port}/mcp"
            async with InspectorClient(url, InspectorOptions(mode="legacy")) as client:
                with pytest.raises(ProtocolViolation, match="ping: Failed to parse the response"):
                    await client.ping()
                assert client.status == "connected"
            nursery.cancel_scope.cancel("the test is over")
