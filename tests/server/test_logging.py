"""Log messages for the clients that ask for them, in both protocol eras; other clients are not affected."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
import trio
from mcp.shared.message import SessionMessage
from mcp_types import LOG_LEVEL_META_KEY, jsonrpc_message_adapter
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, launch, move_breakpoint, paused, running
from tests.server.test_delivery import ENVELOPE, raw_client
from trio_debugmcp.publish.hub import MAX_QUEUED_LOGS, Hub
from trio_debugmcp.server.logs import MAX_MESSAGE_LENGTH, open_log_relay
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server
from trio_debugmcp.transports.in_memory import memory_pair

log = logging.getLogger("trio_debugmcp.test")


async def set_level(client: DebugClient, level: types.LoggingLevel) -> None:
    request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=level))
    await client.sdk.session.send_request(request, types.EmptyResult)


def logged(client: DebugClient) -> list[tuple[str, Any]]:
    return [(params.level, params.data) for params in client.logs if params.logger == log.name]


async def test_a_client_gets_records_at_its_level_or_above(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, _):
        log.error("before it asked")
        await trio.sleep(1)
        await set_level(client, "info")
        log.debug("too low")
        log.info("one %s", "two")
        log.warning("three")
        await trio.sleep(1)
        await set_level(client, "error")
        log.warning("too low now")
        log.critical("four")
        await set_level(client, "alert")
        log.critical("still too low")
        await trio.sleep(1)
        assert logged(client) == [("info", "one two"), ("warning", "three"), ("critical", "four")]


async def test_each_connection_has_its_own_level_and_the_logger_returns_to_its_own(
    autojump_clock: MockClock,
) -> None:
    package = logging.getLogger("trio_debugmcp")
    before = package.level
    async with open_server() as server, server.connect() as one, server.connect() as other:
        async with server.connect() as leaving:
            await set_level(leaving, "debug")
            assert package.level == logging.DEBUG
            await set_level(one, "info")
        await trio.sleep(1)
        assert package.level == logging.INFO
        log.debug("below every level")
        log.info("at the level of one")
        await trio.sleep(1)
        assert (logged(one), logged(other), logged(leaving)) == ([("info", "at the level of one")], [], [])
    assert package.level == before
    assert len(package.handlers) == 0


async def test_a_client_that_wants_little_does_not_silence_the_log_of_the_server(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, _):
        await set_level(client, "critical")
        assert log.isEnabledFor(logging.WARNING)


async def test_the_level_of_the_logger_is_restored_although_a_subscriber_is_left() -> None:
    package = logging.getLogger("trio_debugmcp")
    before = package.level
    async with trio.open_nursery() as nursery:
        with open_log_relay() as logs:
            logs.set_level(Hub(nursery).open_subscriber(), "debug")
            assert repr(logs) == "<LogRelay: 1 subscribers>"
            assert package.level == logging.DEBUG
        assert package.level == before


async def test_tracebacks_are_included_and_long_messages_are_cut(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, _):
        await set_level(client, "debug")
        try:
            raise ValueError("bad")
        except ValueError:
            log.exception("it failed")
        log.info("x" * 100_000)
        await trio.sleep(1)
        (_, failed), (_, long) = logged(client)
        assert "it failed" in failed
        assert "ValueError: bad" in failed
        assert len(long) < MAX_MESSAGE_LENGTH + 20
        assert long.endswith("[truncated]")


async def test_records_of_other_threads_arrive_too(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, _):
        await set_level(client, "debug")
        autojump_clock.autojump_threshold = float("inf")
        await trio.to_thread.run_sync(log.info, "from a thread")
        autojump_clock.autojump_threshold = 0
        await trio.sleep(1)
        assert logged(client) == [("info", "from a thread")]


async def test_in_the_modern_era_each_request_asks_for_its_own_logs(
    autojump_clock: MockClock,
) -> None:
    async with paused("modern") as (client, adapter):

        async def evaluate(arguments: Any) -> Any:
            log.debug("too low")
            log.info("while it is evaluated")
            await trio.sleep(1)
            log.warning("and at its end")
            return {"result": "1"}

        adapter.answer("evaluate", evaluate)
        await client.call("evaluate", expression="x")
        assert client.logs == []
        asking: Any = {LOG_LEVEL_META_KEY: "info"}
        await client.sdk.call_tool("evaluate", {"expression": "x"}, meta=asking)
        assert logged(client) == [("info", "while it is evaluated"), ("warning", "and at its end")]
        await client.call("evaluate", expression="x")
        assert len(logged(client)) == 2


async def test_the_logs_of_a_request_all_come_before_its_answer(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    package = logging.getLogger("trio_debugmcp")
    async with open_server(adapter.options()) as server, server.connect() as agent, raw_client(server) as client:
        await launch(agent, adapter, stop_at_entry=True, wait=True)
        before = server.app.hub.statistics().subscribers, package.level

        async def evaluate(arguments: Any) -> Any:
            for number in range(50):
                log.info("%d", number)
            return {"result": "1"}

        adapter.answer("evaluate", evaluate)
        meta = {**ENVELOPE, LOG_LEVEL_META_KEY: "info"}
        await client.send("tools/call", 1, name="evaluate", arguments={"expression": "x"}, _meta=meta)
        *logs, answer = await client.receive_all()
        assert [each["params"]["data"] for each in logs] == [str(number) for number in range(50)]
        assert answer["id"] == 1
        assert (server.app.hub.statistics().subscribers, package.level) == before


@asynccontextmanager
async def stuck_client(server: Any) -> AsyncIterator[Any]:
    """A client of the handshake era that asked for everything and reads only what the test reads."""
    with memory_pair() as (left, (incoming, outgoing)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.app.serve_connection, *left)

            async def send(method: str, number: int | None = None, **params: object) -> None:
                message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
                message |= {} if number is None else {"id": number}
                await outgoing.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))
                if number is not None:
                    await incoming.receive()

            info = {"name": "slow", "version": "1"}
            await send("initialize", 1, protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
            await send("notifications/initialized")
            await send("resources/subscribe", 2, uri=BREAKPOINTS)
            await send("logging/setLevel", 3, level="debug")
            yield incoming
            nursery.cancel_scope.cancel(reason="seen enough")


async def test_a_client_that_does_not_read_delays_no_other_and_learns_how_many_it_missed(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as quick:
        await quick.call("breakpoint_set", file=adapter.program, line=1)
        await launch(quick, adapter)
        await trio.sleep(10)
        async with stuck_client(server) as incoming:
            await set_level(quick, "debug")
            for number in range(MAX_QUEUED_LOGS + 50):
                log.info("%d", number)
                await trio.sleep(0.1)
            await move_breakpoint(adapter, 2)
            await trio.sleep(10)
            assert [data for _, data in logged(quick)] == [str(number) for number in range(MAX_QUEUED_LOGS + 50)]
            received = []
            with trio.move_on_after(10):
                while True:
                    received.append((await incoming.receive()).message)
            texts = [
                each.params["data"] if each.method == "notifications/message" else each.method for each in received
            ]
            being_sent, first, lost, *rest = texts
            assert (being_sent, first) == ("0", "notifications/resources/updated")  # updates come before log messages
            assert lost.startswith("49 earlier log messages were dropped")
            assert rest == [str(number) for number in range(50, MAX_QUEUED_LOGS + 50)]


@pytest.mark.parametrize(
    ("logger", "heard"),
    [
        ("trio_debugmcp.transports.port", False),
        ("trio_debugmcp.transports.http", False),
        ("trio_debugmcp.transports.jsonrpc", False),
        ("trio_debugmcp.transports", False),
        ("trio_debugmcp.recording.trace", False),
        ("trio_debugmcp.recording.recorder", True),
        ("trio_debugmcp.session.session", True),
        ("trio_debugmcp.transportsandmore", True),
    ],
)
async def test_records_about_refused_connections_and_malformed_messages_reach_no_client(
    logger: str, heard: bool, autojump_clock: MockClock
) -> None:
    async with open_server(FakeAdapter().options()) as server, server.connect() as client:
        await set_level(client, "debug")
        logging.getLogger(logger).warning("refused: 403 this Host is not ours")
        await trio.sleep(1)
        assert [log.logger for log in client.logs if log.logger == logger] == [logger] * heard
