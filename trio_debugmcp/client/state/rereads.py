"""Reads subscribed resources again when they change, for the option `auto_reread`.

Owns which URIs are out of date and which are being read. There is one read per URI at a time and, however many updates
arrive during it, one more after it; over all URIs there are a few at once.
"""

from collections.abc import Awaitable, Callable

import trio

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.connection.client_connection import ClientConnection
from trio_debugmcp.client.events import ErrorEvent
from trio_debugmcp.client.state.lists import FETCH_ERRORS

MAX_READS = 4
"""Requests in flight; the user's own requests should not queue behind ours."""


class Rereads:
    """See the module's docstring.

    Args:
        read: reads one URI into the cache.
        bus: where failures are published.
    """

    def __init__(self, read: Callable[[ClientConnection, str], Awaitable[None]], bus: EventBus) -> None:
        self._read = read
        self._bus = bus
        self._dirty: dict[str, None] = {}  # a set that keeps its order
        self._news = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<Rereads: {len(self._dirty)} URIs out of date>"

    def want(self, uri: str) -> None:
        """Mark `uri` as out of date; never waits."""
        self._dirty[uri] = None
        self._news.unpark_all()

    async def run(self, connection: ClientConnection) -> None:
        """Read what is out of date until cancelled, at the end of the connection.

        Error handling: a read that fails is an `error` event; the next update of its URI tries again.
        """
        limiter = trio.CapacityLimiter(MAX_READS)
        busy: set[str] = set()

        async def read(uri: str) -> None:
            async with limiter:
                # Unmarked before the read: an update that arrives during it may not be in its answer.
                while uri in self._dirty:
                    del self._dirty[uri]
                    await self._reread(connection, uri)
                busy.discard(uri)

        async with trio.open_nursery() as nursery:
            while True:
                for uri in self._dirty.keys() - busy:
                    busy.add(uri)
                    nursery.start_soon(read, uri, name=f"reread {uri}")
                await self._news.park()

    async def _reread(self, connection: ClientConnection, uri: str) -> None:
        try:
            await self._read(connection, uri)
        except FETCH_ERRORS as error:
            self._bus.publish(ErrorEvent(message=f"reading {uri} again failed: {error}", error=error))
