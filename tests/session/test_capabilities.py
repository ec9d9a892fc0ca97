"""What an adapter has not declared: it is not requested, and the client learns which adapter cannot do it."""

from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.server.scene import (
    BREAKPOINTS,
    SESSION,
    failure,
    launch,
    paused,
)
from trio_debugmcp.testing import FakeAdapter, connect


def unable() -> FakeAdapter:
    """An adapter that declares nothing."""
    adapter = FakeAdapter(capabilities={})

    async def at_once(arguments: object) -> object:
        await trio.lowlevel.checkpoint()
        return {}

    adapter.answer("launch", at_once)
    return adapter


async def test_an_adapter_gets_no_request_that_it_has_not_declared(autojump_clock: MockClock) -> None:
    adapter = unable()
    async with connect(options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, line=1)
        await client.call("breakpoint_set", function="main")
        await client.call("breakpoint_set_exception", exception_type="*")
        await launch(client, adapter)
        await adapter.stop("exception")
        stop = await client.call("debug_wait")
        assert stop["reason"] == "Exception"
        assert (await failure(client, "debug_step", mode="back")).code == "NOT_SUPPORTED"
        await client.call("debug_step", granularity="line", wait=False)
        assert "granularity" not in adapter.sent("next")[-1]
        undeclared = {
            "configurationDone",
            "setFunctionBreakpoints",
            "exceptionInfo",
            "stepBack",
            "terminate",
            "modules",
        }
        assert not undeclared & set(adapter.commands())


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"function": "main"}, "functions"),
    ],
)
@pytest.mark.parametrize("before", [True, False])
async def test_a_breakpoint_that_the_adapter_does_not_support_is_not_sent_and_names_the_adapter(
    arguments: dict[str, Any], what: str, before: bool, autojump_clock: MockClock
) -> None:
    adapter = unable()
    if "line" in arguments:
        arguments = {**arguments, "file": adapter.program}
    async with connect(options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, line=1)
        if before:
            await client.call("breakpoint_set", **arguments)
            await launch(client, adapter)
        else:
            await launch(client, adapter)
            await client.call("breakpoint_set", **arguments)
        listed = await client.read(BREAKPOINTS)
        (shown,) = [*listed["breakpoints"], *listed["functionBreakpoints"]][1:]
        assert (shown["verified"], shown["state"]) == (False, "Pending")
        assert shown["message"].startswith("fake does not support")
        assert what in shown["message"]
        assert (await client.call("breakpoint_list"))["breakpoints"][1].endswith(f", pending, {shown['message']}")
        for sent in adapter.sent("setBreakpoints"):
            assert sent["breakpoints"] in ([{"line": 1}], [])
        assert "setFunctionBreakpoints" not in adapter.commands()


async def test_capabilities_that_are_declared_later_count(autojump_clock: MockClock) -> None:
    adapter = unable()
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        await adapter.event("capabilities", {"capabilities": {"supportsConditionalBreakpoints": True}})
        await trio.sleep(1)
        made = await client.call("breakpoint_set", file=adapter.program, line=3, condition="x")
        assert "state" not in made
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 3, "condition": "x"}]


async def test_invalid_capabilities_are_ignored(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        await adapter.event("capabilities", {"capabilities": {"supportsStepBack": "perhaps"}})
        await trio.sleep(1)
        assert (await client.read(SESSION))["state"] == "Paused"


async def test_an_invalid_answer_to_initialize_says_to_launch_again(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter(capabilities={"supportsConfigurationDoneRequest": "perhaps"})
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_launch", program=adapter.program)
        assert (failed.code, "Call debug_launch again" in failed.message) == ("ADAPTER_FAILED", True)
