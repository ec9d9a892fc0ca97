"""The hub: which client receives what, and that a slow client delays no other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import trio
from trio.testing import MockClock

from trio_debugmcp.publish.debounce import DebouncerStatistics
from trio_debugmcp.publish.hub import (
    MAX_QUEUED_LIST_CHANGES,
    MAX_SUBSCRIPTIONS,
    Hub,
    HubStatistics,
    ListChanged,
    Logged,
    Notice,
    Subscriber,
    SubscriberStatistics,
    TooManySubscriptions,
    Updated,
)

SESSION = "debugger://session"
THREADS = "debugger://threads"


class Reader:
    """A client that receives its notices as they come."""

    def __init__(self, hub: Hub, *uris: str, wants_list_changes: bool = True) -> None:
        self.subscriber = hub.open_subscriber(wants_list_changes=wants_list_changes)
        for uri in uris:
            self.subscriber.subscribe(uri)
        self.received: list[tuple[Notice, float]] = []

    async def run(self) -> None:
        while True:
            notice = await self.subscriber.receive()
            self.received.append((notice, round(trio.current_time(), 6)))


def queued(subscriber: Subscriber) -> list[Notice]:
    """Take everything out of a mailbox."""
    notices = []
    with suppress(trio.WouldBlock):
        while True:
            notices.append(subscriber.receive_nowait())
    return notices


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
        assert reader.received == [(Updated(SESSION), 1.3)]


async def test_sets_that_change_together_are_published_in_one_tick(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, SESSION, THREADS)
        nursery.start_soon(reader.run)
        hub.resources_updated({THREADS, "debugger://stack"}, frozenset({SESSION, THREADS}), frozenset())
        await trio.sleep(10)
        assert len(reader.received) == 2
        assert {*reader.received} == {(Updated(SESSION), 0.3), (Updated(THREADS), 0.3)}


async def test_each_client_receives_updates_of_its_own_subscriptions_only(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        one, both, none = Reader(hub, SESSION), Reader(hub, SESSION, THREADS), Reader(hub)
        for reader in (one, both, none):
            nursery.start_soon(reader.run)
        hub.resources_updated({SESSION})
        await trio.sleep(0.1)
        hub.resources_updated({THREADS})
        await trio.sleep(10)
        assert one.received == [(Updated(SESSION), 0.3)]
        assert both.received == [(Updated(SESSION), 0.3), (Updated(THREADS), 0.4)]
        assert none.received == []


async def test_a_change_without_a_subscriber_opens_no_window(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        hub.resources_updated({SESSION})
        await trio.sleep(0.2)
        late = Reader(hub, SESSION)
        nursery.start_soon(late.run)
        await trio.sleep(10)
        assert late.received == []


async def test_a_client_that_subscribes_during_a_window_is_notified_at_its_end(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        early = Reader(hub, SESSION)
        nursery.start_soon(early.run)
        hub.resources_updated({SESSION})
        await trio.sleep(0.2)
        late = Reader(hub, SESSION)
        nursery.start_soon(late.run)
        await trio.sleep(10)
        assert early.received == late.received == [(Updated(SESSION), 0.3)]


async def test_a_client_that_unsubscribes_while_a_change_is_pending_is_not_notified_of_it(
    autojump_clock: MockClock,
) -> None:
    async with open_hub() as (hub, nursery):
        reader, other = Reader(hub, SESSION, THREADS), Reader(hub, THREADS)
        nursery.start_soon(reader.run)
        nursery.start_soon(other.run)
        hub.resources_updated({SESSION, THREADS})
        await trio.sleep(0.1)
        reader.subscriber.unsubscribe(SESSION)
        reader.subscriber.unsubscribe(THREADS)
        await trio.sleep(10)
        assert reader.received == []
        assert other.received == [(Updated(THREADS), 0.3)]


async def test_subscribing_again_during_a_window_starts_a_new_one(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, SESSION)
        nursery.start_soon(reader.run)
        hub.resources_updated({SESSION})
        await trio.sleep(0.1)
        reader.subscriber.unsubscribe(SESSION)
        reader.subscriber.subscribe(SESSION)
        hub.resources_updated({SESSION})
        await trio.sleep(10)
        assert reader.received == [(Updated(SESSION), 0.4)]


async def test_unsubscribing_removes_an_update_that_is_already_in_the_mailbox(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        client = hub.open_subscriber()
        client.subscribe(SESSION)
        client.subscribe(THREADS)
        hub.resources_updated({SESSION, THREADS})
        await trio.sleep(1)
        assert client.statistics().updates_queued == 2
        client.unsubscribe(SESSION)
        client.unsubscribe("debugger://never")
        assert queued(client) == [Updated(THREADS)]


async def test_pending_updates_are_published_before_a_list_change(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, SESSION, THREADS)
        nursery.start_soon(reader.run)
        hub.resources_updated({SESSION})
        await trio.sleep(0.1)
        hub.resources_updated({SESSION, THREADS})
        hub.list_changed()
        await trio.sleep(10)
        assert reader.received == [(Updated(SESSION), 0.1), (Updated(THREADS), 0.1), (ListChanged(), 0.1)]


async def test_every_list_change_is_notified_even_in_the_same_tick(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub)
        uninterested = Reader(hub, wants_list_changes=False)
        nursery.start_soon(reader.run)
        nursery.start_soon(uninterested.run)
        for _ in range(4):
            hub.list_changed()
        await trio.sleep(1)
        assert reader.received == [(ListChanged(), 0)] * 4
        assert uninterested.received == []


async def test_a_client_that_never_receives_delays_no_other_and_its_mailbox_is_bounded(
    autojump_clock: MockClock,
) -> None:
    async with open_hub() as (hub, nursery):
        slow = hub.open_subscriber()
        slow.subscribe(SESSION)
        slow.subscribe(THREADS)
        quick = Reader(hub, SESSION)
        nursery.start_soon(quick.run)
        for _ in range(MAX_QUEUED_LIST_CHANGES * 2):
            hub.resources_updated({SESSION, THREADS})
            await trio.sleep(0.4)
            hub.list_changed()
        await trio.testing.wait_all_tasks_blocked()
        updates = [at for notice, at in quick.received if notice == Updated(SESSION)]
        assert updates == [pytest.approx(0.4 * number + 0.3) for number in range(MAX_QUEUED_LIST_CHANGES * 2)]
        notices = queued(slow)
        assert len(notices) == 2 + MAX_QUEUED_LIST_CHANGES
        assert notices.count(Updated(SESSION)) == 1
        hub.list_changed()
        assert queued(slow) == [ListChanged()]


async def test_a_mailbox_holds_a_uri_once_and_again_after_it_was_received(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        client = hub.open_subscriber()
        client.subscribe(SESSION)
        for _ in range(3):
            hub.resources_updated({SESSION})
            await trio.sleep(1)
        assert queued(client) == [Updated(SESSION)]
        hub.resources_updated({SESSION})
        await trio.sleep(1)
        assert await client.receive() == Updated(SESSION)


async def test_a_closed_subscriber_receives_nothing_more_and_is_forgotten(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        tasks = trio.lowlevel.current_statistics().tasks_living
        client = hub.open_subscriber()
        client.subscribe(SESSION)
        hub.list_changed()
        client.put(Logged("info", "x", "y"))
        hub.resources_updated({SESSION})
        await trio.sleep(0.1)
        client.close()
        assert client.statistics() == SubscriberStatistics(0, 0, 0, 0, 0)
        hub.list_changed()
        await trio.sleep(1)
        assert queued(client) == []
        assert hub.statistics() == HubStatistics(0, 0, DebouncerStatistics(watched=0, pending=0))
        assert trio.lowlevel.current_statistics().tasks_living == tasks
        client.close()  # again


async def test_a_cancelled_receive_loses_nothing(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        client = hub.open_subscriber()
        with trio.move_on_after(1):
            await client.receive()
        hub.list_changed()
        assert await client.receive() == ListChanged()


async def test_once_the_last_subscriber_is_gone_changes_open_no_window(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        one, other = hub.open_subscriber(), hub.open_subscriber()
        one.subscribe(SESSION)
        other.subscribe(SESSION)
        one.unsubscribe(SESSION)
        hub.resources_updated({SESSION})
        assert hub.statistics() == HubStatistics(2, 1, DebouncerStatistics(watched=1, pending=1))
        other.unsubscribe(SESSION)
        hub.resources_updated({SESSION})
        assert hub.statistics() == HubStatistics(2, 0, DebouncerStatistics(watched=0, pending=0))


async def test_log_messages_come_last_and_of_too_many_the_oldest_are_dropped(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        client = hub.open_subscriber()
        for number in range(102):
            client.put(Logged("info", "x", str(number)))
        client.put(ListChanged())
        assert client.statistics() == SubscriberStatistics(
            subscriptions=0, updates_queued=0, list_changes_queued=1, logs_queued=100, logs_dropped=2
        )
        first, dropped, *rest = queued(client)
        assert first == ListChanged()
        assert isinstance(dropped, Logged)
        assert dropped.text.startswith("2 earlier log messages were dropped")
        assert rest == [Logged("info", "x", str(number)) for number in range(2, 102)]
        assert client.statistics().logs_dropped == 0


async def test_a_finished_subscriber_receives_what_is_queued_and_then_the_end(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        client, idle = hub.open_subscriber(), Reader(hub)
        ended = trio.Event()

        @nursery.start_soon
        async def _() -> None:
            with pytest.raises(trio.EndOfChannel):
                await idle.run()
            ended.set()

        await trio.testing.wait_all_tasks_blocked()
        hub.list_changed()
        for subscriber in (client, idle.subscriber):
            subscriber.finish()
        assert await client.receive() == ListChanged()
        with pytest.raises(trio.EndOfChannel):
            await client.receive()
        with pytest.raises(trio.EndOfChannel):
            client.receive_nowait()
        with trio.fail_after(1):
            await ended.wait()
        assert idle.received == [(ListChanged(), 0)]


async def test_the_representations_say_how_much_is_subscribed_and_queued(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        client = hub.open_subscriber()
        client.subscribe(SESSION)
        hub.list_changed()
        client.put(Logged("info", "x", "y"))
        assert repr(client) == "<Subscriber: 1 subscriptions, 2 notices queued>"
        assert repr(hub).startswith("<Hub: 1 subscribers, 1 resources, <Debouncer ")


# --- Spellings --------------------------------------------------------------------------------------------------------

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
        assert reader.received == [(Updated(uri), 0.3)]


async def test_two_spellings_of_one_client_are_two_subscriptions(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, PLAIN, ENCODED)
        nursery.start_soon(reader.run)
        hub.resources_updated({CANONICAL})
        await trio.sleep(1)
        assert reader.received == [(Updated(PLAIN), 0.3), (Updated(ENCODED), 0.3)]
        reader.subscriber.unsubscribe(PLAIN)
        hub.resources_updated({CANONICAL})
        await trio.sleep(1)
        assert reader.received[2:] == [(Updated(ENCODED), 1.3)]


async def test_subscribing_twice_is_the_same_as_once(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, nursery):
        reader = Reader(hub, SESSION, SESSION)
        nursery.start_soon(reader.run)
        hub.resources_updated({SESSION})
        await trio.sleep(1)
        assert len(reader.received) == 1
        reader.subscriber.unsubscribe(SESSION)
        hub.resources_updated({SESSION})
        await trio.sleep(1)
        assert len(reader.received) == 1


async def test_subscriptions_are_bounded_and_an_existing_one_may_be_repeated(autojump_clock: MockClock) -> None:
    async with open_hub() as (hub, _):
        client = hub.open_subscriber()
        uris = [f"debugger://source//src/{number}.py" for number in range(MAX_SUBSCRIPTIONS)]
        for uri in uris:
            client.subscribe(uri)
        with pytest.raises(TooManySubscriptions):
            client.subscribe(SESSION)
        client.subscribe(uris[0])
        client.unsubscribe(uris[0])
        client.subscribe(SESSION)
        hub.open_subscriber().subscribe(SESSION)
