"""What Linux' `/proc` says of processes, on systems that have none (macOS), by psutil.

    if not has_proc():
        return parent_of(4711)

Nothing raises: a process that has ended, or that this user may not look into, is one of which nothing is known.
psutil is imported when it is asked: it is a dependency where there is no `/proc` only.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def has_proc() -> bool:
    """Return whether this system has a `/proc` that shows processes."""
    return Path("/proc/self/stat").exists()


def has_ended(pid: int) -> bool:
    """Return whether a process has ended; a zombie has."""
    import psutil

    try:
        return psutil.Process(pid).status() in ("zombie", "dead")
    except psutil.NoSuchProcess:  # or a zombie, which is one of these
        return True
    except (psutil.Error, OSError):  # another user's, which may live
        return False


def parent_of(pid: int) -> int | None:
    """Return the parent of a process."""
    return _known(pid, lambda process: process.ppid())


def executable_of(pid: int) -> str | None:
    """Return the file that a process executes."""
    return _known(pid, lambda process: process.exe()) or None


def directory_of(pid: int) -> str | None:
    """Return the directory that a process works in."""
    return _known(pid, lambda process: process.cwd()) or None


def command_line_of(pid: int) -> str:
    """Return the words that a process was started with, each ended by a zero byte."""
    return "".join(f"{word}\0" for word in _known(pid, lambda process: process.cmdline()) or ())


def processor_seconds(pid: int) -> float | None:
    """Return how much processor time a process has used."""
    return _known(pid, lambda process: sum(process.cpu_times()[:2]))


def listening_ports(pid: int) -> list[int]:
    """Return the TCP ports on which a process listens."""
    connections = _known(pid, lambda process: process.net_connections(kind="tcp4"))
    return [int(connection.laddr.port) for connection in connections or () if connection.status == "LISTEN"]


def running() -> Iterator[tuple[int, int, str, tuple[str, ...]]]:
    """Yield each process that has not ended: its id, its parent's, its name, and its command line if it can be seen."""
    import psutil

    for process in psutil.process_iter(["ppid", "name", "cmdline", "status"]):
        facts = process.info
        if facts["status"] not in ("zombie", "dead"):
            yield process.pid, facts["ppid"] or 0, facts["name"] or "", tuple(facts["cmdline"] or ())


def _known(pid: int, ask: Callable[[Any], T]) -> T | None:
    import psutil

    try:
        return ask(psutil.Process(pid))
    except (psutil.Error, OSError):
        return None
