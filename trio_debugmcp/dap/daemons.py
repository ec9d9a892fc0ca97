"""Processes that dial in and may have left the process session of their program: daemons. They end as that does.

    process = own_process(caller, watchdog)   # None: it cannot be established that this process is the one that speaks
    ...
    await end_process(process, patience)

What a caller says of its process id is believed as far as it goes for showing it. A process is ended only if the system
says, too, that it is in a process session that was begun here, or that the connection is held by it: a program may name
any process of its user, even of this server.

    detached = detached_from(process.pid)       # before the session is ended, as their parents end with it
    ...
    await end_all(detached, patience)

Those are processes that left the process session they were begun in, as long as their parents are there. One whose
parent has ended, a daemon, is not among them: nothing says any more who began it.
"""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import trio

from trio_debugmcp.dap.descendants import descendants_of
from trio_debugmcp.dap.incoming_connection import IncomingConnection
from trio_debugmcp.dap.pids import process_session_of
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.watchdog_process import session_members, signal_process, started_at
from trio_debugmcp.patience import Patience

_TERM_SECONDS = 1.0
"""For a daemon to clean up between SIGTERM and SIGKILL."""

_KILL_SECONDS = 2.0
"""For a killed daemon to be gone."""

_POLL_SECONDS = 0.01
"""Between two checks whether it is gone."""


class OwnProcess(NamedTuple):
    """A process that has dialed in: its id, and when it started, so that no later one with that id is taken for it."""

    pid: int
    started: str


def own_process(caller: IncomingConnection, watchdog: Watchdog) -> OwnProcess | None:
    """Return the process that has dialed in, if the system confirms that it is one of ours, or the connection its own.

    `watchdog`: knows the process sessions that were begun here. The table of connections is looked at only for one that
    is in none of these: reading it takes the system 10 ms.
    """
    stream = caller.stream
    started = started_at(caller.pid)
    if started is None or not isinstance(stream, trio.SocketStream):
        return None
    if is_in_session_of_ours(caller, watchdog):
        return OwnProcess(caller.pid, started)
    with suppress(OSError):
        (_, near), (_, far) = stream.socket.getsockname()[:2], stream.socket.getpeername()[:2]
        inode = _inode_of(far, near)
        if inode is not None and f"socket:[{inode}]" in _open_files(caller.pid):
            return OwnProcess(caller.pid, started)
    return None


def is_in_session_of_ours(caller: IncomingConnection, watchdog: Watchdog) -> bool:
    """Return whether the process that has dialed in is in a process session that the watchdog watches."""
    leader = process_session_of(caller.pid)
    return leader is not None and watchdog.watches(leader)


async def end_process(process: OwnProcess, patience: Patience) -> None:
    """End a process: SIGTERM, and SIGKILL if it takes no notice. Bounded."""
    for number, seconds in (
        (signal.SIGTERM, patience.seconds(_TERM_SECONDS)),
        (signal.SIGKILL, patience.seconds(_KILL_SECONDS)),
    ):
        if not signal_process(process.pid, process.started, number):
            return
        with trio.move_on_after(seconds):
            while started_at(process.pid) == process.started:  # noqa: ASYNC110 (it is not our child)
                await trio.sleep(_POLL_SECONDS)


def _inode_of(near: int, far: int) -> str | None:
    """Return the number of the socket on loopback with these ports, by /proc/net/tcp."""
    ports = f":{near:04X}", f":{far:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text("ascii").splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(ports[0]) and fields[2].endswith(ports[1]):
                    return fields[9]
    return None


def _open_files(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                yield os.readlink(f"/proc/{pid}/fd/{name}")


def detached_from(sid: int) -> list[OwnProcess]:
    """Return the descendants of a process session's members that are in other sessions."""
    started = ((pid, started_at(pid)) for pid in sorted(descendants_of(session_members(sid))))
    return [OwnProcess(pid, since) for pid, since in started if since is not None]


async def end_all(processes: Sequence[OwnProcess], patience: Patience) -> None:
    """End processes at the same time: SIGTERM, and SIGKILL for those that take no notice. Bounded."""
    async with trio.open_nursery() as nursery:
        for process in processes:
            nursery.start_soon(end_process, process, patience)
