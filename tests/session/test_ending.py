"""A program that ends while its adapter is being asked something."""

from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import launch, paused, running
from tests.session.answers import refuse_at_the_end
from trio_debugmcp.dap.profiles import Dialect
from trio_debugmcp.testing import FakeAdapter, connect


async def test_a_pause_of_a_program_that_is_just_ending_answers_with_its_end(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter), trio.open_nursery() as nursery:
        adapter.answer("threads", partial(refuse_at_the_end, "Server is not available", adapter, nursery))
        over = await client.call("debug_pause")
        assert (over["state"], over["reason"], over["exitCode"]) == ("Disconnected", "Exited", 7)


async def test_a_step_of_a_program_that_is_just_ending_answers_with_its_end(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "has_lost_program", lambda _, refusal: refusal == "it is no more")
    async with paused("legacy") as (client, adapter), trio.open_nursery() as nursery:
        adapter.answer("next", partial(refuse_at_the_end, "it is no more", adapter, nursery))
        over = await client.call("debug_step")
        assert (over["state"], over["reason"], over["exitCode"]) == ("Disconnected", "Exited", 7)


async def test_a_program_that_ends_as_soon_as_it_runs_was_launched(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "has_lost_program", lambda _, refusal: refusal == "it is no more")
    monkeypatch.setattr(Dialect, "runtime_request", lambda _: ("whoAreYou", None))
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client, trio.open_nursery() as nursery:
        adapter.answer("whoAreYou", partial(refuse_at_the_end, "it is no more", adapter, nursery))
        over = await launch(client, adapter, wait=True)
        assert (over["reason"], over["exitCode"]) == ("Exited", 7)


async def test_a_program_that_is_gone_before_it_says_what_runs_it_was_launched(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialect, "runtime_request", lambda _: ("whoAreYou", None))
    adapter = FakeAdapter()

    async def go(arguments: dict[str, Any]) -> dict[str, Any]:
        await adapter.event("terminated")
        await adapter.crash()
        return {}

    async with connect(options=adapter.options()) as client:
        adapter.answer("whoAreYou", go)
        over = await launch(client, adapter, wait=True)
        assert (over["state"], over["reason"]) == ("Disconnected", "Exited")


async def test_a_wait_that_begins_after_the_end_answers_with_it(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await adapter.event("output", {"category": "stdout", "output": "bye\n"})
        await adapter.exit(7)
        while (await client.call("debug_state"))["state"] != "Disconnected":
            await trio.sleep(0.1)
        over = await client.call("debug_wait")
        assert (over["state"], over["reason"], over["exitCode"]) == ("Disconnected", "Exited", 7)


async def test_a_program_that_the_debugger_ends_has_no_exit_code(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def exit_with_0(arguments: dict[str, Any]) -> dict[str, Any]:
        await adapter.event("exited", {"exitCode": 0})
        return {}

    adapter.answer("disconnect", exit_with_0)
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        assert await client.call("debug_disconnect") == {"ended": True}
        state = await client.call("debug_state")
        assert (state["state"], "exitCode" in state) == ("Disconnected", False)
