"""Malformed items, answers and notifications of a server: what they cost, and who is blamed. Virtual clock."""

import json
import logging
from typing import Any

import pytest
import trio
from mcp import MCPError
from trio.testing import MockClock

from tests.client.peer import Json, Peer, received, tool
from trio_debugmcp.client import InspectorClient, InspectorOptions
from trio_debugmcp.errors import ProtocolViolation, UsageError
from trio_debugmcp.transports.jsonrpc import unreadable_response

BAD_TOOL: Json = {"name": "bad", "inputSchema": 42}


def lists_a_bad_tool(peer: Peer) -> None:
    peer.handlers["tools/list"] = lambda _: {"tools": [tool("one"), BAD_TOOL, tool("two"), "three"]}


async def test_one_malformed_tool_costs_itself_and_is_named(peer: Peer, autojump_clock: MockClock) -> None:
    lists_a_bad_tool(peer)
    client = InspectorClient(peer, InspectorOptions(connect_on_enter=False))
    async with client, client.events("error") as events:
        await client.connect()
        assert [each.name for each in client.tools] == ["one", "two"]
        (reported,) = received(events)
        assert reported.message.startswith("tools/list: 2 of 4 items left out")
        assert "tools[1] 'bad': " in reported.message
        assert "tools[3]: " in reported.message
        listed = next(e for e in client.messages if e.message.get("method") == "tools/list").response
        assert listed is not None
        assert len(listed["result"]["tools"]) == 4, "the log has what was sent"


@pytest.mark.parametrize("auto_sync", [True, False])
async def test_a_call_is_one_request_and_its_answer_is_not_lost_to_a_list(
    auto_sync: bool, peer: Peer, autojump_clock: MockClock
) -> None:
    """The SDK lists the tools after a call of one that it does not know, and fails if that fails."""
    peer.handlers["tools/list"] = lambda _: {"tools": 42}
    async with InspectorClient(peer, InspectorOptions(auto_sync_lists=auto_sync)) as client:
        before = peer.count("tools/list")
        for name in ("bad", "one"):
            called = await client.call_tool(name)
            assert called.success, called.error
            assert called.result is not None
        assert peer.count("tools/list") == before


@pytest.mark.parametrize(
    ("method", "field", "good"),
    [
        ("resources/list", "resources", {"uri": "demo://a", "name": "a"}),
        ("resources/templates/list", "resourceTemplates", {"uriTemplate": "demo://{a}", "name": "a"}),
        ("prompts/list", "prompts", {"name": "a"}),
    ],
)
async def test_every_list_keeps_its_good_items(
    method: str, field: str, good: Json, peer: Peer, autojump_clock: MockClock
) -> None:
    peer.handlers[method] = lambda _: {field: [{"name": 1}, good]}
    async with InspectorClient(peer) as client:
        lists = {"resources": client.resources, "resourceTemplates": client.resource_templates}
        assert len(lists.get(field, client.prompts)) == 1


async def test_of_many_malformed_items_some_are_named_and_all_are_counted(autojump_clock: MockClock) -> None:
    peer = Peer()
    peer.handlers["prompts/list"] = lambda _: {"prompts": [{"name": n} for n in range(9)]}
    client = InspectorClient(peer, InspectorOptions(connect_on_enter=False))
    async with client, client.events("error") as events:
        await client.connect()
        (reported,) = received(events)
        assert "9 of 9 items" in reported.message
        assert "prompts[4]" in reported.message
        assert "prompts[5]" not in reported.message
        assert reported.message.endswith("and 4 more")


async def test_a_list_that_is_wrong_beside_its_items_is_an_error_as_a_whole(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.handlers["prompts/list"] = lambda _: {"prompts": [{"name": 1}], "nextCursor": 7}
    options = InspectorOptions(auto_sync_lists=False)
    async with InspectorClient(peer, options) as client, client.events("error") as events:
        with pytest.raises(ProtocolViolation, match="prompts/list: the answer is not what the protocol says"):
            await client.list_prompts()
        assert received(events) == [], "nothing was left out"


async def test_a_call_without_an_answer_in_time_is_not_a_refusal(peer: Peer, autojump_clock: MockClock) -> None:
    peer.silent_about |= {"tools/call"}
    async with InspectorClient(peer, InspectorOptions(request_timeout=5)) as client:
        called = await client.call_tool("t")
        assert (called.success, called.fault) == (False, "timeout")
        assert called.error == "tools/call: no answer within 5 s"


async def test_an_answer_that_cannot_be_used_is_not_a_refusal(peer: Peer, autojump_clock: MockClock) -> None:
    peer.handlers["tools/call"] = lambda _: {"content": 42}
    async with InspectorClient(peer) as client:
        assert (await client.call_tool("t")).fault == "protocol"


@pytest.mark.parametrize(
    ("text", "request_id"),
    [
        ('{"jsonrpc": "2.0", "id": 3, "result": null}', 3),
        ('{"jsonrpc": "2.0", "id": "x", "error": {"message": "no code"}}', "x"),
        ('{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": 1}', None),
        ('{"jsonrpc": "2.0", "id": true, "result": {}}', None),
        ("[3]", None),
        ("{", None),
    ],
)
def test_a_malformed_response_is_an_error_for_its_request_if_that_is_known(text: str, request_id: Any) -> None:
    response = unreadable_response(text)
    assert (response.message.id if response is not None else None) == request_id  # type: ignore[union-attr]


async def test_a_malformed_answer_ends_its_request_and_is_the_servers_fault(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.silent_about |= {"resources/read"}
    async with InspectorClient(peer) as client:

        async def answer() -> None:
            await trio.sleep(1)
            response = unreadable_response(json.dumps({"id": peer.requests[-1]["id"], "result": None}))
            assert response is not None
            peer.pass_on(response)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer)
            start = trio.current_time()
            with pytest.raises(ProtocolViolation, match="resources/read: Failed to parse the response"):
                await client.read_resource("demo://one")
            assert trio.current_time() - start == 1


async def test_an_error_of_the_server_about_parsing_stays_its_error(peer: Peer, autojump_clock: MockClock) -> None:
    peer.silent_about |= {"resources/read"}
    async with InspectorClient(peer) as client:

        async def answer() -> None:
            await trio.sleep(1)
            peer.send({"id": peer.requests[-1]["id"], "error": {"code": -32700, "message": "what?"}})

        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer)
            with pytest.raises(MCPError, match="what"):
                await client.read_resource("demo://one")


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.read_resource(None),
        lambda client: client.read_resource(""),
        lambda client: client.read_resource("demo://one", {"x": object()}),
        lambda client: client.call_tool("t", {"x": object()}),
        lambda client: client.call_tool("t", {"x": b"\xff"}),
        lambda client: client.call_tool("t", ["x"]),
        lambda client: client.call_tool(None),
        lambda client: client.get_prompt(None),
        lambda client: client.get_prompt("p", {"x": object()}),
        lambda client: client.subscribe_to_resource(None),
    ],
)
async def test_what_cannot_be_sent_is_the_callers_fault(call: Any, peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        sent = len(peer.requests)
        with pytest.raises(UsageError, match=r"must be|cannot be sent"):
            await call(client)
        assert len(peer.requests) == sent


async def test_a_malformed_notification_is_an_event_and_no_record_of_the_sdk(
    peer: Peer, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with InspectorClient(peer) as client:
        reported = client.wait_for("error")
        with caplog.at_level(logging.WARNING):
            peer.notify("notifications/message", level="loud", data=1)
            assert (await reported).message.startswith("notifications/message is not what the protocol says")
            await client.ping()
        assert caplog.records == []
        assert isinstance((await reported).error, ProtocolViolation)
