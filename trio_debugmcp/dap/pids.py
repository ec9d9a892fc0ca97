"""Processes that are not ours to wait for, by their ids: whether one lives, its parent, and its end."""

import os
from contextlib import suppress

import trio

_POLL_SECONDS = 0.02
"""Between two checks whether a process lives, where the system has no event for its end."""


async def wait_ended(pid: int) -> None:
    """Wait until a process has ended; a zombie has."""
    try:
        descriptor = os.pidfd_open(pid)  # Linux
    except ProcessLookupError:
        return
    except (AttributeError, OSError):
        while is_alive(pid):  # noqa: ASYNC110
            await trio.sleep(_POLL_SECONDS)
        return
    try:
        await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def is_alive(pid: int) -> bool:
    """Return whether a process exists and has not ended; a zombie has."""
    status = _status(pid)
    return exists(pid) if status is None else status[0] not in "ZX"


def exists(pid: int) -> bool:
    """Return whether there is a process with that id, a zombie included."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def parent_of(pid: int) -> int | None:
    """Return the parent of a process; None where that cannot be known."""
    status = _status(pid)
    return None if status is None else int(status[1])


def process_session_of(pid: int) -> int | None:
    """Return the leader of the process session (`setsid`) that a process belongs to; None if it has ended."""
    with suppress(OSError):
        return os.getsid(pid)
    return None


def _status(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on: state, parent, …; None without a /proc, or a process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()
    except OSError:
        return None
