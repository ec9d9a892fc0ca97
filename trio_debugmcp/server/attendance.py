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


class Visitor:
    """A connected client. Made by `Attendance.visit`."""

    def __init__(self, role: Role, attendance: "Attendance", *, noted: bool = True) -> None:
        self.role = role
        self.noted = noted
        self._attendance = attendance

    def take_control(self) -> None:
        """From now on this client answers for the session: it uses it."""
        self._attendance.answerable = self
        self._attendance.changed()


class Attendance:
    """The list of visitors, and the task that ends a session nobody answers for.

    `noted`: the timeline tells of them.
    """

    def __init__(self, debugger: Debugger, linger: float = LINGER_SECONDS, *, noted: bool = True) -> None:
        self._noted = noted
        self.answerable: Visitor | None = None
        self._debugger = debugger
        self._linger = linger
        self._visitors: dict[Visitor, None] = {}
        self._orphaned_since = inf
        self._changed = trio.Event()

    @asynccontextmanager
    async def visit(self, role: Role) -> AsyncIterator[Visitor]:
        """Be connected for the length of the block."""
        visitor = Visitor(role, self, noted=self._noted)
        self._visitors[visitor] = None
        self.changed()
        try:
            yield visitor
        finally:
            del self._visitors[visitor]
            if self.answerable is visitor:
                self.answerable = None
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
        while self._visitors:
            in_control = any(visitor.role == "control" for visitor in self._visitors)
            with trio.CancelScope(deadline=inf if in_control else patience) as waiting:
                await self._changed.wait()
            if waiting.cancelled_caught:
                return
            if in_control:
                patience = trio.current_time() + self._linger + PARTING_SECONDS

    def _end_at(self) -> float:
        if self.answerable is not None or self._orphaned_since == inf:
            return inf
        return self._orphaned_since + (self._linger if self._visitors else 0)

    async def _end_session(self) -> None:
        session = self._debugger.root_session()
        if session is not None:
            await self._debugger.end(session, terminate=None, reason="the client that used it has left")
