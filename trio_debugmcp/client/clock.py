"""The time of day that follows Trio's clock, so that a test's clock makes every timestamp exact."""

from datetime import UTC, datetime, timedelta

import trio


class WallClock:
    """Anchored once, on first use under Trio: a changed system clock does not reorder timestamps."""

    def __init__(self) -> None:
        self._zero: datetime | None = None

    def now(self) -> datetime:
        """Tell the time of day, in UTC."""
        try:
            elapsed = timedelta(seconds=trio.current_time())
        except RuntimeError:  # a client may be constructed, and its cache be looked at, before Trio runs
            return datetime.now(UTC)
        if self._zero is None:
            self._zero = datetime.now(UTC) - elapsed
        return self._zero + elapsed
