"""`Door`: a listening socket for programs whose debugger dials in to us, and who is let in.

    door = Door(nursery, deliver)
    address = await door.listen("127.0.0.1", 0)     # the first call opens it
    ...                                             # deliver(caller) is called for each that knows the token

Who dials in is asked for the token first, and for its process id and its parent's (`caller`). A stranger is
disconnected, and a bounded number of callers is at the door at once: then the next one waits until the oldest has had
its time.
"""

import errno
import logging
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import trio

from trio_debugmcp.dap.door_tls import DoorTls, NotTls, answered, secured
from trio_debugmcp.dap.incoming_connection import (
    IncomingConnection,
    IsRelay,
    WantsEngine,
    WritesRecords,
    WrongToken,
    admitted,
    release,
)
from trio_debugmcp.dap.records import RecordTakers
from trio_debugmcp.descriptors import open_files
from trio_debugmcp.engine import FETCHES
from trio_debugmcp.engine.fetched import fetched_code, refusing_code
from trio_debugmcp.errors import AdapterGone, ProtocolViolation
from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.sparse_log import SparseLog

log = logging.getLogger(__name__)

ADMISSION_SECONDS = 15.0
"""For a caller to show the token and say who it is. pydevd takes milliseconds, and longer if fifty of them start."""

MAX_AT_THE_DOOR = 256
"""Connections that have not shown the token yet: a hundred workers may start at once, strangers may knock.

Where few descriptors may be open it is an eighth of them.
"""

CROWDED_SECONDS = 1.0
"""For a caller to be admitted while others wait for its place."""

FETCH_SECONDS = 60.0
"""For a program that has shown the token to read the engine. Of a hundred that start on one machine each gets slow."""

MAX_FETCH_BYTES = 1024
"""What a program sends that fetches the engine: a greeting and the token, in one line."""

TOKEN_BYTES = 24
"""Random bytes in the token."""

_FULL = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_FULL_SECONDS = 0.1
"""Until the next attempt when this machine has no descriptor or memory for another connection."""


class ListenerAddress(NamedTuple):
    """Where programs dial in, and the token that they must know."""

    host: str
    port: int
    token: str

    def __str__(self) -> str:
        """Without the token."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


Deliver = Callable[[IncomingConnection], None]
"""Called with a caller that knows the token; from then on it is the callee's."""

Refused = Callable[[trio.abc.Stream, str], None]
"""Called with the connection of one that was not let in, and why."""

TakeRelay = Callable[[trio.abc.Stream, bytes], None]
"""Called with the connection of a relay that knows the token, and what it has sent beyond that."""


def new_token() -> str:
    """Make a random token."""
    return secrets.token_urlsafe(TOKEN_BYTES)


class Door:
    """A listening socket for programs that dial in, and its token.

    With `refused`, a program that dials in with another token is released: it is a worker of an earlier time, which
    would wait for ever. Without, it is only disconnected: this server starts all programs that know where it listens.
    With `tls`, who dials in speaks TLS, and one that does not gets the reason.
    """

    def __init__(
        self,
        nursery: trio.Nursery,
        deliver: Deliver,
        refused: Refused | None = None,
        *,
        token: str | None = None,
        records: RecordTakers | None = None,
        patience: Patience = USUAL,
        tls: DoorTls | None = None,
        relays: TakeRelay | None = None,
    ) -> None:
        self._relays = relays
        self.token = token or new_token()
        self._tls = tls
        self._nursery = nursery
        self._deliver = deliver
        self._refused = refused
        self._records = records or RecordTakers()
        self._patience = patience
        self._address: ListenerAddress | None = None
        self._opening, self._fetching = trio.Lock(), trio.Lock()
        self._fetched = b""
        self._at_the_door: dict[trio.CancelScope, float] = {}
        self._left_the_door = trio.lowlevel.ParkingLot()
        self._max_at_the_door = min(MAX_AT_THE_DOOR, max(4, open_files() // 8))
        self._log = SparseLog(log)

    def __repr__(self) -> str:
        return f"<Door {self.place} at_the_door={len(self._at_the_door)}>"

    @property
    def place(self) -> str:
        """Where it listens, in words."""
        return "closed" if self._address is None else str(self._address)

    @property
    def at_the_door(self) -> int:
        """How many connections have not shown the token yet."""
        return len(self._at_the_door)

    async def listen(self, host: str = "127.0.0.1", port: int = 0) -> ListenerAddress:
        """Listen, from the first call on, and return where.

        Raises:
            OSError: this machine does not give that address.
        """
        async with self._opening:
            if self._address is None:
                [listener, *others] = await trio.open_tcp_listeners(port, host=host)
                bound: int = listener.socket.getsockname()[1]
                self._address = ListenerAddress(host, bound, self.token)
                self._nursery.start_soon(self._accept, listener)
                for other in others:  # a name with several addresses; with port 0 their ports differ, so one is enough
                    if port:
                        self._nursery.start_soon(self._accept, other)
                    else:
                        await other.aclose()
        return self._address

    def _place(self) -> trio.CancelScope:
        """Count one more connection at the door."""
        now = trio.current_time()
        place = trio.CancelScope(deadline=now + self._patience.seconds(ADMISSION_SECONDS))
        self._at_the_door[place] = now
        return place

    async def admit(self, stream: trio.abc.Stream, place: trio.CancelScope | None = None) -> None:
        """Ask who has connected on this stream; hand it over or close it. `place`: where it is counted already.

        One that had no time to say so is released, as pydevd would wait for that for ever.
        """
        caller = None
        taken = was_interrupted = False
        with place or self._place() as scope:
            try:
                if self._tls is not None:
                    stream = await secured(stream, self._tls, self._patience)
                caller = await admitted(stream, self.token)
            except WritesRecords as other:
                taken = await self._records.take(stream, other.received, self.token)
            except WantsEngine as other:
                await self._hand_out(stream, other.received, scope)
            except IsRelay as other:
                taken = await self._take_relay(stream, other.received)
            except (trio.BrokenResourceError, trio.ClosedResourceError, ProtocolViolation, AdapterGone) as error:
                await self._turn_away(stream, error)
            except trio.Cancelled:  # its time is over, others wait, or the door closes
                was_interrupted = True
                if scope.cancel_called and self._refused is not None:
                    self._refused(stream, "it did not say in time who it is")
                raise
            finally:
                self._leave(scope)
                if was_interrupted and self._tls is None:  # pydevd speaks none
                    await release(stream, self._patience)  # noqa: ASYNC102 (it is shielded, and bounded)
                elif caller is None and not taken:
                    await trio.aclose_forcefully(stream)
        if caller is not None:
            self._deliver(caller)

    def _leave(self, place: trio.CancelScope) -> None:
        self._at_the_door.pop(place, None)
        self._left_the_door.unpark_all()

    async def _take_relay(self, stream: trio.abc.Stream, received: bytes) -> bool:
        """Hand a relay over that knows the token; return whether it was."""
        try:
            rest = await answered(stream, received, self.token, "" if self._tls is None else self._tls.pin)
        except (trio.BrokenResourceError, trio.ClosedResourceError, AdapterGone) as error:
            await self._turn_away(stream, error)
            return False
        if self._relays is not None:
            self._relays(stream, rest)
        return self._relays is not None

    async def _turn_away(self, stream: trio.abc.Stream, error: Exception) -> None:
        """Report who is not let in; let the program run on that has an old token, or that cannot speak TLS."""
        self._log.log(logging.INFO, "a stranger at the door for programs: %s", error)
        if self._refused is None:
            return
        self._refused(stream, str(error) or "the connection broke")
        if isinstance(error, NotTls) and error.begins.startswith(FETCHES):
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await stream.send_all(refusing_code(str(error)))
        elif isinstance(error, WrongToken | NotTls):
            await release(stream, self._patience)

    async def _hand_out(self, stream: trio.abc.Stream, received: bytes, place: trio.CancelScope) -> None:
        """Send the engine to a program that fetches it with the token; to others nothing, so that they run on.

        Once it has shown the token it needs no place: else others that wait there would have it cut off.
        """
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while b"\n" not in received and len(received) < MAX_FETCH_BYTES:
                data = bytes(await stream.receive_some(MAX_FETCH_BYTES))
                if not data:
                    return
                received += data
            shown = received.partition(b"\n")[0].removeprefix(FETCHES)
            if secrets.compare_digest(shown, self.token.encode()):
                self._leave(place)
                place.deadline = trio.current_time() + self._patience.seconds(FETCH_SECONDS)
                try:
                    await stream.send_all(await self._engine())
                except trio.Cancelled:
                    if place.cancel_called and self._refused is not None:
                        self._refused(stream, "it did not read the engine in time")
                    raise
            elif self._refused is not None:
                self._refused(stream, "it does not know the token")

    async def _engine(self) -> bytes:
        """Return what is sent to those who fetch the engine: made once, as a thousand may come together."""
        async with self._fetching:
            if not self._fetched:
                pin = "" if self._tls is None else self._tls.pin
                self._fetched = await trio.to_thread.run_sync(fetched_code, self.token, pin)
        return self._fetched

    async def _accept(self, listener: trio.SocketListener) -> None:
        async with listener:
            while True:
                await self._wait_for_room()
                try:
                    stream = await listener.accept()
                except OSError as error:
                    if error.errno not in _FULL:
                        raise
                    self._log.log(logging.WARNING, "a program cannot dial in: %s", error)
                    await trio.sleep(_FULL_SECONDS)
                    continue
                # It has its place before the next one is looked for, which would find that one free.
                self._nursery.start_soon(self.admit, stream, self._place())

    async def _wait_for_room(self) -> None:
        """Wait for a place at the door; the oldest caller loses its own once it has had the time to answer.

        Meanwhile connections wait in the system's queue, so a crowd of strangers delays programs, and loses none.
        """
        while len(self._at_the_door) >= self._max_at_the_door:
            oldest, since = next(iter(self._at_the_door.items()))
            with trio.move_on_at(since + self._patience.seconds(CROWDED_SECONDS)) as limit:
                await self._left_the_door.park()
            if limit.cancelled_caught:
                self._at_the_door.pop(oldest, None)
                oldest.cancel(reason="others wait at the door")
