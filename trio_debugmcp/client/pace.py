"""How often a list may be fetched by itself. Pure: time comes in as a number of seconds.

A server may announce changes faster than its list can be fetched, or announce one *because* its list was
fetched. Fetches start at least `MIN_INTERVAL` apart; each one that finds nothing new doubles the interval, up
to `MAX_INTERVAL`. A change, or a calm of twice the interval, brings it back. An explicit `list_*()` is never
held up.
"""

MIN_INTERVAL = 1.0
"""Seconds: a person cannot follow a list that changes faster."""

MAX_INTERVAL = 30.0
"""Seconds: how late a change may be seen of a server that cries wolf."""


class Pace:
    """Remembers the fetches of one list and says when the next may start."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._interval = MIN_INTERVAL

    def earliest(self) -> float:
        """Tell the time from which on the next fetch may start."""
        return self._last + self._interval

    def fetched(self, start: float, *, fruitful: bool) -> None:
        """Note that a fetch which began at `start` is over; `fruitful`: it found something new."""
        calm = start - self._last > 2 * self._interval
        self._interval = MIN_INTERVAL if fruitful or calm else min(self._interval * 2, MAX_INTERVAL)
        self._last = start
