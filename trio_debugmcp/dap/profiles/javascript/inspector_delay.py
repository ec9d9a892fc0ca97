"""What slows node's inspector down: while its program is stopped, each answer waits for an acknowledgement.

    answer_at_once(4711, "/…/js-debug/watchdog.js")      # True: the option was set

Node leaves Nagle's algorithm on for the socket of its inspector, and js-debug's watchdog, which is at the other end,
acknowledges late, as the system does by default: 40 ms for each request at a stop, and an exception that is caught and
passed over takes some. So the option is set from outside, on that socket and on none of the program's own. Where the
system does not let one process have another's socket, it stays slow.
"""

import ctypes
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PIDFD_GETFD = 438
"""The system call of Linux 5.6, by the number that it has on every processor."""

_ESTABLISHED = "01"
"""The state of a connection in /proc/net/tcp."""


class _Connection(NamedTuple):
    local: str
    remote: str
    socket: str


def answer_at_once(pid: int, watchdog: str) -> bool:
    """Set the option on the socket at whose other end a process runs this script; False if that cannot be done."""
    if not hasattr(os, "pidfd_open"):
        return False
    try:
        connections = _connections(pid)
        others = {link for each in _running(watchdog) for _, link in _sockets(each)}
        wanted = {(each.remote, each.local) for each in connections if each.socket in others}
        own = {each.socket for each in connections if (each.local, each.remote) in wanted}
        return any(_set(pid, number, link) for number, link in _sockets(pid) if link in own)
    except OSError:
        return False


def _connections(pid: int) -> list[_Connection]:
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return [_Connection(row[1], row[2], f"socket:[{row[9]}]") for row in rows if row[3] == _ESTABLISHED]


def _running(script: str) -> Iterator[int]:
    """Yield the processes that have this path among their arguments."""
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            with suppress(OSError):  # it has ended
                if os.fsencode(script) in (directory / "cmdline").read_bytes().split(b"\0"):
                    yield int(directory.name)


def _sockets(pid: int) -> list[tuple[int, str]]:
    """Return the descriptors of a process, and what each leads to."""
    found = []
    with suppress(OSError):
        for each in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):  # it was closed meanwhile
                found.append((int(each.name), os.readlink(each)))
    return found


def _set(pid: int, number: int, link: str) -> bool:
    """Set it on the socket of a descriptor, if that leads to it still: its number may be another one's by now."""
    process = os.pidfd_open(pid)
    try:
        got = ctypes.CDLL(None, use_errno=True).syscall(_PIDFD_GETFD, process, number, 0)
        if got < 0:
            return False
        if os.readlink(f"/proc/self/fd/{got}") != link:
            os.close(got)
            return False
        with socket.socket(fileno=got) as shared:
            shared.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return True
    finally:
        os.close(process)
