"""Several programs at once: two of them side by side, each with its own steps, output, input, resources and end."""

from pathlib import Path

import pytest

from tests.real.conftest import Connect, text_of, where
from trio_debugmcp.testing import ToolFailed
from trio_debugmcp.testing.connect import Era

COUNTER = """\
total = 0
for number in range(3):
    total += number
    print(NAME, total, flush=True)
print(NAME, "gets", input(), flush=True)
"""


def written(directory: Path, name: str) -> str:
    """A program that counts, and prints its name."""
    file = directory / f"{name}.py"
    file.write_text(COUNTER.replace("NAME", repr(name)))
    return str(file)


async def test_two_programs_are_debugged_side_by_side(debugging: Connect, era: Era, tmp_path: Path) -> None:
    apples, pears = written(tmp_path, "apples"), written(tmp_path, "pears")
    async with debugging(era) as client:
        one = (await client.call("debug_launch", program=apples))["session"]
        with pytest.raises(ToolFailed, match="SESSION_ACTIVE"):
            await client.call("debug_launch", program=pears)
        launched = await client.call("debug_launch", program=pears, new_session=True)
        two = launched["session"]
        assert where(launched).line == 1

        # Each is stepped by its id, and leaves the other where it is.
        await client.call("debug_step", session_id=one, count=2)
        stepped = await client.call("debug_step", session_id=two)
        assert (where(stepped).line, stepped["session"]) == (2, two)
        session = await client.read(f"debugger://sessions/{one}/session")
        assert (session["currentLocation"]["line"], session["processName"]) == (3, "apples.py")
        listed = await client.read("debugger://sessions")
        assert [(each["sessionId"], each["state"]) for each in listed["sessions"]] == [(one, "Paused"), (two, "Paused")]

        # A breakpoint in each file; the values and the output of each are its own.
        await client.call("breakpoint_set", file=apples, line=4, condition="number == 2")
        await client.call("breakpoint_set", file=pears, line=4, condition="number == 1")
        async with client.subscribed(f"debugger://sessions/{one}/stack", f"debugger://sessions/{two}/stack"):
            stop = await client.call("debug_continue", session_id=one, show=["total"])
            assert (stop["show"], stop["stdout"]) == ({"total": "3"}, "apples 0\napples 1\n")
            await client.wait_notice(f"debugger://sessions/{one}/stack")
            assert client.times_of(f"debugger://sessions/{two}/stack") == []
        stop = await client.call("debug_continue", session_id=two, show=["total"])
        assert (stop["show"], stop["stdout"]) == ({"total": "1"}, "pears 0\n")

        # A run to a line of one moves the other no further; both read input of their own.
        await client.call("debug_run_to", file=apples, line=5, session_id=one)
        assert (await client.call("debug_state", session_id=two))["breakpoints"] == ["bp-2"]
        await client.call("debug_continue", session_id=one, wait=False)
        await client.call("debug_continue", session_id=two, wait=False)
        await client.call("process_write_input", session_id=two, data="a pear\n")
        ended = await client.call("debug_wait", session_id=two)
        assert (ended["state"], ended["exitCode"]) == ("Disconnected", 0)
        assert "pears gets a pear" in text_of(await client.call("process_read_output", session_id=two))
        assert "pears" not in text_of(await client.call("process_read_output", session_id=one))

        # What has ended can be started again beside what runs; what is ended last is the other one.
        again = await client.call("debug_restart", session_id=two)
        assert where(again)[:2] == (pears, 1)
        assert again["session"] not in (one, two)
        assert (await client.call("debug_disconnect"))["session"] == again["session"]
        assert (await client.call("debug_state"))["state"] == "Running"
        assert await client.call("debug_disconnect") == {"ended": True}
        assert await client.uris() == []
