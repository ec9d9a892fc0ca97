"""Tests of what no client may ask of a connection, and of what its waits cost the others."""

import pytest
import trio
import trio.testing
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from trio.testing import MockClock

from tests.server.scene import launch
from trio_debugmcp.server.request_limits import MAX_CALLS
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.model import State
from trio_debugmcp.testing import FakeAdapter, ToolFailed, connect, open_server
from trio_debugmcp.testing.debug_client import Era


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_page_that_no_list_has_named_is_refused(era: Era, autojump_clock: MockClock) -> None:
    async with connect(era) as client:
        for ask in (
            client.sdk.list_tools,
            client.sdk.list_resources,
            client.sdk.list_resource_templates,
            client.sdk.list_prompts,
        ):
            with pytest.raises(MCPError) as refused:
                await ask(cursor="nonsense")
            assert refused.value.error.code == INVALID_PARAMS
            assert "`cursor`" in refused.value.error.message


async def test_very_many_calls_at_a_time_are_refused_and_those_under_way_are_answered(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    codes: list[str] = []
    async with open_server(adapter.options()) as server, server.connect() as client, server.connect() as other:
        await launch(client, adapter)

        async def wait() -> None:
            try:
                codes.append((await client.call("debug_wait", timeout=20))["reason"])
            except ToolFailed as failed:
                codes.append(failed.code)

        async with trio.open_nursery() as nursery:
            for _ in range(MAX_CALLS + 5):
                nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            assert codes == ["TOO_MANY_CALLS"] * 5
            assert (await other.call("debug_state"))["state"] == "Running"
            await adapter.stop("breakpoint")
        assert codes[5:] == ["Breakpoint"] * MAX_CALLS
        assert (await client.call("debug_state"))["state"] == "Paused"


async def test_a_call_wakes_no_wait_that_is_about_something_else(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    wait_until = Merger.wait_until

    async def counted(self: Merger, condition: object, *, events: bool = False, of: str | None = None) -> State:
        def look(state: State) -> bool:
            nonlocal looks
            looks += not events
            return condition(state)  # type: ignore[operator, no-any-return]

        return await wait_until(self, look, events=events, of=of)

    monkeypatch.setattr(Merger, "wait_until", counted)
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(lambda: client.call("debug_wait", timeout=5))
            await trio.testing.wait_all_tasks_blocked()
            before = looks
            for _ in range(10):
                await client.call("breakpoint_list")
            assert looks - before < 20, "ten calls are twenty events, which no wait is about"
            await adapter.stop("breakpoint")
