"""The inspector of a running program of node, through which it is debugged: found, or opened by SIGUSR1.

    answer_at_once(4711, "/…/js-debug/watchdog.js")      # True: the option was set

While its program is stopped, each answer waits for an acknowledgement: node leaves Nagle's algorithm on for the socket,
and js-debug's watchdog, which is at the other end, acknowledges late, as the system does by default: 40 ms for each
request at a stop, and an exception that is caught and passed over takes some. So the option is set from outside, on
that socket and on none of the program's own. Where the system does not let one process have another's socket, it stays
slow.
"""

import ctypes
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import trio

from trio_debugmcp.dap import without_proc
from trio_debugmcp.dap.pids import executable_of
from trio_debugmcp.errors import UsageError
from trio_debugmcp.patience import Patience

_OPENING_SECONDS = 3.0
"""For node to listen after the signal: it does within milliseconds, but not while it runs native code."""

_POLL_SECONDS = 0.05

_LISTENING = "0A"
"""The state of a socket in /proc/net/tcp."""

_ANSWER_SECONDS = 1.0


async def inspector_port(pid: int, patience: Patience) -> int:
    """Return the port of a process's inspector, which is opened if it is not.

    Raises:
        UsageError: `ATTACH_FAILED`: it is not a process of node, or does not open one.
    """
    name = _executable(pid)
    if not name.startswith("node"):
        raise UsageError(
            "ATTACH_FAILED",
            f"Process {pid} runs {name or 'what cannot be read'}, not node. Pass the `adapter` of its language.",
            {"pid": pid},
        )
    found = await _open_inspector(pid, patience)
    if found is not None:
        return found
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGUSR1)
    seconds = patience.seconds(_OPENING_SECONDS)
    with trio.move_on_after(seconds):
        while (found := await _open_inspector(pid, patience)) is None:  # noqa: ASYNC110 (the system has no event for it)
            await trio.sleep(_POLL_SECONDS)
        return found
    raise UsageError(
        "ATTACH_FAILED",
        f"Process {pid} opened no inspector within {seconds:g} s of SIGUSR1: its port, 9229 unless "
        "--inspect-port says another, may be taken, or the program may handle that signal itself. Start it with "
        "--inspect=127.0.0.1:0, and pass the `port` that it prints.",
        {"pid": pid},
    )


def _executable(pid: int) -> str:
    return os.path.basename(executable_of(pid) or "")


async def _open_inspector(pid: int, patience: Patience) -> int | None:
    for port in listening_ports(pid):
        if await _is_inspector(port, patience):
            return port
    return None


def listening_ports(pid: int) -> list[int]:
    """Return the TCP ports on which a process listens, on this machine's own addresses or all."""
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
        table = Path(f"/proc/{pid}/net/tcp").read_text()
    except OSError:
        return [] if without_proc.has_proc() else without_proc.listening_ports(pid)
    sockets = set()
    for descriptor in descriptors:
        with suppress(OSError):  # it was closed meanwhile
            sockets.add(os.readlink(descriptor))
    rows = [line.split() for line in table.splitlines()[1:]]
    return [
        int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == _LISTENING and f"socket:[{row[9]}]" in sockets
    ]


async def _is_inspector(port: int, patience: Patience) -> bool:
    """Whether an inspector answers there: the program may listen on ports of its own."""
    answer = b""
    with trio.move_on_after(patience.seconds(_ANSWER_SECONDS)), suppress(OSError, trio.BrokenResourceError):
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            await stream.send_all(b"GET /json/version HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            async for data in stream:
                answer += data
                if b"Protocol-Version" in answer or len(answer) > 10_000:
                    break
    return b"Protocol-Version" in answer


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
