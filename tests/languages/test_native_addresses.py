"""Addresses of native code: the lines of a stack that a crash has written, without a session and in one."""

import re
import shutil
from pathlib import Path

import pytest
import trio

from tests.languages.conftest import SOURCES, installed, need
from tests.real.conftest import Connect
from trio_debugmcp.testing import ToolFailed

TRACES = SOURCES / "traces.c"


def line_of(mark: str) -> int:
    """The number of the line of traces.c with this comment."""
    (number,) = [number for number, line in enumerate(TRACES.read_text().splitlines(), 1) if f"/* {mark} */" in line]
    return number


async def test_a_stack_in_a_log_is_read_without_a_session_and_an_address_in_one(
    debugging: Connect, tmp_path: Path
) -> None:
    installed("gdb")
    gcc = need("gcc", shutil.which("gcc"), "apt-get install gcc")
    program = str(tmp_path / "traces")
    await trio.run_process([gcc, "-g", "-O0", "-rdynamic", "-o", program, str(TRACES)])
    written = (await trio.run_process([program], capture_stdout=True)).stdout.decode()
    async with debugging() as client:
        found = (await client.call("symbols_search", pattern=written))["functions"]
        own = [re.sub(r".*\]: (\S+) .*traces\.c:(\d+)$", r"\1 \2", line) for line in found if "traces.c:" in line]
        assert own == [f"deep {line_of('writes')}", f"deep {line_of('deeper')}", f"main {line_of('main')}"]
        moved = written.replace(program, "/elsewhere/traces")
        again = (await client.call("symbols_search", pattern=moved, module=program))["functions"]
        assert [line.rpartition("]: ")[2] for line in again] == [line.rpartition("]: ")[2] for line in found]
        with pytest.raises(ToolFailed, match="Pass its file as `module`"):
            await client.call("symbols_search", pattern="0x1173")
        with pytest.raises(ToolFailed, match="There is no file"):
            await client.call("symbols_search", pattern="0x1173", module="nowhere")
        launch = {"program": program, "adapter": "gdb", "breakpoints": [{"function": "deep"}], "stop_at_entry": False}
        await client.call("debug_launch", **launch)
        pointer = (await client.call("evaluate", expression="(long) $pc"))["value"]
        (line,) = (await client.call("symbols_search", pattern=hex(int(pointer))))["functions"]
        assert re.search(r": deep .*traces\.c:\d+$", line)


async def test_of_a_program_without_lines_the_functions_are_named_and_how_to_have_lines(
    debugging: Connect, tmp_path: Path
) -> None:
    installed("gdb")
    gcc = need("gcc", shutil.which("gcc"), "apt-get install gcc")
    program = str(tmp_path / "plain")
    await trio.run_process([gcc, "-O0", "-rdynamic", "-o", program, str(TRACES)])
    written = (await trio.run_process([program], capture_stdout=True)).stdout.decode()
    async with debugging() as client:
        answer = await client.call("symbols_search", pattern=written)
        (note,) = [note for note in answer["notes"] if note.startswith(program)]
        assert note.endswith("none of these addresses has a line: if it was built without -g, build it with that")
        assert [line for line in answer["functions"] if line.rpartition("]: ")[2].startswith("main")]
