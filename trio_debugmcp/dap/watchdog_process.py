"""The watchdog process: a script that outlives the server, and kills what it leaves behind. See dap/process.py.

It reads on its standard input which process sessions to watch: `+123` adds one, `-123` removes it. `+123 4567` adds one
process by itself, a daemon that has left them: its id and when it started, as another one may have the id by then.
`+/tmp/name` adds a directory. At the end of its input it kills every process that is left, and then removes the
directories.

The script runs isolated (`python -I -S`), so this module imports nothing but the standard library; and little of that,
because its memory counts as the server's. The server itself uses the functions that have no underscore.
"""

import os
import signal
import sys
import time
from contextlib import suppress

_SWEEPS = 50

_SWEEP_SECONDS = 0.02
"""Between two sweeps. A process may fork while its session is swept; a second of sweeps catches every normal fork."""


_MOST_PASSES = 20
"""Over the processes of a session that keep starting others."""


def session_members(sid: int) -> list[int]:
    """List the ids of the processes of process session `sid`, without zombies."""
    members = []
    for pid in all_processes():
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == sid and not _is_zombie(pid):
                members.append(pid)
    return members


def signal_session(sid: int, number: int) -> bool:
    """Send a signal to every process of a session, once, also to those started meanwhile; False if there is none."""
    signalled: set[int] = set()
    for _ in range(_MOST_PASSES):  # a shell may have forked between the list and its own signal
        members = [pid for pid in session_members(sid) if pid not in signalled]
        if not members:
            break
        for pid in members:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        signalled.update(members)
    return bool(signalled)


def started_at(pid: int) -> str | None:
    """Return when a process that lives was started, in the system's words; None if there is none, or it has ended."""
    if os.path.isdir("/proc/self"):
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
        except OSError:
            return None
        return None if fields[0] in (b"Z", b"X") else fields[19].decode()
    import subprocess  # on systems without /proc only

    listing = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listing.stdout.strip() or None


def signal_process(pid: int, started: str, number: int) -> bool:
    """Send a signal to the process with that id, if it was started then; False if there is none."""
    if started_at(pid) != started:
        return False
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
    return True


def all_processes() -> list[int]:
    """List the ids of all processes there are."""
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
    watched: set[str] = set()
    for line in sys.stdin:
        if line[0] == "+":
            watched.add(line[1:].strip())
        else:
            watched.discard(line[1:].strip())
    directories = {entry for entry in watched if entry.startswith("/")}
    _end(watched - directories)
    if directories:
        import shutil  # from here on there is no server whose memory it would be

        for directory in directories:
            shutil.rmtree(directory, ignore_errors=True)


def _end(watched: set[str]) -> None:
    for _ in range(_SWEEPS):
        watched = {entry for entry in watched if _kill(entry)}
        if not watched:
            return
        time.sleep(_SWEEP_SECONDS)


def _kill(entry: str) -> bool:
    number, _, started = entry.partition(" ")
    if started:
        return signal_process(int(number), started, signal.SIGKILL)
    return signal_session(int(number), signal.SIGKILL)


if __name__ == "__main__":
    _watch()
