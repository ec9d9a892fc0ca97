"""Locks of files (`flock`, `lockf`, `fcntl`): which one a thread waits for, and which processes have it. Linux only.

    awaited_by(posix, native)               # FileLock("FLOCK ADVISORY WRITE 12 fe:00:57 0 EOF", "/tmp/app.lock")
    described(posix, native, budget)        # "the lock of /tmp/app.lock, held by process 12 python app.py"

A lock is named as the kernel lists it: its kind, the process that took it, the file and the range. A child that has
inherited the descriptor of a `flock` has it as well, and may release it. `man 5 proc` has the format of `/proc/locks`.
"""

from typing import Any, Dict, Iterable, List, Optional, Set

from trio_debugmcp.probe.inside import process_marks
from trio_debugmcp.probe.inside.bounds import Budget

_CALLS = {
    "x86_64": {73: ("FLOCK",), 72: ("POSIX", "OFDLCK")},
    "aarch64": {32: ("FLOCK",), 25: ("POSIX", "OFDLCK")},
}
"""Kinds of locks that calls of the kernel wait for, by the machine and their numbers."""

_WAITING_COMMANDS = (7, 38)
"""Of `fcntl`: F_SETLKW and F_OFD_SETLKW."""

PREFIX = "lock:["
"""How the name of one begins, among those of pipes: `lock:[FLOCK ADVISORY WRITE 12 fe:00:57 0 EOF] /path`."""

_ANY_PROCESS = "-1"
"""How the kernel lists who has a lock of an open file description."""

_MOST_LISTED = 1_000_000
_MOST_BYTES = 4000
_MOST_SHOWN = 200
_MOST_NAMED = 3


class FileLock:
    """A lock for which a thread waits, as the kernel lists it, and the path of its file."""

    __slots__ = ("listed", "path")

    def __init__(self, listed: str, path: str) -> None:
        self.listed = listed
        self.path = path


def awaited_by(posix: Any, native: int) -> Optional[FileLock]:
    """Return the lock that a thread of this process waits for; None if there is none, or it is not known which."""
    system = posix.uname()
    calls = _CALLS.get(system.machine, {}) if system.sysname == "Linux" else {}
    if not calls:
        return None
    try:
        call = process_marks.read_file(posix, f"/proc/self/task/{native}/syscall", _MOST_BYTES).split()
        kinds = calls.get(int(call[0]), ()) if len(call) > 2 and call[0].isdigit() else ()
        if not kinds or ("FLOCK" not in kinds and int(call[2], 16) not in _WAITING_COMMANDS):
            return None
        descriptor = int(call[1], 16)
        listed = _before(posix, kinds, posix.fstat(descriptor).st_ino)
        return FileLock(listed, posix.readlink(f"/proc/self/fd/{descriptor}")) if listed else None
    except (OSError, ValueError):
        return None


def name_of(lock: FileLock) -> str:
    """Return what names a lock among pipes and sockets."""
    return f"{PREFIX}{lock.listed}] {lock.path}"


def listed_in(name: str) -> str:
    """Return how the kernel lists the lock of a name."""
    return name[len(PREFIX) :].partition("]")[0]


def held_by(posix: Any, pid: int, number: str) -> Iterable[str]:
    """Return the locks that a process has by a descriptor, as the kernel lists them."""
    for line in process_marks.read_file(posix, f"/proc/{pid}/fdinfo/{number}", _MOST_BYTES).decode().splitlines():
        if line.startswith("lock:"):
            yield _listed(line.split(":", 2)[2])


def described(posix: Any, native: int, budget: Budget) -> str:
    """Return which lock a thread waits for, and who has it, in words; empty where that is not known."""
    lock = awaited_by(posix, native)
    if lock is None:
        return ""
    path = lock.path if len(lock.path) <= _MOST_SHOWN else f"…{lock.path[-_MOST_SHOWN:]}"
    pids = _holders(posix, lock, budget)
    names = ["this process itself" if pid == posix.getpid() else _named(posix, pid) for pid in pids[:_MOST_NAMED]]
    more = f" and {len(pids) - _MOST_NAMED} more" if len(pids) > _MOST_NAMED else ""
    return f"the lock of {path}" + (f", held by {' and '.join(names)}{more}" if names else "")


def _before(posix: Any, kinds: Iterable[str], inode: int) -> str:
    """Return the lock behind which this process waits; empty where it waits for several, or the owner is not listed."""
    data = process_marks.read_file(posix, "/proc/locks", _MOST_LISTED)
    if len(data) >= _MOST_LISTED:
        return ""
    owned: Dict[str, str] = {}
    found: Set[str] = set()
    for line in data.decode().splitlines():
        number, _, rest = line.partition(":")
        fields = rest.split()
        if fields[0] != "->":
            owned[number] = _listed(rest)
        elif fields[1] in kinds and fields[4] in (str(posix.getpid()), _ANY_PROCESS) and _inode(fields[5]) == inode:
            found.add(owned.get(number, ""))
    return found.pop() if len(found) == 1 else ""


def _listed(text: str) -> str:
    return " ".join(text.split())


def _inode(file: str) -> int:
    return int(file.rpartition(":")[2])


def _holders(posix: Any, lock: FileLock, budget: Budget) -> List[int]:
    """Return the processes that have a lock, as far as they may be looked at; else the one that has taken it."""
    pids = [int(name) for name in posix.listdir("/proc") if name.isdigit()]
    found = [pid for pid in pids if not budget.spent() and _has(posix, pid, lock)]
    taker = int(lock.listed.split()[3])
    return found or ([taker] if taker > 0 else [])


def _has(posix: Any, pid: int, lock: FileLock) -> bool:
    try:
        for number in posix.listdir(f"/proc/{pid}/fd"):
            if posix.readlink(f"/proc/{pid}/fd/{number}") == lock.path and lock.listed in held_by(posix, pid, number):
                return True
    except OSError:  # it has ended, or is another user's
        pass
    return False


def _named(posix: Any, pid: int) -> str:
    """Return a process with the names of its program and of the script that it runs."""
    try:
        words = process_marks.read_file(posix, f"/proc/{pid}/cmdline", _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return f"process {pid}"
    given = [word for word in words.split("\0")[:2] if word and not word.startswith("-")]
    return " ".join([f"process {pid}", *(word.rpartition("/")[2][:40] for word in given)])
