"""`evaluate_safe` through adapters: what is refused is never sent, and observers may ask."""

import json
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, launch, paused
from trio_debugmcp.testing import FakeAdapter, open_server

FOUND = {"name": "x", "value": "'Tea'", "type": "str"}


def probed(**answers: Any) -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.probe = answers
    return adapter


async def test_elsewhere_the_adapter_evaluates_what_passes(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.values = {"basket.count": "3"}
    async with paused("legacy", adapter) as (client, _):
        assert await client.call("evaluate_safe", expression="basket.count") == {"value": "3"}


async def test_what_is_refused_is_never_sent(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with paused("legacy", adapter) as (client, _):
        before = len(adapter.sent("evaluate"))
        for expression in ("clear()", "count = 3", "a[i]"):
            refused = await failure(client, "evaluate_safe", expression=expression)
            assert refused.code == "SAFE_EVAL_REJECTED"
            assert refused.message.startswith(f"Not evaluated safely: `{expression}`: names, members, constant")
        assert len(adapter.sent("evaluate")) == before


async def test_an_observer_may_evaluate_safely_and_not_otherwise(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.values = {"count": "3"}
    async with open_server(adapter.options()) as server, server.connect() as client:
        await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
        async with server.connect(role="observe") as observer:
            assert await observer.call("evaluate_safe", expression="count") == {"value": "3"}
            assert (await failure(observer, "evaluate", expression="count")).code == "READ_ONLY"
            assert "evaluate_safe" in {each.name for each in (await observer.sdk.list_tools()).tools}


async def test_a_probe_is_asked_one_question_in_the_frame_that_is_meant(autojump_clock: MockClock) -> None:
    adapter = probed(safe=FOUND)
    adapter.frames = [("visit", adapter.program, 3), ("main", adapter.program, 7)]
    async with paused("legacy", adapter) as (client, _):
        assert await client.call("evaluate_safe", expression=" name ", frame_index=1) == {"value": "'Tea'"}
        ((question, asked),) = [each for each in adapter.probed if each[0] == "safe"]
        assert (question, asked["expression"], asked["frame"], asked["code"]) == ("safe", "name", 1, False)
        assert asked["thread"] == 1


@pytest.mark.parametrize(
    ("error", "code", "part"),
    [
        ({"kind": "rejected", "message": "`f()`: it calls f"}, "SAFE_EVAL_REJECTED", "`f()`: it calls f. Ask for"),
        ({"kind": "raised", "message": "NameError: f"}, "EVAL_FAILED", "`name` failed: NameError: f"),
        ({"kind": "slow", "message": "It took too long."}, "EVAL_TIMEOUT", "took too long"),
        ({"kind": "invalid", "message": "It is odd."}, "NOT_SUPPORTED", "cannot be evaluated safely: It is odd. Use"),
    ],
)
async def test_what_goes_wrong_in_the_program_has_its_code(
    error: dict[str, str], code: str, part: str, autojump_clock: MockClock
) -> None:
    adapter = probed(safe=json.dumps({"error": error}))
    async with paused("legacy", adapter) as (client, _):
        refused = await failure(client, "evaluate_safe", expression="name")
        assert (refused.code, part in refused.message) == (code, True), refused.message


async def test_a_running_program_is_asked_in_its_main_module(autojump_clock: MockClock) -> None:
    adapter = probed(safe=FOUND)
    async with paused("legacy", adapter) as (client, _):
        await client.call("debug_continue", wait=False)
        await trio.sleep(1)
        assert await client.call("evaluate_safe", expression="name") == {"value": "'Tea'"}
        (asked,) = [each for name, each in adapter.probed if name == "safe"]
        assert "thread" not in asked
        assert (await failure(client, "evaluate_safe", expression="name", frame_index=1)).code == "NOT_PAUSED"


async def test_without_a_probe_the_program_has_to_be_paused(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as client:
        await launch(client, adapter)
        assert (await failure(client, "evaluate_safe", expression="name")).code == "NOT_PAUSED"
