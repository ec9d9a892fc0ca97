"""Who is connected, and who answers for the debug session.

Whoever called a tool that controls the program last answers for the session. When that client leaves and others are
connected, the session goes on for `linger` seconds, in which another client in control may take it over by calling
such a tool; when nobody is connected any more it ends at once. Clients that only observe never keep it for longer.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf

import trio

from trio_debugmcp.server.access import Role
from trio_debugmcp.session.debugger import Debugger

LINGER_SECONDS = 120.0
"""Time for an agent's host to be restarted, or a person to take over, before the program is ended."""

PARTING_SECONDS = 1.0
"""For the news of the session's end to reach the observers, before the server ends as well."""


class Client:
    """A connected client. Made by `Clients.connect`."""

    def __init__(self, role: Role, clients: "Clients", *, noted: bool = True) -> None:
        self.role = role
        self.noted = noted
        self._clients = clients

    def take_control(self) -> None:
        """From now on this client answers for the session: it uses it."""
        self._clients.owner = self
        self._clients.changed()


class Clients:
    """The list of clients, and the task that ends a session nobody answers for.

    `noted`: the timeline tells of them.
    """

    def __init__(self, debugger: Debugger, linger: float = LINGER_SECONDS, *, noted: bool = True) -> None:
        self._noted = noted
        self.owner: Client | None = None
        self._debugger = debugger
        self._linger = linger
        self._clients: dict[Client, None] = {}
        self._orphaned_since = inf
        self._changed = trio.Event()

    def __len__(self) -> int:
        return len(self._clients)

    @asynccontextmanager
    async def connect(self, role: Role) -> AsyncIterator[Client]:
        """Be connected for the length of the block."""
        client = Client(role, self, noted=self._noted)
        self._clients[client] = None
        self.changed()
        try:
            yield client
        finally:
            del self._clients[client]
            if self.owner is client:
                self.owner = None
                self._orphaned_since = trio.current_time()
            self.changed()

    def changed(self) -> None:
        """Somebody has come, left, or taken control."""
        self._changed.set()
        self._changed = trio.Event()

    async def run(self) -> None:
        """End the session when nobody answers for it any more. Runs until cancelled."""
        while True:
            changed = self._changed
            with trio.CancelScope(deadline=self._end_at()) as waiting:
                await changed.wait()
            if waiting.cancelled_caught:
                self._orphaned_since = inf
                await self._end_session()

    async def wait_dispensable(self) -> None:
        """Wait until no client in control is connected, and no observer either for longer than `linger`."""
        patience = trio.current_time() + self._linger + PARTING_SECONDS
        while self._clients:
            in_control = any(client.role == "control" for client in self._clients)
            with trio.CancelScope(deadline=inf if in_control else patience) as waiting:
                await self._changed.wait()
            if waiting.cancelled_caught:
                return
            if in_control:
                patience = trio.current_time() + self._linger + PARTING_SECONDS

    def _end_at(self) -> float:
        if self.owner is not None or self._orphaned_since == inf:
            return inf
        return self._orphaned_since + (self._linger if self._clients else 0)

    async def _end_session(self) -> None:
        session = self._debugger.root_session()
        if session is not None:
            await self._debugger.end(session, terminate=None, reason="the client that used it has left")
