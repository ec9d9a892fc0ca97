"""`PendingExceptions`: those on their way of which it is decided later whether anything catches them."""

import sys
from typing import Any

_MOST = 1000
"""From so many on, those that no frame of the stack awaits are forgotten. One in a coroutine that waits in its cleanup
is among these: from then on each that arrives is judged again."""

_frame = sys._getframe


class PendingExceptions:
    """The ids of a thread's pending exceptions; no exception lives longer because of us.

    A cleanup that one passes may raise others and catch them, so that several are pending at a time. What C code has
    caught is not heard of again: it is forgotten once no frame awaits it, or when another exception has its id.

    Attributes:
        is_quiet: none is pending, none was forgotten, and none has stopped the thread since the last one was raised.
    """

    __slots__ = ("_awaiting", "_ended", "_has_forgotten", "_stopped", "is_quiet")

    def __init__(self) -> None:
        self._awaiting: dict[int, int] = {}
        self._has_forgotten = False
        self._stopped = self._ended = 0
        self.is_quiet = True

    def add(self, error: BaseException, frame: Any) -> None:
        """Keep an exception that is decided when it comes to a frame."""
        if len(self._awaiting) >= _MOST:
            self._forget()
        self._awaiting[id(error)] = id(frame)
        self.is_quiet = False

    def take(self, error: BaseException) -> bool:
        """Return whether an exception is pending; it no longer is."""
        return self._awaiting.pop(id(error), None) is not None

    def pass_on(self, rest: BaseException, frame: Any) -> None:
        """What `except*` has left of a group leaves a frame: pending if the group, another object, was."""
        if id(rest) in self._awaiting or self._stopped == id(rest):
            return
        for error, awaits in self._awaiting.items():
            if awaits == id(frame):
                del self._awaiting[error]
                self._awaiting[id(rest)] = awaits
                return

    def may_be_forgotten(self, error: BaseException) -> bool:
        """Whether an exception may be one that was forgotten, and has not stopped the thread."""
        return self._has_forgotten and self._stopped != id(error)

    def stopped(self, error: BaseException | None) -> None:
        """An exception stops the thread, which is not to happen again on its way; None: the next one is a new one."""
        self._stopped = id(error) if error is not None else 0
        self.is_quiet = not (self._stopped or self._awaiting or self._has_forgotten)

    def ended(self, error: BaseException) -> None:
        """An exception has stopped the thread as one that nothing will catch."""
        self._ended = id(error)

    def is_ending(self, error: BaseException, *, has_come: bool) -> bool:
        """Whether an exception has stopped as such a one, and is on its way, be it raised again by a cleanup.

        What has not come from another frame is a new one, at the same place in memory.
        """
        if self._ended != id(error):
            return False
        if not has_come:
            self._ended = 0
        return has_come

    def _forget(self) -> None:
        """Forget those that no frame of this thread's stack awaits."""
        frames = set()
        frame: Any = _frame()
        while frame is not None:
            frames.add(id(frame))
            frame = frame.f_back
        self._awaiting = {error: awaits for error, awaits in self._awaiting.items() if awaits in frames}
        self._has_forgotten = True
