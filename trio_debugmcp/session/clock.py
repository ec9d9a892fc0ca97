"""Wall-clock time that follows trio's clock: anchored once, so that a test's virtual clock makes every time exact."""

import time

import trio


class Clock:
    """Must be made inside a trio run."""

    def __init__(self, anchor: float | None = None) -> None:
        self._anchor = (time.time() if anchor is None else anchor) - trio.current_time()

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        return self._anchor + trio.current_time()
