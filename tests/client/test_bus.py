"""The stream of events: order, overflow, `receive_nowait`, `wait_for`."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import Peer, received
from trio_debugmcp.client import (
    EventStreamStatistics,
    InspectorClient,
    NotConnected,
    ResourceUpdated,
)

ONE = "demo://one"


async def test_streams_and_expectations_end_with_the_client(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        events = client.events("toolsChange")
        waiting = client.wait_for("toolsChange")
        async with events:
            pass
        with pytest.raises(ValueError, match="no such event kind: nonsense"):
            client.events("nonsense")  # type: ignore[call-overload]
        with pytest.raises(ValueError, match="buffer"):
            client.events(buffer=0)
    with pytest.raises(NotConnected, match="closed while waiting for 'toolsChange'"):
        await waiting
    assert [event async for event in events] == []


async def test_events_can_be_pulled_in_order_with_a_backlog_and_awaited_with_a_timeout(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client, client.events() as events:
        coming = client.wait_for("resourceContentChange", lambda event: event.uri == "demo://2")
        for number in range(3):
            await client.read_resource(f"demo://{number}")
        assert (await coming).uri == "demo://2", "armed before the action"
        with pytest.raises(trio.TooSlowError):
            with trio.fail_after(5):
                await client.wait_for("toolsChange")
        numbers = [event.seq for event in received(events)]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_a_listener_that_never_reads_delays_nothing(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client, client.events("resourceUpdated", buffer=10) as events:
        await client.subscribe_to_resource(ONE)
        await wait_all_tasks_blocked()
        for _ in range(1000):
            peer.updated(ONE)
        await client.ping()  # answered: the reader is not stuck
        dropped: Any = await anext(events)
        assert (dropped.kind, dropped.count) == ("eventsDropped", 990)
        rest = [await anext(events) for _ in range(10)]
        assert [event.seq for event in rest] == sorted(event.seq for event in rest)
        assert dropped.seq < rest[0].seq
        assert all(isinstance(event, ResourceUpdated) for event in rest)


async def test_what_has_arrived_can_be_taken_without_waiting(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        async with client.events("resourceContentChange", buffer=2) as events:
            with pytest.raises(trio.WouldBlock):
                events.receive_nowait()
            for number in range(3):
                await client.read_resource(f"demo://{number}")
            assert events.statistics() == EventStreamStatistics(current_buffer_used=2, max_buffer_size=2, dropped=1)
            dropped, *rest = received(events)
            assert (dropped.kind, dropped.count) == ("eventsDropped", 1)
            assert [event.uri for event in rest] == ["demo://1", "demo://2"]
            assert client.statistics().events.streams == 1
        with pytest.raises(trio.EndOfChannel):
            events.receive_nowait()
        assert client.statistics().events.streams == 0


async def test_an_expectation_that_is_dropped_does_not_listen(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        coming = client.wait_for("toolsChange")
        assert client.statistics().events.expectations == 1
        del coming
        assert client.statistics().events.expectations == 0


async def test_a_closed_client_has_no_more_events(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        pass
    async with client.events() as events:
        assert [event async for event in events] == []
    with pytest.raises(NotConnected, match="closed while waiting"):
        await client.wait_for("connect")
