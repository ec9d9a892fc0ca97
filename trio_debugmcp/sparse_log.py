"""Log lines that anybody on the network can cause, so few that they never fill a disk.

The first lines of a window are logged, the others counted:

    sparse = SparseLog(log)
    sparse.log(logging.INFO, "refused: %s", reason)
    sparse.flush()  # at the end: how many were left out

Owns nothing but the count: there is one for each place that logs, and what floods one place leaves the others alone.
"""

import logging
from math import inf

import trio

MAX_LINES = 20
"""Lines in one window: enough to see who knocks, and how."""

WINDOW_SECONDS = 60.0
"""From the first line of a window until lines are logged again: at most 20 lines a minute, 3 MB a day."""


class SparseLog:
    """A bounded number of lines in a window of time; how many were left out is logged behind it."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._until = -inf
        self._lines = self._left_out = 0

    def __repr__(self) -> str:
        return f"<SparseLog of {self._logger.name}: {self._lines} lines, {self._left_out} left out>"

    def log(self, level: int, message: str, *args: object, error: BaseException | None = None) -> None:
        """Log a line, with the traceback of `error`; or count it, if there were `MAX_LINES` in this window."""
        if not self._logger.isEnabledFor(level):
            return
        now = trio.current_time()
        if now >= self._until:
            self.flush()
            self._until, self._lines = now + WINDOW_SECONDS, 0
        if self._lines >= MAX_LINES:
            self._left_out += 1
            return
        self._lines += 1
        self._logger.log(level, message, *args, exc_info=error)

    def flush(self) -> None:
        """Log how many lines were left out since the last time, if any."""
        if self._left_out:
            left_out, self._left_out = self._left_out, 0
            self._logger.warning("%d more lines like the last ones were left out", left_out)
