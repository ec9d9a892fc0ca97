"""Notifications on their way from the mailbox to the client, in both protocol eras."""

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
from trio_debugmcp.transports.jsonrpc import message_text
from trio_debugmcp.transports.memory import memory_pair

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])

CLIENT = {"name": "raw", "version": "1"}
ENVELOPE = {
    PROTOCOL_VERSION_META_KEY: "2026-07-28",
    CLIENT_INFO_META_KEY: CLIENT,
    CLIENT_CAPABILITIES_META_KEY: {},
}


class Raw:
    """A client that says and hears JSON, at its own pace."""

    def __init__(self, end: Any) -> None:
        self._incoming, self._outgoing = end

    async def say(self, method: str, number: int | str | None = None, **params: object) -> None:
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
        message |= {} if number is None else {"id": number}
        await self._outgoing.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))

    async def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(message_text(await self._incoming.receive()))
        return heard

    async def hear_all(self) -> list[dict[str, Any]]:
        """What comes until it is silent for some time."""
        heard = []
        while True:
            with trio.move_on_after(5) as silence:
                heard.append(await self.hear())
            if silence.cancelled_caught:
                return heard

    async def subscribe(self, era: Era, *uris: str) -> None:
        if era == "modern":
            wishes = {"resourceSubscriptions": list(uris), "resourcesListChanged": True}
            await self.say("subscriptions/listen", "my-stream", notifications=wishes, _meta=ENVELOPE)
            assert (await self.hear())["method"] == "notifications/subscriptions/acknowledged"
            return
        await self.say("initialize", 1, protocolVersion="2025-11-25", capabilities={}, clientInfo=CLIENT)
        await self.hear()
        await self.say("notifications/initialized")
        for number, uri in enumerate(uris, 2):
            await self.say("resources/subscribe", number, uri=uri)
            await self.hear()


@asynccontextmanager
async def raw_client(server: Server) -> AsyncIterator[Raw]:
    async with trio.open_nursery() as nursery:
        with memory_pair() as (left, right):
            nursery.start_soon(server.app.serve_connection, *left)
            yield Raw(right)
            nursery.cancel_scope.cancel(reason="the client has left")


@asynccontextmanager
async def watched(adapter: FakeAdapter) -> AsyncIterator[tuple[Server, DebugClient]]:
    """A running session with a breakpoint, and nothing pending."""
    async with open_server(adapter.options()) as server, server.connect() as agent:
        await agent.call("breakpoint_set", file=adapter.program, line=1)
        await launch(agent, adapter)
        await trio.sleep(10)
        yield server, agent


@both_eras
async def test_a_client_that_does_not_read_finds_each_resource_once(era: Era, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with watched(adapter) as (server, _), raw_client(server) as slow:
        await slow.subscribe(era, BREAKPOINTS)
        for number in range(50):
            await move_breakpoint(adapter, 2 + number)
            await trio.sleep(1)
        told = [each["method"] for each in await slow.hear_all()]
        assert told == ["notifications/resources/updated"] * 2  # one that was under way, and one for all the rest


async def test_every_message_of_a_stream_says_which_request_asked_for_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with watched(adapter) as (server, _), raw_client(server) as client:
        await client.subscribe("modern", SESSION)
        await adapter.stop("pause")
        await adapter.exit()
        heard = await client.hear_all()
        mark = {"io.modelcontextprotocol/subscriptionId": "my-stream"}
        assert [(each["method"], each["params"]) for each in heard] == [
            ("notifications/resources/updated", {"uri": SESSION, "_meta": mark}),
            ("notifications/resources/list_changed", {"_meta": mark}),
        ]


async def test_a_stream_is_granted_what_it_wishes_and_told_so_first(autojump_clock: MockClock) -> None:
    async with open_server(FakeAdapter().options()) as server, raw_client(server) as client:
        wishes = {"resourceSubscriptions": [SESSION], "resourcesListChanged": True, "toolsListChanged": False}
        await client.say("subscriptions/listen", 7, notifications=wishes, _meta=ENVELOPE)
        assert await client.hear() == {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {
                "notifications": {"resourceSubscriptions": [SESSION], "resourcesListChanged": True},
                "_meta": {"io.modelcontextprotocol/subscriptionId": 7},
            },
        }
        await client.say("notifications/cancelled", requestId=7)
        await trio.sleep(1)
        assert server.app.hub.statistics().resources == 0


@both_eras
async def test_a_change_of_several_resources_is_told_of_each_in_one_instant(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with watched(adapter) as (server, _), raw_client(server) as client:
        await client.subscribe(era, SESSION, STACK, THREADS)
        start = trio.current_time()
        await adapter.stop("pause")
        heard = set()
        for _ in range(3):
            heard.add((await client.hear())["params"]["uri"])
        assert heard == {SESSION, STACK, THREADS}
        assert trio.current_time() - start == pytest.approx(0.3)
