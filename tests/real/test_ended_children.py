"""How children of the program have ended, also those that said nothing: a signal, an exit code."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.pythons import Interpreter, found
from tests.real.conftest import TEST_SECONDS, Connect
from trio_debugmcp.dap.exit_codes import ExitCodes
from trio_debugmcp.dap.pids import exit_code_of_zombie, wait_ended
from trio_debugmcp.patience import USUAL
from trio_debugmcp.testing import ToolFailed

pytestmark = pytest.mark.real

PYTHONS = [python for python in found() if python.version[:2] == (3, 13)]

FAILED = "processes that it had started failed: "

PROGRAM = """\
import os, signal

def child(how, *more):
    pid = os.fork()
    if pid == 0:
        how(*more)
    return pid

killed = os.waitpid(child(lambda: os.kill(os.getpid(), signal.SIGKILL)), 0)
print(killed[1])
os.waitid(os.P_PID, child(os._exit, 3), os.WEXITED)
os.wait4(child(lambda: os.kill(os.getpid(), signal.SIGTERM)), 0)
os.wait3(0) if child(os._exit, 0) else None
"""


def failures(answer: dict[str, Any]) -> list[str]:
    """Return the notes of an answer on processes that failed."""
    return [note for note in answer.get("notes", []) if note.startswith(FAILED)]


@pytest.mark.parametrize("python", PYTHONS, ids=["3.13"] * len(PYTHONS))
async def test_how_a_child_ended_is_said_at_the_next_stop_of_its_parent_and_at_its_end(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    program = tmp_path / "shop.py"
    program.write_text(PROGRAM)
    (line,) = (number for number, text in enumerate(PROGRAM.splitlines(), 1) if text.startswith("print"))
    async with debugging() as client:
        stop = await client.call(
            "debug_launch",
            program=str(program),
            breakpoints=[f"{program}:{line}"],
            adapter_options={"python": [python.path]},
        )
        assert stop["locals"]["killed"].endswith(", 9)")
        with trio.fail_after(TEST_SECONDS):  # the session of the child ends a moment after its process
            while not failures(stop):
                stop = await client.call("debug_state")
        (note,) = failures(stop)
        assert note.startswith(f"{FAILED}s-2 (pid ")
        assert note.endswith(") ended by SIGKILL")
        end = await client.call("debug_continue")
        (note,) = failures(end)
        assert [part.partition(") ")[2] for part in note.split("; ")] == ["ended by SIGKILL", "exit code 3"]


@pytest.mark.parametrize("python", PYTHONS, ids=["3.13"] * len(PYTHONS))
async def test_a_recorded_child_that_failed_is_asked_why_by_the_number_that_is_said(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    program = tmp_path / "shop.py"
    program.write_text("import os\nif (pid := os.fork()) == 0:\n    os._exit(3)\nos.waitpid(pid, 0)\n")
    async with debugging() as client:
        given = {"python": [python.path]}
        answer = await client.call("debug_launch", program=str(program), record=True, adapter_options=given)
        (note,) = failures(answer)
        found = re.fullmatch(rf"{FAILED}s-2 \(pid (\d+)\) exit code 3: why\(process=(\d+)\) says what led to it", note)
        assert found is not None
        assert found[1] == found[2]
        assert (await client.call("why", process=int(found[2])))["value"] == "os._exit(3)"


@pytest.mark.parametrize("python", PYTHONS, ids=["3.13"] * len(PYTHONS))
async def test_of_a_recorded_child_that_ended_well_nothing_is_said_to_have_failed(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    program = tmp_path / "shop.py"
    program.write_text(
        "import os\ndef work(number):\n    return number * 2\nif (pid := os.fork()) == 0:\n    work(3)\n"
        "    os._exit(0)\nos.waitpid(pid, 0)\nprint(pid)\n"
    )
    async with debugging() as client:
        given = {"python": [python.path]}
        answer = await client.call("debug_launch", program=str(program), record=True, adapter_options=given)
        with pytest.raises(ToolFailed, match="Nothing failed in this run"):
            await client.call("why", process=int(answer["stdout"]))


async def test_how_a_process_ended_that_its_parent_has_not_waited_for_is_read_from_the_system() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        with trio.fail_after(TEST_SECONDS):
            await wait_ended(process.pid)
        if sys.platform == "linux":
            assert exit_code_of_zombie(process.pid) == -signal.SIGKILL
        process.wait()
        assert exit_code_of_zombie(process.pid) is None
    assert exit_code_of_zombie(os.getpid()) is None


async def test_an_exit_code_that_is_reported_late_is_waited_for_and_no_longer_than_it_takes(
    autojump_clock: MockClock,
) -> None:
    codes = ExitCodes()
    codes.put(4, -9)
    assert await codes.take(4, USUAL) == -9
    begin = trio.current_time()
    assert await codes.take(4, USUAL) is None
    assert trio.current_time() - begin == pytest.approx(0.1)
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def report() -> None:
            await trio.sleep(0.05)
            codes.put(4, 3)

        assert await codes.take(4, USUAL) == 3
    for pid in range(600):
        codes.put(pid, 0)
    assert await codes.take(1, USUAL) is None
    codes.forget(599)
    assert await codes.take(599, USUAL) is None


WAITING = """\
import os, threading, time
pids = [os.posix_spawn("/bin/sleep", ["sleep", "60"], os.environ)]
there = []  # a stop holds a thread at its next line: after its mark, each has only its wait before it
threading.Thread(target=lambda: os.waitpid(pids[0], there.append(1) or 0), daemon=True).start()
threading.Thread(target=lambda: os.system(there.append(2) or "sleep 60; exit 1"), daemon=True).start()
while len(there) < 2:
    time.sleep(0.01)
done = True
"""


@pytest.mark.parametrize("python", PYTHONS, ids=["3.13"] * len(PYTHONS))
async def test_a_thread_that_waits_for_a_process_waits_for_it_in_the_words_of_the_program(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    program = tmp_path / "shop.py"
    program.write_text(WAITING)
    async with debugging() as client:
        await client.call(
            "debug_launch",
            program=str(program),
            breakpoints=[f"{program}:8"],
            adapter_options={"python": [python.path]},
        )
        waits: set[str] = set()
        with trio.fail_after(TEST_SECONDS):  # from the mark to the wait no line begins
            while waits != {"os.waitpid", "os.system"}:
                threads = (await client.call("threads_list"))["threads"]
                waits = {line.partition("waits for ")[2].partition(",")[0] for line in threads[1:]}
