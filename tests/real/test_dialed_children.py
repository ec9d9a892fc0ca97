"""The children of a program that has dialed in, and what carries the engine to them."""

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest
import trio

from tests.pythons import Interpreter
from tests.real.conftest import Connect
from tests.real.interpreters import oldest_first
from tests.real.test_engine import NEW

pytestmark = pytest.mark.parametrize("python", oldest_first(NEW))

PROGRAM = """\
import multiprocessing, os, subprocess, sys

def work(way):
    seen = way
    return seen

if __name__ == "__main__":
    if len(sys.argv) > 2:
        work(sys.argv[2])
        print([path for path in sys.path if "debugmcp" in path or path == ""], os.environ.get("PYTHONPATH"), flush=True)
    else:
        exec(sys.argv[1])
        work("itself")
        subprocess.run([sys.executable, __file__, "", "run"])
        os.system(f"'{sys.executable}' '{__file__}' '' system")
        process = multiprocessing.get_context("spawn").Process(target=work, args=("spawn",))
        process.start()
        process.join()
        if not os.fork():
            work("fork")
            subprocess.run([sys.executable, __file__, "", "run by a fork"])
            os._exit(0)
        os.wait()
"""


@pytest.mark.parametrize("path", [None, "/nowhere"], ids=["without a PYTHONPATH", "with one"])
async def test_all_children_of_a_program_that_has_dialed_in_dial_in_and_nothing_is_left_of_how(
    path: str | None, python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file, temporary = tmp_path / "program.py", tmp_path / "temporary"
    file.write_text(PROGRAM)
    temporary.mkdir()
    ended = subprocess.Popen(["true"])
    ended.wait()
    of_one_that_was_killed = temporary / f"trio_debugmcp-{ended.pid}-1"
    of_one_that_was_killed.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    environment.pop("PYTHONPATH", None)
    if path is not None:
        environment["PYTHONPATH"] = path
    async with debugging() as client:
        door = await client.call("debug_listen")
        await client.call("breakpoint_set", file=str(file), statement="return seen")
        command = [python.path, str(file), door["python"]]
        async with trio.open_nursery() as nursery:
            run = partial(trio.run_process, env=environment, capture_stdout=True)
            ran: trio.Process = await nursery.start(run, command)
            ways: list[str] = []
            stop = await client.call("debug_wait")
            while len(ways) < 6:
                ways.append(stop["locals"]["seen"].strip("'"))
                if len(ways) == 2:
                    [directory] = temporary.iterdir()
                    assert (directory.name.split("-")[1], directory.stat().st_mode & 0o777) == (str(ran.pid), 0o700)
                stop = await client.call("debug_continue", timeout=0 if len(ways) == 6 else 300)
        assert ways == ["itself", "run", "system", "spawn", "fork", "run by a fork"]
        assert [*temporary.rglob("*")] == []
