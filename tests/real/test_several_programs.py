"""Several programs at once: two of them stepped side by side, each with its own output, resources and end."""

from pathlib import Path

import pytest

from tests.real.conftest import Connect, where
from trio_debugmcp.testing import ToolFailed
from trio_debugmcp.testing.connect import Era

COUNTER = """\
total = 0
for number in range(3):
    total += number
    print(NAME, total, flush=True)
input()
"""


def written(directory: Path, name: str) -> str:
    file = directory / f"{name}.py"
    file.write_text(COUNTER.replace("NAME", repr(name)))
    return str(file)


async def test_two_programs_are_debugged_side_by_side(debugging: Connect, era: Era, tmp_path: Path) -> None:
    async with debugging(era) as client:
        apples = await client.call("debug_launch", program=written(tmp_path, "apples"))
        with pytest.raises(ToolFailed, match="SESSION_ACTIVE"):
            await client.call("debug_launch", program=written(tmp_path, "pears"))
        pears = await client.call("debug_launch", program=written(tmp_path, "pears"), new_session=True)
        one, two = apples["session"], pears["session"]
        assert (where(apples).line, where(pears).line) == (1, 1)

        # Each is stepped by its id, and leaves the other where it is.
        await client.call("debug_step", session_id=one, count=2)
        stepped = await client.call("debug_step", session_id=two)
        assert (where(stepped).line, stepped["session"]) == (2, two)
        session = await client.read(f"debugger://sessions/{one}/session")
        assert session["currentLocation"]["line"] == 3
