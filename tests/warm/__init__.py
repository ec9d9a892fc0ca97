"""Server processes that start at once, for tests that are not about the start.

Importing the SDK takes a second of processor time, more than the rest of most tests. So a parent process imports
everything once and forks a process for each server, with its own standard streams, directory, environment, signals
and exit code.

    test → relay → parent → server

The relay is a bare interpreter, which starts within milliseconds, and stands in for the server: its standard streams
become the server's, signals are forwarded, it ends with the server's exit code, and if it is killed the server is
killed. test_warm.py checks all that.

`behind` is the server's process id, for tests of the processes below it. Tests of the start, or of a server's
descriptors and what it inherits, run `python -m trio_debugmcp` instead.
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
    """The command of a server, in place of `python -m trio_debugmcp` with these arguments."""
    return python_m("trio_debugmcp", *arguments)


def python_m(module: str, *arguments: str) -> list[str]:
    """The command in place of `python -m` with these arguments, from the root of this repository."""
    if not _parents:
        _parents.append(_start())
    return [sys.executable, "-I", "-S", str(HERE / "relay.py"), _parents[0][0], module, *arguments]


def behind(relay: int) -> int:
    """The process id of the server that a relay stands for, from its first answer to its end; of others their own."""
    try:
        return int(Path(f"{_parents[0][0]}-{relay}").read_text()) if _parents else relay
    except FileNotFoundError:
        return relay


def _start() -> tuple[str, "subprocess.Popen[bytes]"]:
    """Start a parent; return its address. It ends when this process ends, because its standard input ends then."""
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
    """End the parents, after the last test."""
    while _parents:
        _, parent = _parents.pop()
        parent.communicate()
