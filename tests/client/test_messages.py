"""Message log, standard error log, coercion of arguments, splitting of lines: plain values."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.client.coercion import coerce_arguments, stringify_arguments
from trio_debugmcp.client.state.messages import MAX_STDERR_LINE_CHARACTERS, MAX_STDERR_LINES, MessageLog, StderrLog

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


def log(max_entries: int = 100, max_bytes: int = 1_000_000) -> MessageLog:
    return MessageLog(max_entries, max_bytes, Clock())


def request(number: int, method: str = "tools/call", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def response(number: int, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def test_a_response_is_folded_into_its_request_with_the_time_between() -> None:
    messages = log()
    messages.record("client", request(1))
    messages.record("server", {"jsonrpc": "2.0", "method": "notifications/x"})
    messages.record("server", response(1, ok=True))
    asked, noticed = messages
    assert (asked.direction, asked.origin) == ("request", "client")
    assert asked.response == response(1, ok=True)
    assert asked.duration == 2
    assert (noticed.direction, noticed.response) == ("notification", None)
    assert messages.unanswered == 0


def test_an_error_is_a_response_too_and_one_without_a_request_is_kept_by_itself() -> None:
    messages = log()
    messages.record("client", request(1))
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}}
    messages.record("server", error)
    messages.record("server", error)
    messages.record("server", {"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "parse"}})
    assert [entry.direction for entry in messages] == ["request", "response", "response"]


def test_an_id_is_only_known_together_with_its_side() -> None:
    messages = log()
    messages.record("client", request(3, "tools/call"))
    messages.record("server", request(3, "ping"))
    messages.record("client", response(3, pong=True))
    messages.record("server", response(3, called=True))
    ours, theirs = messages
    assert ours.response == response(3, called=True)
    assert theirs.response == response(3, pong=True)


def test_the_oldest_go_first_together_with_the_memory_of_what_they_wait_for() -> None:
    messages = log(max_entries=10)
    for number in range(5000):
        messages.record("client", request(number))
    assert len(messages) == 10
    assert messages.unanswered == 10
    messages.record("server", response(1))
    assert [entry.direction for entry in messages][-1] == "response"


def test_the_bound_is_in_bytes_too_and_of_a_giant_only_the_head_is_kept() -> None:
    messages = log(max_bytes=100_000)
    for number in range(10):
        messages.record("client", request(number))
        messages.record("server", response(number, text="x" * 5_000_000))
    assert messages.bytes <= 100_000
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
    assert messages.bytes == messages.unanswered == 0


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 9), st.integers(0, 3000)), max_size=80))
def test_no_traffic_breaks_the_bounds(traffic: list[tuple[bool, bool, int, int]]) -> None:
    messages = log(max_entries=5, max_bytes=20_000)
    for ours, asks, number, size in traffic:
        message = request(number, text="x" * size) if asks else response(number, text="x" * size)
        messages.record("client" if ours else "server", message)
        assert len(messages) <= 5
        assert 0 <= messages.bytes <= 20_000
        assert messages.unanswered <= len(messages)
        assert messages.bytes == sum(entry.size for entry in messages)
    messages.clear()
    assert len(messages) == messages.bytes == messages.unanswered == 0


def test_standard_error_is_bounded_and_its_tail_is_that_of_one_connection() -> None:
    lines = StderrLog(Clock())
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


@pytest.mark.parametrize(
    ("schema", "given_value", "sent"),
    [
        ({"type": "integer"}, "3", 3),
        ({"type": "integer"}, "3.0", 3.0),
        ({"type": "integer"}, "3.5", "3.5"),
        ({"type": "number"}, "3.5", 3.5),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "yes", "yes"),
        ({"type": "boolean"}, "1", "1"),
        ({"type": "array"}, "[1]", [1]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": ["integer", "null"]}, "null", None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "7", 7),
        ({"type": "string"}, "7", "7"),
        ({"type": ["string", "integer"]}, "7", "7"),
        ({}, "7", "7"),
        ({"type": "integer"}, "seven", "seven"),
        ({"type": "integer"}, 7.5, 7.5),
    ],
)
def test_strings_are_converted_only_to_what_the_schema_wants(
    schema: dict[str, Any], given_value: Any, sent: Any
) -> None:
    coerced = coerce_arguments({"x": given_value}, {"properties": {"x": schema}})["x"]
    assert coerced == sent
    assert type(coerced) is type(sent)


def test_prompt_arguments_are_strings() -> None:
    assert stringify_arguments({"a": "x", "b": 1, "c": None, "d": [True]}) == {
        "a": "x",
        "b": "1",
        "c": "null",
        "d": "[true]",
    }
