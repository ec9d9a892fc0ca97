"""Whether a process was killed as memory was short, as far as this machine says so.

    killed_for_memory(4711)     # "out of memory, by the kernel's log"

Nothing is said where nothing can be read: SIGKILL alone has many senders.
"""

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

OUT_OF_MEMORY = "out of memory"
"""Both sentences have it, so that who shows the end of a program knows that the kernel is the reason."""

_FIRST_NAMESPACE = 0xEFFFFFFC
"""The number of the namespace of processes whose ids the log has."""

_NEAR_SECONDS = 120
"""Between a kill and the end that is asked about. The log's clock is not set by the network's, and drifts.

An earlier kill was of another process that had the id.
"""

_RECORD_BYTES = 8192

_MOST_RECORDS = 100_000

_KILLS = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


def killed_for_memory(pid: int) -> str | None:
    """Return that of a process that has just ended, or that it may be so; None where nothing points to it."""
    with suppress(OSError):  # not Linux, or not allowed
        if os.stat("/proc/self/ns/pid").st_ino == _FIRST_NAMESPACE:
            with open(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", 0) as log:
                killed = is_in_log(pid, _records(log.fileno()), time.monotonic())
                return f"{OUT_OF_MEMORY}, by the kernel's log" if killed else None
    with suppress(OSError):
        kills = memory_kills(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
        return f"perhaps {OUT_OF_MEMORY}: that has killed {kills} in the server's control group" if kills else None
    return None


def is_in_log(pid: int, records: Iterable[str], ended: float) -> bool:
    """Return whether the kernel says that it has killed the process for want of memory.

    `ended`: when the process has, in seconds since the machine started: ids are used again.
    """
    return any(f"Killed process {pid} (" in record and _is_near(record, ended) for record in records)


def _is_near(record: str, ended: float) -> bool:
    """Whether a record is of that time: its third field has microseconds."""
    fields = record.partition(";")[0].split(",")
    return len(fields) > 2 and fields[2].isdecimal() and abs(int(fields[2]) / 1e6 - ended) <= _NEAR_SECONDS


def _records(log: int) -> Iterator[str]:
    for _ in range(_MOST_RECORDS):
        try:
            yield os.read(log, _RECORD_BYTES).decode(errors="replace")
        except BrokenPipeError:  # records were overwritten before they were read
            continue
        except BlockingIOError:  # that was all
            return


def memory_kills(membership: Path, groups: Path) -> int:
    """Return how many processes of this one's control group were killed for want of memory; 0 if that is not known.

    `membership`: the list of its groups; `groups`: where they are.
    """
    for line in membership.read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            file = groups / path.lstrip("/") / "memory.events"
        elif "memory" in controllers.split(","):
            file = groups / "memory" / path.lstrip("/") / "memory.oom_control"
        else:
            continue
        if file.is_file() and (found := _KILLS.search(file.read_text(encoding="utf-8"))):
            return int(found[1])
    return 0
