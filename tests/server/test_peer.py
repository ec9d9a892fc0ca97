"""Clients in the timeline: who is connected when a session starts, and when each disconnects (server/peer.py)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.server.scene import TIMELINE, launch
from trio_debugmcp.server.known_clients import ABSENT_SECONDS, MAX_NAMES, KnownClients
from trio_debugmcp.server.logs import open_log_relay
from trio_debugmcp.server.peer import Peer
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server
from trio_debugmcp.testing.connect import Era, Server

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


async def recorded(client: DebugClient, *types: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = (await client.call("timeline_query", types=list(types), full=True))["events"]
    return events


@both_eras
async def test_who_has_connected_is_in_the_timeline_once_however_many_sessions_there_are(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(era) as agent:
        async with server.connect(era, "observe") as silent, silent.subscribed(TIMELINE):
            for _ in range(3):
                await launch(agent, adapter)
                events = await recorded(agent, "clientJoined", "clientLeft")
                assert sorted(each["payload"]["role"] for each in events) == ["control", "observe"]
                await agent.call("debug_disconnect")
        await launch(agent, adapter)
        await trio.sleep(1)
        (left,) = await recorded(agent, "clientLeft")
        assert left["payload"]["role"] == "observe"


def request_of(name: str, *, over_http: bool = True, version: str = "2026-07-28") -> Any:
    """The context that the SDK passes to its middleware with a request of that client."""
    client = SimpleNamespace(client_info=SimpleNamespace(name=name, version="1"))
    session = SimpleNamespace(client_params=client)
    request = object() if over_http else None
    return SimpleNamespace(
        session=session, method="ping", protocol_version=version, request=request, request_id=1, meta={}
    )


async def at_once(ctx: Any) -> None:
    pass


@asynccontextmanager
async def open_peer() -> AsyncIterator[tuple[Peer, Server, trio.Nursery]]:
    async with open_server(FakeAdapter().options()) as server, trio.open_nursery() as nursery:
        with open_log_relay() as logs:
            clients = KnownClients(server.app.debugger.merger, "observe", nursery)
            yield Peer(clients, server.app.hub, logs, nursery), server, nursery
            nursery.cancel_scope.cancel(reason="the test is over")


async def test_each_client_without_a_connection_disconnects_when_it_has_sent_nothing_for_long(
    autojump_clock: MockClock,
) -> None:
    async with open_peer() as (peer, server, nursery):
        merger = server.app.debugger.merger

        async def for_long(ctx: Any) -> None:
            await trio.sleep(2 * ABSENT_SECONDS)

        def connected() -> list[str]:
            events = [(each.type, each.payload["name"]) for each in merger.timeline.after(0)]
            left = [name for kind, name in events if kind == "clientLeft"]
            return [name for kind, name in events if kind == "clientJoined" and name not in left]

        await peer.middleware(request_of("listening"), at_once)
        nursery.start_soon(peer.middleware, request_of("listening"), for_long)
        await trio.testing.wait_all_tasks_blocked()
        await peer.middleware(request_of("listening"), at_once)
        await peer.middleware(request_of("brief"), at_once)
        await peer.middleware(request_of("again"), at_once)
        await peer.middleware(request_of("on a connection", over_http=False), at_once)
        await peer.middleware(request_of("with a session", version="2025-11-25"), at_once)
        await trio.sleep(ABSENT_SECONDS - 1)
        await peer.middleware(request_of("again"), at_once)
        assert set(connected()) == {"listening", "brief", "again", "on a connection", "with a session"}
        await trio.sleep(2)
        assert set(connected()) == {"listening", "again", "on a connection", "with a session"}
        await trio.sleep(ABSENT_SECONDS)
        assert set(connected()) == {"listening", "on a connection", "with a session"}
        await trio.sleep(3 * ABSENT_SECONDS)
        assert set(connected()) == {"on a connection", "with a session"}


async def test_the_timeline_records_a_bounded_number_of_clients_per_connection(autojump_clock: MockClock) -> None:
    async with open_server(FakeAdapter().options()) as server, trio.open_nursery() as nursery:
        clients = KnownClients(server.app.debugger.merger, "observe", nursery)
        assert repr(clients) == "<KnownClients role='observe': none yet>"
        for number in range(MAX_NAMES + 10):
            await clients.introduce(str(number), "1")
        await clients.disconnect()
        types = [each.type for each in server.app.debugger.merger.timeline.after(0)]
        assert (types.count("clientJoined"), types.count("clientLeft")) == (MAX_NAMES, MAX_NAMES)
        assert repr(clients).startswith("<KnownClients role='observe': 0, 1, 2, ")
