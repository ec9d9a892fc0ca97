"""Two clients, one session: one waits for an answer while the other changes what it is about."""

from functools import partial

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import paused
from tests.session.answers import refuse
from trio_debugmcp.testing import Refusal, ToolFailed


async def test_a_call_that_waits_for_the_adapter_ends_with_the_session(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter), trio.open_nursery() as nursery:
        adapter.withhold("evaluate")
        adapter.withhold("setBreakpoints")

        async def look() -> None:
            with pytest.raises(ToolFailed) as failed:
                await client.call("evaluate", expression="x", timeout=100)
            assert (failed.value.code, trio.current_time()) == ("ADAPTER_GONE", ended)

        async def set_breakpoint() -> None:
            made = await client.call("breakpoint_set", file=adapter.program, line=9)
            assert (made.get("state"), trio.current_time()) == ("Pending", ended)

        nursery.start_soon(look)
        nursery.start_soon(set_breakpoint)
        await trio.sleep(1)
        ended = trio.current_time()
        await client.call("debug_disconnect")


@pytest.mark.parametrize("command", ["scopes", "variables", "evaluate"])
async def test_a_question_about_a_stop_that_is_over_answers_not_paused(command: str, autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):

        async def too_late(arguments: object) -> object:
            await client.call("debug_continue", wait=False)
            raise Refusal("Unable to find thread to evaluate variable reference.")

        adapter.answer(command, too_late)
        tool, arguments = ("evaluate", {"expression": "x"}) if command == "evaluate" else ("variables_get", {})
        with pytest.raises(ToolFailed, match="was resumed in the meantime") as failed:
            await client.call(tool, **arguments)
        assert failed.value.code == "NOT_PAUSED"


async def test_no_request_about_a_stop_is_sent_once_another_client_has_resumed_the_program(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy") as (client, adapter):

        async def slowly(arguments: object) -> object:
            await client.call("debug_continue", wait=False)
            return {"scopes": [{"name": "Locals", "variablesReference": 7, "presentationHint": "locals"}]}

        adapter.answer("scopes", slowly)
        asked = len(adapter.requests)
        with pytest.raises(ToolFailed, match="was resumed in the meantime") as failed:
            await client.call("variables_get")
        assert failed.value.code == "NOT_PAUSED"
        assert adapter.commands()[asked:] == ["scopes", "continue"]


async def test_after_a_refused_resume_the_stop_can_still_be_inspected(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.answer("continue", partial(refuse, "not now"))
        with pytest.raises(ToolFailed, match="not now"):
            await client.call("debug_continue")
        assert (await client.call("variables_get"))["variables"] == {}


async def test_of_two_steps_at_once_the_second_fails_because_one_is_under_way(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter), trio.open_nursery() as nursery:
        # The first is held up by an echo, the second comes before the program counts as running.
        refused: list[str] = []

        async def step() -> None:
            try:
                await client.call("debug_step", timeout=1)
            except ToolFailed as failed:
                refused.append(f"{failed.code}: {failed.message}")

        nursery.start_soon(step)
        nursery.start_soon(step)
        await trio.sleep(5)
        assert len(adapter.sent("next")) == 1
        assert len(refused) == 1
        assert refused[0].startswith("NOT_PAUSED")
        assert "it is Paused" not in refused[0]
