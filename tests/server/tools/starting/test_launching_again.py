"""Tests of a server that starts again: it knows the last launch and the breakpoints of the project."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from trio.testing import MockClock

from tests.server.scene import failure
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect


@asynccontextmanager
async def serving(tmp_path: Path) -> AsyncIterator[tuple[DebugClient, FakeAdapter]]:
    """A server of the project, which the one before may have left something for."""
    adapter = FakeAdapter()
    options = adapter.options()
    settings = replace(options.settings, project_file=str(tmp_path / "state.json"))
    async with connect(options=replace(options, settings=settings)) as client:
        yield client, adapter


async def test_the_next_server_launches_again_with_the_breakpoints(autojump_clock: MockClock, tmp_path: Path) -> None:
    async with serving(tmp_path) as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=3, condition="n > 2")
        await client.call("breakpoint_set", file=adapter.program, line=4)
        await client.call("breakpoint_enable", id="bp-2", enabled=False)
        await client.call("breakpoint_set_exception", exception_type="ValueError")
        await client.call(
            "debug_launch", program=adapter.program, args=["-v"], env={"DB": "x"}, stop_at_entry=True, timeout=7
        )
    async with serving(tmp_path) as (client, adapter):
        (note,) = (await client.call("debug_state"))["notes"]
        assert note.startswith(
            f"this server has started anew: debug_restart launches program `{adapter.program}` again"
        )
        listed = await client.call("breakpoint_list")
        assert (listed["breakpoints"], len(listed["notes"])) == ([], 1)
        stop = await client.call("debug_restart")
        assert stop["state"] == "Paused"
        assert stop["notes"][0].startswith("this server has started anew: the launch is that of ")
        assert stop["notes"][1] == "not known any more: env DB, its stops, output and timeline"
        assert adapter.sent("launch")[-1]["args"] == ["-v"]
        listed = await client.call("breakpoint_list")
        assert "notes" not in listed
        assert [line.partition(" ")[2].partition(",")[0] for line in listed["breakpoints"]] == [
            f"{adapter.program}:3 if n > 2",
            f"{adapter.program}:4",
            "ValueError raised",
        ]
        assert "disabled" in listed["breakpoints"][1]
        await client.call("breakpoint_remove", id="*")
        await client.call("debug_restart")
    async with serving(tmp_path) as (client, _):
        assert "with 0 breakpoints" in (await client.call("debug_state"))["notes"][0]


async def test_what_is_set_before_the_restart_is_not_lost_and_a_launch_begins_anew(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async with serving(tmp_path) as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=3)
        await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
    async with serving(tmp_path) as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=5)
    async with serving(tmp_path) as (client, adapter):
        assert "with 2 breakpoints" in (await client.call("debug_state"))["notes"][0]
        await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
        assert (await client.call("breakpoint_list")) == {"breakpoints": []}
    async with serving(tmp_path) as (client, _):
        assert "with 0 breakpoints" in (await client.call("debug_state"))["notes"][0]


async def test_a_launch_that_is_not_known_whole_is_not_launched_otherwise(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async with serving(tmp_path) as (client, adapter):
        await client.call("debug_launch", program=adapter.program, args=["--password", "hunter2"], stop_at_entry=True)
    assert "hunter2" not in (tmp_path / "state.json").read_text()
    async with serving(tmp_path) as (client, adapter):
        refused = await failure(client, "debug_restart")
        assert refused.code == "NO_SESSION"
        assert "does not know: args, which may have been secret. Use debug_launch." in refused.message
        assert not adapter.sent("launch")


@pytest.mark.parametrize("content", ["{", '{"directory": "/", "launch": {"arguments": {"progam": 3}, "at": 1}}'])
async def test_what_cannot_be_read_is_refused_in_words(autojump_clock: MockClock, tmp_path: Path, content: str) -> None:
    (tmp_path / "state.json").write_text(content)
    async with serving(tmp_path) as (client, _):
        assert (await failure(client, "debug_restart")).code == "NO_SESSION"
