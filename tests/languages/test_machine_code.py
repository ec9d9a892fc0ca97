"""gdb and lldb-dap on a C++ program: from the launch to the exit."""

import pytest

from tests.languages.conftest import at, place
from tests.real.conftest import Connect
from trio_debugmcp.testing import ToolFailed


async def test_a_program_stops_at_a_breakpoint_with_locals_and_source_is_stepped_evaluated_in_and_ends(
    debugging: Connect, native_adapter: str, native_program: str
) -> None:
    async with debugging() as client:
        stop = await client.call(
            "debug_launch", program=native_program, adapter=native_adapter, breakpoints=[at("loop")]
        )
        assert (stop["state"], stop["reason"], stop["breakpoints"]) == ("Paused", "Breakpoint", ["bp-1"])
        assert stop["at"].startswith(f"{place('loop')} in total_of")
        assert (stop["locals"]["total"], stop["locals"]["i"]) == ("0", "0")
        assert ">     total = add(total, item);  // loop" in stop["source"]
        into = await client.call("debug_step", mode="in")
        assert (into["reason"], into["at"].startswith(f"{place('add')} in add")) == ("Step", True)
        assert (await client.call("evaluate", expression="total + item.price"))["value"] == "2"
        with pytest.raises(ToolFailed, match=r"`nosuch` failed: .*nosuch") as failed:
            await client.call("evaluate", expression="nosuch")
        assert failed.value.code == "EVAL_FAILED"
        await client.call("breakpoint_remove", id="*")
        end = await client.call("debug_continue")
        assert (end["state"], end["exitCode"]) == ("Disconnected", 7)
        session = await client.call("debug_state")
        assert (session["exitCode"], session["reason"]) == (7, "Exited")
