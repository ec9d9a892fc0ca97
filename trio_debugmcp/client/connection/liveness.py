"""Whether a server that is reached over HTTP still has our session, found out by asking it.

In the handshake era nothing shows that such a server was restarted: its sessions are gone, each server refuses requests
in a way of its own (404, 400, 401), and without a request nothing happens at all. So it is sent a `ping` when there is
reason to doubt, and after a silence; a connection that it does not know any more is ended.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

import trio
from mcp import MCPError

from trio_debugmcp.client.connection.connection_end import ACCESS_DENIED
from trio_debugmcp.client.connection.http_client import HttpWatch

ANSWER_SECONDS = 20.0
"""For the answer to a ping, as on a WebSocket: a server that computes may be silent for a while."""

SECOND_LOOK_SECONDS = 2.0
"""Before the second ping, if the first was answered by a gateway whose server is only just starting."""

_FORGOTTEN = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.GONE, *ACCESS_DENIED)
"""Refusals of a ping that leave no doubt. Servers differ in how they say that a session is unknown."""


class Liveness:
    """Asks the server whether it still has the session; see the module's docstring.

    Args:
        watch: on the HTTP requests of the connection.
        ping: makes one `ping`.
        heard: returns when the last message arrived.
        end: ends the connection, with a reason, and whether it is that access is denied.
        heartbeat: seconds of silence until it asks, None never to ask because of a silence.
    """

    def __init__(
        self,
        watch: HttpWatch,
        *,
        ping: Callable[[], Awaitable[object]],
        heard: Callable[[], float],
        end: Callable[[str, bool], None],
        heartbeat: float | None,
    ) -> None:
        self._watch = watch
        self._ping = ping
        self._heard = heard
        self._end = end
        self._heartbeat = float("inf") if heartbeat is None else heartbeat

    async def run(self) -> None:
        """Ask whenever there is a reason to, until it has ended the connection, or is cancelled at its end."""
        seen = 0
        while True:
            with trio.move_on_at(self._heard() + self._heartbeat) as silence:
                seen = await self._watch.doubt(seen)
            if silence.cancelled_caught and trio.current_time() < self._heard() + self._heartbeat:
                continue  # something has arrived meanwhile
            if not await self.check():
                return

    async def check(self) -> bool:
        """Ask now, and return whether the server has the session; the connection is ended if it has not."""
        if self._watch.stream_lost:
            self._end("the stream of notifications broke, and could not be opened again", False)
            return False
        for last in (False, True):
            refused = self._watch.refused
            with trio.move_on_after(ANSWER_SECONDS):
                try:
                    await self._ping()
                except MCPError:
                    if self._watch.refused == refused:
                        return True  # an error is an answer, too
                else:
                    return True
            refusal = self._watch.last_refusal
            if self._watch.refused == refused or refusal is None:
                self._end(f"the server did not answer a ping within {ANSWER_SECONDS:g} s", False)
                return False
            if last or refusal.status in _FORGOTTEN:
                denied = refusal.status in ACCESS_DENIED
                what = "denies access" if denied else "does not know the session any more"
                self._end(f"the server {what}: {refusal}", denied)
                return False
            await trio.sleep(SECOND_LOOK_SECONDS)
        raise AssertionError("unreachable: the second look decides")
