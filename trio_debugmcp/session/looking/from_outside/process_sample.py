"""A process of this machine at one moment, from /proc: its state, its processor time, and who else wants to run.

    before = processor_seconds(pid)
    ...
    now = sample(pid)
    now.state, now.seconds - before

Where there is no /proc, or a process may not be read, nothing is known.
"""

import os
from itertools import islice
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.dap import without_proc
from trio_debugmcp.dap.pids import proc_text, stat_fields

MAX_THREADS = 200
"""Threads that are looked at: each has files of its own."""

GONE = "X"
"""The state of a process that has ended, as the kernel calls it; it never shows it."""

FULL_TURN_SECONDS = 0.0005
"""A thread that only wakes up to find the GIL taken gives the processor back sooner; one that is starved does not."""

_TICKS = os.sysconf("SC_CLK_TCK")

_UTIME, _STIME = 11, 12
"""Where the times in user and in system mode are in a stat file, counted from the state."""


_FLAGS, _EXIT_CODE = 6, 49
"""Also counted from there; the second is what `waitpid` is to return, and known to those who may trace the process."""

_EXITING = 0x4
"""The kernel's PF_EXITING."""


class ProcessSample(Struct, frozen=True):
    """A process at one moment.

    Attributes:
        state: the kernel's letter for its main thread: R, S, D, T (stopped by a signal), t (by a tracer), Z, X. Of a
            process whose main thread alone has ended, that of another thread.
        seconds: of processor time that all its threads have used so far.
        ready: how many of its threads run, or only wait for a processor.
        ran: seconds as above, exactly, of the threads that were looked at; `turns`: how often these had a processor.
        wanting: how many other threads of the whole machine run, or are ready to.
        processors: how many the process may use.
    """

    state: str
    seconds: float = 0.0
    ready: int = 0
    ran: float = 0.0
    turns: int = 0
    wanting: int = 0
    processors: int = 1


def is_starved(earlier: ProcessSample, now: ProcessSample) -> bool:
    """Return whether a process wants to run, and others have its processors."""
    turns, ran = now.turns - earlier.turns, now.ran - earlier.ran
    uses_turns = turns <= 0 or ran / turns >= FULL_TURN_SECONDS
    return earlier.ready > 0 and now.ready > 0 and now.wanting >= now.processors and uses_turns


def processor_seconds(pid: int) -> float | None:
    """Return how much processor time a process has used; None where that is not known."""
    fields = stat_fields(f"/proc/{pid}/stat")
    if fields is None:
        return None if without_proc.has_proc() else without_proc.processor_seconds(pid)
    return _seconds(fields)


def exit_code(pid: int) -> int | None:
    """Return how a process has ended, negative by a signal; None if it lives, or its parent has learned it already."""
    fields = stat_fields(f"/proc/{pid}/stat")
    if fields is None or len(fields) <= _EXIT_CODE or not _is_ending(fields):
        return None
    status = int(fields[_EXIT_CODE])
    return -(status & 0x7F) or status >> 8


def is_running(pid: int) -> bool:
    """Return whether a process lives, and is not about to end; False where that is not known."""
    fields = stat_fields(f"/proc/{pid}/stat")
    return fields is not None and not _is_ending(fields)


def _is_ending(fields: list[str]) -> bool:
    """What others hold of a process, as connections, is closed when it is ending, and not a zombie yet."""
    return fields[0] in ("Z", GONE) or bool(int(fields[_FLAGS]) & _EXITING)


def sample(pid: int) -> ProcessSample | None:
    """Return what a process does now; None where that is not known."""
    fields = stat_fields(f"/proc/{pid}/stat")
    if fields is None:
        return ProcessSample(GONE) if Path("/proc/self/stat").exists() and _is_gone(pid) else None
    state, ready, ran, turns = fields[0], 0, 0.0, 0
    for thread in _threads(pid):
        own = stat_fields(f"{thread}/stat")
        ready += own is not None and own[0] == "R"
        if state in ("Z", GONE) and own is not None:
            state = own[0]
        times = proc_text(f"{thread}/schedstat").split()
        if len(times) == 3:
            ran, turns = ran + int(times[0]) / 1e9, turns + int(times[2])
    return ProcessSample(state, _seconds(fields), ready, ran, turns, _running() - ready, _processors(pid))


def _seconds(fields: list[str]) -> float:
    return (int(fields[_UTIME]) + int(fields[_STIME])) / _TICKS


def _threads(pid: int) -> list[str]:
    try:
        return [entry.path for entry in islice(os.scandir(f"/proc/{pid}/task"), MAX_THREADS)]
    except OSError:
        return []


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)  # /proc may hide the processes of others
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _running() -> int:
    """Return how many threads of the machine run or are ready to, without the one that reads this."""
    fields = proc_text("/proc/loadavg").split()
    running = fields[3].partition("/")[0] if len(fields) > 3 else ""
    return int(running) - 1 if running.isdigit() else 0


def _processors(pid: int) -> int:
    try:
        return len(os.sched_getaffinity(pid))
    except (AttributeError, OSError):  # not on this system
        return os.cpu_count() or 1
