"""Breakpoints of all kinds, with their conditions and counts, and exception breakpoints. Against real debugpy."""

from pathlib import Path

import pytest

from tests.real.conftest import Connect, at, hits, line_of, program, where

BREAKPOINTS = "debugger://breakpoints"


async def test_run_to_leaves_the_users_breakpoints_as_they_are(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# bottom"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        before = await client.call("breakpoint_list")
        stop = await client.call("debug_run_to", **at("steps.py", "# after level2"))
        assert where(stop).line == line_of("steps.py", "# after level2")
        assert (stop["reason"], "breakpoints" in stop) == ("Step", False)
        after = await client.call("breakpoint_list")
        assert after["breakpoints"] == before["breakpoints"]
        assert (await client.call("debug_continue"))["breakpoints"] == ["bp-1"]


async def test_function_breakpoints_stop_where_the_function_begins(debugging: Connect) -> None:
    async with debugging() as client:
        made = await client.call("breakpoint_set", function="level3")
        assert made["id"] == "fn-1"
        stop = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert where(stop).function == "level3"
        assert await hits(client) == {"fn-1": 1}


READS = """\
import json

def read(text):
    return json.loads(text)

read("{")
"""


@pytest.mark.both_engines
async def test_an_exception_out_of_a_library_says_where_that_raised_it_and_which_call_shows_its_variables(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "reads.py"
    file.write_text(READS)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(file), stop_at_entry=False)
        assert stop["at"] == f"{file}:4 in read"
        [note] = [each for each in stop["notes"] if each.startswith("raised at ")]
        assert "/json/decoder.py:" in note
        assert note.endswith("of a library: exception_get_context shows its variables there")
        raised = await client.call("exception_get_context")
        assert raised["locals"][0]["s"] == "'{'"
        file.write_text("assert [1] == [2]\n")
        again = await client.call("debug_launch", program=str(file), stop_at_entry=False, replace=True)
        assert not any("raised at" in each for each in again.get("notes", []))
