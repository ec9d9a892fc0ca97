"""What a process does, as /proc has it (looking/from_outside/process_sample.py)."""

import subprocess
import sys
from pathlib import Path

import pytest

from trio_debugmcp.session.looking.from_outside.process_sample import sample

MAIN_THREAD_ENDS = """\
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def state(process: subprocess.Popen[bytes]) -> str:
    return Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_process_whose_main_thread_alone_has_ended_is_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", MAIN_THREAD_ENDS]) as process:
        try:
            while state(process) != "Z":
                pass
            now = sample(process.pid)
            assert now is not None
            assert now.state in "RSD"  # of the other thread, which may not sleep yet
        finally:
            process.kill()


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_process_that_has_ended_and_is_not_collected_yet_is_a_zombie() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    try:
        while state(process) != "Z":
            pass
        now = sample(process.pid)
        assert now is not None
        assert now.state == "Z"
    finally:
        process.wait()
