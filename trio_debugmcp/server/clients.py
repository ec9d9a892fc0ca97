"""The connected clients, and which of them owns each program.

The owner is the client that started the program, or that last called a tool which controls it. When the owner
disconnects while others are connected, the program's sessions continue for `linger` seconds, in which another client in
control becomes the owner by calling such a tool; when no client is connected any more they end at once. Observers never
extend that time. An editor that leaves changes nothing for others: its program becomes an agent's at once, if there is
one.

    clients = Clients(debugger, linger=120)
    nursery.start_soon(clients.run)
    async with clients.connect("control") as client:
        client.take_control(arguments)  # each time it calls a controlling tool
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from math import inf

import trio
from msgspec import Struct

from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.program_at_hand import DebuggedProgram, chosen

LINGER_SECONDS = 120.0
"""Time for an agent's host to be restarted, or a person to take over, before the program is ended."""

PARTING_SECONDS = 1.0
"""For the last notifications of a session to reach the observers, before the server ends as well."""


class ClientsStatistics(Struct, frozen=True):
    """How many clients of each role are connected, whether one is in control, and when a program ends without an owner.

    `ends_at` is in the time of `trio.current_time`, and infinite while nothing is about to end.
    """

    in_control: int
    observing: int
    owned: bool
    ends_at: float


class Clients:
    """The connected clients (`len()` is how many), and the task that ends programs whose owners have disconnected.

    `owner` is the client that last called a tool which controls a program. With `in_timeline=False` the timeline
    records neither that they connect nor that they disconnect.
    """

    def __init__(self, debugger: Debugger, linger: float = LINGER_SECONDS, *, in_timeline: bool = True) -> None:
        self.owner: Client | None = None
        self._in_timeline = in_timeline
        self._debugger = debugger
        self._linger = linger
        self._clients: dict[Client, None] = {}
        self._numbers = count(1)
        self._changed = trio.Event()

    def __len__(self) -> int:
        return len(self._clients)

    def __repr__(self) -> str:
        now = self.statistics()
        return f"<Clients: {now.in_control} in control, {now.observing} observing, owner={self.owner!r}>"

    def statistics(self) -> ClientsStatistics:
        """Return who is connected at this moment."""
        in_control = sum(client.role == "control" for client in self._clients)
        return ClientsStatistics(
            in_control=in_control,
            observing=len(self) - in_control,
            owned=self.owner is not None,
            ends_at=self._end_at(),
        )

    @asynccontextmanager
    async def connect(self, role: Role, *, is_editor: bool = False) -> AsyncIterator[Client]:
        """Count a client as connected for the length of the block."""
        client = Client(
            role, next(self._numbers), self._take_control, in_timeline=self._in_timeline, is_editor=is_editor
        )
        self._clients[client] = None
        self.changed()
        try:
            yield client
        finally:
            del self._clients[client]
            self._debugger.breakpoints.release(client)
            if self.owner is client:
                self.owner = None
            # A client that never owned a program, or owned it before another took over, leaves it alone.
            for program in self._debugger.programs.living():
                if program.owner is client:
                    # A person who holds it only looks at it, perhaps, and must not lose it.
                    program.owner = self._heir(of_editor=client.is_editor)
                    program.orphaned_at = trio.current_time() if program.owner is None else inf
            self.changed()

    def _take_control(self, client: Client, arguments: Mapping[str, object]) -> None:
        named = arguments.get("session_id")
        self.owner = client
        if not arguments.get("new_session"):
            self.give(client, named if isinstance(named, str) else None)
        self.changed()

    def give(self, client: Client, session_id: str | None = None) -> None:
        """Make a client the owner of a program, by any of its sessions; default: of that in focus."""
        wanted = session_id or self._debugger.state.focus
        program = None if wanted is None else self._debugger.programs.of(wanted)
        if program is not None:
            program.owner, program.orphaned_at = client, inf

    def _heir(self, *, of_editor: bool) -> Client | None:
        """Return whose a program is from now on: of the person who holds it; after an editor, of the oldest agent."""
        people = self._debugger.state.people
        holder = None if people.hold is None else people.party(people.hold.party)
        for parties in (() if holder is None else (holder,), people.agents if of_editor else ()):
            numbers = {connection for party in parties for connection in party.connections}
            for client in self._clients:  # in the order in which they have connected
                if client.number in numbers:
                    return client
        return None

    def changed(self) -> None:
        """Wake the waiting tasks: a client has connected, disconnected, or taken control."""
        # An event cannot be cleared: the waiting tasks hold this one, the next wait gets a new one.
        self._changed.set()
        self._changed = trio.Event()

    async def run(self) -> None:
        """End each program whose owner has disconnected, when its time is up. Runs until cancelled."""
        while True:
            changed = self._changed
            with trio.CancelScope(deadline=self._end_at()) as waiting:
                await changed.wait()
            if waiting.cancelled_caught:
                async with trio.open_nursery() as nursery:
                    for program in self._due():
                        # Reset before the end, which takes time: an owner that disconnects meanwhile sets it again.
                        program.orphaned_at = inf
                        nursery.start_soon(self._end, program)

    async def wait_dispensable(self) -> None:
        """Wait until no client in control is connected, and no observer either for longer than `linger`."""
        parting = self._debugger.patience.seconds(PARTING_SECONDS)
        end = trio.current_time() + self._linger + parting
        while self._clients:
            in_control = any(client.role == "control" for client in self._clients)
            with trio.CancelScope(deadline=inf if in_control else end) as waiting:
                await self._changed.wait()
            if waiting.cancelled_caught:
                return
            if in_control:  # the observers' time starts when the last client in control has disconnected
                end = trio.current_time() + self._linger + parting

    def _end_at(self) -> float:
        return min((self._ends(each) for each in self._debugger.programs.living()), default=inf)

    def _ends(self, program: DebuggedProgram) -> float:
        return program.orphaned_at + (self._linger if self._clients else 0)

    def _due(self) -> list[DebuggedProgram]:
        now = trio.current_time()
        return [each for each in self._debugger.programs.living() if self._ends(each) <= now]

    async def _end(self, program: DebuggedProgram) -> None:
        with chosen(program.id):
            session = self._debugger.root_session()
        if session is not None:
            await self._debugger.sessions.end(
                session, terminate=None, reason="the client that used it has disconnected"
            )
