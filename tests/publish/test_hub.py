"""The hub: who hears what, and that nobody waits for anybody."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock

from trio_debugmcp.publish.hub import (
    MAX_QUEUED_EDGES,
    MAX_SUBSCRIPTIONS,
    Hub,
    ListChanged,
    Notice,
    Subscriber,
    TooManySubscriptions,
    Updated,
)

SESSION = "debugger://session"
THREADS = "debugger://threads"


class Reader:
    """A client that takes its notices as they come."""

    def __init__(self, hub: Hub, *uris: str, wants_list_changes: bool = True) -> None:
        self.subscriber = hub.join(wants_list_changes=wants_list_changes)
        for uri in uris:
            self.subscriber.subscribe(uri)
        self.heard: list[tuple[Notice, float]] = []

    async def run(self) -> None:
        while True:
            notice = await self.subscriber.take()
            self.heard.append((notice, round(trio.current_time(), 6)))


def waiting(subscriber: Subscriber) -> list[Notice]:
    return list(subscriber._mailbox)


@asynccontextmanager
async def open_hub() -> AsyncIterator[tuple[Hub, trio.Nursery]]:
    async with trio.open_nursery() as nursery:
        yield Hub(nursery), nursery
        nursery.cancel_scope.cancel(reason="the test is over")


async def test_a_change_reaches_its_subscriber_after_the_quiet_window(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, SESSION)
        nursery.start_soon(reader.run)
        await trio.sleep(1)
        hub.resources_updated({SESSION, THREADS})
        await trio.sleep(10)
        assert reader.heard == [(Updated(SESSION), 1.3)]


async def test_each_client_hears_of_its_own_subscriptions_only(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        one, both, none = Reader(hub, SESSION), Reader(hub, SESSION, THREADS), Reader(hub)
        for reader in (one, both, none):
            nursery.start_soon(reader.run)
        hub.resources_updated({SESSION})
        await trio.sleep(0.1)
        hub.resources_updated({THREADS})
        await trio.sleep(10)
        assert one.heard == [(Updated(SESSION), 0.3)]
        assert both.heard == [(Updated(SESSION), 0.3), (Updated(THREADS), 0.4)]
        assert none.heard == []


async def test_what_nobody_subscribed_to_opens_no_window(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        hub.resources_updated({SESSION})
        await trio.sleep(0.2)
        late = Reader(hub, SESSION)
        nursery.start_soon(late.run)
        await trio.sleep(10)
        assert late.heard == []


async def test_who_joins_during_a_window_hears_of_it_at_its_end(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        early = Reader(hub, SESSION)
        nursery.start_soon(early.run)
        hub.resources_updated({SESSION})
        await trio.sleep(0.2)
        late = Reader(hub, SESSION)
        nursery.start_soon(late.run)
        await trio.sleep(10)
        assert early.heard == late.heard == [(Updated(SESSION), 0.3)]


async def test_unsubscribing_while_a_change_is_pending_silences_it(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader, other = Reader(hub, SESSION, THREADS), Reader(hub, THREADS)
        nursery.start_soon(reader.run)
        nursery.start_soon(other.run)
        hub.resources_updated({SESSION, THREADS})
        await trio.sleep(0.1)
        reader.subscriber.unsubscribe(SESSION)
        reader.subscriber.unsubscribe(THREADS)
        await trio.sleep(10)
        assert reader.heard == []
        assert other.heard == [(Updated(THREADS), 0.3)]


async def test_subscribing_again_during_the_window_starts_no_old_one(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, SESSION)
        nursery.start_soon(reader.run)
        hub.resources_updated({SESSION})
        await trio.sleep(0.1)
        reader.subscriber.unsubscribe(SESSION)
        reader.subscriber.subscribe(SESSION)
        hub.resources_updated({SESSION})
        await trio.sleep(10)
        assert reader.heard == [(Updated(SESSION), 0.4)]


async def test_unsubscribing_takes_back_what_is_already_in_the_mailbox(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        client = hub.join()
        client.subscribe(SESSION)
        client.subscribe(THREADS)
        hub.resources_updated({SESSION, THREADS})
        await trio.sleep(1)
        assert set(waiting(client)) == {Updated(SESSION), Updated(THREADS)}
        client.unsubscribe(SESSION)
        assert waiting(client) == [Updated(THREADS)]
        client.unsubscribe("debugger://never")
        assert await client.take() == Updated(THREADS)


async def test_the_end_of_a_session_publishes_what_is_pending_before_the_edge(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, SESSION, THREADS)
        nursery.start_soon(reader.run)
        hub.resources_updated({SESSION})
        await trio.sleep(0.1)
        hub.resources_updated({SESSION, THREADS})
        hub.list_changed()
        await trio.sleep(10)
        assert reader.heard == [(Updated(SESSION), 0.1), (Updated(THREADS), 0.1), (ListChanged(), 0.1)]


async def test_every_edge_is_told_even_in_the_same_tick(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub)
        deaf = Reader(hub, wants_list_changes=False)
        nursery.start_soon(reader.run)
        nursery.start_soon(deaf.run)
        for _ in range(4):
            hub.list_changed()
        await trio.sleep(1)
        assert reader.heard == [(ListChanged(), 0)] * 4
        assert deaf.heard == []


async def test_a_client_that_never_takes_holds_up_nobody_and_its_mailbox_is_bounded(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        slow = hub.join()
        slow.subscribe(SESSION)
        slow.subscribe(THREADS)
        quick = Reader(hub, SESSION)
        nursery.start_soon(quick.run)
        for _ in range(MAX_QUEUED_EDGES * 2):
            hub.resources_updated({SESSION, THREADS})
            await trio.sleep(0.4)
            hub.list_changed()
        await trio.testing.wait_all_tasks_blocked()
        updates = [at for notice, at in quick.heard if notice == Updated(SESSION)]
        assert updates == [pytest.approx(0.4 * number + 0.3) for number in range(MAX_QUEUED_EDGES * 2)]
        assert len(waiting(slow)) == 2 + MAX_QUEUED_EDGES
        assert waiting(slow).count(Updated(SESSION)) == 1


async def test_a_mailbox_is_level_triggered_and_tells_of_what_comes_after_a_take(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        client = hub.join()
        client.subscribe(SESSION)
        for _ in range(3):
            hub.resources_updated({SESSION})
            await trio.sleep(1)
        assert await client.take() == Updated(SESSION)
        assert waiting(client) == []
        hub.resources_updated({SESSION})
        await trio.sleep(1)
        assert await client.take() == Updated(SESSION)


async def test_a_client_that_leaves_hears_nothing_more_and_is_forgotten(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        tasks = trio.lowlevel.current_statistics().tasks_living
        client = hub.join()
        client.subscribe(SESSION)
        hub.resources_updated({SESSION})
        await trio.sleep(0.1)
        client.leave()
        hub.list_changed()
        await trio.sleep(1)
        assert waiting(client) == []
        assert trio.lowlevel.current_statistics().tasks_living == tasks
        client.leave()


async def test_a_cancelled_take_loses_nothing(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        client = hub.join()
        with trio.move_on_after(1):
            await client.take()
        hub.list_changed()
        assert await client.take() == ListChanged()


# --- Spellings --------------------------------------------------------------------------------------------

PLAIN = "debugger://source//src/a b.py"
ENCODED = "debugger://source//src/a%20b.py"
CANONICAL = ENCODED


@pytest.mark.parametrize(
    "uri", [PLAIN, ENCODED, "debugger://source/%2Fsrc/a%20b.py", "debugger://source//src/%61 b.py"]
)
async def test_a_notification_carries_the_uri_byte_for_byte_as_subscribed(uri: str, autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, uri)
        nursery.start_soon(reader.run)
        hub.resources_updated({CANONICAL})
        await trio.sleep(1)
        assert reader.heard == [(Updated(uri), 0.3)]


async def test_two_spellings_of_one_client_are_two_subscriptions(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, PLAIN, ENCODED)
        nursery.start_soon(reader.run)
        hub.resources_updated({CANONICAL})
        await trio.sleep(1)
        assert reader.heard == [(Updated(PLAIN), 0.3), (Updated(ENCODED), 0.3)]
        reader.subscriber.unsubscribe(PLAIN)
        hub.resources_updated({CANONICAL})
        await trio.sleep(1)
        assert reader.heard[2:] == [(Updated(ENCODED), 1.3)]


async def test_subscribing_twice_is_the_same_as_once(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, SESSION, SESSION)
        nursery.start_soon(reader.run)
        hub.resources_updated({SESSION})
        await trio.sleep(1)
        assert len(reader.heard) == 1
        reader.subscriber.unsubscribe(SESSION)
        hub.resources_updated({SESSION})
        await trio.sleep(1)
        assert len(reader.heard) == 1


async def test_subscriptions_are_bounded_and_those_that_are_held_may_be_repeated(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        client = hub.join()
        uris = [f"debugger://source//src/{number}.py" for number in range(MAX_SUBSCRIPTIONS)]
        for uri in uris:
            client.subscribe(uri)
        with pytest.raises(TooManySubscriptions):
            client.subscribe(SESSION)
        client.subscribe(uris[0])
        client.unsubscribe(uris[0])
        client.subscribe(SESSION)
        hub.join().subscribe(SESSION)
