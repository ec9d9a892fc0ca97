"""Re-subscribing, and how each era brings the server to what is wanted. Virtual clock."""

import itertools
from typing import Any

import pytest
import trio
from mcp import MCPError
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import FULL, Json, Peer, Refuse
from trio_debugmcp.client import (
    InspectorClient,
    InspectorOptions,
    ListChangedNotifications,
    Reconnect,
)
from trio_debugmcp.client.state.reconcile import MAX_SUBSCRIBES

ONE, TWO = "demo://one", "demo://two"


def refuse(_: Json) -> Json:
    raise Refuse(-32602, "not subscribable")


def filters(peer: Peer) -> list[Json]:
    return [params["notifications"] for params in peer.params("subscriptions/listen")]


DEAF = InspectorOptions(
    list_changed_notifications=ListChangedNotifications(tools=False, resources=False, prompts=False)
)

ONE = "demo://one"


def names(client: InspectorClient) -> list[str]:
    return [each.name for each in client.tools]


async def test_what_is_wanted_during_a_reconnect_is_subscribed_after_it(peer: Peer, autojump_clock: MockClock) -> None:
    options = InspectorOptions(reconnect=Reconnect(first_delay=5))
    async with InspectorClient(peer, options) as client:
        lost = client.wait_for("disconnect")
        peer.crash()
        await lost
        start = trio.current_time()
        await client.subscribe_to_resource(ONE)
        assert trio.current_time() - start == pytest.approx(5)
        assert client.get_subscribed_resources() == (ONE,)


async def test_the_handshake_era_asks_per_resource_and_never_listens(autojump_clock: MockClock) -> None:
    peer = Peer()
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        await client.subscribe_to_resource(ONE)
        await client.unsubscribe_from_resource(ONE)
        assert [r["method"] for r in peer.requests if "subscri" in r["method"]] == [
            "resources/subscribe",
            "resources/unsubscribe",
        ]


async def test_requests_for_one_uri_never_overtake_each_other(autojump_clock: MockClock) -> None:
    peer = Peer()

    async def slow(_: Json) -> Json:
        await trio.sleep(1)
        return {}

    peer.handlers |= {"resources/subscribe": slow, "resources/unsubscribe": slow}
    async with InspectorClient(peer) as client:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.subscribe_to_resource, ONE)
            await trio.sleep(0.1)
            nursery.start_soon(client.unsubscribe_from_resource, ONE)
            await trio.sleep(0.1)
            nursery.start_soon(client.subscribe_to_resource, ONE)
        await trio.sleep(10)
        assert client.is_subscribed_to_resource(ONE)
        assert peer.count("resources/subscribe") == 1, "what is wanted in the end is what there is"


async def test_a_subscription_that_is_refused_after_a_reconnect_is_an_error_event(autojump_clock: MockClock) -> None:
    peer = Peer()
    async with InspectorClient(peer, InspectorOptions(reconnect=Reconnect())) as client:
        await client.subscribe_to_resource(ONE)
        peer.handlers["resources/subscribe"] = refuse
        failed = client.wait_for("error", lambda event: "resources/subscribe" in event.message)
        peer.crash()
        assert "demo://one failed: not subscribable" in (await failed).message
        assert client.get_subscribed_resources() == ()


async def test_the_modern_era_listens_on_one_stream_for_everything() -> None:
    peer = Peer(modern=True)
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        await client.subscribe_to_resource(TWO)
        await wait_all_tasks_blocked()
        assert peer.count("resources/subscribe") == 0
        opt_ins = {"toolsListChanged": True, "resourcesListChanged": True, "promptsListChanged": True}
        assert filters(peer) == [
            opt_ins,
            {**opt_ins, "resourceSubscriptions": [ONE]},
            {**opt_ins, "resourceSubscriptions": [ONE, TWO]},
        ]
        assert len(peer.listening) == 1


async def test_the_stream_is_open_before_connect_is_announced() -> None:
    peer = Peer(modern=True, capabilities={"tools": {"listChanged": True}})
    client = InspectorClient(peer)
    seen: list[int] = []

    def look(_: object) -> bool:
        seen.append(len(peer.listening))
        return True

    connected = client.wait_for("connect", look)
    async with client:
        await connected
        assert seen == [1]
        assert filters(peer) == [{"toolsListChanged": True}]


async def test_without_opt_ins_the_stream_opens_with_the_first_subscription_and_closes_with_the_last() -> None:
    peer = Peer(modern=True)
    async with InspectorClient(peer, DEAF) as client:
        assert filters(peer) == []
        await client.subscribe_to_resource(ONE)
        await client.subscribe_to_resource(ONE)
        assert filters(peer) == [{"resourceSubscriptions": [ONE]}], "one stream for both"
        await client.unsubscribe_from_resource("demo://never")
        await client.unsubscribe_from_resource(ONE)
        await wait_all_tasks_blocked()
        assert peer.listening == []
        assert len(filters(peer)) == 1


async def test_with_opt_ins_the_stream_outlives_the_last_subscription() -> None:
    peer = Peer(modern=True)
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        await client.unsubscribe_from_resource(ONE)
        await wait_all_tasks_blocked()
        assert len(peer.listening) == 1
        assert "resourceSubscriptions" not in filters(peer)[-1]


async def test_what_the_server_does_not_honour_is_refused(autojump_clock: MockClock) -> None:
    peer = Peer(modern=True)

    def only_one(message: Json) -> None:
        peer.acknowledge(message, honored={"resourceSubscriptions": [ONE]})

    async with InspectorClient(peer, DEAF) as client:
        await client.subscribe_to_resource(ONE)
        peer.on_listen = only_one
        with pytest.raises(MCPError, match="does not report updates of demo://two"):
            await client.subscribe_to_resource(TWO)
        assert client.get_subscribed_resources() == (ONE,)
        peer.on_listen = peer.acknowledge
        await client.subscribe_to_resource("demo://three")
        assert client.get_subscribed_resources() == (ONE, "demo://three")


async def test_a_lost_stream_is_opened_again_at_growing_intervals_and_given_up_in_the_end(
    autojump_clock: MockClock,
) -> None:
    peer = Peer(modern=True)
    attempts: list[float] = []
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        await wait_all_tasks_blocked()

        def lost_at_once(message: Json) -> None:
            attempts.append(trio.current_time())
            peer.send({"id": message["id"], "result": {"resultType": "complete"}})

        peer.on_listen = lost_at_once
        gave_up = client.wait_for("resourceSubscriptionsChange")
        peer.end_listening()
        with trio.move_on_after(600):
            await gave_up
        gaps = [round(later - earlier, 3) for earlier, later in itertools.pairwise(attempts)]
        assert attempts[0] == pytest.approx(0.5)
        assert gaps[:4] == [1.0, 2.0, 4.0, 8.0]
        assert max(gaps) == 15.0
        assert len(attempts) < 60


async def test_a_refused_stream_is_an_error_event_and_not_the_end_of_the_connection() -> None:
    peer = Peer(modern=True)
    peer.handlers["subscriptions/listen"] = refuse
    client = InspectorClient(peer)
    failed = client.wait_for("error")
    async with client:
        assert client.status == "connected"
        assert "subscriptions/listen failed: not subscribable" in (await failed).message
        assert peer.count("subscriptions/listen") == 1, "a refusal is final"
        del peer.handlers["subscriptions/listen"]
        await client.subscribe_to_resource(ONE)
        assert client.get_subscribed_resources() == (ONE,)


async def test_a_stream_that_is_never_acknowledged_is_tried_again(autojump_clock: MockClock) -> None:
    peer = Peer(modern=True)
    peer.on_listen = lambda _: None
    async with InspectorClient(peer, InspectorOptions(request_timeout=5)) as client:
        assert trio.current_time() == pytest.approx(5), "the first attempt is waited for"
        assert client.status == "connected"
        peer.tools = ["while there was no stream"]
        peer.on_listen = peer.acknowledge
        await trio.sleep(10)
        assert len(peer.listening) == 1
        assert [tool.name for tool in client.tools] == ["while there was no stream"]


async def test_capabilities_without_changes_open_no_stream() -> None:
    peer = Peer(modern=True, capabilities={**FULL, "tools": {}, "resources": {"subscribe": True}, "prompts": {}})
    async with InspectorClient(peer):
        assert filters(peer) == []


async def test_without_a_reconnect_policy_a_new_connection_has_no_subscriptions(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        ended = client.wait_for("disconnect")
        peer.crash()
        await ended
        await client.connect()
        await trio.sleep(1)
        assert client.get_subscribed_resources() == ()
        assert peer.count("resources/subscribe") == (0 if peer.modern else 1)


async def test_a_new_listen_stream_is_acknowledged_before_the_old_one_is_closed(
    autojump_clock: MockClock,
) -> None:
    peer = Peer(modern=True)
    async with InspectorClient(peer) as client, client.events("resourceUpdated") as updates:
        await client.subscribe_to_resource(ONE)
        await wait_all_tasks_blocked()
        assert len(peer.listening) == 1
        between: list[int] = []

        def slow_to_acknowledge(message: Json) -> None:
            async def acknowledge() -> None:
                await trio.sleep(5)
                between.append(len(peer.listening))
                peer.acknowledge(message)

            peer.nursery.start_soon(acknowledge)

        peer.on_listen = slow_to_acknowledge
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.subscribe_to_resource, "demo://two")
            await trio.sleep(2)
            peer.updated(ONE)
            update: Any = await anext(updates)
            assert update.uri == ONE, "the old stream still reports"
        assert between == [1]
        await wait_all_tasks_blocked()
        assert len(peer.listening) == 1, "and is closed now"
        assert client.get_subscribed_resources() == (ONE, "demo://two")


async def test_after_a_lost_stream_everything_that_it_covered_is_taken_as_changed(
    autojump_clock: MockClock,
) -> None:
    peer = Peer(modern=True)
    peer.tools = ["before"]
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        await client.read_resource(ONE)
        updated = client.wait_for("resourceUpdated")
        peer.end_listening()
        peer.tools = ["after"]  # without a notification
        update: Any = await updated
        assert (update.uri, update.cause) == (ONE, "resync")
        assert trio.current_time() == pytest.approx(0.5), "the first pause before listening again"
        assert client.cache.get_resource(ONE) is None
        await trio.sleep(2)
        assert names(client) == ["after"]
        assert client.get_subscribed_resources() == (ONE,)


async def test_after_a_reconnect_subscriptions_are_made_again_and_everything_is_synchronised(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.tools, peer.contents = ["before"], {ONE: "v1"}
    options = InspectorOptions(reconnect=Reconnect(first_delay=0.5), auto_reread=True)
    async with InspectorClient(peer, options) as client:
        await client.subscribe_to_resource(ONE)
        await client.read_resource(ONE)
        kept = await client.read_resource("demo://other")
        back = client.wait_for("connect")
        reread = client.wait_for("resourceContentChange", lambda event: event.seq > 0)
        peer.crash()
        peer.tools, peer.contents = ["after"], {ONE: "v2"}
        await back
        assert trio.current_time() == pytest.approx(0.5)
        assert (await reread).content.text == "v2"
        assert client.status == "connected"
        assert names(client) == ["after"]
        assert client.get_subscribed_resources() == (ONE,)
        assert client.cache.get_resource("demo://other") is None
        assert client.cache.get_resource("demo://other", allow_stale=True) is kept
        updated = client.wait_for("resourceUpdated")
        peer.updated(ONE)
        assert (await updated).cause == "notification"


async def test_only_a_stream_that_lasted_resets_the_pause_before_the_next(autojump_clock: MockClock) -> None:
    peer = Peer(modern=True)
    pauses: list[float] = []
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        for lasted in (10, 10, 10, 31, 10):
            await trio.sleep(lasted)
            listening = client.wait_for("resourceUpdated", lambda event: event.cause == "resync")
            lost = trio.current_time()
            peer.end_listening()
            await listening
            pauses.append(trio.current_time() - lost)
    assert pauses == pytest.approx([0.5, 1, 2, 0.5, 1])


async def test_a_server_is_not_flooded_when_many_resources_are_subscribed_again(autojump_clock: MockClock) -> None:
    peer = Peer()
    async with InspectorClient(peer, InspectorOptions(reconnect=Reconnect())) as client:
        uris = {f"demo://{number}" for number in range(50)}
        for uri in uris:
            await client.subscribe_to_resource(uri)
        in_flight: set[str] = set()
        most = 0

        async def subscribe(params: Json) -> Json:
            nonlocal most
            in_flight.add(params["uri"])
            most = max(most, len(in_flight))
            await trio.sleep(1)
            in_flight.discard(params["uri"])
            return {}

        peer.handlers["resources/subscribe"] = subscribe
        peer.crash()
        await trio.sleep(60)
        assert set(client.get_subscribed_resources()) == uris
        assert most == MAX_SUBSCRIBES
