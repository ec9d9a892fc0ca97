"""`Suspension`: what is known about one session's program being stopped, before the state says so.

The state publishes a stop when it has been examined, which takes a few requests. The rules that cannot wait for that
stand here: which requests may be sent, whether a `pause` is still needed, and whether a `stopped` event is news.

Theory of operation
-------------------
A `pause` can cross a stop: the program stops at a breakpoint while the request is on its way. Adapters then report the
stop once more, with the reason `pause` (debugpy does so up to half a second later). Such an echo carries no news. If
the program has been resumed before debugpy sends it, debugpy waits for the resumed thread to stop again, and as it
serves one request at a time it answers nothing else until the session ends. So there are three rules:

1. A stopped program is not asked to pause; the stop that is there counts, whatever its reason.
2. After a stop that a pause has crossed, `echo_until` says how long the echo may still come. A `stopped` with the
   reason `pause` within that time is dropped.
3. A resume waits until the echo has come, or cannot come any more.

pydevd lets the other threads run while it fetches variables that take it more than three seconds, and reports that as
`continued`; when it has them, it reports the stop once more. Both are about the stop at hand: an *interlude*. So are
those by which gdb reports a function that an evaluation calls.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import trio


class Suspension:
    """Whether one session's program is stopped, as far as its adapter has reported it.

    Attributes:
        stopped: true from a `stopped` event, examined or not, until the resume that ends the stop.
        pause_requested: a client has asked for a pause, so the stop at hand counts whatever its reason.
        wanted_thread: the thread that a client has named for the pause at hand.
        follows_pause: a `pause` was sent before the stop at hand came.
        echo_until: until then (trio's clock) the adapter may report the stop at hand once more.
        calls: how many functions evaluations have called: each ends the adapter's numbers of frames and values.
        has_called: one was called at the stop at hand.
    """

    def __init__(self, pause_echo_seconds: float, call_reason: str | None = None) -> None:
        self.stopped = False
        self.pause_requested = False
        self.wanted_thread: int | None = None
        self.follows_pause = False
        self.echo_until = -inf
        self._pause_echo_seconds = pause_echo_seconds
        self._call_reason = call_reason
        self._pending_pauses = 0
        self._unwanted_pauses = 0
        self._echoed = trio.Event()
        self._reads = 0
        self._in_interlude = False
        self.calls = 0
        self.has_called = False

    def __repr__(self) -> str:
        return f"<Suspension stopped={self.stopped} pending_pauses={self._pending_pauses}>"

    def report_stop(self, reason: str) -> None:
        """Record a `stopped` event that is not an echo."""
        # The order of events and responses does not tell whether the pause or something else stopped the program:
        # debugpy holds back events while it serves a request. The reason does, or a second pause.
        if self._pending_pauses > 1 or (self._pending_pauses == 1 and reason != "pause"):
            self.echo_until = trio.current_time() + self._pause_echo_seconds
            self._echoed = trio.Event()
        self.follows_pause = self._pending_pauses > 0
        self.pause_requested = self.follows_pause or (self.stopped and self.pause_requested)
        self._pending_pauses = self._unwanted_pauses = 0
        self.stopped = True
        self.has_called = False

    def report_resume(self) -> None:
        """Record that the adapter has resumed the program, or is about to be asked to."""
        self.stopped = False
        self._in_interlude = False

    def report_resume_refused(self, *, still_stopped: bool) -> None:
        """Record that the adapter refused a resume; `still_stopped`: the program is where it was."""
        self.stopped = still_stopped

    def is_echo(self, reason: str) -> bool:
        """Return whether a `stopped` with this reason repeats the stop at hand. There is at most one echo of a stop."""
        if self._in_interlude:
            self._in_interlude = False
            # Any other reason: the function that an evaluation has called does not return, it has stopped itself.
            self.stopped = self._call_reason is None or reason == self._call_reason
            return self.stopped
        if reason != "pause" or not self.stopped or trio.current_time() >= self.echo_until:
            return False
        self.echo_until = -inf
        self._echoed.set()
        return True

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Record that variables are being fetched, for the length of the block."""
        self._reads += 1
        try:
            yield
        finally:
            self._reads -= 1

    def is_interlude(self) -> bool:
        """Return whether a `continued` leaves the stop at hand: variables are fetched, or a function is called.

        An adapter that reports calls sends `continued` for nothing else while the program is stopped.
        """
        if self.stopped and (self._reads or self._call_reason is not None):
            self._in_interlude = True
            if self._call_reason is not None:
                self.calls, self.has_called = self.calls + 1, True
        return self.stopped and self._in_interlude

    async def wait_echo(self) -> None:
        """Wait until the stop at hand has been repeated, or cannot be repeated any more."""
        if trio.current_time() < self.echo_until:
            # Shielded, as a resume is carried out even if its caller is cancelled; bounded by the profile's constant.
            with trio.move_on_at(self.echo_until, shield=True):
                await self._echoed.wait()

    def want_pause(self) -> bool:
        """Record that a client wants the program stopped; return whether a `pause` request is needed for it."""
        if self.stopped:
            self.pause_requested = True
        return not self.stopped

    def begin_pause(self) -> None:
        """Record that a `pause` request is about to be sent."""
        self._pending_pauses += 1

    def give_up_pause(self) -> int:
        """Record that the client of one `pause` that was sent does not wait for the stop any more.

        Returns how many were sent, if none of them is waited for now: they can be taken back. Otherwise 0.
        """
        if self.stopped or self._unwanted_pauses >= self._pending_pauses:
            return 0
        self._unwanted_pauses += 1
        return self._pending_pauses if self._unwanted_pauses == self._pending_pauses else 0

    def forget_pauses(self, count: int = 1) -> None:
        """Record that no stop follows from so many: the adapter refused it, or they were taken back."""
        # A stop in between has reset the count: it counted for these pauses, too.
        self._pending_pauses = max(0, self._pending_pauses - count)
        self._unwanted_pauses = min(self._unwanted_pauses, self._pending_pauses)
