"""Per-URI debouncing: many changes, few notifications, the last change always among them.

Owns the quiet window of every URI that has a change to publish. A URI is published when it has not changed for `quiet`
seconds, and at the latest `max_wait` seconds after its first unpublished change:

    async with trio.open_nursery() as nursery:
        debouncer = Debouncer(nursery, print, quiet=0.3, max_wait=0.9)
        debouncer.changed("debugger://session", "debugger://stack")
        await trio.sleep(0.2)
        debouncer.changed("debugger://session")
        await trio.sleep(1)  # prints debugger://stack after 0.1 seconds, and debugger://session after 0.3
        nursery.cancel_scope.cancel()

One task per URI: a window opens, is moved by further changes and closes within one function, `_watch`, and no table of
timers has to agree with it. Its dirty bit is a one-slot memory channel, its timer the deadline of a cancel scope.

URIs that change together have the very same deadline and are published in the same tick, so that a subscriber of
several is woken once.
"""

from collections.abc import Callable
from contextlib import suppress
from math import inf

import trio
from msgspec import Struct

QUIET_SECONDS = 0.3
"""Stepping quickly makes a change every 50 to 200 ms; a person reading along wants the place where it settles."""

MAX_WAIT_SECONDS = 0.9
"""Subscribers are promised a notification within a second of every change; this leaves a tenth for the delivery."""


class DebouncerStatistics(Struct, frozen=True):
    """How many URIs are watched (each by a task), and how many of these have an unpublished change."""

    watched: int
    pending: int


class _Topic:
    """One URI: its dirty bit, and the quiet window that is open for it."""

    def __init__(self) -> None:
        self.wake, self.wakes = trio.open_memory_channel[None](1)
        self.window = trio.CancelScope()
        self.pending = False
        self.quiet_at = self.latest = inf

    def changed(self, quiet_at: float, latest: float) -> None:
        """Schedule the publishing for `quiet_at`, but no later than an earlier unpublished change allows."""
        if not self.pending:
            self.pending, self.latest = True, latest
        self.quiet_at = quiet_at
        with suppress(trio.WouldBlock):  # full: the task has not yet received the last change, and will see this one
            self.wake.send_nowait(None)

    @property
    def deadline(self) -> float:
        """When to publish, if it does not change again."""
        return min(self.quiet_at, self.latest)

    def settle(self) -> bool:
        """Close the window, and return whether a change was waiting in it."""
        was_pending, self.pending = self.pending, False
        self.window.cancel(reason="the window is closed early")
        # A cancelled scope cannot be used again, and a new one shows `_watch` that its window was closed from outside.
        self.window = trio.CancelScope()
        return was_pending


class Debouncer:
    """Calls `publish` with each changed URI once it is quiet.

    The nursery must outlive the users. `publish` is called from its tasks or from `flush`, and must not block.
    """

    def __init__(
        self,
        nursery: trio.Nursery,
        publish: Callable[[str], None],
        *,
        quiet: float = QUIET_SECONDS,
        max_wait: float = MAX_WAIT_SECONDS,
    ) -> None:
        self._nursery = nursery
        self._publish = publish
        self._quiet = quiet
        self._max_wait = max_wait
        self._topics: dict[str, _Topic] = {}

    def __repr__(self) -> str:
        now = self.statistics()
        return f"<Debouncer quiet={self._quiet} max_wait={self._max_wait}: {now.pending} of {now.watched} URIs pending>"

    def statistics(self) -> DebouncerStatistics:
        """Return what is pending at this moment."""
        pending = sum(topic.pending for topic in self._topics.values())
        return DebouncerStatistics(watched=len(self._topics), pending=pending)

    def changed(self, *uris: str) -> None:
        """Open or extend the windows of these URIs, which have changed together."""
        now = trio.current_time()  # read once: equal deadlines expire in the same tick
        for uri in uris:
            topic = self._topics.get(uri)
            if topic is None:
                topic = self._topics[uri] = _Topic()
                self._nursery.start_soon(self._watch, uri, topic, name=f"debounce {uri}")
            topic.changed(now + self._quiet, now + self._max_wait)

    def flush(self) -> None:
        """Publish every pending change now, before this returns."""
        for uri, topic in self._topics.items():
            if topic.settle():
                self._publish(uri)

    def drop(self, uri: str) -> None:
        """Discard a pending change of `uri` and end its task: the last subscriber is gone."""
        topic = self._topics.pop(uri, None)
        if topic is not None:
            topic.wake.close()
            topic.settle()

    async def _watch(self, uri: str, topic: _Topic) -> None:
        with topic.wakes:
            async for _ in topic.wakes:
                topic.window = window = trio.CancelScope(deadline=topic.deadline)
                with window:
                    async for _ in topic.wakes:
                        window.deadline = topic.deadline
                # If `flush` has closed this window, what is pending now has changed since and must wait for a window
                # of its own, which its wake-up in the channel opens. Only an expired window is still `topic.window`.
                if topic.window is window and topic.settle():
                    self._publish(uri)
