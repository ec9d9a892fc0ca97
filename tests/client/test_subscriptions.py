"""Subscriptions as desired state: how each era keeps them, and what an update does."""

import itertools
from typing import Any

import pytest
import trio
from mcp import MCPError
from trio.testing import MockClock, wait_all_tasks_blocked

from trio_debugmcp.client import (
    ConnectionLost,
    InspectorClient,
    InspectorOptions,
    ListChangedNotifications,
    NotConnected,
    Reconnect,
)
from trio_debugmcp.errors import UsageError

from .peer import FULL, SUBSCRIPTION_ID, Json, Peer, Refuse, content

ONE, TWO = "demo://one", "demo://two"
DEAF = InspectorOptions(
    list_changed_notifications=ListChangedNotifications(tools=False, resources=False, prompts=False)
)


def filters(peer: Peer) -> list[Json]:
    return [params["notifications"] for params in peer.params("subscriptions/listen")]


def refuse(_: Json) -> Json:
    raise Refuse(-32602, "not subscribable")


# In both eras


async def test_nothing_is_subscribed_at_first_or_after_a_disconnect(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        assert client.get_subscribed_resources() == ()
        assert client.supports_resource_subscriptions()
        await client.subscribe_to_resource(ONE)
        await client.disconnect()
        assert client.get_subscribed_resources() == ()
        assert not client.supports_resource_subscriptions()


async def test_a_server_without_the_capability_is_not_asked(autojump_clock: MockClock) -> None:
    peer = Peer(capabilities={"resources": {}})
    async with InspectorClient(peer) as client:
        assert not client.supports_resource_subscriptions()
        with pytest.raises(UsageError, match="does not support resource subscriptions"):
            await client.subscribe_to_resource(ONE)
        with pytest.raises(UsageError, match="does not support resource subscriptions"):
            client.subscribed(ONE)
        assert peer.count("resources/subscribe") == 0


async def test_subscribing_and_unsubscribing_is_tracked_and_announced(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client, client.events("resourceSubscriptionsChange") as events:
        await client.subscribe_to_resource(ONE)
        await client.subscribe_to_resource(TWO)
        assert client.get_subscribed_resources() == (ONE, TWO)
        assert client.is_subscribed_to_resource(TWO)
        await client.unsubscribe_from_resource(ONE)
        assert client.get_subscribed_resources() == (TWO,)
        assert not client.is_subscribed_to_resource(ONE)
        seen = [getattr(await anext(events), "uris", None) for _ in range(3)]
        assert seen == [(ONE,), (ONE, TWO), (TWO,)]


async def test_unsubscribing_without_a_connection_is_an_error(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        await client.disconnect()
        with pytest.raises(NotConnected):
            await client.unsubscribe_from_resource(ONE)


async def test_an_update_makes_read_and_template_read_stale_and_is_announced_after_that(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.templates = ["demo://{x}"]
    async with InspectorClient(peer) as client, client.events("cacheChange", "resourceUpdated") as events:
        await client.subscribe_to_resource(ONE)
        await client.read_resource_from_template("demo://{x}", {"x": "one"})
        await client.read_resource(TWO)
        peer.updated(ONE)
        await wait_all_tasks_blocked()
        assert client.cache.get_resource(ONE) is None
        assert client.cache.get_resource_template("demo://{x}") is None
        assert client.cache.get_resource(TWO) is not None
        assert [event.kind for event in events._queue] == ["cacheChange", "cacheChange", "resourceUpdated"]


async def test_an_update_of_what_is_not_subscribed_is_ignored(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client, client.events("resourceUpdated") as events:
        await client.subscribe_to_resource(ONE)
        await client.read_resource(TWO)
        peer.updated(TWO)
        await trio.sleep(1)
        assert not events._queue
        assert client.cache.get_resource(TWO) is not None


async def test_blocks_share_one_subscription_that_ends_with_the_last(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        async with client.subscribed(ONE) as first:
            async with client.subscribed(ONE) as second:
                peer.updated(ONE)
                assert (await anext(first)).uri == (await anext(second)).uri == ONE
            await trio.sleep(1)
            assert client.is_subscribed_to_resource(ONE)
        await trio.sleep(1)
        assert not client.is_subscribed_to_resource(ONE)
        if not peer.modern:
            assert (peer.count("resources/subscribe"), peer.count("resources/unsubscribe")) == (1, 1)


async def test_a_block_keeps_its_hold_when_the_explicit_subscription_ends(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        async with client.subscribed(ONE):
            with trio.fail_after(1):
                await client.unsubscribe_from_resource(ONE)
                await client.unsubscribe_from_resource("demo://never")
            assert client.is_subscribed_to_resource(ONE)


async def test_a_slow_reader_of_updates_gets_the_latest_once(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client, client.subscribed(ONE) as updates:
        await wait_all_tasks_blocked()
        for _ in range(100):
            peer.updated(ONE)
        await trio.sleep(1)
        last = await anext(updates)
        assert last.uri == ONE
        with trio.move_on_after(1) as nothing_more:
            await anext(updates)
        assert nothing_more.cancelled_caught


async def test_readers_of_updates_learn_of_the_end(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client, client.subscribed(ONE) as updates:
        peer.crash()
        with pytest.raises(ConnectionLost, match="closed the connection"):
            await anext(updates)


async def test_a_subscription_that_is_cancelled_is_not_wanted_any_more(peer: Peer, autojump_clock: MockClock) -> None:
    async def slow(_: Json) -> Json:
        await trio.sleep(10)
        return {}

    peer.handlers["resources/subscribe"] = slow
    async with InspectorClient(peer) as client:
        if peer.modern:
            peer._listen = lambda message: None  # type: ignore[method-assign]  # noqa: ARG005
        with trio.move_on_after(1) as gone:
            await client.subscribe_to_resource(ONE)
        assert gone.cancelled_caught
        await trio.sleep(30)
        assert client.get_subscribed_resources() == ()
        if not peer.modern:
            assert peer.count("resources/unsubscribe") == 1


async def test_a_refused_subscription_raises_and_leaves_nothing(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(TWO)
        peer.handlers |= {"resources/subscribe": refuse, "subscriptions/listen": refuse}
        with pytest.raises(MCPError, match="not subscribable"):
            await client.subscribe_to_resource(ONE)
        assert client.get_subscribed_resources() == (TWO,)
        peer.updated(TWO)
        await client.wait_for("resourceUpdated")


async def test_changed_resources_are_read_again_at_once_and_coalesced(peer: Peer, autojump_clock: MockClock) -> None:
    reading, most = 0, 0

    async def slow(params: Json) -> Json:
        nonlocal reading, most
        reading, body = reading + 1, peer.contents[params["uri"]]
        most = max(most, reading)
        await trio.sleep(1)
        reading -= 1
        return content(params["uri"], body)

    peer.handlers["resources/read"] = slow
    uris = [f"demo://{n}" for n in range(10)]
    peer.contents = dict.fromkeys(uris, "v0")
    async with InspectorClient(peer, InspectorOptions(auto_reread=True)) as client:
        for uri in uris:
            await client.subscribe_to_resource(uri)
        await wait_all_tasks_blocked()
        for version in range(50):
            peer.contents = dict.fromkeys(uris, f"v{version}")
            for uri in uris:
                peer.updated(uri)
            await trio.sleep(0.02)
        await trio.sleep(60)
        assert most == 4, "a few at once"
        assert peer.count("resources/read") <= 30
        for uri in uris:
            kept: Any = client.cache.get_resource(uri)
            assert kept.result.contents[0].text == "v49"


async def test_a_template_read_is_renewed_together_with_its_resource(peer: Peer, autojump_clock: MockClock) -> None:
    peer.templates, peer.contents = ["demo://{x}"], {ONE: "v1"}
    async with InspectorClient(peer, InspectorOptions(auto_reread=True)) as client:
        await client.subscribe_to_resource(ONE)
        await client.read_resource_from_template("demo://{x}", {"x": "one"})
        peer.contents = {ONE: "v2"}
        renewed = client.wait_for("resourceTemplateContentChange")
        peer.updated(ONE)
        await renewed
        kept: Any = client.cache.get_resource_template("demo://{x}")
        assert kept.result.contents[0].text == "v2"
        assert peer.count("resources/read") == 2


async def test_a_reread_that_fails_is_an_error_event(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer, InspectorOptions(auto_reread=True)) as client:
        await client.subscribe_to_resource(ONE)
        failed = client.wait_for("error")
        peer.handlers["resources/read"] = refuse
        peer.updated(ONE)
        assert "reading demo://one again failed" in (await failed).message


async def test_what_is_wanted_while_the_connection_comes_back_is_subscribed_then(
    peer: Peer, autojump_clock: MockClock
) -> None:
    options = InspectorOptions(reconnect=Reconnect(first_delay=5))
    async with InspectorClient(peer, options) as client:
        lost = client.wait_for("disconnect")
        peer.crash()
        await lost
        start = trio.current_time()
        await client.subscribe_to_resource(ONE)
        assert trio.current_time() - start == pytest.approx(5)
        assert client.get_subscribed_resources() == (ONE,)


# In the handshake era


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


async def test_requests_of_one_uri_never_overtake_each_other(autojump_clock: MockClock) -> None:
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


async def test_a_replayed_subscription_that_is_refused_is_an_error_event(autojump_clock: MockClock) -> None:
    peer = Peer()
    async with InspectorClient(peer, InspectorOptions(reconnect=Reconnect())) as client:
        await client.subscribe_to_resource(ONE)
        peer.handlers["resources/subscribe"] = refuse
        failed = client.wait_for("error", lambda event: "resources/subscribe" in event.message)
        peer.crash()
        assert "demo://one failed: not subscribable" in (await failed).message
        assert client.get_subscribed_resources() == ()


# In the modern era


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
    connected = client.wait_for("connect", lambda _: not seen.append(len(peer.listening)))  # type: ignore[func-returns-value]
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
        assert filters(peer) == [{"resourceSubscriptions": [ONE]}], "once is enough"
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
    listen = peer._listen

    def only_one(message: Json) -> None:
        peer.listening.append(message["id"])
        honored = {"resourceSubscriptions": [ONE]}
        peer.notify(
            "notifications/subscriptions/acknowledged",
            notifications=honored,
            _meta={SUBSCRIPTION_ID: message["id"]},
        )

    async with InspectorClient(peer, DEAF) as client:
        await client.subscribe_to_resource(ONE)
        peer._listen = only_one  # type: ignore[method-assign]
        with pytest.raises(MCPError, match="does not report updates of demo://two"):
            await client.subscribe_to_resource(TWO)
        assert client.get_subscribed_resources() == (ONE,)
        peer._listen = listen  # type: ignore[method-assign]
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

        peer._listen = lost_at_once  # type: ignore[method-assign]
        gave_up = client.wait_for("resourceSubscriptionsChange")
        peer.end_listening()
        with trio.move_on_after(600):
            await gave_up
        gaps = [round(later - earlier, 3) for earlier, later in itertools.pairwise(attempts)]
        assert attempts[0] == pytest.approx(0.5)
        assert gaps[:4] == [1.0, 2.0, 4.0, 8.0]
        assert max(gaps) == 15.0
        assert len(attempts) < 60


async def test_a_refused_stream_does_not_fail_the_connection_and_says_why() -> None:
    peer = Peer(modern=True)
    peer.handlers["subscriptions/listen"] = refuse
    client = InspectorClient(peer)
    failed = client.wait_for("error")
    async with client:
        assert client.status == "connected"
        assert "subscriptions/listen failed: not subscribable" in (await failed).message
        assert peer.count("subscriptions/listen") == 1, "a refusal is not asked for again"
        del peer.handlers["subscriptions/listen"]
        await client.subscribe_to_resource(ONE)
        assert client.get_subscribed_resources() == (ONE,)


async def test_a_stream_that_is_never_acknowledged_is_tried_again(autojump_clock: MockClock) -> None:
    peer = Peer(modern=True)
    listen = peer._listen
    peer._listen = lambda message: None  # type: ignore[method-assign]  # noqa: ARG005
    async with InspectorClient(peer, InspectorOptions(request_timeout=5)) as client:
        assert trio.current_time() == pytest.approx(5), "the first attempt is waited for"
        assert client.status == "connected"
        peer.tools = ["while nobody listened"]
        peer._listen = listen  # type: ignore[method-assign]
        await trio.sleep(10)
        assert len(peer.listening) == 1
        assert [tool.name for tool in client.tools] == ["while nobody listened"]


async def test_capabilities_without_changes_open_no_stream() -> None:
    peer = Peer(modern=True, capabilities={**FULL, "tools": {}, "resources": {"subscribe": True}, "prompts": {}})
    async with InspectorClient(peer):
        assert filters(peer) == []
