"""`PendingExceptions`: those on their way of which it is decided later whether anything catches them."""

import sys
from typing import Any

_MOST = 64
"""From so many on, those that no frame of the stack awaits are forgotten. One in a coroutine that waits in its cleanup
is among these."""

_frame = sys._getframe


class PendingExceptions:
    """The ids of a thread's pending exceptions; no exception lives longer because of us.

    A cleanup that one passes may raise others and catch them, so that several are pending at a time. What C code has
    caught is not heard of again: it is forgotten once no frame awaits it, or when another exception has its id.
    """

    __slots__ = ("_awaiting",)

    def __init__(self) -> None:
        self._awaiting: dict[int, int] = {}

    def add(self, error: BaseException, frame: Any) -> None:
        """Keep an exception that is decided when it comes to a frame."""
        if len(self._awaiting) >= _MOST:
            self._forget()
        self._awaiting[id(error)] = id(frame)

    def take(self, error: BaseException) -> bool:
        """Return whether an exception is pending; it no longer is."""
        return self._awaiting.pop(id(error), None) is not None

    def _forget(self) -> None:
        """Forget those that no frame of this thread's stack awaits."""
        frames = set()
        frame: Any = _frame()
        while frame is not None:
            frames.add(id(frame))
            frame = frame.f_back
        self._awaiting = {error: awaits for error, awaits in self._awaiting.items() if awaits in frames}
