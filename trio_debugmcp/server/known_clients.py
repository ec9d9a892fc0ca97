"""The clients that have introduced themselves on one connection: in the timeline, and among those who are present.

    async with open_known_clients(debugger, client, nursery) as clients:
        known = await clients.introduce("an agent", "1.0")
        with known.serving(): ...

Imports no SDK: calls of shells are served without it.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import inf

import trio

from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.people.presence import Presence
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.merger import MERGE_SECONDS, Merger
from trio_debugmcp.state.changes import Happened, Happening
from trio_debugmcp.state.timeline_events import client_joined, client_left

MAX_NAMES = 100
"""Clients per connection that the timeline records. Over HTTP, all clients of the modern era share a connection."""

ABSENT_SECONDS = 600.0
"""A client with no request or stream for this long counts as disconnected: as long as an HTTP session may be idle."""


class KnownClient:
    """A client that has introduced itself. `absence` is cancelled when it has sent no request for long enough."""

    def __init__(self) -> None:
        self.absence = trio.CancelScope()
        self._requests = 0

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Count a request of this client as being served; it is not absent meanwhile."""
        self._requests += 1
        self.absence.deadline = inf
        try:
            yield
        finally:
            self._requests -= 1
            if not self._requests:
                self.absence.deadline = trio.current_time() + ABSENT_SECONDS


class KnownClients:
    """The clients of one connection, in whose nursery it runs: usually one, which disconnects with the connection.

    With `merger=None` the timeline records none. `presence`: records those in control as agents.
    """

    def __init__(
        self, merger: Merger | None, role: Role, nursery: trio.Nursery, presence: Presence | None = None
    ) -> None:
        self._merger = merger
        self._presence = presence
        self._role = role
        self._nursery = nursery
        self._known: dict[tuple[str, str], KnownClient] = {}

    def __repr__(self) -> str:
        return f"<KnownClients role={self._role!r}: {', '.join(name for name, _ in self._known) or 'none yet'}>"

    async def introduce(self, name: str, version: str, *, may_be_absent: bool = False) -> KnownClient | None:
        """Record a client that is new; None if there are too many.

        `may_be_absent`: it counts as disconnected when it has sent no request for `ABSENT_SECONDS`.
        """
        known = self._known.get((name, version))
        if known is None and len(self._known) < MAX_NAMES:
            known = self._known[name, version] = KnownClient()
            if may_be_absent:
                self._nursery.start_soon(self._wait_absence, name, version, known)
            await self._record(client_joined(name, version, self._role))
            if self._presence is not None:
                await self._presence.arrived(name)
        return known

    async def disconnect(self) -> None:
        """Record that every client of this connection has disconnected. The caller bounds and shields this."""
        for name, version in self._known:
            await self._left(name, version)

    async def _wait_absence(self, name: str, version: str, known: KnownClient) -> None:
        with known.absence:
            await trio.sleep_forever()
        # Deleted first: a request that arrives while this is recorded introduces the client again.
        del self._known[name, version]
        await self._left(name, version)

    async def _left(self, name: str, version: str) -> None:
        await self._record(client_left(name, version, self._role))
        if self._presence is not None:
            await self._presence.left(name)

    async def _record(self, what: Happening) -> None:
        if self._merger is not None:
            await self._merger.merge(Happened(what))


@asynccontextmanager
async def open_known_clients(debugger: Debugger, client: Client, nursery: trio.Nursery) -> AsyncIterator[KnownClients]:
    """Make them for a connection. At the end of the block the timeline records that all have disconnected."""
    merger = debugger.merger if client.in_timeline else None
    presence = Presence(debugger, client) if client.role == "control" and client.in_timeline else None
    clients = KnownClients(merger, client.role, nursery, presence)
    try:
        yield clients
    finally:
        # Shielded: this block often ends by cancellation, and the timeline must still record the end.
        with trio.move_on_after(MERGE_SECONDS, shield=True):
            await clients.disconnect()
