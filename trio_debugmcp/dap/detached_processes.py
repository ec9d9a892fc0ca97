"""Processes that left the process session they were begun in, as long as their parents are there.

    detached = detached_from(process.pid)       # before the session is ended, as their parents end with it
    ...
    await end_all(detached, patience)

One whose parent has ended, a daemon, is not among them: nothing says any more who began it.
"""

from collections.abc import Sequence

import trio

from trio_debugmcp.dap.daemons import OwnProcess, end_process
from trio_debugmcp.dap.descendants import descendants_of
from trio_debugmcp.dap.watchdog_process import session_members, started_at
from trio_debugmcp.patience import Patience


def detached_from(sid: int) -> list[OwnProcess]:
    """Return the descendants of a process session's members that are in other sessions."""
    started = ((pid, started_at(pid)) for pid in sorted(descendants_of(session_members(sid))))
    return [OwnProcess(pid, since) for pid, since in started if since is not None]


async def end_all(processes: Sequence[OwnProcess], patience: Patience) -> None:
    """End processes at the same time: SIGTERM, and SIGKILL for those that take no notice. Bounded."""
    async with trio.open_nursery() as nursery:
        for process in processes:
            nursery.start_soon(end_process, process, patience)
