"""Child processes of the program are sessions of their own: breakpoints reach them, a stop there takes the focus."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import Connect, at, breakpoints, line_of, program, where
from trio_debugmcp.testing import DebugClient

SESSION = "debugger://session"


async def test_a_breakpoint_in_a_childs_code_stops_there_and_the_program_runs_to_its_end(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("child.py", "doubled ="))
        stop = await client.call("debug_launch", program=program("parent.py"), stop_at_entry=False)
        assert stop["reason"] == "Breakpoint"
        assert "this is a child process of s-1 parent.py" in stop["notes"]
        assert where(stop).file == "tests/programs/child.py"
        assert where(stop).line == line_of("child.py", "doubled =")
        assert (await client.call("evaluate", expression="word"))["value"] == "'x'"

        child = await client.read(SESSION)
        assert child["processName"] == "child.py"
        assert stop["session"] == child["sessionId"]
        parent = await client.call("debug_state", session_id=child["parentSessionId"])
        assert (parent["state"], parent["session"]) == ("Running", child["parentSessionId"])
        assert [line.partition(" (")[0] for line in parent["sessions"]] == ["s-1 parent.py", "s-2 child.py"]
        assert parent["sessions"][1] == f"s-2 child.py (pid {child['processId']}) Paused at {stop['at']}"

        end = await client.call("debug_continue")
        assert (end["reason"], end["exitCode"]) == ("Exited", 0)


async def test_children_are_left_alone_if_the_options_say_so(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("child.py", "doubled ="))
        options = {"subProcess": False}
        launched = await client.call(
            "debug_launch", program=program("parent.py"), stop_at_entry=False, adapter_options=options
        )
        assert (launched["reason"], launched["exitCode"]) == ("Exited", 0)


async def test_workers_of_a_pool_stop_one_after_the_other_and_keep_the_focus_meanwhile(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("parent.py", "squared ="))
        stop = await client.call("debug_launch", program=program("parent.py"), stop_at_entry=False)
        numbers: list[int] = []
        while stop["state"] == "Paused":
            assert where(stop).function == "work"
            variables = (await client.call("variables_get", filter="number"))["variables"]
            again = await client.call("debug_state")
            assert again["session"] == stop["session"], "another worker's stop does not take the focus"
            numbers.append(int(variables["number"]))
            stop = await client.call("debug_continue")
        assert sorted(numbers) == list(range(8))
        assert stop["exitCode"] == 0


async def test_a_disconnect_ends_the_children_too(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("child.py", "doubled ="))
        await client.call("debug_launch", program=program("parent.py"), stop_at_entry=False)
        await client.call("debug_disconnect")
        assert (await client.call("debug_state"))["state"] == "Disconnected"
        line = line_of("child.py", "doubled =")
        assert await breakpoints(client) == {"bp-1": f"tests/programs/child.py:{line}, 1 hit"}, "it is kept"


# --- Every way to start one -------------------------------------------------------------------------------------------


async def stops(client: DebugClient, **launch: Any) -> tuple[list[str], list[dict[str, Any]], dict[str, Any]]:
    """The ways of all children that stop, their sessions, and the Stop of the program's end."""
    ways, sessions = [], []
    stop = await client.call("debug_launch", stop_at_entry=False, **launch)
    while stop["state"] == "Paused":
        assert (stop["reason"], where(stop).function) == ("Breakpoint", "work")
        variables = (await client.call("variables_get", filter="way"))["variables"]
        ways.append(variables["way"].strip("'"))
        sessions.append(await client.read(SESSION))
        stop = await client.call("debug_continue")
    return ways, sessions, stop


@pytest.mark.parametrize(
    ("args", "ways"),
    [
        ("fork spawn forkserver futures", "fork spawn forkserver futures"),
        ("child grandchild double", "child grandchild double"),
        ("many fork orphan", "fork orphan"),
        ("daemons", "daemon " * 10),
        ("execs", "execv execve execl execvp execlp"),
    ],
)
async def test_a_breakpoint_stops_in_a_child_however_it_was_started(debugging: Connect, args: str, ways: str) -> None:
    """`many` are fifty at once, `double`, `orphan` and `daemons` daemons; each `exec` replaces the program itself."""
    async with debugging() as client:
        await client.call("breakpoint_set", **at("kids.py", "done = "))
        stopped, sessions, end = await stops(client, program=program("kids.py"), args=args.split())
        assert stopped == ways.split()
        assert all(each["parentSessionId"] is not None for each in sessions)
        assert (end["reason"], end["exitCode"]) == ("Exited", 0)
        if args == "execs":
            assert len({each["processId"] for each in sessions}) == 1
        assert await client.uris() == []


async def test_a_breakpoint_stops_in_a_worker_of_pytest_xdist(debugging: Connect, tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text("def work(way):\n    done = way\n    assert done\n\ndef test_it():\n    work('xdist')\n")
    async with debugging() as client:
        await client.call("breakpoint_set", file=str(file), line=2)
        words = ["-q", "-n", "1", "-p", "no:cacheprovider", str(file)]
        options = {"module": "pytest", "python": sys.executable}
        launch = {"program": str(file), "cwd": str(tmp_path), "args": words, "adapter_options": options}
        ways, (session,), end = await stops(client, **launch)
        assert (ways, end["exitCode"]) == (["xdist"], 0)
        assert session["parentSessionId"] is not None
        assert "1 passed" in end["stdout"]


JOB = "def compute(x):\n    rate = 10\n    return x * rate\nprint(compute(4))\n"

RELOADER = """\
import subprocess, sys, pathlib
job = pathlib.Path(__file__).with_name("job.py")
for number in range(2):
    subprocess.run([sys.executable, str(job)])
    job.write_text(job.read_text().replace("rate = 10", "rate = 99"))
"""


async def test_a_process_that_began_after_an_edit_is_shown_with_the_new_text(
    debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "reload.py").write_text(RELOADER)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=f"{tmp_path}/reload.py", breakpoints=[f"{tmp_path}/job.py:3"])
        assert (stop["locals"]["rate"], "rate = 10" in stop["source"]) == ("10", True)
        stop = await client.call("debug_continue")
        assert (stop["locals"]["rate"], "rate = 99" in stop["source"]) == ("99", True)
        assert not any("edited" in note for note in stop.get("notes", []))
        kept = await client.call("stop_get", stop=1)
        assert "rate = 10" in kept["source"]
