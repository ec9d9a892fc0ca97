"""The socket of node's inspector answers at once, and no other socket of the program is changed."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.javascript import node_inspector
from trio_debugmcp.dap.profiles.javascript.node_inspector import answer_at_once

pytestmark = pytest.mark.real

PROGRAM = """
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
accepted = [listener.accept()[0] for _ in range(2)]
print("accepted", flush=True)
sys.stdin.readline()
print(*(each.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for each in accepted), flush=True)
sys.stdin.read()
"""

WATCHDOG = """
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
print("connected", flush=True)
sys.stdin.read()
"""


def run(code: str, *args: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", code, *args]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux has the call")
def test_of_a_programs_sockets_that_of_the_watchdog_is_not_slowed_down(tmp_path: Path) -> None:
    script = str(tmp_path / "watchdog.js")
    with run(PROGRAM) as program:
        port = line(program)
        with socket.create_connection(("127.0.0.1", int(port))), run(WATCHDOG, script, port) as watchdog:
            assert (line(watchdog), line(program)) == ("connected", "accepted")
            assert not answer_at_once(program.pid, str(tmp_path / "another.js"))
            if not answer_at_once(program.pid, script):
                pytest.skip("this system does not let one process have another's socket")
            assert program.stdin is not None
            program.stdin.write("\n")
            program.stdin.flush()
            assert line(program) == "0 1"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux has the call")
def test_a_descriptor_that_leads_elsewhere_by_now_is_left_alone_and_not_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read, write = os.pipe()
    known = vars(node_inspector)["_sockets"]

    def before(pid: int) -> list[tuple[int, str]]:
        """As if the sockets that were seen had been closed, and a pipe had their numbers."""
        return [(read, link) for _, link in known(pid)]

    with socket.create_server(("127.0.0.1", 0)) as listener:
        script = str(tmp_path / "watchdog.js")
        with run(WATCHDOG, script, str(listener.getsockname()[1])) as watchdog, listener.accept()[0]:
            assert line(watchdog) == "connected"
            monkeypatch.setattr(node_inspector, "_sockets", lambda pid: (before if pid == os.getpid() else known)(pid))
            kept = len(os.listdir("/proc/self/fd"))
            assert not answer_at_once(os.getpid(), script)
            assert len(os.listdir("/proc/self/fd")) == kept
    os.close(read)
    os.close(write)


def test_of_a_process_that_is_gone_nothing_is_set() -> None:
    assert not answer_at_once(2**22 + 1, "/nowhere/watchdog.js")
