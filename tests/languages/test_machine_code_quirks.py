"""gdb, lldb-dap and CodeLLDB on a program of which compilers and debuggers say strange things."""

from pathlib import Path

from tests.languages.conftest import SOURCES
from tests.real.conftest import Connect

SOURCE = SOURCES / "quirks.cpp"


def line(mark: str) -> int:
    """The line of the source that ends with this comment."""
    lines = SOURCE.read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]
    return number


async def test_the_entry_is_where_main_begins_the_inner_variable_is_set_and_the_signal_is_how_it_ended(
    debugging: Connect, machine_debugger: str
) -> None:
    async with debugging() as client:
        entry = await client.call("debug_launch", program=str(SOURCE), adapter=machine_debugger)
        assert (entry["reason"], Path(entry["at"]).name) == ("Entry", f"quirks.cpp:{line('begin')} in main")
        await client.call("debug_run_to", file=str(SOURCE), line=line("inner"))
        assert await client.call("variable_set", path="n", value="77") == {"variable": {"n": "77"}}
        crash = await client.call("debug_continue")
        assert (crash["reason"], crash["exception"].partition(":")[0]) == ("Exception", "SIGSEGV")
        over = await client.call("debug_continue")
        assert (over["exitCode"], over["signal"]) == (-11, "SIGSEGV")
        written = str((await client.call("process_read_output", stream="stdout"))["entries"])
        assert "inner 77 fig" in written
        assert "outer 1 1" in written
