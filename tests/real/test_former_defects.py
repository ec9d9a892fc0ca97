"""Defects that were once seen with real debugpy, one test each."""

import os
import signal
from pathlib import Path

import pytest
import trio
from mcp.shared.exceptions import MCPError

from tests.real.conftest import Connect, at, hits, line_of, program, text_of, where
from trio_debugmcp.testing import ToolFailed


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


async def test_exceptions_raised_one_after_the_other_at_the_same_place_all_stop(
    debugging: Connect, tmp_path: Path
) -> None:
    app = write(
        tmp_path / "app.py",
        "for turn in range(4):\n    try:\n        raise ValueError(turn)\n    except ValueError:\n        pass\n",
    )
    async with debugging() as client:
        await client.call("breakpoint_set_exception", exception_type="ValueError", break_on_second_chance=False)
        stop = await client.call("debug_launch", program=app, stop_at_entry=False)
        messages = []
        while stop["state"] == "Paused":
            messages.append(stop["exception"])
            stop = await client.call("debug_continue")
        assert messages == [f"ValueError: {turn}" for turn in range(4)]


async def test_every_raise_stops_although_the_next_exception_is_put_where_the_last_one_was(
    debugging: Connect, tmp_path: Path
) -> None:
    app = write(
        tmp_path / "app.py",
        """\
def f():
    for turn in range(3):
        try:
            {}['missing']
        except KeyError:
            pass

def caller():
    f()
    try:
        raise ValueError('caller')
    except ValueError:
        pass

def nested():
    caller()
    try:
        f()
        raise KeyError('missing')
    except KeyError:
        pass

def passing():
    raise RuntimeError('passes three frames')

def between():
    passing()

for turn in range(2):
    nested()
    try:
        between()
    except RuntimeError:
        pass
    try:
        raise KeyError('missing')
    except KeyError:
        pass
""",
    )
    async with debugging() as client:
        await client.call("breakpoint_set_exception", exception_type="*", break_on_second_chance=False)
        stop = await client.call("debug_launch", program=app, stop_at_entry=False)
        raised = []
        while stop["state"] == "Paused":
            raised.append(where(stop).line)
            stop = await client.call("debug_continue")
        assert raised == [4, 4, 4, 11, 4, 4, 4, 19, 24, 36] * 2
        assert await hits(client) == {"ex-1": 20}


async def test_a_continue_with_no_timeout_left_still_resumes_the_program(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("steps.py"))
        await client.call("breakpoint_set", **at("steps.py", "# last"))
        hasty = await client.call("debug_continue", timeout=0)
        assert (hasty["state"], hasty["timedOut"]) == ("Running", True)
        assert (await client.call("debug_wait"))["breakpoints"] == ["bp-1"]


async def test_a_program_that_is_detached_from_keeps_its_children(debugging: Connect, tmp_path: Path) -> None:
    witness = tmp_path / "done.txt"
    write(tmp_path / "child.py", "word = 'x'\nprint(word)\n")
    app = write(
        tmp_path / "parent.py",
        "import subprocess, sys, time, pathlib\nhere = pathlib.Path(__file__).parent\n"
        "while not (here / 'detached.txt').exists(): time.sleep(0.01)\n"
        "subprocess.run([sys.executable, str(here / 'child.py')], check=True)\n"
        "(here / 'done.txt').write_text('yes')\n",
    )
    async with debugging() as client:
        await client.call("breakpoint_set", file=str(tmp_path / "child.py"), line=2)
        await client.call("debug_launch", program=app, stop_at_entry=True)
        await client.call("debug_disconnect", terminate=False)
        (tmp_path / "detached.txt").touch()
        while not witness.exists():
            assert await client.uris() == [], "a child does not become a session once its parent's has ended"
            await trio.sleep(0.1)


async def test_long_words_of_the_program_are_cut_wherever_they_appear(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path / "long.py", f"x = '{'y' * 100_000}'\nraise ValueError('z' * 1_000_000)\n")
    async with debugging() as client:
        await client.call("breakpoint_set_exception", exception_type="ValueError")
        stop = await client.call("debug_launch", program=app, stop_at_entry=False)
        assert stop["exception"].startswith("ValueError: zzz")
        for answer in (
            stop,
            await client.read("debugger://session"),
            await client.call("exception_get_context"),
            await client.call("debug_state"),
        ):
            assert len(str(answer)) < 32768
        with pytest.raises(ToolFailed) as failed:
            await client.call("evaluate", expression="int('q' * 1000000)")
        assert len(failed.value.message) < 3000


async def test_a_slow_repr_does_not_hide_the_stop(debugging: Connect, tmp_path: Path) -> None:
    app = write(
        tmp_path / "slow.py",
        "import time\nclass Slow:\n    def __repr__(self):\n        time.sleep(30)\n        return 'slow'\n"
        "def f():\n    slow = Slow()\n    return slow\nf()\n",
    )
    async with debugging() as client:
        await client.call("breakpoint_set", file=app, line=8)
        await client.call("debug_launch", program=app, stop_at_entry=True)
        await client.call("debug_continue", wait=False)
        while (await client.read("debugger://session"))["pauseReason"] != "Breakpoint":
            await trio.sleep(0.02)
        stop = await client.call("debug_wait", timeout=0.2)
        assert (stop["state"], stop["reason"], "timedOut" in stop) == ("Paused", "Breakpoint", False)
        assert "locals" not in stop
        assert any("variables_get" in note for note in stop["notes"])


async def test_a_pause_before_the_first_line_has_a_line(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        stop = await client.call("debug_pause")
        assert "at" in stop, stop
        assert f"{where(stop).line}> " in stop["source"]


async def test_a_run_to_a_line_with_a_condition_of_the_users_stops_there_and_does_not_count(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# after level2"), condition="False")
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        stop = await client.call("debug_run_to", **at("steps.py", "# after level2"))
        assert where(stop).line == line_of("steps.py", "# after level2")
        assert "breakpoints" not in stop
        (own,) = (await client.read("debugger://breakpoints"))["breakpoints"]
        assert (own["hitCount"], own["state"], own["condition"]) == (0, "Bound", "False")


async def test_a_run_to_ends_by_its_timeout_even_if_the_program_is_frozen(debugging: Connect) -> None:
    async with debugging() as client:
        launched = await client.call("debug_launch", program=program("busy.py"))
        pid = launched["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            stop = await client.call("debug_run_to", **at("busy.py", "# in loop"), timeout=1)
            assert stop["timedOut"] is True
        finally:
            os.kill(pid, signal.SIGCONT)


async def test_adapter_options_cannot_replace_parameters_nor_leave_the_root(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path / "app.py", "import json\njson.loads('[1]')\n")
    async with debugging("legacy", "--root", str(tmp_path)) as client:
        with pytest.raises(ToolFailed, match="parameter program") as failed:
            await client.call("debug_launch", program=app, adapter_options={"program": program("steps.py")})
        assert failed.value.code == "INVALID_PARAMETER"
        with pytest.raises(ToolFailed, match="confined") as failed:
            await client.call("debug_launch", program=app, adapter_options={"code": "print(1)"})
        assert failed.value.code == "PERMISSION_DENIED"
        await client.call("debug_launch", program=app, just_my_code=False)
        await client.call("debug_step")
        stop = await client.call("debug_step", mode="in")
        outside = where(stop).file
        assert not outside.startswith(str(tmp_path))
        with pytest.raises(MCPError, match="not referenced"):
            await client.read_text(f"debugger://source/{outside}")


async def test_a_variable_path_cannot_run_code(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("steps.py"))
        for path in ("__import__('os').getpid()", "x = 1", "[1, 2]", "a b"):
            with pytest.raises(ToolFailed) as failed:
                await client.call("variables_get", path=path)
            assert failed.value.code == "INVALID_PARAMETER"


async def test_log_messages_with_percents_work_and_impossible_ones_are_refused(debugging: Connect) -> None:
    async with debugging() as client:
        for message in ("{i", "i}", "{i i}", "{}"):
            with pytest.raises(ToolFailed) as failed:
                await client.call("breakpoint_set", **at("steps.py", "# in loop"), log_message=message)
            assert failed.value.code == "INVALID_CONDITION"
        await client.call("breakpoint_set", **at("steps.py", "# in loop"), log_message="100 % of %s {i}")
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert "100 % of %s 4\n" in text_of(await client.call("process_read_output"), "log")
        assert await hits(client) == {"tp-1": 5}


async def test_a_module_can_be_debugged_without_naming_the_adapter(debugging: Connect) -> None:
    async with debugging() as client:
        launched = await client.call(
            "debug_launch",
            program="this",
            adapter_options={"module": "this"},
            stop_at_entry=False,
        )
        assert (launched["reason"], launched["exitCode"]) == ("Exited", 0)


async def test_paths_that_the_system_refuses_are_invalid_paths(debugging: Connect) -> None:
    async with debugging() as client:
        for tool, arguments in (
            ("debug_launch", {"program": "/x" * 3000 + ".py"}),
            ("debug_launch", {"program": program("steps.py"), "cwd": "/x" * 3000}),
            ("breakpoint_set", {"file": "/x" * 3000, "line": 1}),
        ):
            with pytest.raises(ToolFailed) as failed:
                await client.call(tool, **arguments)
            assert failed.value.code == "INVALID_PATH"
            assert len(failed.value.message) < 1000


async def test_lines_of_input_written_at_the_same_time_stay_whole(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("talk.py"), stop_at_entry=False, wait=False)
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(lambda: client.call("process_write_input", data="line\n" * 100))
        await client.call("process_write_input", data="", close_after=True)
        end = await client.call("debug_wait")
        assert end["exitCode"] == 3
        # stdout only: output of stderr may arrive between two reads that together are one line of stdout
        output = await client.call("process_read_output", stream="stdout", max_bytes=1_000_000)
        assert text_of(output).count("heard line") == 499
