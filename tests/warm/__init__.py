"""Processes that start at once, for tests in which the start itself is not the point.

Importing the SDK takes a processor a second, more than most tests need for all the rest. So a parent imports
everything once, and each server is a fork of it: a process of its own, with its own standard streams, directory,
environment, signals and exit code, in which only the imports are older than the process.

    test → relay → parent → server

The relay, a bare interpreter that is up within milliseconds, stands for the server: its standard streams become the
server's, signals are passed on, it ends as the server ends, and when it is killed the server is killed.

What tests the start, the processes below a server, or its descriptors runs `python -m trio_debugmcp` instead.
"""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

_parents: list[tuple[str, "subprocess.Popen[bytes]"]] = []


def server(*arguments: str) -> list[str]:
    """The command of a server: does what `python -m trio_debugmcp` with these arguments does."""
    return python_m("trio_debugmcp", *arguments)


def python_m(module: str, *arguments: str) -> list[str]:
    """The command that does what `python -m` does, from the root of this repository."""
    if not _parents:
        _parents.append(_start())
    return [sys.executable, "-I", "-S", str(HERE / "relay.py"), _parents[0][0], module, *arguments]


def _start() -> tuple[str, "subprocess.Popen[bytes]"]:
    """A parent and its address. It ends with this process, since then its standard input ends."""
    path = str(Path(tempfile.mkdtemp(prefix="warm-")) / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(16)
        parent = subprocess.Popen(
            [sys.executable, "-m", "tests.warm.parent", str(listener.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            cwd="/",
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    return path, parent


def close() -> None:
    """At the end of the tests: nothing is left."""
    while _parents:
        _, parent = _parents.pop()
        parent.communicate()
