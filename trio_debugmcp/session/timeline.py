"""The timeline: what happened, numbered and dated, in a bounded ring. The merger is the one task that writes it."""

from collections import deque
from collections.abc import Iterable
from itertools import islice

from trio_debugmcp.clock import Clock
from trio_debugmcp.state.changes import Happening
from trio_debugmcp.state.payloads import TimelineEvent, TimelinePayload, iso_time

MAX_EVENTS = 10_000
"""Events kept; some hundred bytes each. The oldest goes first, and is counted."""

MAX_TOLD_AGAIN = 100
"""Clients that are there when a session starts, and are told of again. With more one would see nothing else."""

SHOWN_EVENTS = 250
"""Events in the resource: what fits on a screen many times over, and a read stays below some 60 KiB."""


class Timeline:
    """Ids rise from 1 for as long as the server lives, so that a cursor is never mistaken for an older one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._events: deque[TimelineEvent] = deque()
        self._present: list[Happening] = []
        self.last_id = 0
        self.dropped = 0

    @property
    def total(self) -> int:
        """Events since it began anew, those included that are not kept any more."""
        return len(self._events) + self.dropped

    def record(self, happenings: Iterable[Happening]) -> int:
        """Add what has happened just now; returns the last id."""
        now = iso_time(self._clock.now())
        for each in happenings:
            self._attend(each)
            self.last_id += 1
            self._events.append(TimelineEvent(self.last_id, now, each.type, each.thread_id, each.payload))
            if len(self._events) > MAX_EVENTS:
                self._events.popleft()
                self.dropped += 1
        return self.last_id

    def start_over(self) -> list[Happening]:
        """Forget what happened; the numbering goes on.

        Returns what is still true, and to be told again: who is there.
        """
        self._events.clear()
        self.dropped = 0
        told_again = self._present[:MAX_TOLD_AGAIN]
        del self._present[:MAX_TOLD_AGAIN]
        return told_again

    def _attend(self, happening: Happening) -> None:
        match happening.type:
            case "clientJoined":
                self._present.append(happening)
            case "clientLeft":
                payloads = [each.payload for each in self._present]
                if happening.payload in payloads:
                    del self._present[payloads.index(happening.payload)]

    def after(self, event_id: int) -> Iterable[TimelineEvent]:
        """The events that are kept with a greater id, oldest first."""
        first_kept = self.last_id - len(self._events) + 1
        return islice(self._events, min(max(0, event_id + 1 - first_kept), len(self._events)), None)

    def payload(self, revision: int) -> TimelinePayload:
        """`debugger://timeline`: the last of it."""
        shown = list(self.after(self.last_id - SHOWN_EVENTS))
        return TimelinePayload(shown, self.total, self.dropped, revision)
