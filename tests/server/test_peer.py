"""Clients in the timeline: who is connected when a session starts, and when each disconnects (server/peer.py)."""

from types import SimpleNamespace
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import TIMELINE, launch
from trio_debugmcp.clock import Clock
from trio_debugmcp.server.peer import ABSENT_SECONDS, Peer
from trio_debugmcp.session.timeline import MAX_TOLD_AGAIN, Timeline
from trio_debugmcp.state.timeline import client_joined, client_left
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server
from trio_debugmcp.testing.connect import Era

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


async def told(client: DebugClient, *types: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = (await client.call("timeline_query", types=list(types)))["events"]
    return events


@both_eras
async def test_whoever_is_there_when_a_session_starts_is_in_its_timeline(era: Era, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(era) as agent:
        async with server.connect(era, "observe") as silent, silent.subscribed(TIMELINE):
            for _ in range(3):
                await launch(agent, adapter)
                events = await told(agent, "sessionStarted", "clientJoined", "clientLeft")
                assert [each["type"] for each in events] == ["sessionStarted", "clientJoined", "clientJoined"]
                assert [each["payload"]["role"] for each in events[1:]] == ["control", "observe"]
                await agent.call("debug_disconnect")
        await launch(agent, adapter)
        await trio.sleep(1)
        joined = await told(agent, "clientJoined")
        assert [each["payload"]["role"] for each in joined] == ["control"]


async def test_of_very_many_clients_some_are_told_of_again(autojump_clock: MockClock) -> None:
    timeline = Timeline(Clock())
    several = [client_joined(str(number), "1", "observe") for number in range(MAX_TOLD_AGAIN + 10)]
    timeline.record(several)
    again = timeline.start_over()
    assert again == several[:MAX_TOLD_AGAIN]
    timeline.record(again)
    timeline.record([client_left(str(number), "1", "observe") for number in range(MAX_TOLD_AGAIN + 9)])
    assert timeline.start_over() == several[-1:]


def passing(name: str, *, over_http: bool = True, version: str = "2026-07-28") -> Any:
    """What the SDK tells its middleware of a request of that client."""
    client = SimpleNamespace(client_info=SimpleNamespace(name=name, version="1"))
    session = SimpleNamespace(client_params=client)
    request = object() if over_http else None
    return SimpleNamespace(
        session=session, method="ping", protocol_version=version, request=request, request_id=1, meta={}
    )


async def test_clients_without_a_connection_leave_each_when_nothing_is_heard_of_them(
    autojump_clock: MockClock,
) -> None:
    async with open_server(FakeAdapter().options()) as server, trio.open_nursery() as nursery:
        merger = server.app.debugger.merger
        peer = Peer(merger, server.app.hub, server.app._logs, "observe", nursery)

        async def at_once(ctx: Any) -> None:
            pass

        async def for_long(ctx: Any) -> None:
            await trio.sleep(2 * ABSENT_SECONDS)

        def there() -> list[str]:
            events = [(each.type, each.payload["name"]) for each in merger.timeline.after(0)]
            left = [name for kind, name in events if kind == "clientLeft"]
            return [name for kind, name in events if kind == "clientJoined" and name not in left]

        nursery.start_soon(peer.middleware, passing("listening"), for_long)
        await peer.middleware(passing("brief"), at_once)
        await peer.middleware(passing("again"), at_once)
        await peer.middleware(passing("on a connection", over_http=False), at_once)
        await peer.middleware(passing("with a session", version="2025-11-25"), at_once)
        await trio.sleep(ABSENT_SECONDS - 1)
        await peer.middleware(passing("again"), at_once)
        assert set(there()) == {"listening", "brief", "again", "on a connection", "with a session"}
        await trio.sleep(2)
        assert set(there()) == {"listening", "again", "on a connection", "with a session"}
        await trio.sleep(ABSENT_SECONDS)
        assert set(there()) == {"listening", "on a connection", "with a session"}
        await trio.sleep(3 * ABSENT_SECONDS)
        assert set(there()) == {"on a connection", "with a session"}
        nursery.cancel_scope.cancel(reason="seen enough")
