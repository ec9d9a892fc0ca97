"""Per-URI debouncing: many changes, few notifications, never a late one.

A URI that changes is published when it has been quiet for a while, and at the latest `max_wait` after its first
unpublished change. One task per URI: a one-slot channel is the dirty bit, the deadline of a cancel scope is the timer.
URIs that change together have the very same deadline, and are published in the same tick: their subscribers are woken
once for all of them.
"""

from collections.abc import Callable
from contextlib import suppress
from math import inf

import trio

QUIET_SECONDS = 0.3
"""Stepping quickly makes a change every 50 to 200 ms; a person reading along wants the place where it settles."""

MAX_WAIT_SECONDS = 0.9
"""Subscribers are promised to hear of every change within a second; this leaves a tenth for the delivery."""


class _Topic:
    """One URI: its dirty bit, and the quiet window that is open for it."""

    def __init__(self) -> None:
        self.wake, self.wakes = trio.open_memory_channel[None](1)
        self.window = trio.CancelScope()
        self.pending = False
        self.quiet_at = self.latest = inf

    def changed(self, quiet_at: float, latest: float) -> None:
        """It is to be published at `quiet_at`, or at `latest` if no earlier change wants it before."""
        if not self.pending:
            self.pending, self.latest = True, latest
        self.quiet_at = quiet_at
        with suppress(trio.WouldBlock):  # the task has not seen the last change yet
            self.wake.send_nowait(None)

    @property
    def deadline(self) -> float:
        """When to publish, if nothing more happens."""
        return min(self.quiet_at, self.latest)

    def settle(self) -> bool:
        """Close the window; whether a change was waiting in it."""
        was_pending, self.pending = self.pending, False
        self.window.cancel(reason="settled early")
        self.window = trio.CancelScope()
        return was_pending


class Debouncer:
    """Must live in a nursery that outlives its users; `publish` is called from the tasks and must not block."""

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

    def poke(self, *uris: str) -> None:
        """These have changed, together."""
        now = trio.current_time()
        for uri in uris:
            topic = self._topics.get(uri)
            if topic is None:
                topic = self._topics[uri] = _Topic()
                self._nursery.start_soon(self._watch, uri, topic, name=f"debounce {uri}")
            topic.changed(now + self._quiet, now + self._max_wait)

    def flush(self) -> None:
        """Publish what is pending, now."""
        for uri, topic in self._topics.items():
            if topic.settle():
                self._publish(uri)

    def drop(self, uri: str) -> None:
        """Nobody wants to hear of `uri` any more: what is pending is forgotten, and its task ends."""
        topic = self._topics.pop(uri, None)
        if topic is not None:
            topic.wake.close()
            topic.settle()

    async def _watch(self, uri: str, topic: _Topic) -> None:
        with topic.wakes:
            async for _ in topic.wakes:
                if not topic.pending:  # flushed since
                    continue
                topic.window = window = trio.CancelScope(deadline=topic.deadline)
                with window:
                    async for _ in topic.wakes:
                        window.deadline = topic.deadline
                # A window that was settled early is another one's by now: what came since waits for its own.
                if topic.window is window and topic.settle():
                    self._publish(uri)
