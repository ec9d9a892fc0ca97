"""The message log and the standard error log: plain values; and once within a client."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import Json, Peer, content, text
from trio_debugmcp.client import (
    InspectorClient,
    InspectorOptions,
)
from trio_debugmcp.client.state.message_log import MAX_STDERR_LINE_CHARACTERS, MAX_STDERR_LINES, MessageLog, StderrLog

ONE = "demo://one"

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class ManualClock:
    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


def log(max_entries: int = 100, max_bytes: int = 1_000_000) -> MessageLog:
    return MessageLog(max_entries, max_bytes, ManualClock())


def request(number: int, method: str = "tools/call", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def response(number: int, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


async def test_the_message_log_starts_anew_with_each_connection(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        await client.read_resource(ONE)
        await client.disconnect()
        assert "resources/read" in [entry.message.get("method") for entry in client.messages], "kept for reading"
        await client.connect()
        assert "resources/read" not in [entry.message.get("method") for entry in client.messages]


def test_a_response_is_added_to_its_request_with_the_time_between() -> None:
    messages = log()
    messages.record("client", request(1))
    messages.record("server", {"jsonrpc": "2.0", "method": "notifications/x"})
    messages.record("server", response(1, ok=True))
    asked, noticed = messages
    assert (asked.direction, asked.origin) == ("request", "client")
    assert asked.response == response(1, ok=True)
    assert asked.duration == 2
    assert (noticed.direction, noticed.response) == ("notification", None)
    assert messages.statistics().unanswered == 0


def test_an_error_is_a_response_too_and_one_without_a_request_is_kept_by_itself() -> None:
    messages = log()
    messages.record("client", request(1))
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}}
    messages.record("server", error)
    messages.record("server", error)
    messages.record("server", {"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "parse"}})
    assert [entry.direction for entry in messages] == ["request", "response", "response"]


def test_an_id_is_only_unique_on_its_side() -> None:
    messages = log()
    messages.record("client", request(3, "tools/call"))
    messages.record("server", request(3, "ping"))
    messages.record("client", response(3, pong=True))
    messages.record("server", response(3, called=True))
    ours, theirs = messages
    assert ours.response == response(3, called=True)
    assert theirs.response == response(3, pong=True)


def test_a_response_belongs_to_the_last_request_with_its_id_also_after_an_earlier_one_was_removed() -> None:
    messages = log(max_entries=2)
    messages.record("client", request(1, "first"))
    messages.record("client", request(1, "second"))
    messages.record("client", {"jsonrpc": "2.0", "method": "notifications/x"})
    messages.record("server", response(1, ok=True))
    second, _ = messages
    assert second.message["method"] == "second"
    assert second.response == response(1, ok=True)


def test_the_oldest_entries_are_removed_first_with_what_they_wait_for() -> None:
    messages = log(max_entries=10)
    for number in range(5000):
        messages.record("client", request(number))
    assert len(messages) == 10
    assert messages.statistics().unanswered == 10
    messages.record("server", response(1))
    assert [entry.direction for entry in messages][-1] == "response"


def test_the_log_is_bounded_in_bytes_and_keeps_only_the_head_of_a_large_message() -> None:
    messages = log(max_bytes=100_000)
    for number in range(10):
        messages.record("client", request(number))
        messages.record("server", response(number, text="x" * 5_000_000))
    assert messages.statistics().bytes <= 100_000
    last = list(messages)[-1]
    assert last.response is not None
    assert last.response["truncated"] is True
    assert last.response["size"] > 5_000_000
    assert last.response["id"] == 9
    assert len(last.response["head"]) == 1000


def test_with_a_bound_of_nothing_nothing_is_kept() -> None:
    messages = log(max_entries=0)
    messages.record("client", request(1))
    messages.record("server", response(1))
    assert len(messages) == 0
    assert messages.statistics().bytes == messages.statistics().unanswered == 0


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 9), st.integers(0, 3000)), max_size=80))
def test_no_traffic_breaks_the_bounds(traffic: list[tuple[bool, bool, int, int]]) -> None:
    messages = log(max_entries=5, max_bytes=20_000)
    for ours, asks, number, size in traffic:
        message = request(number, text="x" * size) if asks else response(number, text="x" * size)
        messages.record("client" if ours else "server", message)
        assert len(messages) <= 5
        assert 0 <= messages.statistics().bytes <= 20_000
        assert messages.statistics().unanswered <= len(messages)
        assert messages.statistics().bytes == sum(entry.size for entry in messages)
    messages.clear()
    assert len(messages) == messages.statistics().bytes == messages.statistics().unanswered == 0


def test_standard_error_is_bounded_and_its_tail_is_that_of_one_connection() -> None:
    lines = StderrLog(ManualClock())
    lines.record("of an earlier connection")
    since = NOON + timedelta(seconds=2)
    for number in range(MAX_STDERR_LINES + 5):
        lines.record(f"{number} " + "x" * 10_000)
    kept = list(lines)
    assert len(kept) == MAX_STDERR_LINES
    assert all(len(entry.line) == MAX_STDERR_LINE_CHARACTERS for entry in kept)
    assert len(lines.tail(since).splitlines()) == 20
    lines.clear()
    lines.record("old")
    assert lines.tail(NOON + timedelta(days=1)) == ""


async def test_requests_of_both_sides_with_one_id_are_paired_each_with_its_own_response(
    autojump_clock: MockClock,
) -> None:
    """Client and server count independently: our request 4 and the server's request 4 are two."""
    peer = Peer()

    async def call(_: Json) -> Json:
        peer.send({"id": peer.requests[-1]["id"], "method": "ping"})
        await trio.sleep(1)
        return text("done")

    peer.handlers["tools/call"] = call
    async with InspectorClient(peer) as client:
        await client.call_tool("t")
        ours = next(entry for entry in client.messages if entry.message.get("method") == "tools/call")
        theirs = next(entry for entry in client.messages if entry.message.get("method") == "ping")
        assert ours.message["id"] == theirs.message["id"]
        assert (ours.origin, theirs.origin) == ("client", "server")
        assert ours.response is not None
        assert ours.response["result"]["content"][0]["text"] == "done"
        assert theirs.response is not None
        assert theirs.response["result"] == {}
        assert ours.duration == pytest.approx(1)
        assert not [entry for entry in client.messages if entry.direction == "response"], "no orphans"


async def test_the_message_log_is_bounded_in_bytes_and_forgets_requests_with_their_entries(
    peer: Peer, autojump_clock: MockClock
) -> None:
    options = InspectorOptions(max_messages=10, max_message_bytes=1_000_000)
    async with InspectorClient(peer, options) as client:
        for size in (5_000_000, 200_000):
            body = "x" * size
            peer.handlers["resources/read"] = lambda _, body=body: content(ONE, body)  # type: ignore[misc]
            for _ in range(10):
                read: Any = await client.read_resource(ONE)
                assert len(read.result.contents[0].text) == size, "the log's bound is no one else's"
                assert client.statistics().messages.bytes <= 1_000_000
        peer.silent_about.add("tools/call")
        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(client.call_tool, "t")
            await wait_all_tasks_blocked()
            assert len(client.messages) == 10
            assert client.statistics().messages.unanswered == 10
            nursery.cancel_scope.cancel()
