"""A user's file with the example of docs/adapters.md, which is not among ours: debugged with, recorded and replayed."""

import re
from pathlib import Path

from tests import warm
from tests.languages.conftest import connected_to
from trio_debugmcp.testing import DebugClient

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"

PROGRAM = """\
total = 0
for price in (3, 4, 5):
    total += price
print("total", total)
"""


async def debug(client: DebugClient, program: Path) -> list[object]:
    """Debug the program, and return what was answered."""
    point = {"file": str(program), "line": 3, "condition": "price == 4"}
    stop = await client.call("debug_launch", program=str(program), stop_at_entry=False, breakpoints=[point])
    session = await client.read("debugger://session")
    value = await client.call("evaluate", expression="total + price")
    step = await client.call("debug_step")
    await client.call("breakpoint_remove", id="*")
    end = await client.call("debug_continue")
    totals = [each["locals"]["total"] for each in (stop, step)]
    return [session["adapter"], stop["reason"], stop["at"], totals, value["value"], end["stdout"], end["exitCode"]]


async def test_the_example_debugs_and_its_recording_is_replayed_without_the_file(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(\[adapters\.debugpy-shipped\].*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    table, program, recording = tmp_path / "mine.toml", tmp_path / "prices.py", tmp_path / "bug.jsonl"
    table.write_text(example)
    program.write_text(PROGRAM)
    async with connected_to(warm.server("serve", "--adapters", str(table), "--record", str(recording))) as client:
        live = await debug(client, program)
    assert live == ["debugpy-shipped", "Breakpoint", f"{program}:3 in <module>", ["3", "7"], "7", "total 12\n", 0]
    table.unlink()
    async with connected_to(warm.server("replay", "--drive", "--speed", "0", str(recording))) as client:
        assert await debug(client, program) == live
