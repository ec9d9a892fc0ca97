"""Processes that are not ours to wait for, by their ids: whether one lives, its parent, and its end."""

import os
import re
from contextlib import suppress
from pathlib import Path

import trio

from trio_debugmcp.dap import without_proc

_POLL_SECONDS = 0.02
"""Between two checks whether a process lives, where the system has no event for its end."""


_WAIT_STATUS = 49
"""Where the status that `waitpid` will return stands among the `stat_fields`; 0 for a process of another user."""


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
    status = stat_fields(f"/proc/{pid}/stat")
    if status is None:
        return exists(pid) and (without_proc.has_proc() or not without_proc.has_ended(pid))
    return status[0] not in "ZX"


def exit_code_of_zombie(pid: int) -> int | None:
    """Return how a process has ended that its parent has not waited for yet, negative for a signal; else None."""
    status = stat_fields(f"/proc/{pid}/stat")
    if status is None or status[0] != "Z" or len(status) <= _WAIT_STATUS:
        return None
    with suppress(ValueError, OSError):
        code = os.waitstatus_to_exitcode(int(status[_WAIT_STATUS]))
        if code or os.geteuid() in (0, os.stat(f"/proc/{pid}").st_uid):
            return code
    return None


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
    status = stat_fields(f"/proc/{pid}/stat")
    if status is None:
        return None if without_proc.has_proc() else without_proc.parent_of(pid)
    return int(status[1])


def executable_of(pid: int) -> str | None:
    """Return the file that a process executes, or executed before it was replaced; None where that cannot be known."""
    try:
        return str(Path(f"/proc/{pid}/exe").readlink()).removesuffix(" (deleted)")  # after an update of it
    except OSError:
        return None if without_proc.has_proc() else without_proc.executable_of(pid)


def command_line_of(pid: int) -> str:
    """Return the words that a process was started with, each ended by a zero byte; nothing where they are not known."""
    found = proc_text(f"/proc/{pid}/cmdline")
    return found if found or without_proc.has_proc() else without_proc.command_line_of(pid)


def tracer_of(pid: int) -> int | None:
    """Return the process that traces another, as a debugger does; None if none does, or where it cannot be known."""
    thread = _status_field(pid, "TracerPid")  # that traces it: of the tracer
    return _status_field(thread, "Tgid") if thread else None


def directory_of(pid: int) -> str | None:
    """Return the directory that a process works in; None where that cannot be known."""
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return None if without_proc.has_proc() else without_proc.directory_of(pid)


def process_session_of(pid: int) -> int | None:
    """Return the leader of the process session (`setsid`) that a process belongs to; None if it has ended."""
    with suppress(OSError):
        return os.getsid(pid)
    return None


def _status_field(pid: int, name: str) -> int | None:
    found = re.search(rf"^{name}:\s*(\d+)$", proc_text(f"/proc/{pid}/status"), re.MULTILINE)
    return int(found[1]) if found else None


def stat_fields(path: str) -> list[str] | None:
    """The fields of a stat file of /proc from the state on: state, parent, …; None without a /proc, or a process.

    The name before the state may have any characters.
    """
    return proc_text(path).rpartition(")")[2].split() or None


def proc_text(path: str) -> str:
    """Return a file of /proc; nothing without a /proc or a process, or where it may not be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
