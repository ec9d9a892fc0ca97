"""gdb, lldb-dap and CodeLLDB on a program of which compilers and debuggers say strange things."""

from pathlib import Path

import pytest

from tests.languages.conftest import SOURCES
from tests.real.conftest import Connect
from trio_debugmcp.testing import ToolFailed

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
        inner = await client.call("debug_run_to", file=str(SOURCE), line=line("inner"))
        assert "unmade" in inner["locals"]
        assert await client.call("variable_set", path="n", value="77") == {"variable": {"n": "77"}}
        crash = await client.call("debug_continue")
        assert (crash["reason"], crash["exception"].partition(":")[0]) == ("Exception", "SIGSEGV")
        over = await client.call("debug_continue")
        assert (over["exitCode"], over["signal"]) == (-11, "SIGSEGV")
        written = str((await client.call("process_read_output", stream="stdout"))["entries"])
        assert "inner 77 fig" in written
        assert "outer 1 1" in written


async def test_input_that_a_debugger_cannot_give_is_refused_with_the_one_that_can(
    debugging: Connect, machine_debugger: str
) -> None:
    async with debugging() as client:
        start = {"program": str(SOURCE), "adapter": machine_debugger, "stdin": "a line"}
        if machine_debugger == "lldb-dap":
            assert (await client.call("debug_launch", **start))["reason"] == "Entry"
            return
        with pytest.raises(ToolFailed, match=rf"{machine_debugger} gives its program no input.*adapter='lldb-dap'"):
            await client.call("debug_launch", **start)


LOOK = """#include <stdio.h>
struct Item { int weight, price; };
int look(const Item &item) { return item.price; }
int main() {
    Item pear = {5, 3};
    printf("%d\\n", look(pear));
    return 0;
}
"""


async def test_a_function_in_one_line_has_its_argument_or_says_that_it_is_not_made_yet(
    debugging: Connect, machine_debugger: str, tmp_path: Path
) -> None:
    source = tmp_path / "look.cpp"
    source.write_text(LOOK)
    async with debugging() as client:
        start = {"program": str(source), "adapter": machine_debugger, "breakpoints": [{"function": "look"}]}
        stop = await client.call("debug_launch", **start)
        try:
            price = await client.call("evaluate", expression="item.price")
        except ToolFailed as error:
            price = {"value": "", "notes": [str(error)]}
        if price["value"] != "3":  # lldb takes a change of line for the end of what stores arguments
            assert machine_debugger != "gdb"
            assert stop["locals"]["item"].startswith("<not made yet: look() is at its first instructions>")
            assert "the variables of look() are not made yet" in price["notes"][0]


THREADS = """#include <pthread.h>
#include <stdio.h>
static void *work(void *given) {
    return given;
}
int main(void) {
    printf("one ");
    fflush(stdout);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, work, 0);
        pthread_join(thread, 0);
    }
    puts("line");
    return 0;
}
"""


async def test_what_a_program_with_threads_writes_has_nothing_of_the_debuggers_within(
    debugging: Connect, machine_debugger: str, tmp_path: Path
) -> None:
    program = tmp_path / "threads.c"
    program.write_text(THREADS)
    async with debugging() as client:
        start = {"program": str(program), "adapter": machine_debugger}
        end = await client.call("debug_launch", **start, stop_at_entry=False)
        assert (end["state"], end["exitCode"]) == ("Disconnected", 0)
        assert end["stdout"].splitlines() == ["one line"]
        assert "Thread" not in str(end.get("console", ""))
