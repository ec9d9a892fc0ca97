"""Memory, instructions, data breakpoints and places to go to, with gdb and lldb-dap as far as each can."""

from itertools import pairwise
from typing import Any

import pytest

from tests.languages.conftest import at, place
from tests.real.conftest import Connect
from trio_debugmcp.testing import DebugClient, ToolFailed


async def lacks(client: DebugClient, adapter: str, capability: str, tool: str, **arguments: Any) -> bool:
    """Whether the adapter is refused for a capability, which the error must name."""
    refusal = None
    try:
        await client.call(tool, **arguments)
    except ToolFailed as failed:
        refusal = failed
    assert refusal is None or (refusal.code, refusal.details) == (
        "NOT_SUPPORTED",
        {"adapter": adapter, "capability": capability},
    )
    return refusal is not None


async def failure(client: DebugClient, tool: str, **arguments: Any) -> tuple[str, str]:
    with pytest.raises(ToolFailed) as failed:
        await client.call(tool, **arguments)
    return failed.value.code, failed.value.message


async def test_memory_is_read_written_and_watched_and_instructions_are_shown_and_stopped_at(
    debugging: Connect, native_adapter: str, native_program: str
) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=native_program, adapter=native_adapter, breakpoints=[at("loop")])
        await client.call("breakpoint_remove", id="*")
        shown = (await client.call("disassemble", count=12))["instructions"]
        assert shown[0].startswith("> 0x")
        assert shown[0].endswith(f"orders.cpp:{at('loop')['line']}")
        assert len(shown) == 12
        code, message = await failure(client, "disassemble", address="0x10")
        assert (code, "Nothing can be disassembled at 0x10" in message) == ("INVALID_PARAMETER", True)
        total = {"expression": "total"}
        if not await lacks(client, native_adapter, "supportsReadMemoryRequest", "memory_read", **total):
            await memory(client)
        assert await lacks(client, native_adapter, "supportsStepBack", "debug_continue", reverse=True)
        assert await lacks(client, native_adapter, "supportsStepBack", "debug_step", mode="back")
        assert await lacks(client, native_adapter, "supportsGotoTargetsRequest", "debug_goto", line=at("loop")["line"])
        assert await lacks(client, native_adapter, "supportsRestartFrame", "debug_restart", frame_index=0)
        where = {"address": shown[3].split()[0]}
        if not await lacks(client, native_adapter, "supportsInstructionBreakpoints", "breakpoint_set", **where):
            await instructions(client, shown)
        if not await lacks(client, native_adapter, "supportsDataBreakpoints", "breakpoint_set_data", **total):
            await data(client)


async def memory(client: DebugClient) -> None:
    read = await client.call("memory_read", expression="total", count=4, format="i32")
    assert read["values"] == [0]
    written = await client.call("memory_write", expression="total", data="1000", format="i32")
    assert (written["before"], written["bytes"]) == ("00000000", "e8030000")
    assert (await client.call("evaluate", expression="total"))["value"] == "1000"
    assert (await client.call("memory_read", address=read["address"], count=2))["bytes"] == "e803"
    assert (await client.call("variables_get"))["variables"]["total"] == "1000"
    await client.call("memory_write", address=read["address"], data="00000000")
    for tool, more in (("memory_read", {}), ("memory_write", {"data": "00"})):
        code, message = await failure(client, tool, address="0x10", **more)
        assert (code, "No memory can be read at 0x10" in message) == ("INVALID_PARAMETER", True)
        assert (await failure(client, tool, expression="nosuch", **more))[0] == "EVAL_FAILED"
    # Above the stack there is nothing: the rest of the page that can be read is read, the other bytes are counted.
    stack = int(read["address"], 16)
    step, top = 1 << 20, stack & ~0xFFF
    while step >= 0x1000:
        try:
            await client.call("memory_read", address=hex(top + step), count=1)
            top += step
        except ToolFailed:
            step //= 2
    cut = await client.call("memory_read", address=hex(top + 0x1000 - 8), count=64)
    assert (len(bytes.fromhex(cut["bytes"])), cut["unreadable"]) == (8, 56)


async def data(client: DebugClient) -> None:
    # `total` is set already: the same variable again, and a field by an expression.
    assert (await client.call("breakpoint_set_data", expression="total"))["value"] == "0"
    made = await client.call("breakpoint_set_data", variable="ticks")
    assert (made["value"], "state" in made) == ("0", False)
    assert (await client.call("breakpoint_list"))["breakpoints"] == ["dp-2 total (write)", "dp-3 ticks (write)"]
    stop = await client.call("debug_continue")
    assert (stop["reason"], stop["breakpoints"], stop["changed"]) == ("DataBreakpoint", ["dp-2"], {"total": "0 -> 2"})
    assert stop["at"].startswith(f"{place('loop').rpartition(':')[0]}:")
    await client.call("variable_set", path="total", value="100")
    again = await client.call("debug_continue")
    before, after = again["changed"]["total"].split(" -> ")
    assert (before, int(after) > 100) == ("100", True)
    await client.call("breakpoint_remove", id="dp-2")
    assert "cannot be watched" in (await failure(client, "breakpoint_set_data", expression="total + 1"))[1]
    end = await client.call("debug_continue")
    assert (end["state"], end["notes"]) == ("Disconnected", ["no stop at dp-3 ticks"])
    assert "it ended with its session" in (await client.call("breakpoint_list"))["breakpoints"][0]


async def instructions(client: DebugClient, shown: list[str]) -> None:
    address, following = (each.split()[0] for each in shown[3:5])
    inside = next(
        hex(int(one.split()[0], 16) + 1)
        for one, other in pairwise(shown[1:])
        if int(other.split()[0], 16) - int(one.split()[0], 16) > 1
    )
    assert "is inside of an instruction" in (await failure(client, "breakpoint_set", address=inside))[1]
    # gdb claims to have set this one, and cannot resume the program any more then.
    assert "Nothing can be disassembled" in (await failure(client, "breakpoint_set", address="0x10"))[1]
    stop = await client.call("debug_continue")
    assert (stop["reason"], len(stop["breakpoints"])) == ("Breakpoint", 1)
    stepped = await client.call("debug_step", granularity="instruction")
    assert (stepped["reason"], stepped["instruction"].split()[0]) == ("Step", following)
    assert (await client.call("disassemble", count=1))["instructions"][0].startswith(f"> {following}")
    (line,) = (await client.call("breakpoint_list"))["breakpoints"]
    assert (address in line, "1 hit" in line) == (True, True)
