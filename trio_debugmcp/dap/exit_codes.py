"""`ExitCodes`: how processes have ended that programs have waited for, as our engine in these programs reports it.

    codes.put(4711, -9)                     # the parent's connection
    code = await codes.take(4711, patience)     # the child's: -9

One that is not taken is forgotten in time.
"""

import trio

from trio_debugmcp.patience import Patience

_MOST = 500
"""Most are of processes that are not debugged: compilers, shells."""

_REPORT_SECONDS = 0.1
"""From the end of a process to the report of its parent, which may not wait for it at all."""


class ExitCodes:
    """Exit codes by process id, negative for a signal; the oldest are dropped."""

    def __init__(self) -> None:
        self._codes: dict[int, int] = {}
        self._arrived = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<ExitCodes of {len(self._codes)} processes>"

    def put(self, pid: int, exit_code: int) -> None:
        """Keep how a process has ended."""
        self._codes[pid] = exit_code
        if len(self._codes) > _MOST:
            del self._codes[next(iter(self._codes))]
        self._arrived.unpark_all()

    async def take(self, pid: int, patience: Patience) -> int | None:
        """Return how a process has ended, of which that is about to be reported; None if it is not."""
        with trio.move_on_after(patience.seconds(_REPORT_SECONDS)):
            while pid not in self._codes:
                await self._arrived.park()
        return self._codes.pop(pid, None)

    def forget(self, pid: int) -> None:
        """Forget a process: its id is that of a new one."""
        self._codes.pop(pid, None)
