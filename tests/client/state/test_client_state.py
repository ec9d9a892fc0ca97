"""What the end of a connection clears, and announces. Both eras, virtual clock."""

from contextlib import suppress
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import Peer, content, received, text, tool
from trio_debugmcp.client import (
    ConnectionLost,
    InspectorClient,
)

ONE = "demo://one"


async def test_nothing_is_committed_after_a_disconnect(peer: Peer, autojump_clock: MockClock) -> None:
    """A list, a read, a prompt and a tool call are answered at the moment in which the connection ends."""
    late = {
        "tools/list": {"tools": [tool("zombie")]},
        "resources/read": content(ONE, "zombie"),
        "prompts/get": {"messages": []},
        "tools/call": text("zombie"),
    }
    async with (
        InspectorClient(peer) as client,
        client.events() as events,
        trio.open_nursery() as nursery,
    ):

        async def attempt(call: Any) -> None:
            with suppress(ConnectionLost):
                await call()

        peer.silent_about |= late.keys()
        nursery.start_soon(attempt, client.list_tools)
        nursery.start_soon(attempt, lambda: client.read_resource(ONE))
        nursery.start_soon(attempt, lambda: client.get_prompt("p"))
        nursery.start_soon(attempt, lambda: client.call_tool("t"))
        await wait_all_tasks_blocked()
        for request in peer.requests:
            if request["method"] in late:
                peer.reply(request["id"], late[request["method"]])
        peer.crash()
        await trio.sleep(60)
        assert client.tools == ()
        assert client.cache.stats().resources.stale == client.cache.stats().resources.entries
        assert client.cache.get_prompt("p") is None
        assert client.cache.get_tool_call_result("t") is None
        assert received(events)[-1].kind == "disconnect"


@pytest.mark.parametrize("how", ["disconnect", "crash"])
async def test_a_crash_clears_what_a_disconnect_clears_with_the_same_events(
    how: str, peer: Peer, autojump_clock: MockClock
) -> None:
    peer.tools, peer.resources, peer.templates, peer.prompts = ["t"], [ONE], ["demo://{x}"], ["p"]
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        kept = await client.read_resource(ONE)
        async with client.events() as stream:
            ended = client.wait_for("disconnect")
            if how == "crash":
                peer.crash()
                await ended
            else:
                await client.disconnect()
            await wait_all_tasks_blocked()
            said = [event.kind for event in received(stream)]
        assert (client.tools, client.resources, client.resource_templates, client.prompts) == ((), (), (), ())
        assert client.get_subscribed_resources() == ()
        assert client.capabilities is None
        assert client.server_info is None
        assert client.protocol_version is None
        assert client.cache.get_resource(ONE) is None
        assert client.cache.get_resource(ONE, allow_stale=True) is kept
        expected = {
            "statusChange", "cacheChange", "capabilitiesChange", "instructionsChange", "toolsChange",
            "resourcesChange", "resourceTemplatesChange", "promptsChange", "resourceSubscriptionsChange",
            "disconnect",
        }  # fmt: skip
        if not peer.modern:
            expected |= {"serverInfoChange"}
        assert set(said) - {"message", "error"} == expected
        assert said.count("disconnect") == 1
        assert said[-1] == "disconnect"
        assert ("error" in said) == (how == "crash")
        assert client.status == ("error" if how == "crash" else "disconnected")


async def test_the_end_of_a_connection_is_announced_in_full(peer: Peer, autojump_clock: MockClock) -> None:
    """Lists that shrink to nothing say what went, templates and subscriptions among them."""
    peer.templates = ["demo://{x}"]
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        templates = client.wait_for("resourceTemplatesChange")
        subscriptions = client.wait_for("resourceSubscriptionsChange")
        await client.disconnect()
        assert (await templates).removed == ("demo://{x}",)
        assert (await templates).reason == "disconnect"
        assert (await subscriptions).uris == ()
