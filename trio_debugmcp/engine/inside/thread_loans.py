"""`ThreadLoan`: an evaluation may wait for what another thread has or does: a lock, a queue, the result of a pool.

So when it has run for a moment, the threads that are held run on, and are held again when it ends.
"""

import _thread
from typing import Any, Callable

AFTER_SECONDS = 0.1
"""Most evaluations have ended by then, and nothing has moved for them."""


class ThreadLoan:
    """The held threads, for the length of one evaluation.

    Attributes:
        has_begun: they have run, or still do.
    """

    def __init__(self, held: Any, call_after: Callable[[float, Callable[[], None]], Callable[[], None]]) -> None:
        self.has_begun = False
        self._held = held
        self._is_over = False
        self._lock = _thread.allocate_lock()
        self._cancel = call_after(AFTER_SECONDS, self._begin)

    def _begin(self) -> None:
        with self._lock:
            if not self._is_over:
                self.has_begun = self._held.lend(self)

    def end(self) -> None:
        """The evaluation has ended, or its time is over: have the threads held again."""
        self._cancel()
        with self._lock:
            self._is_over = True
            if self.has_begun:
                self._held.take_back(self)
