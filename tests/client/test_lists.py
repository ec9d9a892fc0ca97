"""Lists and the notifications that they changed. Both eras, virtual clock."""

from typing import Any

import pytest
import trio
from mcp import MCPError
from trio.testing import MockClock, wait_all_tasks_blocked

from trio_debugmcp.client import InspectorClient, InspectorOptions, ListChangedNotifications
from trio_debugmcp.client.state.lists import MAX_INTERVAL_SECONDS, Backoff, ListDiff, compare

from .peer import FULL, Json, Peer, Refuse, tool

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


def test_the_difference_of_two_lists_names_what_came_what_went_and_what_is_another() -> None:
    diff = compare(["a1", "b1", "c1"], ["c1", "b2", "d1"], key=lambda item: item[0])
    assert diff == ListDiff(added=("d",), removed=("a",), changed=("b",))
    assert not compare(["a1"], ["a1"], key=lambda item: item[0])


def test_the_pace_slows_down_while_nothing_new_is_found_and_recovers() -> None:
    pace, time, gaps = Backoff(), 0.0, []
    for _ in range(8):
        pace.fetched(time, fruitful=False)
        gaps.append(pace.earliest() - time)
        time = pace.earliest()
    assert gaps == [1.0, 2.0, 4.0, 8.0, 16.0, MAX_INTERVAL_SECONDS, MAX_INTERVAL_SECONDS, MAX_INTERVAL_SECONDS]
    pace.fetched(time, fruitful=True)
    assert pace.earliest() - time == 1.0
    pace.fetched(time + 1, fruitful=False)
    pace.fetched(time + 100, fruitful=False)
    assert pace.earliest() - time == 101.0, "after a calm it starts from the beginning"


@pytest.mark.parametrize("kind", KINDS)
class TestEachList:
    async def test_it_is_fetched_on_connect_and_announced_with_what_was_added(
        self, kind: str, peer: Peer, autojump_clock: MockClock
    ) -> None:
        attribute, method, _, event = KINDS[kind]
        setattr(peer, attribute, ["demo://a", "demo://b"])
        client = InspectorClient(peer)
        change: Any = client.wait_for(event)  # type: ignore[arg-type]
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
            change: Any = client.wait_for(event)  # type: ignore[arg-type]
            listed = await getattr(client, call)()
            assert listed == getattr(client, kind)
            assert keys(client, kind) == ["demo://a"]
            assert (await change).added == ("demo://a",)
            again: Any = client.wait_for(event)  # type: ignore[arg-type]
            await getattr(client, call)()
            assert (await again).added == (), "who asks is told, even if nothing changed"

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
            change: Any = client.wait_for(event)  # type: ignore[arg-type]
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


async def test_what_is_cached_of_a_removed_item_goes_and_of_the_others_stays(
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


def test_all_list_changed_notifications_are_heeded_by_default_and_each_can_be_turned_off() -> None:
    assert InspectorOptions().list_changed_notifications == ListChangedNotifications(
        tools=True, resources=True, prompts=True
    )
    some = ListChangedNotifications(tools=False)
    assert (some.tools, some.resources, some.prompts) == (False, True, True)


async def test_a_notification_that_was_opted_out_of_does_nothing(peer: Peer, autojump_clock: MockClock) -> None:
    options = InspectorOptions(list_changed_notifications=ListChangedNotifications(tools=False))
    async with InspectorClient(peer, options) as client, client.events("toolsListChanged") as signals:
        peer.changed("tools")
        peer.changed("prompts")
        await trio.sleep(10)
        assert peer.count("tools/list") == 1
        assert peer.count("prompts/list") == 2
        assert not signals._queue


async def test_a_notification_that_the_server_did_not_declare_does_nothing(autojump_clock: MockClock) -> None:
    peer = Peer(capabilities={**FULL, "tools": {}})
    async with InspectorClient(peer):
        peer.changed("tools")
        await trio.sleep(10)
        assert peer.count("tools/list") == 1


async def test_without_auto_sync_changes_are_reported_and_nothing_is_fetched(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer, InspectorOptions(auto_sync_lists=False)) as client:
        for capability in ("tools", "resources", "prompts"):
            signal: Any = client.wait_for(f"{capability}ListChanged")  # type: ignore[arg-type]
            for _ in range(5):
                peer.changed(capability)
            assert (await signal).count == 5
        await trio.sleep(10)
        assert not [request for request in peer.requests if request["method"].endswith("/list")]


async def test_an_automatic_fetch_that_finds_nothing_new_announces_no_change(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.tools = ["t"]
    async with InspectorClient(peer) as client, client.events("toolsChange", "toolsListChanged") as events:
        peer.changed()
        await trio.sleep(5)
        assert [event.kind for event in events._queue] == ["toolsListChanged"]


async def test_a_burst_during_a_fetch_costs_one_more(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:

        async def slow(_: Json) -> Json:
            answer = {"tools": [tool(name) for name in peer.tools]}
            await trio.sleep(5)
            return answer

        peer.handlers["tools/list"] = slow
        peer.tools = ["first"]
        peer.changed()
        await trio.sleep(1)
        for n in range(100):
            peer.tools = [f"t{n}"]
            peer.changed()
        await trio.sleep(60)
        assert peer.count("tools/list") == 1 + 2
        assert keys(client, "tools") == ["t99"]


async def test_an_explicit_list_satisfies_a_pending_reload(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        peer.changed()
        await wait_all_tasks_blocked()
        await client.list_tools()
        await trio.sleep(10)
        assert peer.count("tools/list") == 2


async def test_a_refused_list_raises_for_who_asked_and_leaves_the_list(peer: Peer, autojump_clock: MockClock) -> None:
    peer.tools = ["t"]
    async with InspectorClient(peer) as client:

        def refuse(_: Json) -> Json:
            raise Refuse(-32603, "busy")

        peer.handlers["tools/list"] = refuse
        with pytest.raises(MCPError, match="busy"):
            await client.list_tools()
        assert keys(client, "tools") == ["t"]


async def test_a_list_that_fails_for_ever_is_given_up_until_the_next_notification(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client, client.events("error") as errors:

        def refuse(_: Json) -> Json:
            raise Refuse(-32603, "broken")

        peer.handlers["tools/list"] = refuse
        peer.changed()
        await trio.sleep(600)
        assert len(errors._queue) == 5
        peer.handlers["tools/list"] = lambda _: {"tools": [tool("healed")]}
        peer.changed()
        await trio.sleep(60)
        assert keys(client, "tools") == ["healed"]


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
