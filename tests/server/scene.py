"""Scenes in which most tests of the server begin."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect
from trio_debugmcp.testing.connect import Era

SESSION = "debugger://session"
BREAKPOINTS = "debugger://breakpoints"
THREADS = "debugger://threads"
STACK = "debugger://stack"
OUTPUT = "debugger://output"
MODULES = "debugger://modules"
TIMELINE = "debugger://timeline"
SNAPSHOTS = "debugger://snapshots"
LIST_CHANGED = "list_changed"
JSON_URIS = [SESSION, BREAKPOINTS, THREADS, STACK, OUTPUT, MODULES, TIMELINE, SNAPSHOTS]


async def launch(client: DebugClient, adapter: FakeAdapter, **arguments: Any) -> dict[str, Any]:
    """Launch a program that runs at once, unless the arguments say otherwise."""
    arguments = {"program": adapter.program, "stop_at_entry": False, "wait": False, **arguments}
    return await client.call("debug_launch", **arguments)


async def move_breakpoint(adapter: FakeAdapter, line: int) -> None:
    """Let the adapter move the first breakpoint: a change of exactly one resource."""
    await adapter.event("breakpoint", {"reason": "changed", "breakpoint": {"id": 1, "verified": True, "line": line}})


@asynccontextmanager
async def running(era: Era, adapter: FakeAdapter | None = None) -> AsyncIterator[tuple[DebugClient, FakeAdapter]]:
    """A client with a program that runs, a breakpoint in it, and nothing pending."""
    adapter = adapter or FakeAdapter()
    async with connect(era, options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, line=1)
        await launch(client, adapter)
        await trio.sleep(10)
        yield client, adapter


@asynccontextmanager
async def paused(era: Era, adapter: FakeAdapter | None = None) -> AsyncIterator[tuple[DebugClient, FakeAdapter]]:
    """A client with a program that is paused at its entry, and nothing pending."""
    async with running(era, adapter) as (client, fake):
        await fake.stop("entry")
        await trio.sleep(10)
        yield client, fake


async def failure(client: DebugClient, tool: str, /, **arguments: Any) -> ToolFailed:
    """Call a tool that must fail, and return the failure."""
    with pytest.raises(ToolFailed) as caught:
        await client.call(tool, **arguments)
    assert caught.value.message
    return caught.value


async def still_works(client: DebugClient) -> None:
    """Check that a new session starts, stops at its entry and ends; the adapter must answer again."""
    adapter = FakeAdapter()
    result = await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
    assert result["reason"] == "Entry"
    await client.call("debug_disconnect")
    assert (await client.call("debug_state"))["state"] == "Disconnected"
