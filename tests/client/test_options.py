"""Options are checked when they are given: what they may be, and that a refusal says so."""

from typing import Any

import pytest
from trio.testing import MockClock

from tests.client.peer import Peer
from trio_debugmcp.client import (
    ClientIdentity,
    InspectorClient,
    InspectorOptions,
    ListChangedNotifications,
    Reconnect,
)
from trio_debugmcp.client.options import _RULES
from trio_debugmcp.errors import UsageError


def test_every_option_has_a_rule() -> None:
    assert _RULES.keys() == set(InspectorOptions.__struct_fields__)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("reconnect", True, "None, or a Reconnect: Reconnect() has the defaults"),
        ("mode", "latest", "one of 'auto', 'legacy', 'modern'"),
        ("request_timeout", "5", "a number of seconds above 0"),
        ("request_timeout", 0, "a number of seconds above 0"),
        ("request_max_time", float("nan"), "a number of seconds above 0"),
        ("connect_timeout", True, "a number of seconds above 0"),
        ("heartbeat", -1, "None or a number of seconds above 0"),
        ("cache_ttl", 0, "None or a number of seconds above 0"),
        ("cache_max_entries", -1, "a whole number from 0"),
        ("max_messages", 1.5, "a whole number from 0"),
        ("max_message_bytes", True, "a whole number from 0"),
        ("auto_reread", "yes", "True or False"),
        ("list_changed_notifications", {"tools": False}, "of type ListChangedNotifications"),
        ("transport", "websocket", "one of 'auto', 'http', 'sse'"),
        ("headers", ["Authorization: x"], "None or a mapping of strings to strings"),
        ("env", {"DEBUG": 1}, "None or a mapping of strings to strings"),
        ("cwd", 7, "None or a path"),
        ("log_level", "loud", "None or one of 'debug', "),
        ("client_info", "me", "of type ClientIdentity"),
        ("sampling", "gpt", "None or a function"),
        ("roots", "file:///x", "None or a sequence"),
        ("metadata", [], "None or a mapping"),
        ("oauth", True, "None or of type OAuth"),
    ],
)
def test_nonsense_is_refused_with_what_is_allowed(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(UsageError) as refused:
        InspectorOptions(**{name: value})
    message = str(refused.value)
    assert message.startswith(f"InspectorOptions.{name} must be {allowed}")
    assert message.endswith(f", not {value!r}")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Reconnect(attempts=0),
        lambda: Reconnect(first_delay=-1),
        lambda: Reconnect(max_delay="1"),  # type: ignore[arg-type]
        lambda: ListChangedNotifications(tools="no"),  # type: ignore[arg-type]
        lambda: ClientIdentity(name=""),
    ],
)
def test_options_within_options_are_checked_too(make: Any) -> None:
    with pytest.raises(UsageError, match="must be"):
        make()


def test_limits_may_be_infinite_and_memory_none() -> None:
    InspectorOptions(request_timeout=float("inf"), heartbeat=None, max_messages=0, cache_max_entries=0, roots=())


async def test_a_level_that_the_protocol_does_not_have_is_not_sent(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        with pytest.raises(UsageError, match="one of 'debug', "):
            await client.set_logging_level("loud")  # type: ignore[arg-type]


async def test_events_outside_of_their_block_are_an_error_and_no_silence(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        with pytest.raises(RuntimeError, match=r"async with client\.events"):
            await anext(client.events("error"))


async def test_a_kind_of_content_that_there_is_not_is_named_with_those_that_there_are(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        with pytest.raises(ValueError, match="'resources'; there are resource, template, prompt, tool"):
            client.cache.entry("resources", "demo://one")  # type: ignore[arg-type]
