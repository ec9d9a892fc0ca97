"""The timeline: what happened, numbered and dated, in a bounded ring. Only the merger writes it.

Which change becomes which event is decided in `state.timeline`.
"""

from collections import deque
from collections.abc import Iterable
from itertools import islice

from trio_debugmcp.clock import Clock
from trio_debugmcp.state.changes import Happening
from trio_debugmcp.state.payloads import TimelineEvent, TimelinePayload, iso_time

MAX_EVENTS = 10_000
"""Events kept; some hundred bytes each. The oldest goes first, and is counted."""

MAX_REPEATED = 100
"""Connected clients that are repeated at the start of a session's timeline. With more there would be room for little
else."""

SHOWN_EVENTS = 250
"""Events in the resource: what fits on a screen many times over, and a read stays below some 60 KiB."""


class Timeline:
    """A ring of events. Ids rise from 1 for as long as the server lives, so a cursor always means the same place."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._events: deque[TimelineEvent] = deque()
        self._connected: list[Happening] = []
        self._in_flight: dict[int, Happening] = {}
        self.last_id = 0
        self.dropped = 0

    def __repr__(self) -> str:
        return f"<Timeline of {len(self._events)} events up to {self.last_id}>"

    @property
    def total(self) -> int:
        """The number of events since the last start over, including those that are no longer kept."""
        return len(self._events) + self.dropped

    def record(self, happenings: Iterable[Happening]) -> int:
        """Append what has happened just now; return the last id."""
        now = iso_time(self._clock.now())
        for happening in happenings:
            self._note_lasting(happening)
            self.last_id += 1
            self._events.append(
                TimelineEvent(self.last_id, now, happening.type, happening.thread_id, happening.payload)
            )
            if len(self._events) > MAX_EVENTS:
                self._events.popleft()
                self.dropped += 1
        return self.last_id

    def start_over(self) -> list[Happening]:
        """Forget all events, but continue the numbering.

        Returns:
            What is still true and to be recorded again: the clients that are connected, and the calls in flight, of
            which the launch that starts the session is one.
        """
        self._events.clear()
        self.dropped = 0
        repeated = self._connected[:MAX_REPEATED]
        del self._connected[:MAX_REPEATED]
        return [*repeated, *self._in_flight.values()]

    def _note_lasting(self, happening: Happening) -> None:
        match happening.type:
            case "toolStarted":
                self._in_flight[happening.payload["call"]] = happening
            case "toolCalled":
                self._in_flight.pop(happening.payload.get("call", 0), None)
            case "clientJoined":
                self._connected.append(happening)
            case "clientLeft":
                payloads = [arrival.payload for arrival in self._connected]
                if happening.payload in payloads:
                    del self._connected[payloads.index(happening.payload)]

    def after(self, event_id: int) -> Iterable[TimelineEvent]:
        """Return the kept events with a greater id, oldest first."""
        first_kept = self.last_id - len(self._events) + 1
        return islice(self._events, min(max(0, event_id + 1 - first_kept), len(self._events)), None)

    def payload(self, revision: int) -> TimelinePayload:
        """Return `debugger://timeline`, the last events."""
        shown = list(self.after(self.last_id - SHOWN_EVENTS))
        return TimelinePayload(shown, self.total, self.dropped, revision)
