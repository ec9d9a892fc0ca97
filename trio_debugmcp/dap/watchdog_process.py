"""The watchdog process: a script that outlives the server, and kills what it leaves behind. See dap/watchdog.py.

It reads on its standard input which process sessions to watch: `+123` adds one, `-123` removes it. At the end of its
input it kills every process of the sessions that are left.

The script runs isolated (`python -I -S`), so this module imports nothing but the standard library; and little of that,
because its memory counts as the server's. The server itself uses `session_members` and `signal_session`.
"""

import os
import signal
import sys
import time
from contextlib import suppress

_SWEEPS = 50

_SWEEP_SECONDS = 0.02
"""Between two sweeps. A process may fork while its session is swept; a second of sweeps catches every normal fork."""


def session_members(sid: int) -> list[int]:
    """List the ids of the processes of process session `sid`, without zombies."""
    members = []
    for pid in _all_processes():
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == sid and not _is_zombie(pid):
                members.append(pid)
    return members


def signal_session(sid: int, number: int) -> bool:
    """Send a signal to every process of a session; False if there is none."""
    members = session_members(sid)
    for pid in members:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return bool(members)


def _all_processes() -> list[int]:
    if os.path.isdir("/proc/self"):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    import subprocess  # on systems without /proc only

    listing = subprocess.run(["ps", "-axo", "pid="], capture_output=True, text=True, check=False)
    return [int(word) for word in listing.stdout.split()]


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] == b"Z"
    except OSError:
        return False


def _watch() -> None:
    # A service manager sends these to every process of the service; this one must outlive the server.
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
