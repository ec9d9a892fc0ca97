"""What `list_changed` notifications do, also in bursts, in drips and without end. Both eras, virtual clock."""

from typing import Any

import pytest
import trio
from mcp import MCPError
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import FULL, Json, Peer, Refuse, received, tool
from trio_debugmcp.client import (
    ErrorEvent,
    InspectorClient,
    InspectorOptions,
    ListChangedNotifications,
    ToolsChange,
)
from trio_debugmcp.client.state.lists import MAX_INTERVAL_SECONDS, Backoff


def keys(client: InspectorClient, kind: str) -> list[str]:
    field = {"resources": "uri", "resource_templates": "uri_template"}.get(kind, "name")
    return [str(getattr(item, field)) for item in getattr(client, kind)]


def names(client: InspectorClient) -> list[str]:
    return [each.name for each in client.tools]


def test_the_backoff_grows_while_nothing_new_is_found_and_is_reset_by_a_change_or_a_calm() -> None:
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


def test_all_list_changed_notifications_are_followed_by_default_and_each_can_be_turned_off() -> None:
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
        assert received(signals) == []


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
            signal: Any = client.wait_for(f"{capability}ListChanged")  # type: ignore[call-overload]
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
        assert [event.kind for event in received(events)] == ["toolsListChanged"]


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


async def test_a_list_that_fails_for_ever_is_given_up_until_the_next_notification(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client, client.events("error") as errors:

        def refuse(_: Json) -> Json:
            raise Refuse(-32603, "broken")

        peer.handlers["tools/list"] = refuse
        peer.changed()
        await trio.sleep(600)
        assert len(received(errors)) == 5
        peer.handlers["tools/list"] = lambda _: {"tools": [tool("healed")]}
        peer.changed()
        await trio.sleep(60)
        assert keys(client, "tools") == ["healed"]


async def test_a_steady_drip_of_list_changed_does_not_starve_the_reload(peer: Peer, autojump_clock: MockClock) -> None:
    """A debounce without an upper bound never fires while announcements keep coming."""
    async with InspectorClient(peer) as client:
        before = peer.count("tools/list")
        start = trio.current_time()
        change = client.wait_for("toolsChange")
        for number in range(30):
            peer.tools = [f"t{number}"]
            peer.changed()
            await trio.sleep(0.1 - 1e-6)
        assert (await change).time.timestamp() > 0
        fetches = peer.count("tools/list") - before
        assert 2 <= fetches <= 4, "at least one a second, and no flood"
        await trio.sleep(2)
        assert names(client) == ["t29"]
        assert trio.current_time() - start < 6


async def test_the_first_reload_of_a_drip_comes_at_the_maximum_wait(autojump_clock: MockClock) -> None:
    peer = Peer()
    async with InspectorClient(peer) as client, client.events("toolsListChanged") as signals:
        start = trio.current_time()
        async with trio.open_nursery() as nursery:

            async def drip() -> None:
                while True:
                    peer.changed()
                    await trio.sleep(0.09)

            nursery.start_soon(drip)
            signal = await anext(signals)
            assert trio.current_time() - start == pytest.approx(0.5)
            assert getattr(signal, "count", 0) == 6
            nursery.cancel_scope.cancel()


async def test_a_change_announced_right_after_the_first_list_is_not_lost(peer: Peer, autojump_clock: MockClock) -> None:
    def first(_: Json) -> Json:
        peer.handlers["tools/list"] = lambda _: {"tools": [tool("a"), tool("b")]}
        peer.nursery.start_soon(announce)
        return {"tools": [tool("a")]}

    async def announce() -> None:
        await wait_all_tasks_blocked()
        peer.changed()

    peer.handlers["tools/list"] = first
    async with InspectorClient(peer) as client:
        await trio.sleep(2)
        assert names(client) == ["a", "b"]


async def test_a_change_announced_while_the_first_list_is_fetched_is_not_lost(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async def first(_: Json) -> Json:
        answer = {"tools": [tool("a")]}
        peer.handlers["tools/list"] = lambda _: {"tools": [tool("a"), tool("b")]}
        peer.changed()
        await trio.sleep(3)
        return answer

    peer.handlers["tools/list"] = first
    async with InspectorClient(peer) as client:
        await trio.sleep(3)
        assert names(client) == ["a", "b"]


async def test_a_server_that_announces_a_change_because_it_was_listed_is_listed_less_and_less_often(
    peer: Peer, autojump_clock: MockClock
) -> None:
    """1742 lists in 164 seconds were seen of a client without a backoff."""
    page = peer.handlers["tools/list"]

    def feedback(params: Json) -> Any:
        peer.changed()
        return page(params)

    peer.handlers["tools/list"] = feedback
    async with InspectorClient(peer):
        await trio.sleep(164)
    assert 5 <= peer.count("tools/list") <= 12


async def test_a_server_that_never_stops_announcing_is_listed_once_a_second(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        before = peer.count("tools/list")
        for number in range(180):
            peer.tools = [f"t{number}"]
            peer.changed()
            await trio.sleep(1 / 3)
        assert 50 <= peer.count("tools/list") - before <= 61
        await trio.sleep(2)
        assert names(client) == ["t179"]


async def test_ten_thousand_notifications_in_a_burst_cost_two_fetches(peer: Peer, autojump_clock: MockClock) -> None:
    async with (
        InspectorClient(peer) as client,
        client.events() as slow,
        client.events("toolsListChanged") as signals,
    ):
        before = peer.count("tools/list")
        for number in range(10_000):
            peer.tools = [f"t{number}"]
            peer.changed()
        await trio.sleep(10)
        assert peer.count("tools/list") - before <= 2
        assert names(client) == ["t9999"]
        assert getattr(await anext(signals), "count", 0) == 10_000
        assert slow.statistics().current_buffer_used <= 1000
        assert len(client.messages) <= 1000
        assert client.statistics().messages.unanswered < 10


async def test_a_reload_that_fails_is_an_error_event_and_tried_again(peer: Peer, autojump_clock: MockClock) -> None:
    async with (
        InspectorClient(peer) as client,
        client.events("toolsListChanged", "error", "toolsChange") as events,
    ):
        page = peer.handlers["tools/list"]

        def refuse(_: Json) -> Json:
            peer.handlers["tools/list"] = page
            raise Refuse(-32603, "busy")

        peer.handlers["tools/list"] = refuse
        peer.tools = ["new"]
        peer.changed()
        signal, error, change = [await anext(events) for _ in range(3)]
        assert signal.kind == "toolsListChanged"
        assert isinstance(error, ErrorEvent)
        assert isinstance(error.error, MCPError)
        assert isinstance(change, ToolsChange)
        assert names(client) == ["new"]


async def test_only_the_lists_of_a_group_that_are_out_of_date_are_fetched(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        peer.changed("resources")
        await wait_all_tasks_blocked()
        await client.list_resources()
        await trio.sleep(10)
        assert peer.count("resources/list") == 2, "on connect and on request"
        assert peer.count("resources/templates/list") == 2, "on connect and after the announcement"


async def test_each_fetch_is_announced_before_it_also_when_the_change_came_during_another(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client, client.events("toolsListChanged", "toolsChange") as events:

        async def slow(_: Json) -> Json:
            answer = {"tools": [tool(name) for name in peer.tools]}
            await trio.sleep(5)
            return answer

        peer.handlers["tools/list"] = slow
        for name in ("first", "second"):
            peer.tools = [name]
            peer.changed()
            await trio.sleep(2)
        await trio.sleep(60)
        assert [event.kind for event in received(events)] == ["toolsListChanged", "toolsChange"] * 2


async def test_a_change_that_is_announced_during_the_handshake_is_reported(autojump_clock: MockClock) -> None:
    """What the server declares is not known then."""
    peer = Peer()
    initialize = peer.handlers["initialize"]

    def early(params: Json) -> Any:
        peer.changed()
        return initialize(params)

    peer.handlers["initialize"] = early
    client = InspectorClient(peer)
    signal: Any = client.wait_for("toolsListChanged")
    async with client:
        assert (await signal).count == 1
        await trio.sleep(10)
        assert peer.count("tools/list") == 1, "the first fetch covers it"
