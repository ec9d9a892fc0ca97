"""MCP on a Unix socket that only this user can reach, for the server that is kept for a project's shells.

    with bound(place, record) as listener:
        calls = KeptCalls(serve_connection, 1800, is_used)
        await calls.serve(listener)             # returns when no call has come for so long

All of them are one client, who comes back with every call. When a connection ends, what it asked for is cancelled.
"""

import logging
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Any

import trio

from trio_debugmcp.kept.place import Place, PlaceRefused, hold, is_at, remove

log = logging.getLogger(__name__)

BACKLOG = 64
"""Connections that are accepted a little later."""

MAX_CALLS = 64
"""That are served at the same time; further ones wait for one to end."""

ServeConnection = Callable[[trio.abc.Stream], Awaitable[None]]
"""Serves MCP on a stream, which is closed afterwards."""


class AlreadyKept(PlaceRefused):
    """Another server is kept for this project."""


@contextmanager
def bound(place: Place, record: Mapping[str, Any]) -> Iterator[trio.SocketListener]:
    """Listen at a place for the length of the block, with a record there that says what listens.

    At the end socket and record are gone; with an orderly end all of the place.

    Raises:
        AlreadyKept: a server is there.
        OSError: the socket cannot be made.
        PlaceRefused: the place cannot be used.
    """
    file = hold(place, place.serving_lock)
    if file is None:
        raise AlreadyKept("failed", _kept_already(place))
    with file:
        is_over = False
        place.clear()  # what a killed server has left
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            place.write_record(record)  # who can connect can read it
            listening.bind(place.socket)
            os.chmod(place.socket, 0o600)
            listening.listen(BACKLOG)
            yield trio.SocketListener(trio.socket.from_stdlib_socket(listening))
            is_over = True
        except BaseException as error:
            is_over = _is_asked(error)
            raise
        finally:
            listening.close()
            if is_at(file, place.serving_lock):  # else the directory was removed, and may be another server's by now
                place.clear()
                if is_over:  # else its log says why
                    remove(place)


def _is_asked(end: BaseException) -> bool:
    """Whether a server ends because it is asked to: nothing but cancellation has come."""
    if isinstance(end, BaseExceptionGroup):
        return end.split(trio.Cancelled)[1] is None
    return isinstance(end, trio.Cancelled)


def _kept_already(place: Place) -> str:
    pid = (place.record() or {}).get("pid")
    by_hand = "" if pid is None else f", or with kill {pid} if that does not find it"  # its socket was removed
    return f"a server is kept for {place.project} already: end it with trio-debugmcp call --end{by_hand}"


class KeptCalls:
    """The connections that are served, and how long ago the last one ended.

    `is_used`: returns whether others use the server, such as a person at the page: meanwhile it is not idle.
    """

    def __init__(
        self, serve_connection: ServeConnection, idle_seconds: float, is_used: Callable[[], bool] = lambda: False
    ) -> None:
        self._serve_connection = serve_connection
        self._idle_seconds = idle_seconds
        self._is_used = is_used
        self._idle = trio.CancelScope(deadline=trio.current_time() + idle_seconds)
        self._running = 0
        self._room = trio.CapacityLimiter(MAX_CALLS)
        self._ended = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<KeptCalls: {self._running} running>"

    async def serve(self, listener: trio.abc.Listener[trio.abc.Stream]) -> None:
        """Serve connections until the last call ended `idle_seconds` ago, and no one else uses the server."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, self._serve, [listener])
            while True:
                with self._idle:
                    await trio.sleep_forever()
                if not self._running and not self._is_used():
                    break
                deadline = inf if self._running else trio.current_time() + self._idle_seconds
                self._idle = trio.CancelScope(deadline=deadline)
            nursery.cancel_scope.cancel(reason="no call has come for a while")

    async def wait_quiet(self) -> None:
        """Wait until no call is being served."""
        while self._running:
            await self._ended.park()

    async def _serve(self, stream: trio.abc.Stream) -> None:
        self._running += 1
        self._idle.deadline = inf
        try:
            async with stream, self._room:
                await self._serve_connection(stream)
        except Exception:  # a bug of ours costs this call, and no other
            log.exception("a call has failed")
        finally:
            self._running -= 1
            self._ended.unpark_all()
            if not self._running:
                self._idle.deadline = trio.current_time() + self._idle_seconds
