"""Notifications as a client receives them, message by message, in both protocol eras."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    jsonrpc_message_adapter,
)
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, SESSION, STACK, THREADS, launch, move_breakpoint
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server
from trio_debugmcp.testing.connect import Era, Server
from trio_debugmcp.transports.in_memory import memory_pair
from trio_debugmcp.transports.jsonrpc import message_text

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])

CLIENT = {"name": "raw", "version": "1"}
ENVELOPE = {
    PROTOCOL_VERSION_META_KEY: "2026-07-28",
    CLIENT_INFO_META_KEY: CLIENT,
    CLIENT_CAPABILITIES_META_KEY: {},
}


class Raw:
    """A client that sends and receives JSON, at its own pace."""

    def __init__(self, end: Any) -> None:
        self._incoming, self._outgoing = end

    async def send(self, method: str, number: int | str | None = None, **params: object) -> None:
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
        message |= {} if number is None else {"id": number}
        await self._outgoing.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))

    async def receive(self) -> dict[str, Any]:
        received: dict[str, Any] = json.loads(message_text(await self._incoming.receive()))
        return received

    async def receive_all(self) -> list[dict[str, Any]]:
        """Receive until nothing has come for five seconds."""
        received = []
        while True:
            with trio.move_on_after(5) as silence:
                received.append(await self.receive())
            if silence.cancelled_caught:
                return received

    async def subscribe(self, era: Era, *uris: str) -> None:
        if era == "modern":
            wanted = {"resourceSubscriptions": list(uris), "resourcesListChanged": True}
            await self.send("subscriptions/listen", "my-stream", notifications=wanted, _meta=ENVELOPE)
            assert (await self.receive())["method"] == "notifications/subscriptions/acknowledged"
            return
        await self.send("initialize", 1, protocolVersion="2025-11-25", capabilities={}, clientInfo=CLIENT)
        await self.receive()
        await self.send("notifications/initialized")
        for number, uri in enumerate(uris, 2):
            await self.send("resources/subscribe", number, uri=uri)
            await self.receive()


@asynccontextmanager
async def raw_client(server: Server) -> AsyncIterator[Raw]:
    async with trio.open_nursery() as nursery:
        with memory_pair() as (left, right):
            nursery.start_soon(server.app.serve_connection, *left)
            yield Raw(right)
            nursery.cancel_scope.cancel(reason="the client disconnects")


@asynccontextmanager
async def watched(adapter: FakeAdapter) -> AsyncIterator[tuple[Server, DebugClient]]:
    """A running session with a breakpoint, and nothing pending."""
    async with open_server(adapter.options()) as server, server.connect() as agent:
        await agent.call("breakpoint_set", file=adapter.program, line=1)
        await launch(agent, adapter)
        await trio.sleep(10)
        yield server, agent


@both_eras
async def test_a_client_that_does_not_read_gets_each_resource_once(era: Era, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with watched(adapter) as (server, _), raw_client(server) as slow:
        await slow.subscribe(era, BREAKPOINTS)
        for number in range(50):
            await move_breakpoint(adapter, 2 + number)
            await trio.sleep(1)
        methods = [each["method"] for each in await slow.receive_all()]
        # one that was being sent, and one for all later changes
        assert methods == ["notifications/resources/updated"] * 2


async def test_every_message_of_a_stream_names_the_request_that_opened_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with watched(adapter) as (server, _), raw_client(server) as client:
        await client.subscribe("modern", SESSION)
        await adapter.stop("pause")
        await adapter.exit()
        received = await client.receive_all()
        mark = {"io.modelcontextprotocol/subscriptionId": "my-stream"}
        assert [(each["method"], each["params"]) for each in received] == [
            ("notifications/resources/updated", {"uri": SESSION, "_meta": mark}),
            ("notifications/resources/list_changed", {"_meta": mark}),
        ]


async def test_the_first_message_of_a_stream_grants_what_it_asked_for(autojump_clock: MockClock) -> None:
    async with open_server(FakeAdapter().options()) as server, raw_client(server) as client:
        wanted = {"resourceSubscriptions": [SESSION], "resourcesListChanged": True, "toolsListChanged": False}
        await client.send("subscriptions/listen", 7, notifications=wanted, _meta=ENVELOPE)
        assert await client.receive() == {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {
                "notifications": {"resourceSubscriptions": [SESSION], "resourcesListChanged": True},
                "_meta": {"io.modelcontextprotocol/subscriptionId": 7},
            },
        }
        await client.send("subscriptions/listen", 8, notifications={"promptsListChanged": True}, _meta=ENVELOPE)
        assert (await client.receive())["params"]["notifications"] == {"promptsListChanged": True}
        await client.send("notifications/cancelled", requestId=7)
        await trio.sleep(1)
        assert server.app.hub.statistics().resources == 0


@both_eras
async def test_a_change_of_several_resources_is_notified_for_each_in_one_instant(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with watched(adapter) as (server, _), raw_client(server) as client:
        await client.subscribe(era, SESSION, STACK, THREADS)
        start = trio.current_time()
        await adapter.stop("pause")
        received = set()
        for _ in range(3):
            received.add((await client.receive())["params"]["uri"])
        assert received == {SESSION, STACK, THREADS}
        assert trio.current_time() - start == pytest.approx(0.3)
