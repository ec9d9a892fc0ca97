"""The one ordered, numbered stream of events, and everyone who listens to it.

Owns the sequence number and the listeners' queues. Publishing is synchronous and never waits: each listener
has a queue of its own.

Overflow policy: a full queue loses its *oldest* events, and its reader gets one `eventsDropped` in their
place. The latest state always arrives, and a loss is never silent. Listening costs nothing to anyone else,
however slow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import WeakSet

import trio
from msgspec.structs import replace

from trio_debugmcp.client.errors import NotConnected
from trio_debugmcp.client.events import EVENT_KINDS, Event, EventsDropped

if TYPE_CHECKING:
    from types import TracebackType

    from trio_debugmcp.clock import Clock

E = TypeVar("E", bound=Event)
Predicate = Callable[[Any], bool]

DEFAULT_BUFFER = 1000
"""Events that a listener may lag behind before it loses the oldest."""


class EventStream:
    """`async with stream as events: async for event in events`.

    Collects from the moment it is entered; one reader.

    Iteration ends when the client is closed. It goes on across disconnects and reconnects.
    """

    def __init__(self, bus: EventBus, kinds: frozenset[str], buffer: int) -> None:
        self._bus = bus
        self._kinds = kinds
        self._buffer = buffer
        self._queue: deque[Event] = deque()
        self._dropped: EventsDropped | None = None
        self._arrived = trio.lowlevel.ParkingLot()
        self._closed = False

    async def __aenter__(self) -> Self:
        self._bus.add(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bus.remove(self)
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        """Wait for the next event.

        Raises:
            StopAsyncIteration: the stream was left, or the client was closed and everything was delivered.
        """
        await trio.lowlevel.checkpoint()
        while not self._queue:
            if self._closed:
                raise StopAsyncIteration
            await self._arrived.park()
        if self._dropped is not None:
            dropped, self._dropped = self._dropped, None
            return dropped
        return self._queue.popleft()

    def offer(self, event: Event) -> None:
        """Take `event` if it is of a wanted kind; never waits."""
        if self._kinds and event.kind not in self._kinds:
            return
        if len(self._queue) >= self._buffer:
            lost = self._queue.popleft()
            count = 1 if self._dropped is None else self._dropped.count + 1
            self._dropped = EventsDropped(seq=lost.seq, time=lost.time, count=count)
        self._queue.append(event)
        self._arrived.unpark_all()

    def close(self) -> None:
        """No more events; those in the queue can still be read."""
        self._closed = True
        self._arrived.unpark_all()


class Expectation:
    """One event that is waited for.

    It listens from its creation, so it can be armed before the action that causes the event.
    """

    def __init__(self, kind: str, predicate: Predicate | None) -> None:
        self._kind = kind
        self._predicate = predicate
        self._event: Event | None = None
        self._closed = False
        self._arrived = trio.Event()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._wait().__await__()

    def offer(self, event: Event) -> None:
        """Keep `event` if it is the first that fits."""
        if self._arrived.is_set() or event.kind != self._kind:
            return
        if self._predicate is None or self._predicate(event):
            self._event = event
            self._arrived.set()

    def close(self) -> None:
        """Wake the waiter: the event will not come any more."""
        self._arrived.set()

    async def _wait(self) -> Event:
        await self._arrived.wait()
        if self._event is None:
            raise NotConnected(f"The client was closed while waiting for {self._kind!r}")
        return self._event


class EventBus:
    """Publishes events to whoever listens."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._published = 0
        self._closed = False
        self._streams: list[EventStream] = []
        self._expectations: WeakSet[Expectation] = WeakSet()

    def publish(self, event: Event) -> None:
        """Give `event` a number, give it the time, and hand it to every listener."""
        self._published += 1
        event = replace(event, seq=self._published, time=self._clock.utc())
        for listener in self._listeners():
            listener.offer(event)

    def stream(self, kinds: Iterable[str], buffer: int) -> EventStream:
        """Make a stream of the events of `kinds`, of all kinds when there are none."""
        if buffer < 1:
            raise ValueError(f"buffer must be at least 1, not {buffer}")
        return EventStream(self, frozenset(_known(kinds)), buffer)

    def expect(self, kind: str, predicate: Predicate | None) -> Expectation:
        """Start to wait for one event; dropping the result stops it."""
        _known([kind])
        expectation = Expectation(kind, predicate)
        self._expectations.add(expectation)
        if self._closed:
            expectation.close()
        return expectation

    def add(self, stream: EventStream) -> None:
        """Let `stream` have what is published from now on."""
        self._streams.append(stream)
        if self._closed:
            stream.close()

    def remove(self, stream: EventStream) -> None:
        """Let `stream` have no more."""
        self._streams.remove(stream)

    def close(self) -> None:
        """End every stream and wake every waiter."""
        self._closed = True
        for listener in self._listeners():
            listener.close()

    def _listeners(self) -> list[EventStream | Expectation]:
        return [*self._streams, *self._expectations]


def _known(kinds: Iterable[str]) -> list[str]:
    kinds = list(kinds)
    if unknown := [kind for kind in kinds if kind not in EVENT_KINDS]:
        raise ValueError(f"no such event kind: {', '.join(unknown)}; there are {', '.join(sorted(EVENT_KINDS))}")
    return kinds
