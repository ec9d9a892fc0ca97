"""When subscribers are notified, end to end and exact to the tick, in both protocol eras."""

from itertools import pairwise

import pytest
import trio
import trio.testing
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from trio.testing import MockClock

from tests.server.scene import (
    BREAKPOINTS,
    LIST_CHANGED,
    SESSION,
    STACK,
    THREADS,
    launch,
    move_breakpoint,
    paused,
    running,
)
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect, open_server
from trio_debugmcp.testing.connect import Era
from trio_debugmcp.transports.in_memory import memory_pair

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


def since(client: DebugClient, start: float, first: int = 0) -> list[tuple[str, float]]:
    """The notifications of a client, each with how long after `start` it came."""
    return [(notice.what, round(notice.at - start, 6)) for notice in client.notices[first:]]


@both_eras
async def test_one_change_is_one_notification_after_the_quiet_window(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, adapter), client.subscribed(BREAKPOINTS):
        start, first = trio.current_time(), len(client.notices)
        await move_breakpoint(adapter, 2)
        await trio.sleep(10)
        assert since(client, start, first) == [(BREAKPOINTS, 0.3)]


@both_eras
async def test_a_burst_is_one_notification_counted_from_its_end(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, adapter), client.subscribed(BREAKPOINTS):
        start, first = trio.current_time(), len(client.notices)
        for number in range(5):
            await move_breakpoint(adapter, 2 + number)
            await trio.sleep(0.1)
        await trio.sleep(10)
        assert since(client, start, first) == [(BREAKPOINTS, 0.7)]
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["line"] == 6


@both_eras
async def test_a_storm_is_notified_at_least_every_nine_tenths_of_a_second(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, adapter), client.subscribed(BREAKPOINTS):
        start, first = trio.current_time(), len(client.notices)
        for number in range(50):
            await trio.sleep_until(start + number * 0.1)
            await move_breakpoint(adapter, 2 + number)
        await trio.sleep(10)
        notified = [at for _, at in since(client, start, first)]
        assert {what for what, _ in since(client, start, first)} == {BREAKPOINTS}
        # A window opens with the first change that is not yet published, and is never open for longer than 0.9 s.
        assert notified[0] == 0.9
        for earlier, later in pairwise(notified):
            assert later - earlier <= 1.0 + 1e-6
        assert notified[-1] == pytest.approx(5.2)
        assert len(notified) <= 7


@both_eras
async def test_a_storm_of_stops_and_resumes_is_notified_in_time_too(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter), client.subscribed(SESSION, THREADS):

        async def step(arguments: object) -> object:
            await trio.sleep(0.05)
            await adapter.stop("step")
            return {}

        adapter.answer("next", step)
        start, first = trio.current_time(), len(client.notices)
        await client.call("debug_step", count=100)
        assert trio.current_time() - start == pytest.approx(5)
        await trio.sleep(10)
        for uri in (SESSION, THREADS):
            notified = [at for what, at in since(client, start, first) if what == uri]
            assert notified[0] == 0.9
            assert max(later - earlier for earlier, later in pairwise(notified)) <= 0.96
            assert notified[-1] == pytest.approx(5.3)


@both_eras
async def test_unsubscribing_while_an_update_is_pending_discards_it(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, adapter):
        async with client.subscribed(BREAKPOINTS):
            first = len(client.notices)
            await move_breakpoint(adapter, 2)
            await trio.sleep(0.1)
        await trio.sleep(10)
        assert client.notices[first:] == []


@both_eras
async def test_the_end_of_a_session_notifies_pending_updates_at_once_and_then_the_list(
    era: Era, autojump_clock: MockClock
) -> None:
    async with running(era) as (client, adapter), client.subscribed(BREAKPOINTS, SESSION):
        start, first = trio.current_time(), len(client.notices)
        await move_breakpoint(adapter, 2)
        await trio.sleep(0.1)
        await adapter.exit(3)
        await trio.sleep(10)
        notified = since(client, start, first)
        assert [at for _, at in notified] == [0.1, 0.1, 0.1]
        assert {what for what, _ in notified[:2]} == {BREAKPOINTS, SESSION}
        assert notified[2] == (LIST_CHANGED, 0.1)


@both_eras
@pytest.mark.parametrize("ending", ["exit", "crash", "disconnect"])
async def test_there_is_one_list_changed_at_each_start_and_each_end(
    era: Era, ending: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with connect(era, options=adapter.options()) as client, client.subscribed(SESSION):
        for _ in range(3):
            first, start = len(client.notices), trio.current_time()
            await launch(client, adapter)
            await trio.sleep(10)
            assert [at for what, at in since(client, start, first) if what == LIST_CHANGED] == [0]
            first, start = len(client.notices), trio.current_time()
            match ending:
                case "exit":
                    await adapter.exit()
                case "crash":
                    await adapter.crash()
                case _:
                    await client.call("debug_disconnect")
            await trio.sleep(10)
            assert [at for what, at in since(client, start, first) if what == LIST_CHANGED] == [0]


@both_eras
async def test_at_list_changed_the_session_is_readable_and_at_the_next_one_gone(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.withhold("launch")
    async with connect(era, options=adapter.options()) as client, client.subscribed(), trio.open_nursery() as nursery:
        assert await client.uris() == []
        nursery.start_soon(launch, client, adapter)
        await client.wait_notice(LIST_CHANGED)
        assert (await client.read(SESSION))["state"] == "Starting"
        assert SESSION in await client.uris()
        nursery.cancel_scope.cancel(reason="the launch is cancelled")
        with trio.CancelScope(shield=True):
            await client.wait_notice(LIST_CHANGED, after=1)
            assert await client.uris() == []


@both_eras
async def test_a_restart_sends_list_changed_twice_and_never_once(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, _), client.subscribed(SESSION):
        first = len(client.notices)
        restarted = await client.call("debug_restart")
        await trio.sleep(10)
        edges = [notice for notice in client.notices[first:] if notice.what == LIST_CHANGED]
        assert len(edges) == 2
        assert restarted["session"] == (await client.read(SESSION))["sessionId"]


@both_eras
async def test_clients_are_notified_of_what_they_subscribed_to_and_of_nothing_else(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with (
        open_server(adapter.options()) as server,
        server.connect(era) as one,
        server.connect("legacy") as other,
        server.connect("modern") as third,
    ):
        await one.call("breakpoint_set", file=adapter.program, line=1)
        await launch(one, adapter)
        await trio.sleep(10)
        async with one.subscribed(BREAKPOINTS), other.subscribed(THREADS, SESSION), third.subscribed(STACK):
            firsts = [len(each.notices) for each in (one, other, third)]
            start = trio.current_time()
            await move_breakpoint(adapter, 2)
            await trio.sleep(0.1)
            await adapter.stop("pause")
            await trio.sleep(10)
            received = [since(each, start, first) for each, first in zip((one, other, third), firsts, strict=True)]
            assert received[0] == [(BREAKPOINTS, 0.3)]
            assert sorted(received[1]) == [(SESSION, 0.4), (THREADS, 0.4)]
            assert received[2] == [(STACK, 0.4)]


@both_eras
async def test_a_client_that_connects_late_is_notified_of_later_changes_only(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect("legacy") as early:
        await early.call("breakpoint_set", file=adapter.program, line=1)
        await launch(early, adapter)
        await trio.sleep(10)
        async with early.subscribed(BREAKPOINTS):
            await move_breakpoint(adapter, 2)
            await trio.sleep(10)
            async with server.connect(era) as late:
                assert (await late.read(BREAKPOINTS))["breakpoints"][0]["line"] == 2
                async with late.subscribed(BREAKPOINTS):
                    await trio.sleep(10)
                    assert late.notices == []
                    start = trio.current_time()
                    await move_breakpoint(adapter, 3)
                    await trio.sleep(10)
                    assert since(late, start) == [(BREAKPOINTS, 0.3)]


@both_eras
async def test_a_client_that_disconnects_with_an_update_pending_does_not_affect_others(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect("legacy") as staying:
        await staying.call("breakpoint_set", file=adapter.program, line=1)
        await launch(staying, adapter)
        await trio.sleep(10)
        async with staying.subscribed(BREAKPOINTS):
            first = len(staying.notices)
            async with trio.open_nursery() as nursery:
                subscribed = trio.Event()

                @nursery.start_soon
                async def _() -> None:
                    async with server.connect(era) as leaving, leaving.subscribed(BREAKPOINTS, SESSION):
                        subscribed.set()
                        await trio.sleep_forever()

                await subscribed.wait()
                start = trio.current_time()
                await move_breakpoint(adapter, 2)
                await trio.sleep(0.1)
                nursery.cancel_scope.cancel(reason="the client disconnects")
            await trio.sleep(10)
            assert since(staying, start, first) == [(BREAKPOINTS, 0.3)]
            assert (await staying.read(SESSION))["state"] == "Running"


@both_eras
async def test_a_read_after_a_notification_shows_the_state_that_caused_it(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, adapter), client.subscribed(SESSION, BREAKPOINTS):
        before = await client.read(BREAKPOINTS)
        first = len(client.notices)
        await move_breakpoint(adapter, 9)
        await client.wait_notice(BREAKPOINTS, after=first)
        after = await client.read(BREAKPOINTS)
        assert after["breakpoints"][0]["line"] == 9
        assert after["revision"] > before["revision"]
        await adapter.stop("pause")
        await client.wait_notice(SESSION, after=first)
        assert (await client.read(SESSION))["state"] == "Paused"


@both_eras
async def test_a_breakpoint_that_logs_never_updates_session_or_threads(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, adapter):
        made = await client.call("breakpoint_set", file=adapter.program, line=3, log_message="x")
        mark = adapter.sent("setBreakpoints")[-1]["breakpoints"][-1]["logMessage"]
        await trio.sleep(10)
        async with client.subscribed(SESSION, THREADS, STACK, BREAKPOINTS):
            start, first = trio.current_time(), len(client.notices)
            await adapter.event("output", {"category": "stdout", "output": mark + "\n"})
            await trio.sleep(10)
            assert since(client, start, first) == [(BREAKPOINTS, 0.3)]
        assert made["id"].startswith("tp-")
        (_, traced) = (await client.read(BREAKPOINTS))["breakpoints"]
        assert (traced["type"], traced["hitCount"]) == ("Tracepoint", 1)


@both_eras
async def test_a_client_that_never_subscribed_gets_no_update(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, adapter):
        first = len(client.notices)
        await adapter.stop("pause")
        await move_breakpoint(adapter, 2)
        await trio.sleep(10)
        assert [notice for notice in client.notices[first:] if notice.what != LIST_CHANGED] == []


async def test_a_client_that_does_not_read_delays_no_other_and_gets_each_change_once(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with (
        open_server(adapter.options()) as server,
        server.connect() as quick,
        trio.open_nursery() as nursery,
    ):
        await quick.call("breakpoint_set", file=adapter.program, line=1)
        await launch(quick, adapter)
        await trio.sleep(10)
        with memory_pair() as (left, (incoming, outgoing)):
            nursery.start_soon(server.app.serve_connection, *left)

            async def send(method: str, number: int | None = None, **params: object) -> None:
                message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
                message |= {} if number is None else {"id": number}
                await outgoing.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))
                if number is not None:
                    await incoming.receive()

            client = {"name": "slow", "version": "1"}
            await send("initialize", 1, protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
            await send("notifications/initialized")
            await send("resources/subscribe", 2, uri=BREAKPOINTS)
            async with quick.subscribed(BREAKPOINTS):
                first, start = len(quick.notices), trio.current_time()
                for number in range(20):
                    await move_breakpoint(adapter, 2 + number)
                    await trio.sleep(1)
                assert since(quick, start, first) == [(BREAKPOINTS, number + 0.3) for number in range(20)]
            notified = []
            with trio.move_on_after(10):
                while True:
                    notified.append((await incoming.receive()).message.method)  # type: ignore[union-attr]
            # one that was being sent, and one for all later changes
            assert notified == ["notifications/resources/updated"] * 2
            nursery.cancel_scope.cancel(reason="seen enough")
