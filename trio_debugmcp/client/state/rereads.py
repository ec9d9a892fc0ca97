"""Reading subscribed resources again when they change: `auto_reread`.

Owns which URIs are out of date and which are being read.

Per URI one read at a time and, however many updates come meanwhile, one more after it; over all URIs a few at
once.
"""

from collections.abc import Awaitable, Callable

import trio

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.connection.connection import ClientConnection
from trio_debugmcp.client.events import ErrorEvent
from trio_debugmcp.client.state.lists import fetch_errors

READS_AT_ONCE = 4
"""Requests in flight; the user's own requests should not queue behind ours."""


class Rereads:
    """See the module's docstring.

    Args:
        read: reads one URI into the cache.
    """

    def __init__(self, read: Callable[[ClientConnection, str], Awaitable[None]], bus: EventBus) -> None:
        self._read = read
        self._bus = bus
        self._dirty: dict[str, None] = {}  # a set that keeps its order
        self._news = trio.lowlevel.ParkingLot()

    def want(self, uri: str) -> None:
        """`uri` is out of date. Never waits."""
        self._dirty[uri] = None
        self._news.unpark_all()

    async def run(self, connection: ClientConnection) -> None:
        """Read what is out of date until cancelled, at the end of the connection."""
        limiter = trio.CapacityLimiter(READS_AT_ONCE)
        busy: set[str] = set()

        async def read(uri: str) -> None:
            async with limiter:
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
        except fetch_errors() as error:
            self._bus.publish(ErrorEvent(message=f"reading {uri} again failed: {error}", error=error))
