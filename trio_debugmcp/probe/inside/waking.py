"""`Waker`: a main thread that waits in C code (a lock, a queue, a connection) for what does not come is woken.

    waker.open(True)    # by the thread that will wait
    waker.wake()        # by any other: KeyboardInterrupt is raised where it waits
    waker.close()       # by the thread that has waited

Only a signal ends such a wait, and only the main thread takes signals.
"""

import _signal  # type: ignore[import-not-found, unused-ignore]
import _thread
from typing import Any

_WAKES: Any = _signal.SIGURG
"""By default it means nothing, and programs hardly ever use it."""

_STEPS = 100
"""Of the interpreter, one of which takes a signal that has arrived."""


class EvaluationInterrupt(KeyboardInterrupt):
    """Raised by the debugger, to end what is evaluated: no signal has come, and the program is not to have it.

    The code that is evaluated, and who has asked for it, see a `KeyboardInterrupt`.
    """


EvaluationInterrupt.__name__ = EvaluationInterrupt.__qualname__ = "KeyboardInterrupt"
EvaluationInterrupt.__module__ = "builtins"


def _raise(number: int, frame: Any) -> None:
    raise EvaluationInterrupt


def is_own(handler: Any) -> bool:
    """Whether the handler of a signal is the one that wakes."""
    return handler is _raise


class Waker:
    """What wakes one thread, if that can be woken."""

    def __init__(self) -> None:
        self._ident = 0

    def open(self, wanted: bool) -> None:
        """Have the calling thread woken, if it is the main one and the program has no use for the signal."""
        if wanted and _signal.getsignal(_WAKES) is _signal.SIG_DFL:
            try:
                _signal.signal(_WAKES, _raise)
            except ValueError:  # it is not the main one
                return
            self._ident = _thread.get_ident()

    def wake(self) -> bool:
        """Raise KeyboardInterrupt in the thread, whatever it waits for; return whether it can be woken."""
        if self._ident:
            _signal.pthread_kill(self._ident, _WAKES)
        return self._ident != 0

    def close(self) -> None:
        """Wake it no more. A signal that is on its way raises KeyboardInterrupt here: close again then."""
        if self._ident:
            for _ in range(_STEPS):
                pass
            if _signal.getsignal(_WAKES) is _raise:
                _signal.signal(_WAKES, _signal.SIG_DFL)
            self._ident = 0
