"""The merger: the one task that owns the state and writes the timeline. Everyone else sends it messages, or reads.

It never waits for anything but its inbox. A request made from here would wait for a response that only the DAP
reader can deliver, while the reader waits for this inbox.
"""

from collections.abc import Callable
from typing import Protocol

import trio
from msgspec.structs import replace

from trio_debugmcp.session.timeline import Timeline
from trio_debugmcp.state.changes import Change
from trio_debugmcp.state.model import State
from trio_debugmcp.state.reduce import reduce
from trio_debugmcp.state.resources import RESOURCES, changed
from trio_debugmcp.state.timeline import happenings, starts_over

MERGE_SECONDS = 1.0
"""For a merge that has to happen while its task is being cancelled. The merger never waits, so it takes far less."""


class ResourceListener(Protocol):
    """Who is told of changes. Called from the merger, so it must not block."""

    def resources_updated(self, uris: set[str]) -> None:
        """These resources have a new revision."""

    def list_changed(self) -> None:
        """The resources appeared (they can be read now) or disappeared (they no longer can)."""


class Merger:
    """State, revisions, and the waiting for a state to come."""

    def __init__(self, listener: ResourceListener, timeline: Timeline) -> None:
        self.state = State()
        self.timeline = timeline
        self.revisions = dict.fromkeys(RESOURCES, 0)
        self._listener = listener
        self._inbox, self._messages = trio.open_memory_channel[tuple[Change, trio.Event]](0)
        self._changed = trio.lowlevel.ParkingLot()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Merge until cancelled."""
        with self._messages:
            task_status.started()
            async for message, merged in self._messages:
                self._merge(message)
                merged.set()

    async def merge(self, message: Change) -> State:
        """Send a message and return when it is part of the state. Cancelling the wait does not take it back."""
        merged = trio.Event()
        await self._inbox.send((message, merged))
        await merged.wait()
        return self.state

    async def wait_until(self, condition: Callable[[State], bool]) -> State:
        """Wait, for as long as the caller's cancel scope allows, for a state that fulfils the condition.

        The state returned is that one, even if it has changed again by the time the caller runs.
        """
        while not condition(state := self.state):
            await self._changed.park()
        return state

    def _merge(self, message: Change) -> None:
        old = self.state
        new = reduce(message, old)
        news = happenings(old, message, new)
        if starts_over(message):
            news += self.timeline.start_over()
        if news:
            new = replace(new, happened=self.timeline.record(news))
        if new is old:
            return
        self.state = new
        uris = changed(old, new)
        for uri in uris:
            self.revisions[uri] += 1
        if uris:
            self._listener.resources_updated(uris)
        if (old.focused is None) != (new.focused is None):
            self._listener.list_changed()
        self._changed.unpark_all()
