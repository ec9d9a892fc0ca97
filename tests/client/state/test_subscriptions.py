"""Subscriptions as a user sees them: holds, blocks, updates, refusals. Both eras, virtual clock."""

import pytest
import trio
from mcp import MCPError
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import Json, Peer, Refuse, received
from trio_debugmcp.client import (
    ConnectionLost,
    InspectorClient,
    NotConnected,
)
from trio_debugmcp.errors import UsageError

ONE, TWO = "demo://one", "demo://two"


def refuse(_: Json) -> Json:
    raise Refuse(-32602, "not subscribable")


ONE = "demo://one"


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
        assert [event.kind for event in received(events)] == ["cacheChange", "cacheChange", "resourceUpdated"]


async def test_an_update_of_what_is_not_subscribed_is_ignored(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client, client.events("resourceUpdated") as events:
        await client.subscribe_to_resource(ONE)
        await client.read_resource(TWO)
        peer.updated(TWO)
        await trio.sleep(1)
        assert received(events) == []
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


async def test_readers_of_updates_get_an_error_when_the_connection_is_lost(
    peer: Peer, autojump_clock: MockClock
) -> None:
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
            peer.on_listen = lambda _: None
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


async def test_an_update_before_the_subscribe_response_counts(autojump_clock: MockClock) -> None:
    peer = Peer()

    async def subscribe(_: Json) -> Json:
        peer.updated(ONE)
        await trio.sleep(1)
        return {}

    peer.handlers["resources/subscribe"] = subscribe
    async with InspectorClient(peer) as client:
        await client.read_resource(ONE)
        updated = client.wait_for("resourceUpdated")
        start = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.subscribe_to_resource, ONE)
            assert (await updated).uri == ONE
            assert trio.current_time() == start
        assert trio.current_time() == start + 1
        assert client.cache.get_resource(ONE) is None


async def test_an_update_before_the_subscribe_response_is_in_the_block(autojump_clock: MockClock) -> None:
    peer = Peer()

    async def subscribe(_: Json) -> Json:
        peer.updated(ONE)
        await trio.sleep(1)
        return {}

    peer.handlers["resources/subscribe"] = subscribe
    async with InspectorClient(peer) as client, client.subscribed(ONE) as updates:
        start = trio.current_time()
        assert (await anext(updates)).uri == ONE
        assert trio.current_time() == start


async def test_a_refusal_ends_only_the_subscription_that_it_is_about(autojump_clock: MockClock) -> None:
    peer = Peer()

    async def subscribe(params: Json) -> Json:
        if params["uri"] == ONE:
            raise Refuse(-32602, "not subscribable")
        await trio.sleep(1)
        return {}

    peer.handlers["resources/subscribe"] = subscribe
    async with InspectorClient(peer) as client, trio.open_nursery() as nursery:
        nursery.start_soon(client.subscribe_to_resource, TWO)
        await wait_all_tasks_blocked()
        with pytest.raises(MCPError, match="not subscribable"):
            await client.subscribe_to_resource(ONE)
        await trio.sleep(2)
        assert client.get_subscribed_resources() == (TWO,)
        statistics = client.statistics().subscriptions
        assert (statistics.wanted, statistics.confirmed, statistics.waiting, statistics.blocks) == (1, 1, 0, 0)
