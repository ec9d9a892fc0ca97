"""What a connection may subscribe to: how much, in which form, and how much of it is open."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest
import trio
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, SESSION
from tests.server.test_delivery import ENVELOPE, Raw, raw_client
from trio_debugmcp.publish.hub import MAX_SUBSCRIPTIONS
from trio_debugmcp.server.logs import open_log_relay
from trio_debugmcp.server.server import ConnectionServer
from trio_debugmcp.server.subscription_requests import MAX_STREAMS, ConnectionStatistics
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.testing import FakeAdapter, open_server
from trio_debugmcp.transports.in_memory import memory_pair

TOO_MANY = "Too many subscriptions on this connection: unsubscribe from some first"


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[ConnectionServer, Raw]]:
    """A connection with its raw client, whose statistics a test can look at."""
    async with open_server(FakeAdapter().options()) as server, server.app.clients.connect("control") as client:
        app = server.app
        with open_log_relay() as logs, memory_pair() as (left, right):
            connection = ConnectionServer(app.debugger, app.hub, open_toolbox(), logs, client)
            async with connection.open() as sdk_server, trio.open_nursery() as nursery:
                nursery.start_soon(sdk_server.run, *left, sdk_server.create_initialization_options())
                yield connection, Raw(right)
                nursery.cancel_scope.cancel(reason="the client disconnects")


async def listen(client: Raw, stream: int, *uris: str) -> dict[str, Any]:
    """Open a stream, and return the first message that comes."""
    await client.send(
        "subscriptions/listen", stream, notifications={"resourceSubscriptions": list(uris)}, _meta=ENVELOPE
    )
    return await client.receive()


async def test_the_subscriptions_of_a_stream_are_bounded(autojump_clock: MockClock) -> None:
    async with open_server(FakeAdapter().options()) as server, raw_client(server) as client:
        uris = [f"debugger://source//src/{number}.py" for number in range(MAX_SUBSCRIPTIONS + 1)]
        refused = await listen(client, 1, *uris)
        assert refused["error"] == {"code": -32602, "message": TOO_MANY}
        assert (await listen(client, 2, *uris[1:]))["method"] == "notifications/subscriptions/acknowledged"


async def test_the_subscriptions_of_a_connection_are_bounded_too(autojump_clock: MockClock) -> None:
    async with connected() as (connection, client):
        uris = [f"debugger://source//src/{number}.py" for number in range(MAX_SUBSCRIPTIONS)]
        await client.subscribe("legacy", *uris)
        await client.send("resources/subscribe", 5000, uri=SESSION)
        assert (await client.receive())["error"] == {"code": -32602, "message": TOO_MANY}
        subscriber = connection.statistics().subscriber
        assert subscriber is not None
        assert subscriber.subscriptions == MAX_SUBSCRIPTIONS


async def test_the_streams_of_a_connection_are_bounded_and_a_cancelled_one_makes_room(
    autojump_clock: MockClock,
) -> None:
    async with connected() as (connection, client):
        for number in range(MAX_STREAMS):
            assert (await listen(client, number, SESSION))["method"] == "notifications/subscriptions/acknowledged"
        assert connection.statistics() == ConnectionStatistics(streams=MAX_STREAMS, subscriber=None)
        assert (await listen(client, MAX_STREAMS, SESSION))["error"]["message"] == TOO_MANY
        await client.send("notifications/cancelled", requestId=0)
        await trio.sleep(1)
        assert (await listen(client, MAX_STREAMS + 1, SESSION))["method"] == "notifications/subscriptions/acknowledged"


async def test_a_stream_with_a_resource_that_can_never_exist_is_refused(autojump_clock: MockClock) -> None:
    async with open_server(FakeAdapter().options()) as server, raw_client(server) as client:
        refused = await listen(client, 1, SESSION, "debugger://nothing")
        assert refused["error"]["data"] == {"uri": "debugger://nothing"}
        assert server.app.hub.statistics().resources == 0


async def test_a_stream_needs_a_request_id(autojump_clock: MockClock) -> None:
    """The notifications of a stream carry the id of its request, which an SDK may not have passed on."""
    async with open_server(FakeAdapter().options()) as server, server.app.open_server("control") as sdk_server:
        entry = sdk_server.get_request_handler("subscriptions/listen")
        assert entry is not None
        ctx: Any = SimpleNamespace(request_id=None, session=None)
        meta: Any = ENVELOPE
        wanted = types.SubscriptionFilter(resource_subscriptions=[SESSION])
        params = types.SubscriptionsListenRequestParams(notifications=wanted, _meta=meta)
        with pytest.raises(MCPError, match="must be a request with an id"):
            await entry.handler(ctx, params)


async def test_a_connection_of_the_handshake_era_is_one_subscriber(autojump_clock: MockClock) -> None:
    async with connected() as (connection, client):
        assert connection.statistics() == ConnectionStatistics(streams=0, subscriber=None)
        await client.subscribe("legacy", SESSION, BREAKPOINTS)
        subscriber = connection.statistics().subscriber
        assert subscriber is not None
        assert subscriber.subscriptions == 2
        await client.send("resources/unsubscribe", 9, uri=SESSION)
        await client.receive()
        subscriber = connection.statistics().subscriber
        assert subscriber is not None
        assert subscriber.subscriptions == 1
        assert repr(connection) == "<ConnectionServer for <Client 1 role='control'>: 0 streams>"
