"""The four lists: fetched on connect and on request, in pages, the newest fetch wins. Both eras, virtual clock."""

import itertools
from typing import Any

import pytest
import trio
from mcp import MCPError
from trio.testing import MockClock

from tests.client.peer import Json, Peer, Refuse, tool
from trio_debugmcp.client import (
    InspectorClient,
    InspectorOptions,
)
from trio_debugmcp.client.state.lists import ListDiff, compare
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.light_client.protocol import MAX_PAGES

KINDS = {
    "tools": ("tools", "tools/list", "list_tools", "toolsChange"),
    "resources": ("resources", "resources/list", "list_resources", "resourcesChange"),
    "resource_templates": (
        "templates",
        "resources/templates/list",
        "list_resource_templates",
        "resourceTemplatesChange",
    ),
    "prompts": ("prompts", "prompts/list", "list_prompts", "promptsChange"),
}

GROUP = {"tools": "tools", "resources": "resources", "resource_templates": "resources", "prompts": "prompts"}


def keys(client: InspectorClient, kind: str) -> list[str]:
    field = {"resources": "uri", "resource_templates": "uri_template"}.get(kind, "name")
    return [str(getattr(item, field)) for item in getattr(client, kind)]


def names(client: InspectorClient) -> list[str]:
    return [each.name for each in client.tools]


def test_the_difference_of_two_lists_names_what_was_added_removed_and_changed() -> None:
    diff = compare(["a1", "b1", "c1"], ["c1", "b2", "d1"], key=lambda item: item[0])
    assert diff == ListDiff(added=("d",), removed=("a",), changed=("b",))
    assert not compare(["a1"], ["a1"], key=lambda item: item[0])


@pytest.mark.parametrize("kind", KINDS)
class TestEachList:
    async def test_it_is_fetched_on_connect_and_announced_with_what_was_added(
        self, kind: str, peer: Peer, autojump_clock: MockClock
    ) -> None:
        attribute, method, _, event = KINDS[kind]
        setattr(peer, attribute, ["demo://a", "demo://b"])
        client = InspectorClient(peer)
        change: Any = client.wait_for(event)  # type: ignore[call-overload]
        async with client:
            assert keys(client, kind) == ["demo://a", "demo://b"]
            assert peer.count(method) == 1
            assert (await change).added == ("demo://a", "demo://b")
            assert (await change).reason == "connect"

    async def test_an_explicit_list_updates_announces_and_returns_it(
        self, kind: str, peer: Peer, autojump_clock: MockClock
    ) -> None:
        attribute, _, call, event = KINDS[kind]
        async with InspectorClient(peer) as client:
            setattr(peer, attribute, ["demo://a"])
            change: Any = client.wait_for(event)  # type: ignore[call-overload]
            listed = await getattr(client, call)()
            assert listed == getattr(client, kind)
            assert keys(client, kind) == ["demo://a"]
            assert (await change).added == ("demo://a",)
            again: Any = client.wait_for(event)  # type: ignore[call-overload]
            await getattr(client, call)()
            assert (await again).added == (), "an explicit list is always announced"

    async def test_all_pages_are_fetched(self, kind: str, peer: Peer, autojump_clock: MockClock) -> None:
        attribute, method, _, _ = KINDS[kind]
        peer.page_size = 2
        setattr(peer, attribute, [f"demo://{n}" for n in range(5)])
        async with InspectorClient(peer) as client:
            assert keys(client, kind) == [f"demo://{n}" for n in range(5)]
            assert peer.count(method) == 3

    async def test_a_notification_is_followed_by_one_fetch_and_one_event(
        self, kind: str, peer: Peer, autojump_clock: MockClock
    ) -> None:
        attribute, method, _, event = KINDS[kind]
        setattr(peer, attribute, ["demo://old"])
        async with InspectorClient(peer) as client:
            setattr(peer, attribute, ["demo://new"])
            change: Any = client.wait_for(event)  # type: ignore[call-overload]
            start = trio.current_time()
            peer.changed(GROUP[kind])
            changed = await change
            assert (changed.added, changed.removed) == (("demo://new",), ("demo://old",))
            assert changed.reason == "notification"
            assert trio.current_time() - start == pytest.approx(0.1), "the quiet window"
            assert keys(client, kind) == ["demo://new"]
            await trio.sleep(100)
            assert peer.count(method) == 2

    async def test_a_list_of_another_server_is_not_carried_over(
        self, kind: str, peer: Peer, autojump_clock: MockClock
    ) -> None:
        attribute, _, _, _ = KINDS[kind]
        setattr(peer, attribute, ["demo://a"])
        async with InspectorClient(peer) as client:
            await client.disconnect()
            assert keys(client, kind) == []
            setattr(peer, attribute, ["demo://b"])
            await client.connect()
            assert keys(client, kind) == ["demo://b"]

    async def test_a_server_without_the_capability_is_not_asked(self, kind: str, autojump_clock: MockClock) -> None:
        _, method, call, _ = KINDS[kind]
        peer = Peer(capabilities={})
        async with InspectorClient(peer) as client:
            assert await getattr(client, call)() == ()
            assert peer.count(method) == 0


async def test_a_removed_item_is_cleared_from_the_cache_and_the_others_are_not(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.resources, peer.templates, peer.prompts = ["demo://a", "demo://b"], ["demo://t/{x}"], ["p", "q"]
    peer.tools = ["t"]
    async with InspectorClient(peer) as client:
        for uri in peer.resources:
            await client.read_resource(uri)
        through = await client.read_resource_from_template("demo://t/{x}", {"x": "1"})
        for name in peer.prompts:
            await client.get_prompt(name)
        called = await client.call_tool("t")
        peer.resources, peer.prompts, peer.tools = ["demo://b"], ["q"], []
        for what in ("resources", "prompts", "tools"):
            peer.changed(what)
        await trio.sleep(2)
        assert client.cache.get_resource("demo://a", allow_stale=True) is None
        assert client.cache.get_resource("demo://b") is not None
        assert client.cache.get_prompt("p", allow_stale=True) is None
        assert client.cache.get_prompt("q") is not None
        assert client.cache.get_resource_template("demo://t/{x}") is through, "templates are another list"
        assert client.tools == ()
        assert client.cache.get_tool_call_result("t") is called, "a result outlives its tool"
        peer.templates = []
        await client.list_resource_templates()
        assert client.cache.get_resource_template("demo://t/{x}", allow_stale=True) is None


async def test_a_refused_list_raises_to_the_caller_and_leaves_the_list(peer: Peer, autojump_clock: MockClock) -> None:
    peer.tools = ["t"]
    async with InspectorClient(peer) as client:

        def refuse(_: Json) -> Json:
            raise Refuse(-32603, "busy")

        peer.handlers["tools/list"] = refuse
        with pytest.raises(MCPError, match="busy"):
            await client.list_tools()
        assert keys(client, "tools") == ["t"]


async def test_a_first_list_that_fails_does_not_fail_the_connection(peer: Peer, autojump_clock: MockClock) -> None:
    def refuse(_: Json) -> Json:
        raise Refuse(-32603, "not yet")

    peer.handlers["prompts/list"] = refuse
    peer.tools = ["t"]
    client = InspectorClient(peer)
    failed: Any = client.wait_for("error")
    async with client:
        assert client.status == "connected"
        assert keys(client, "tools") == ["t"]
        assert "prompts/list failed: not yet" in (await failed).message


async def test_the_newest_fetch_wins_though_an_older_one_finishes_later(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer, InspectorOptions(auto_sync_lists=False)) as client:
        delays = iter([(5.0, "older"), (1.0, "newer")])

        async def slow(_: Json) -> Json:
            delay, name = next(delays)
            await trio.sleep(delay)
            return {"tools": [tool(name)]}

        peer.handlers["tools/list"] = slow
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.list_tools)
            await trio.sleep(0.5)
            nursery.start_soon(client.list_tools)
        assert names(client) == ["newer"]


async def test_pages_are_committed_at_once_and_never_torn(peer: Peer, autojump_clock: MockClock) -> None:
    peer.tools, peer.page_size = [f"t{n}" for n in range(7)], 2
    async with InspectorClient(peer) as client:
        assert names(client) == peer.tools
        page = peer.handlers["tools/list"]

        async def slow(params: Json) -> Json:
            await trio.sleep(1)
            answer = page(params)
            assert isinstance(answer, dict)
            return answer

        peer.handlers["tools/list"] = slow
        peer.tools = [f"new{n}" for n in range(5)]
        seen: set[int] = set()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.list_tools)
            nursery.start_soon(client.list_tools)
            for _ in range(8):
                seen.add(len(client.tools))
                await trio.sleep(0.5)
        assert seen == {7, 5}


async def test_one_page_is_fetched_as_the_server_has_it_and_commits_nothing(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.tools, peer.page_size = ["a", "b", "c"], 2
    async with InspectorClient(peer) as client:
        peer.tools = ["d", "e", "f"]
        first: Any = await client.list_page("tools")
        second: Any = await client.list_page("tools", first.next_cursor, {"k": 1})
        assert [[tool.name for tool in page.tools] for page in (first, second)] == [["d", "e"], ["f"]]
        assert second.next_cursor is None
        assert peer.params("tools/list")[-1]["_meta"]["k"] == 1
        assert names(client) == ["a", "b", "c"]


async def test_a_cursor_that_comes_twice_ends_the_walk(peer: Peer, autojump_clock: MockClock) -> None:
    peer.tools = ["t"]
    async with InspectorClient(peer) as client:
        peer.handlers["tools/list"] = lambda _: {"tools": [tool("x")], "nextCursor": "again"}
        before = peer.count("tools/list")
        with pytest.raises(Exception, match="the cursor 'again' came twice"):
            await client.list_tools()
        assert peer.count("tools/list") - before == 2
        assert names(client) == ["t"], "half a list is not committed"


async def test_pages_without_end_are_given_up(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        cursors = itertools.count()

        def endless(_: Json) -> Json:
            if (number := next(cursors)) > MAX_PAGES + 10:
                raise Refuse(-32603, "asked for more than the bound")
            return {"tools": [], "nextCursor": str(number)}

        peer.handlers["tools/list"] = endless
        with pytest.raises(ProtocolViolation, match=f"more than {MAX_PAGES} pages"):
            await client.list_tools()
