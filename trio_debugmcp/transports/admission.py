"""How many connections there may be, before and after the gate has admitted them, on all ports of a server together.

A connection is a stranger until the gate has found a valid token. Strangers have a bound in number and in time of
their own, so they cannot take the descriptors that clients and debug sessions need. When there are too many, the one
that has been here longest is closed for the next, so they cannot keep clients out either: a client shows its token with
its first bytes. Each role has its own bound, so that observers take nothing from clients in control.

    admission = Admission(bounds(open_files()))
    await admission.wait_for_room()  # before a connection is accepted
    await admission.serve(stream, handler)  # handler(stream, visitor) calls visitor.admit("observe") some time
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from math import inf

import trio
from msgspec import Struct

from trio_debugmcp.sparse_log import SparseLog
from trio_debugmcp.transports.connection_tap import Role


class Refused(Exception):
    """The request is refused with that status; the port, or the HTTP application, sends the response."""

    def __init__(self, status: HTTPStatus, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{status.value} {reason}")
        self.status = status
        self.reason = reason
        self.headers = dict(headers or {})


log = logging.getLogger(__name__)

STRANGER_SECONDS = 30.0
"""From the connection until it is admitted, or has been answered. A slow network may take that long for the page."""

CROWDED_SECONDS = 0.25
"""For a stranger to show its token while others wait for its place; over a slow network TLS takes about that long. The
place is taken for that long also if its stranger is refused or leaves at once. So at most 256 strangers are served in a
second, and the processor time that they cost is bounded."""

MAX_STRANGERS = 64
"""Of all ports together. A browser opens six connections for a page."""

MAX_CLIENTS = 1000
"""Connections of one role. Each takes some tens of kilobytes."""


TURN_ROUNDS = 8
"""Rounds of Trio's scheduler between two messages of observers, all connections together. While nothing else is to be
done a round takes microseconds. A step of the agent takes some fifty, so only a few messages come in between."""


class ConnectionBounds(Struct, frozen=True):
    """Connections at the same time, on all ports: of strangers, and of the clients in each role."""

    strangers: int
    control: int
    observe: int

    def of_role(self, role: Role) -> int:
        return self.control if role == "control" else self.observe


def bounds(open_files: int) -> ConnectionBounds:
    """Share out the descriptors of a process: three eighths are left for its debug sessions and everything else."""
    return ConnectionBounds(
        strangers=min(MAX_STRANGERS, max(4, open_files // 8)),
        control=min(MAX_CLIENTS, max(4, open_files // 8)),
        observe=min(MAX_CLIENTS, max(4, open_files * 3 // 8)),
    )


class AdmissionStatistics(Struct, frozen=True):
    """Connections at one moment; `turned_out` is how many strangers had to make room since the start."""

    strangers: int
    control: int
    observe: int
    turned_out: int


class Visitor:
    """One connection. Made by `Admission.serve`."""

    def __init__(self, admission: "Admission") -> None:
        self.role: Role | None = None
        self.scope = trio.CancelScope(deadline=trio.current_time() + STRANGER_SECONDS)
        self.since = trio.current_time()
        self.idle_since: float | None = None
        """Since when it waits for its next request, and may be closed for another one: HTTP allows that."""
        self.refusals = 0
        self.left = False
        self._admission = admission

    def __repr__(self) -> str:
        idle = "" if self.idle_since is None else f" idle since {self.idle_since:g}"
        return f"<Visitor {self.role or 'stranger'}{idle}>"

    def admit(self, role: Role) -> None:
        """Count this connection among the clients of a role: the bounds and the time of strangers apply no more.

        Raises:
            Refused: 503: there are as many connections of that role as there may be.
        """
        if self.role != role:
            self._admission.admit(self, role)
        self.scope.deadline = inf

    async def wait_turn(self) -> None:
        """Wait until its next message may be handled: those of observers one after another, in the order they came."""
        if self.role == "observe":
            async with self._admission.turns:
                for _ in range(TURN_ROUNDS):
                    await trio.lowlevel.checkpoint()


Handler = Callable[[trio.abc.Stream, Visitor], Awaitable[None]]


class Admission:
    """All connections, from their first byte."""

    def __init__(self, limits: ConnectionBounds) -> None:
        self.limits = limits
        self.turns = trio.Lock()
        self._strangers: dict[Visitor, None] = {}
        self._clients: dict[Role, dict[Visitor, None]] = {"control": {}, "observe": {}}
        self._turned_out = 0
        self._admitted = trio.lowlevel.ParkingLot()
        self._log = SparseLog(log)

    def __repr__(self) -> str:
        return f"<Admission: {self.statistics()}>"

    def statistics(self) -> AdmissionStatistics:
        """Count the connections."""
        clients = self._clients
        return AdmissionStatistics(
            sum(not stranger.left for stranger in self._strangers),
            len(clients["control"]),
            len(clients["observe"]),
            self._turned_out,
        )

    async def wait_for_room(self) -> None:
        """Wait until there is a place for a stranger; the oldest one loses its own after `CROWDED_SECONDS`.

        One that only waits for its next request loses it before any other. Meanwhile connections wait in the system's
        queue: unauthenticated peers can delay clients, but not lock them out.
        """
        while self._is_full():
            if (idle := self._idle_stranger()) is not None:
                self._turn_out(idle)
                continue
            oldest = next(iter(self._strangers))
            with trio.move_on_at(oldest.since + CROWDED_SECONDS) as limit:
                await self._admitted.park()
            if limit.cancelled_caught and self._is_full():  # places of strangers that have left come first
                self._turned_out += 1
                self._log.log(logging.WARNING, "a connection without a token is closed: others wait for its place")
                self._turn_out(oldest)

    def _idle_stranger(self) -> Visitor | None:
        """The one that has been here longest of those that wait for their next request and have had their time."""
        until = trio.current_time() - CROWDED_SECONDS
        return next(
            (stranger for stranger in self._strangers if stranger.idle_since is not None and stranger.since <= until),
            None,
        )

    def _turn_out(self, stranger: Visitor) -> None:
        self._strangers.pop(stranger, None)
        stranger.scope.cancel(reason="others wait for its place")

    def _is_full(self) -> bool:
        """Whether all places are taken, once those of strangers are free that have left and have had their time."""
        until = trio.current_time() - CROWDED_SECONDS
        for visitor in [stranger for stranger in self._strangers if stranger.left and stranger.since <= until]:
            del self._strangers[visitor]
        return len(self._strangers) >= self.limits.strangers

    async def serve(self, stream: trio.abc.Stream, handler: Handler) -> None:
        """Serve a connection to its end, or to the end of its time, and close it. An unexpected error is logged."""
        await self.serve_visitor(stream, self.enter(), handler)

    def enter(self) -> Visitor:
        """Count a new connection as a stranger, before the task that serves it runs; see `serve_visitor`."""
        visitor = Visitor(self)
        self._strangers[visitor] = None
        return visitor

    async def serve_visitor(self, stream: trio.abc.Stream, visitor: Visitor, handler: Handler) -> None:
        """Do what `serve` does, for a connection that is counted already."""
        with visitor.scope:
            try:
                await handler(stream, visitor)
            except Exception as error:  # noqa: BLE001 - it ends this connection, and no other
                self._log.log(logging.ERROR, "a connection failed: %r", error, error=error)
            finally:
                try:
                    await trio.aclose_forcefully(stream)
                finally:  # closing raises when the visitor's time is up
                    visitor.left = True
                    self._forget_client(visitor)

    def admit(self, visitor: Visitor, role: Role) -> None:
        """Do what `Visitor.admit` does."""
        clients = self._clients[role]
        if len(clients) >= self.limits.of_role(role):
            idle = [client for client in clients if client.idle_since is not None]
            if not idle:
                raise Refused(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    f"{len(clients)} connections with this token are open, and there may not be more: close some",
                    {"Retry-After": "10"},
                )
            oldest = min(idle, key=lambda client: client.idle_since or 0.0)
            self._forget_client(oldest)  # at once: its task closes it in a moment
            oldest.scope.cancel(reason="another client needs its place")
        self._forget_client(visitor)
        self._strangers.pop(visitor, None)
        self._admitted.unpark()
        visitor.role = role
        clients[visitor] = None
        log.debug("a connection is admitted: %s", role)

    def close(self) -> None:
        """Log what was left out of the log."""
        self._log.flush()

    def _forget_client(self, visitor: Visitor) -> None:
        if visitor.role is not None:
            self._clients[visitor.role].pop(visitor, None)
