"""`DialIns`: the door for programs whose debugger dials in to us (pydevd with `--connect`), one per server.

    async with open_dial_ins() as dial_ins:
        address = await dial_ins.listen()               # loopback, a free port; the first call opens it
        ...                                             # start `python -m debugpy --connect HOST:PORT …`
        caller = await dial_ins.take(pid)               # DAP, straight to the debugger inside that process

Who dials in is asked for the token first, and for its process id and its parent's (`caller`). A caller that a launch or
an attachment waits for is handed to it; another one is a child: the session that owns its nearest known ancestor is
asked to announce it. One that is not taken is released, so that its process runs on. Who is let in at all is decided at
the `door`. Guests, who have come in at another door (`listening`), wait here too until their sessions take them.
"""

import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from itertools import count
from typing import NamedTuple

import trio
from msgspec import Struct

from trio_debugmcp.dap.dial_in_owners import DialInOwners
from trio_debugmcp.dap.exit_codes import ExitCodes
from trio_debugmcp.dap.incoming_connection import MAX_PID, IncomingConnection, release
from trio_debugmcp.dap.listener import Door, ListenerAddress
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.records import RecordTakers
from trio_debugmcp.engine.carrier import Carrier, made_carrier
from trio_debugmcp.patience import USUAL, Patience

log = logging.getLogger(__name__)

TAKE_SECONDS = 30.0
"""For an announced child to be taken by its session; it takes milliseconds, unless the session never starts."""


class DialInStatistics(Struct, frozen=True):
    """What is in progress at the door."""

    at_the_door: int
    """Connections that have not shown the token yet."""

    waiting: int
    """Callers that were admitted, and are not taken yet."""

    expected: int
    """Processes that a launch or an attachment waits for."""

    owners: int
    """Processes whose children are announced."""


class _Waiting(NamedTuple):
    caller: IncomingConnection
    taken: trio.CancelScope


class DialIns:
    """The listening socket, and the callers that wait to be taken.

    Made by `open_dial_ins`.

    Attributes:
        owners: whose the programs are that dial in.
        nursery: for what is to run until the server ends.
        patience: with programs that dial in.
        exit_codes: of processes that their parents have waited for.
    """

    def __init__(self, nursery: trio.Nursery, patience: Patience = USUAL, watchdog: Watchdog | None = None) -> None:
        self.patience = patience
        self._watchdog = watchdog
        self.exit_codes = ExitCodes()
        self.records = RecordTakers()
        self.door = Door(nursery, self._deliver, records=self.records, patience=patience)
        self.nursery = nursery
        self._waiting: dict[int, _Waiting] = {}
        self._arrived = trio.lowlevel.ParkingLot()
        self._expected: Counter[int] = Counter()
        self.owners = DialInOwners()
        self._guest_numbers = count(MAX_PID + 1)
        self._carrier: Carrier | None = None
        self._resources = ExitStack()

    def __repr__(self) -> str:
        return f"<DialIns {self.door.place} waiting={list(self._waiting)} owners={self.owners!r}>"

    def statistics(self) -> DialInStatistics:
        """Count what is in progress, as Trio's channels do."""
        return DialInStatistics(self.door.at_the_door, len(self._waiting), self._expected.total(), len(self.owners))

    @property
    def token(self) -> str:
        """What a program must know to be admitted."""
        return self.door.token

    async def listen(self) -> ListenerAddress:
        """Listen, from the first call on, and return where.

        Raises:
            OSError: this machine gives no port.
        """
        return await self.door.listen()

    async def carrier(self) -> Carrier:
        """Return the directory by which programs get an engine that dials in here. The first call makes it.

        Raises:
            OSError: this machine gives no port, or no directory.
            AdapterGone: the engine cannot be written there.
        """
        address = await self.listen()
        if self._carrier is None:
            self._carrier = self._resources.enter_context(made_carrier(address.host, address.port, address.token))
            if self._watchdog is not None:
                self._resources.enter_context(self._watchdog.watching_directory(self._carrier.directory))
        return self._carrier

    # --- Taking -------------------------------------------------------------------------------------------------------

    async def take(self, pid: int) -> IncomingConnection:
        """Wait until the process with that id has dialed in, and take it; or the guest with that number.

        The caller bounds the wait.
        """
        self._expected[pid] += 1
        try:
            while pid not in self._waiting:
                await self._arrived.park()
        finally:
            self._expected[pid] -= 1
            if not self._expected[pid]:
                del self._expected[pid]
        caller, taken = self._waiting.pop(pid)
        taken.cancel(reason="it was taken")
        return caller

    def is_waiting(self, pid: int) -> bool:
        """Whether that process, or guest, has dialed in and can be taken at once."""
        return pid in self._waiting

    def dismiss(self, pid: int) -> None:
        """Release a caller that waits and will not be taken."""
        if pid in self._waiting:
            caller, taken = self._waiting.pop(pid)
            taken.cancel(reason="it was dismissed")
            self.release(caller)

    def release(self, caller: IncomingConnection) -> None:
        """Let the process of a caller run on without a debugger; the connection is closed in the background."""
        self.nursery.start_soon(release, caller.stream, self.patience)

    def receive_guest(self, caller: IncomingConnection) -> int:
        """Have a guest wait to be taken, and return the number to take it by.

        Process ids of other machines mean nothing here, so guests are numbered above all of them.
        """
        number = next(self._guest_numbers)
        self._wait(number, caller)
        return number

    # --- Who has dialed in --------------------------------------------------------------------------------------------

    def _deliver(self, caller: IncomingConnection) -> None:
        self.dismiss(caller.pid)  # dialed in twice before it was taken: the later connection is the living one
        expected = caller.pid in self._expected or self.owners.is_launched(caller)
        owner = None if expected else self.owners.owner_of(caller)
        if owner is None and not expected:
            log.info("%r dialed in, and no session waits for it", caller)
            self.release(caller)
            return
        self._wait(caller.pid, caller)
        if owner is not None:
            owner(caller)

    def _wait(self, number: int, caller: IncomingConnection) -> None:
        taken = trio.CancelScope(deadline=trio.current_time() + self.patience.seconds(TAKE_SECONDS))
        self._waiting[number] = _Waiting(caller, taken)
        self.nursery.start_soon(self._expire, number, caller, taken)
        self._arrived.unpark_all()

    async def _expire(self, number: int, caller: IncomingConnection, taken: trio.CancelScope) -> None:
        """Release a caller that is not taken in time."""
        with taken:
            await trio.sleep_forever()
        waiting = self._waiting.get(number)
        if waiting is not None and waiting.caller is caller:
            self.dismiss(number)

    def close(self) -> None:
        """Release every caller that waits."""
        for pid in list(self._waiting):
            self.dismiss(pid)
        self._resources.close()


@asynccontextmanager
async def open_dial_ins(patience: Patience = USUAL, watchdog: Watchdog | None = None) -> AsyncIterator[DialIns]:
    """Run the door for the length of the block. It listens from the first `listen` on.

    Resource handling: at the end nothing listens, and callers that were not taken have been released. The carrier's
    directory is removed, by the watchdog if this process is killed.
    """
    async with trio.open_nursery() as nursery:
        dial_ins = DialIns(nursery, patience, watchdog)
        try:
            yield dial_ins
        finally:
            dial_ins.close()
            nursery.cancel_scope.cancel(reason="no more programs dial in")
