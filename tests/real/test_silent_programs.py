"""Programs that do not answer: what is said of the reason is what was seen of the process."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
import trio

from tests.real.conftest import Connect
from tests.real.test_remote_programs import listening
from trio_debugmcp.testing import DebugClient, ToolFailed

IDLE = "import time\nwhile True:\n    time.sleep(0.01)\n"

KEEPS_THE_GIL = """\
import ctypes, os, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
ctypes.PyDLL(None).sleep(1000)
"""


@asynccontextmanager
async def answering(debugging: Connect, program: Path, text: str, *args: str) -> AsyncIterator[tuple[DebugClient, int]]:
    """A program that runs and has answered once, with its process id."""
    program.write_text(text)
    async with debugging("legacy", "--patience", "3") as client:  # each tool waits for an answer that does not come
        await client.call("debug_launch", program=str(program), args=args, stop_at_entry=False, wait=False)
        pid = int((await client.call("evaluate", expression="__import__('os').getpid()"))["value"])
        while "notes" in await client.call("threads_list"):
            await trio.sleep(0.05)
        yield client, pid


async def said_by_all(client: DebugClient) -> list[str]:
    """What each tool that asks a running program says of the reason."""
    said = [note for tool in ("threads_list", "modules_list") for note in (await client.call(tool))["notes"]]
    said += (await client.call("stacktrace_get", thread_id="*"))["notes"]
    said += (await client.call("debug_pause"))["notes"]
    for tool, arguments in (("evaluate", {"expression": "1 + 1"}), ("stacktrace_get", {}), ("tasks_list", {})):
        with pytest.raises(ToolFailed) as failed:
            await client.call(tool, **arguments)
        said.append(failed.value.message)
    return said


async def test_a_program_that_is_stopped_by_a_signal_is_said_to_be_until_it_continues(
    debugging: Connect, tmp_path: Path
) -> None:
    async with answering(debugging, tmp_path / "program.py", IDLE) as (client, pid):
        os.kill(pid, signal.SIGSTOP)
        try:
            for each in await said_by_all(client):
                assert f"process {pid} is stopped by a signal" in each
                assert "GIL" not in each
                assert "C code" not in each
        finally:
            os.kill(pid, signal.SIGCONT)
        assert (await client.call("debug_wait"))["reason"] == "Pause"
        assert (await client.call("evaluate", expression="1 + 1"))["value"] == "2"


async def test_a_call_that_sleeps_and_keeps_the_gil_is_named_with_its_place(debugging: Connect, tmp_path: Path) -> None:
    """It uses no processor time, as a program does that is stopped or starved."""
    begin, program = tmp_path / "begin", tmp_path / "program.py"
    async with answering(debugging, program, KEEPS_THE_GIL, str(begin)) as (client, _):
        begin.touch()
        notes: list[str] = []
        while not any(" had the GIL " in note for note in notes):
            await trio.sleep(0.05)  # it has not come there yet
            notes = (await client.call("threads_list")).get("notes", [])
        (note,) = notes
        assert "MainThread had the GIL at two looks, at " in note, note
        assert f"{program.name}:4" in note
        with pytest.raises(
            ToolFailed, match=r"at .*program\.py:4 in <module>, which may be a call into C code that keeps it\. If that"
        ):
            await client.call("evaluate", expression="1 + 1")


WORKERS = 12

WAIT = """
import queue
queue.Queue().get()
"""


async def test_workers_that_have_just_dialed_in_answer_with_their_stacks_or_are_counted(
    debugging: Connect, tmp_path: Path
) -> None:
    """None of them has had a question yet, and all begin at once."""
    async with debugging() as client:
        door = await client.call("debug_listen")
        worker = tmp_path / "worker.py"
        worker.write_text(door["python"] + WAIT)
        with ExitStack() as stack:
            for _ in range(WORKERS):
                process = stack.enter_context(
                    subprocess.Popen([sys.executable, "-X", "frozen_modules=off", str(worker)])
                )
                stack.callback(process.kill)
            while (await listening(client))[0] < WORKERS:
                await trio.sleep(0.05)
            found = await client.call("stacktrace_get", thread_id="*")
            seen = sum(each.get("count", 1) for each in found["stacks"])
            for note in found.get("notes", []):
                assert re.search("still being installed in the program|program does not answer|it is loading", note), (
                    note
                )
                assert "C code" not in note
                seen += int(note.split()[0]) if " processes, " in note or "it is loading" in note else 1
            assert seen == WORKERS
            while "notes" in (found := await client.call("stacktrace_get", thread_id="*")):
                await trio.sleep(0.1)
            (merged,) = found["stacks"]
            assert merged["count"] == WORKERS
            assert merged["frames"][-1].startswith("<module> ")
