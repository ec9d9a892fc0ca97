"""The one ordered, numbered stream of events of a client, and everything that listens to it.

Owns the sequence number and the listeners' queues:

    bus = EventBus(Clock())
    async with bus.stream(["toolsChange"], buffer=1000) as events:
        bus.publish(ToolsChange(tools=()))
        event = events.receive_nowait()

Publishing is synchronous and never waits, because each listener has a queue of its own; a slow listener delays nothing.

Overflow policy: a full queue loses its *oldest* events, and its reader gets one `eventsDropped` in their place. The
latest state always arrives, and a loss is never silent.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar
from weakref import WeakSet

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.client.client_errors import NotConnected
from trio_debugmcp.client.events import EVENT_KINDS, Event, EventsDropped
from trio_debugmcp.clock import Clock

E = TypeVar("E", bound=Event)
Predicate = Callable[[Any], bool]

E_co = TypeVar("E_co", bound=Event, covariant=True)

DEFAULT_BUFFER_EVENTS = 1000
"""Events that a listener may lag behind before it loses the oldest: the start of a large server, several times."""


class EventStreamStatistics(Struct, frozen=True):
    """`EventStream.statistics()`: how far the reader lags behind, and what it has lost.

    Attributes:
        current_buffer_used: events that wait to be received.
        max_buffer_size: events that may wait before the oldest is lost.
        dropped: events lost so far.
    """

    current_buffer_used: int
    max_buffer_size: int
    dropped: int


class EventStream(Generic[E_co]):
    """Events from the moment that the block is entered, for one reader: `async with stream: async for event in stream`.

    Iteration ends when the client is closed; it continues across disconnects and reconnects.
    """

    def __init__(self, bus: "EventBus", kinds: frozenset[str], buffer: int) -> None:
        self._bus = bus
        self._kinds = kinds
        self._buffer = buffer
        self._queue: deque[Any] = deque()
        self._gap: EventsDropped | None = None
        self._dropped = 0
        self._arrived = trio.lowlevel.ParkingLot()
        self._entered = self._closed = False

    def __repr__(self) -> str:
        kinds = ", ".join(sorted(self._kinds)) or "all kinds"
        return f"<EventStream of {kinds}, {len(self._queue)} waiting{', closed' if self._closed else ''}>"

    async def __aenter__(self) -> Self:
        self._entered = True
        self._bus.add(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bus.remove(self)
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> E_co:
        """Wait for the next event.

        Raises:
            StopAsyncIteration: the block was left, or the client was closed and everything was delivered.
            RuntimeError: the block was not entered; no event would ever come.
        """
        if not self._entered:
            raise RuntimeError("Events come within a block: `async with client.events(...) as events`")
        await trio.lowlevel.checkpoint()
        while not self._queue:
            if self._closed:
                raise StopAsyncIteration
            await self._arrived.park()
        event: E_co = self._take()
        return event

    def receive_nowait(self) -> E_co:
        """The next event, if there is one already.

        Raises:
            trio.WouldBlock: nothing is waiting.
            trio.EndOfChannel: nothing is waiting, and nothing will come.
        """
        if not self._queue:
            raise trio.EndOfChannel if self._closed else trio.WouldBlock
        event: E_co = self._take()
        return event

    def statistics(self) -> EventStreamStatistics:
        """How far the reader lags behind, and what it has lost."""
        return EventStreamStatistics(len(self._queue), self._buffer, self._dropped)

    def offer(self, event: Event) -> None:
        """Queue `event` if it is of a wanted kind; never waits."""
        if self._kinds and event.kind not in self._kinds:
            return
        if len(self._queue) >= self._buffer:
            lost = self._queue.popleft()
            self._dropped += 1
            self._gap = EventsDropped(
                seq=lost.seq, time=lost.time, count=1 if self._gap is None else self._gap.count + 1
            )
        self._queue.append(event)
        self._arrived.unpark_all()

    def close(self) -> None:
        """Accept no more events; those in the queue can still be read."""
        self._closed = True
        self._arrived.unpark_all()

    def _take(self) -> Any:
        # The gap comes first, because the oldest events were dropped; its number is below theirs.
        if self._gap is not None:
            gap, self._gap = self._gap, None
            return gap
        return self._queue.popleft()


class Expectation(Generic[E_co]):
    """One awaited event. It listens from its creation, so it can be armed before the action that causes the event."""

    def __init__(self, kind: str, predicate: Predicate | None) -> None:
        self._kind = kind
        self._predicate = predicate
        self._event: Any = None
        self._arrived = trio.Event()

    def __await__(self) -> Generator[Any, Any, E_co]:
        return self._wait().__await__()

    def offer(self, event: Event) -> None:
        """Keep `event` if it is the first that fits."""
        if self._arrived.is_set() or event.kind != self._kind:
            return
        if self._predicate is None or self._predicate(event):
            self._event = event
            self._arrived.set()

    def close(self) -> None:
        """Wake the waiter with an error: the event will not come any more."""
        self._arrived.set()

    async def _wait(self) -> E_co:
        await self._arrived.wait()
        if self._event is None:
            raise NotConnected(f"The client was closed while waiting for {self._kind!r}")
        event: E_co = self._event
        return event


class EventBusStatistics(Struct, frozen=True):
    """`EventBus.statistics()`.

    Attributes:
        published: events so far, which is the number of the last one.
        streams: open `EventStream` blocks.
        expectations: `Expectation` objects that are still referenced.
    """

    published: int
    streams: int
    expectations: int


class EventBus:
    """Numbers events and hands each to all streams and expectations."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._published = 0
        self._closed = False
        self._streams: list[EventStream[Any]] = []
        # Weak: an expectation that the caller has dropped will never be awaited.
        self._expectations: WeakSet[Expectation[Any]] = WeakSet()

    def __repr__(self) -> str:
        return f"<EventBus: {self._published} events, {len(self._streams)} streams>"

    def statistics(self) -> EventBusStatistics:
        """How many events were published, and how many listeners there are."""
        return EventBusStatistics(self._published, len(self._streams), len(self._expectations))

    def publish(self, event: Event) -> None:
        """Give `event` its number and its time, and hand it to every listener; never waits."""
        self._published += 1
        event = replace(event, seq=self._published, time=self._clock.utc())
        for listener in self._listeners():
            listener.offer(event)

    def stream(self, kinds: Iterable[str], buffer: int) -> EventStream[Any]:
        """Make a stream of the events of `kinds`, or of all kinds when none is named."""
        if buffer < 1:
            raise ValueError(f"buffer must be at least 1, not {buffer}")
        return EventStream(self, frozenset(_known(kinds)), buffer)

    def expect(self, kind: str, predicate: Predicate | None) -> Expectation[Any]:
        """Start to wait for one event; dropping the result stops it."""
        _known([kind])
        expectation: Expectation[Any] = Expectation(kind, predicate)
        self._expectations.add(expectation)
        if self._closed:
            expectation.close()
        return expectation

    def add(self, stream: EventStream[Any]) -> None:
        """Hand `stream` what is published from now on."""
        self._streams.append(stream)
        if self._closed:
            stream.close()

    def remove(self, stream: EventStream[Any]) -> None:
        """Hand nothing more to `stream`."""
        self._streams.remove(stream)

    def close(self) -> None:
        """End every stream and wake every waiter."""
        self._closed = True
        for listener in self._listeners():
            listener.close()

    def _listeners(self) -> list[EventStream[Any] | Expectation[Any]]:
        # A copy: a predicate may start to listen, or drop an expectation, while events are being handed out.
        return [*self._streams, *self._expectations]


def _known(kinds: Iterable[str]) -> list[str]:
    kinds = list(kinds)
    if unknown := [kind for kind in kinds if kind not in EVENT_KINDS]:
        raise ValueError(f"no such event kind: {', '.join(unknown)}; there are {', '.join(sorted(EVENT_KINDS))}")
    return kinds
