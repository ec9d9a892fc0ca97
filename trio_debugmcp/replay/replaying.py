"""`Replay`: a recording that is served again, with the recorded clients that use the server.

The server above is the real one. It starts no process, reads no file of this machine, and lives in recorded time:
adapters and programs do what they did, and so do the recorded clients, unless the caller drives in their place.

    replay = Replay(read_recording("bug.jsonl"))
    async with open_app(Options().replayed(replay)) as app:
        ...
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import trio
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.message import SessionMessage

from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.recording.format import HangUpEntry, NotARecording, Recording, SessionEntry
from trio_debugmcp.replay.playhead import Playhead, settle
from trio_debugmcp.replay.recorded_adapter import ReplayedSession, taped
from trio_debugmcp.replay.recorded_clients import RecordedClients, ReplayedAnswer
from trio_debugmcp.replay.replayed_host import ReplayedHost
from trio_debugmcp.replay.tape import tapes
from trio_debugmcp.transports.connection_tap import ConnectionTap, Role, Serve
from trio_debugmcp.transports.streams import Streams
from trio_debugmcp.transports.tap import Tap, tapped

log = logging.getLogger(__name__)

GREETING_SECONDS = 1.0
"""After the handshake of the first client, for its first request; then the recording is played without one."""

_WISHES = ("resources/", "subscriptions/", "tools/call")
"""Methods, or how they begin, by which a client shows that it is ready for the recording to be played."""


class Replay(ConnectionTap):
    """Plays a recording once.

    Args:
        recording: what to play.
        patience: with the clients, and with the server that plays its part again.
        speed: recorded seconds per second; 0: as fast as possible.
        drive: the clients that connect make the recorded moves themselves; the recorded clients do not connect.
        report: called with a sentence when the recording is over.

    Attributes:
        host: what the server is run on.
        over: everything was played.

    Raises:
        NotARecording: its messages of adapters make no sense.
    """

    def __init__(
        self,
        recording: Recording,
        patience: Patience = USUAL,
        *,
        speed: float = 1.0,
        drive: bool = False,
        report: Callable[[str], None] = log.info,
    ) -> None:
        self.over = False
        self.watch_only = not drive
        self.driven = drive
        self._recording = recording
        self._report = report
        try:
            sessions, self._playhead = _sessions(recording, speed, patience, following=drive)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise NotARecording(f"a message of an adapter in it is not one: {error!r}") from error
        self._clients = RecordedClients(() if drive else recording.entries, self._playhead)
        self.host = ReplayedHost(recording, sessions, self._playhead)
        self._greeted, self._wished = trio.Event(), trio.Event()

    def __repr__(self) -> str:
        return f"<Replay {self._playhead!r} of {self._recording.length:.3f} s{', over' if self.over else ''}>"

    @property
    def answers(self) -> list[ReplayedAnswer]:
        """What the recorded clients were answered, now and in the recording."""
        return self._clients.answers

    # --- Clients ------------------------------------------------------------------------------------------------------

    async def run(self, serve: Serve) -> None:
        """Play the recording when the first client has asked for something, or a little after its handshake."""
        if not self.watch_only:
            self._playhead.begin()
            return
        await self._greeted.wait()
        with trio.move_on_after(self._playhead.patience.seconds(GREETING_SECONDS)):
            await self._wished.wait()
        # The client's request was seen on its way in: its subscription must be made before time begins.
        await settle(self._playhead.patience)
        self._playhead.begin()
        await self._clients.play(serve, self._recording.length, on_end=self._end)

    def linger(self, seconds: float) -> float:
        """Return the recorded server's time, by which the recorded session ended, unless the caller drives."""
        return self._recording.header.linger if self.watch_only else seconds

    def streams(self, streams: Streams, role: Role, transport: str) -> AbstractContextManager[Streams]:
        """Notice the first requests of clients."""
        return nullcontext(tapped(streams, _Noticing(self._notice)))

    def middleware(self, role: Role, transport: str) -> AbstractContextManager[Sequence[ServerMiddleware[Any]]]:
        """Notice the first requests of clients whose streams are the SDK's own."""
        return nullcontext([self._observe])

    async def _observe(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        self._notice(ctx.method)
        return await call_next(ctx)

    def _notice(self, method: str) -> None:
        self._greeted.set()
        if method.startswith(_WISHES):
            self._wished.set()

    def _end(self) -> None:
        self.over = True
        torn = " It was torn off there." if self._recording.torn or not self._recording.complete else ""
        self._report(f"the recording is over, after {self._recording.length:.1f} s.{torn}")


class _Noticing(Tap):
    def __init__(self, notice: Callable[[str], None]) -> None:
        self._notice = notice

    def received(self, item: SessionMessage) -> bool:
        self._notice(getattr(item.message, "method", ""))
        return True


def _sessions(
    recording: Recording, speed: float, patience: Patience, *, following: bool
) -> tuple[dict[str, ReplayedSession], Playhead]:
    """Make the recorded sessions, and the playhead that they share."""
    entries = recording.entries
    names = [entry.session for entry in entries if isinstance(entry, SessionEntry)]
    hang_ups = {entry.session: entry for entry in entries if isinstance(entry, HangUpEntry)}
    spoken = [
        (session, line) for entry in entries if (session := getattr(entry, "session", None)) and (line := taped(entry))
    ]
    # Only of connections that have a tape: an adapter may have hung up before a single message.
    ended = {session: hang_up.t for session, hang_up in hang_ups.items() if any(session == name for name, _ in spoken)}
    made = tapes(spoken, ended)
    moves = {move: t for tape in made.values() for move, t in tape.moves.items()}
    playhead = Playhead(speed, moves, following=following, patience=patience)
    sessions = {}
    for name in names:
        if name in made:
            mine = [entry for entry in entries if getattr(entry, "session", None) == name]
            stderr = hang_ups[name].stderr if name in hang_ups else ""
            sessions[name] = ReplayedSession(made[name], mine, playhead, stderr)
    return sessions, playhead
