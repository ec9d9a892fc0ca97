"""Going elsewhere in a real Python program: to a line, and into one of several calls."""

from pathlib import Path

import pytest

from tests.pythons import Interpreter, found
from tests.real.conftest import Connect
from tests.real.interpreters import OLDEST
from tests.real.test_tools import failure, paused_at

SCALES = """\
def scale(n):
    return n * 2


def add(a, b):
    return a + b


def work(n):
    done = []
    done.append("first")  # here
    for i in range(2):
        done.append(i)

    # no code is here
    value = add(scale(n), scale(n + 1))
    print(done, value)
    return value


work(3)
work(4)
"""

INTERPRETERS = {each.label: each for each in found() if each.version in {OLDEST, found()[-1].version}}
"""The oldest and the newest: pydevd goes and steps by other means since Python 3.12."""


@pytest.mark.parametrize("python", INTERPRETERS.values(), ids=INTERPRETERS)
async def test_a_program_goes_to_lines_of_its_function_and_into_the_call_that_is_meant(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    async with debugging() as client:
        file = tmp_path / "scales.py"
        await paused_at(client, file, SCALES, "# here", adapter_options={"python": [python.path]})
        # Skipped, what is between does not run: `done` stays empty.
        there = await client.call("debug_goto", line=16)
        assert (there["reason"], there["at"], there["locals"]["done"]) == ("Goto", f"{file}:16 in work", "[]")
        back = await client.call("debug_goto", line=11)
        assert back["at"] == f"{file}:11 in work"
        assert (await client.call("debug_goto", line=14))["notes"] == ["went to line 16 instead of 14"]
        for line, why in ((2, "comes before the current code block"), (21, "comes after"), (13, "can't jump into")):
            code, message = await failure(client, "debug_goto", line=line)
            assert (code, why in message) == ("INVALID_PARAMETER", True), message
        other = tmp_path / "other.py"
        other.write_text(SCALES)
        assert "this is another file" in (await failure(client, "debug_goto", line=11, file=str(other)))[1]
        assert (await client.call("debug_state"))["at"] == f"{file}:16 in work"

        code, message = await failure(client, "debug_step", mode="in", target="nothing")
        assert (code, "The target `nothing` is not here" in message, "scale" in message) == (
            "INVALID_PARAMETER",
            True,
            True,
        )
        inside = await client.call("debug_step", mode="in", target="add")
        assert (inside["at"], inside["locals"]) == (f"{file}:6 in add", {"a": "6", "b": "8"})
        await client.call("debug_step", mode="out")
        # Where a call has just returned pydevd goes nowhere, and says nothing about it.
        assert "Use debug_step" in (await failure(client, "debug_goto", line=11))[1]
        await client.call("debug_step")
        passed = await client.call("debug_step", mode="in", target="print", show=["n"])
        assert passed["notes"][-1].startswith("`print"), passed
        for tool, arguments, capability in (
            ("debug_step", {"mode": "back"}, "supportsStepBack"),
            ("debug_continue", {"reverse": True}, "supportsStepBack"),
            ("debug_step", {"granularity": "instruction"}, "supportsSteppingGranularity"),
            ("debug_restart", {"frame_index": 0}, "supportsRestartFrame"),
            ("memory_read", {"expression": "n"}, "supportsReadMemoryRequest"),
            ("memory_write", {"expression": "n", "data": "00"}, "supportsWriteMemoryRequest"),
            ("disassemble", {}, "supportsDisassembleRequest"),
        ):
            code, message = await failure(client, tool, **arguments)
            assert (code, " cannot" in message) == ("NOT_SUPPORTED", True)
            assert capability in message
