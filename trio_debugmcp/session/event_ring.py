"""The timeline: what happened, numbered and dated, in a bounded ring. Only the merger writes it.

Which change becomes which event is decided in `state.timeline`.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

from trio_debugmcp.clock import Clock
from trio_debugmcp.state.changes import Happening
from trio_debugmcp.state.payloads import TimelineEvent, TimelinePayload, iso_time, json_size

MAX_EVENTS, MAX_BYTES = 10_000, 8 * 1024 * 1024
"""Events kept, and bytes of what they say. The oldest goes first, and is counted."""

SHOWN_EVENTS, SHOWN_BYTES = 250, 28_000
"""Events in the resource, and bytes of these: what fits on a screen many times over. The tool pages through all."""


class Timeline:
    """A ring of events of all sessions. Ids rise from 1 for as long as the server lives."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._events: deque[TimelineEvent] = deque()
        self._sizes: deque[int] = deque()
        self._bytes = 0
        self.last_id = 0
        self.dropped = 0

    def __repr__(self) -> str:
        return f"<Timeline of {len(self._events)} events up to {self.last_id}>"

    @property
    def total(self) -> int:
        """The number of events since the start of the server, including those that are no longer kept."""
        return len(self._events) + self.dropped

    def record(self, happenings: Iterable[Happening]) -> int:
        """Append what has happened just now; return the last id."""
        now = iso_time(self._clock.now())
        for happening in happenings:
            self.last_id += 1
            event = TimelineEvent(self.last_id, now, happening.type, happening.thread_id, happening.payload)
            self._events.append(event)
            self._sizes.append(json_size(event))
            self._bytes += self._sizes[-1]
            while len(self._events) > MAX_EVENTS or self._bytes > MAX_BYTES:
                self._events.popleft()
                self._bytes -= self._sizes.popleft()
                self.dropped += 1
        return self.last_id

    def after(self, event_id: int) -> Iterable[TimelineEvent]:
        """Return the kept events with a greater id, oldest first."""
        first_kept = self.last_id - len(self._events) + 1
        return islice(self._events, min(max(0, event_id + 1 - first_kept), len(self._events)), None)

    def latest_first(self) -> Iterator[TimelineEvent]:
        """Return the kept events, newest first."""
        return reversed(self._events)

    def payload(self, revision: int) -> TimelinePayload:
        """Return `debugger://timeline`, the last events."""
        room, count = SHOWN_BYTES, 0
        for size in islice(reversed(self._sizes), SHOWN_EVENTS):
            room -= size + 1
            if room < 0 and count:
                break
            count += 1
        shown = list(self.after(self.last_id - count))
        return TimelinePayload(shown, self.total, self.dropped, revision)
