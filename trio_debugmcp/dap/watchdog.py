"""The last will of the server: ends the process sessions that it leaves behind, even if it is killed with SIGKILL.

`Watchdog` starts this file as a small process of its own and tells it through a pipe which process sessions to watch.
When the pipe ends, because the server closed it or died, the watchdog kills every process of the sessions still on its
list. A process session (`setsid`) holds an adapter or a debuggee with all its children, whatever process groups
they made for themselves.

As a script it runs isolated (`python -I -S`), so it imports nothing but the standard library.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

_SWEEPS = 50
_SWEEP_SECONDS = 0.02
"""A sweep may race with a fork; a second of sweeps outlasts every fork that is not an attack."""

_CLOSE_SECONDS = 2.0
"""For the watchdog to kill what is left and to exit. A hanging one is left behind: it ends with its sweeps."""


class Watchdog:
    """The connection to the watchdog process, which is started when the first process is to be watched."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: set[int] = set()

    def watch(self, sid: int) -> None:
        """Have process session `sid` killed when this process ends."""
        self._watched.add(sid)
        if not self._tell(f"+{sid}\n"):
            self._start()

    def forget(self, sid: int) -> None:
        """Process session `sid` has ended."""
        self._watched.discard(sid)
        self._tell(f"-{sid}\n")

    def close(self) -> None:
        """End the watchdog process; it kills what is still being watched."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_CLOSE_SECONDS)
            self._process = None

    def _start(self) -> None:
        self.close()
        # Popen without preexec_fn is a vfork and an exec: some milliseconds, once per server.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        self._tell("".join(f"+{sid}\n" for sid in sorted(self._watched)))

    def _tell(self, words: str) -> bool:
        """A few bytes into an empty pipe: this does not block. False when there is no watchdog to hear them."""
        if self._process is None or self._process.stdin is None:
            return False
        try:
            self._process.stdin.write(words.encode())
            self._process.stdin.flush()
        except OSError:
            return False
        return True


def session_members(sid: int) -> list[int]:
    """The ids of the living processes of process session `sid`; zombies are not living."""
    members = []
    for pid in _all_processes():
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == sid and not _is_zombie(pid):
                members.append(pid)
    return members


def signal_session(sid: int, number: int) -> bool:
    """Send a signal to every process of a session; whether there was one."""
    members = session_members(sid)
    for pid in members:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return bool(members)


def _all_processes() -> list[int]:
    if os.path.isdir("/proc/self"):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    listing = subprocess.run(["ps", "-axo", "pid="], capture_output=True, text=True, check=False)
    return [int(word) for word in listing.stdout.split()]


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] == b"Z"
    except OSError:
        return False


def _watch() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watched: set[int] = set()
    for line in sys.stdin:
        sid = int(line[1:])
        if line[0] == "+":
            watched.add(sid)
        else:
            watched.discard(sid)
    for _ in range(_SWEEPS):
        watched = {sid for sid in watched if signal_session(sid, signal.SIGKILL)}
        if not watched:
            return
        time.sleep(_SWEEP_SECONDS)


if __name__ == "__main__":
    _watch()
