"""Standard input and output are served while the server is imported."""

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

pytestmark = pytest.mark.real

SECONDS = 120

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}


def line(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A FIFO at which the import of the SDK waits, in a process whose PYTHONPATH begins with the directory of it."""
    fifo = tmp_path / "gate"
    os.mkfifo(fifo)
    finder = f"""
import importlib.abc, sys
class Gate(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in ("mcp", "mcp_types", "trio"):
            sys.meta_path.remove(self)
            open({str(fifo)!r}).read()
sys.meta_path.insert(0, Gate())
"""
    (tmp_path / "sitecustomize.py").write_text(finder)
    return fifo


@contextmanager
def start(gate: Path, stdin: int = subprocess.PIPE) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server, which is killed if it is not done in time: each read of what it writes is bounded by that."""
    path = os.pathsep.join([str(gate.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "trio_debugmcp", "serve", "--no-state"]
    pipes = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, bufsize=0, **pipes) as process:  # type: ignore[call-overload]
        late = Timer(SECONDS, process.kill)
        late.start()
        try:
            yield process
        finally:
            late.cancel()


def test_a_client_is_answered_before_the_sdk_is_imported_and_then_served(gate: Path) -> None:
    with start(gate) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line(INITIALIZE)[:20])
        process.stdin.write(line(INITIALIZE)[20:])
        answer = json.loads(process.stdout.readline())
        assert answer["result"]["serverInfo"]["name"] == "trio-debugmcp"
        process.stdin.write(line({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        process.stdin.write(line({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))
        process.stdin.write(line({"jsonrpc": "2.0", "id": 3, "method": "ping"}))
        assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 3, "result": {}}
        gate.write_text("open")
        listed = json.loads(process.stdout.readline())
        assert listed["id"] == 2
        assert listed["result"]["tools"]
        process.stdin.write(line({"jsonrpc": "2.0", "id": 4, "method": "ping"}))
        assert json.loads(process.stdout.readline())["id"] == 4
        process.stdin.close()
        assert process.wait(SECONDS) == 0
        assert process.stdout.read() == b"", "nothing is answered twice"


def test_a_client_that_leaves_at_once_ends_the_server(gate: Path) -> None:
    with start(gate) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line(INITIALIZE))
        assert process.stdout.readline()
        process.stdin.close()
        process.stdout.close()
        gate.write_text("open")
        assert process.wait(SECONDS) == 0


def test_a_terminal_says_its_end_once_and_the_server_ends_though_it_was_imported_later(gate: Path) -> None:
    ours, theirs = pty.openpty()
    with start(gate, stdin=theirs) as process:
        os.close(theirs)
        os.write(ours, line(INITIALIZE))
        assert process.stdout is not None
        assert process.stdout.readline()
        os.write(ours, b"\x04")
        until = time.monotonic() + SECONDS
        while len(os.listdir(f"/proc/{process.pid}/task")) > 1 and time.monotonic() < until:
            os.sched_yield()  # the thread ends when it has read the end
        gate.write_text("open")
        assert process.wait(SECONDS) == 0
        os.close(ours)
