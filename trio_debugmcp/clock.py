"""The time of day that follows Trio's clock: the only wall clock of the package, of server and client alike.

    clock = Clock()
    clock.now()         # 1767225600.25, seconds since 1970
    clock.utc()         # datetime(2026, 1, 1, 0, 0, 0, 250000, tzinfo=UTC)

It is anchored once. So a system clock that is set does not reorder timestamps, and a test's virtual clock makes every
time exact.
"""

import time
from datetime import UTC, datetime, timedelta

import trio


class Clock:
    """Anchored when it is made, or, if that is outside of a Trio run, when it is first read within one.

    Args:
        anchor: the time at which it starts, in seconds since 1970; the system's time if there is none.
    """

    def __init__(self, anchor: float | None = None) -> None:
        self._start = anchor
        self._zero: float | None = None
        self._anchored()

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        zero = self._anchored()
        return self._start_or_now() if zero is None else zero + trio.current_time()

    def utc(self) -> datetime:
        """The same as a datetime, in UTC."""
        zero = self._anchored()
        if zero is None:
            return datetime.fromtimestamp(self._start_or_now(), UTC)
        # Added as a timedelta: the sum of two floats is off by a microsecond now and then.
        return datetime.fromtimestamp(zero, UTC) + timedelta(seconds=trio.current_time())

    def _anchored(self) -> float | None:
        if self._zero is None:
            try:
                elapsed = trio.current_time()
            except RuntimeError:  # a client may be made, and its cache be read, before Trio runs
                return None
            self._zero = self._start_or_now() - elapsed
        return self._zero

    def _start_or_now(self) -> float:
        return time.time() if self._start is None else self._start
