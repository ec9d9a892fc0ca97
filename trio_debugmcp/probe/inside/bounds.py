"""The time and the size of one answer, and code of the program that is run only within them.

    budget = Budget(seconds=0.8, size=30000)
    while not budget.spent():
        budget.take(len(text))

Times are those of a machine that has time for the program; `be_patient` says how much longer the debugger waits here.

The thread that answers has no signals. What bounds code of the program (a `__repr__`, a property) is: a limit on how
often it is run in an answer, a measurement of each run, and an exception that a timer raises in this thread, which ends
a loop in Python but not a call that waits in C.
"""

import _thread
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside import signal_handlers
from trio_debugmcp.probe.inside.debugger import attached

SECONDS = 0.8
"""For an answer, unless the question has a bound of its own. Well below the 3 s after which pydevd complains."""

SIZE = 60000
"""Characters of an answer; the tools above promise 32 KB and render less than what they have been given."""

SLOW_SECONDS = 0.5
"""A run of the program's code that took longer is not repeated for the same type."""

MOST_RUNS = 300
"""Runs of the program's code in one answer. Each is short, or the type is given up."""

_EARLY = 0.95
"""Part of SLOW_SECONDS that counts as all of it: the timer is not exact, and it began before the run."""

_REPEATS_SECONDS = (0.0, 1.0, 2.0)
"""When a run that catches TooSlowError is interrupted again, after the end of the answer's time."""


_TAKEN_SECONDS = 0.03
"""For a thread that runs Python code to take an exception; it gets the GIL after 0.005 s."""


_factor = [1.0]
"""Set by every question. What runs between two of them, as at an observed place, goes by the last one's."""


def be_patient(factor: float) -> None:
    """Multiply all times from now on: the debugger waits as much longer for the answers."""
    _factor[0] = factor


def patient(seconds: float) -> float:
    """Return how long what takes less than so many seconds on a machine with time for it may take here."""
    return seconds * _factor[0]


class TooSlowError(BaseException):
    """Raised in the thread that answers, inside code of the program that took too long."""


class Budget:
    """What is left of the time, the size and the runs of one answer."""

    def __init__(self, seconds: float = SECONDS, size: int = SIZE) -> None:
        self.end = time.monotonic() + patient(seconds)
        self.size = size
        self.runs = MOST_RUNS
        self._interrupt: Optional[_Interrupt] = None

    def take(self, size: int) -> None:
        self.size -= size

    def take_json(self, answer: Any) -> None:
        """Take what a part of the answer will have as text, about."""
        self.take(_size(answer))

    def half(self) -> float:
        """Return the time at which half of what is left now will be used up."""
        return (time.monotonic() + self.end) / 2

    def spent(self) -> bool:
        return self.size <= 0 or time.monotonic() >= self.end

    def passes_on(self, error: BaseException) -> bool:
        """Whether what code of the program has raised ends the answer, instead of being shown in it."""
        return False

    def run(self, cls: Optional[type], function: Callable[[], Any]) -> Any:
        """Call a function that runs code of the program, for a type that is given up if it is slow, or for none.

        Raises:
            TooSlowError: it took too long now or earlier, or enough was run for this answer.
            BaseException: what the code raised.
        """
        if (cls is not None and slow(cls) is not None) or self.runs <= 0 or time.monotonic() >= self.end:
            raise TooSlowError
        self.runs -= 1
        if self._interrupt is None:
            self._interrupt = _Interrupt(self.end)
        begin = time.monotonic()
        try:
            self._interrupt.open(cls)
            return function()
        finally:
            self._interrupt.close()
            took = time.monotonic() - begin
            if cls is not None and took >= patient(SLOW_SECONDS) * _EARLY and len(_slow) < _MOST_SLOW:
                _slow[id(cls)] = (cls, took)

    def close(self) -> None:
        """Give back the timers."""
        if self._interrupt is not None:
            self._interrupt.dispose()
            self._interrupt = None


def _size(answer: Any) -> int:
    if type(answer) is dict:
        return 2 + sum(6 + len(name) + _size(value) for name, value in answer.items())
    if type(answer) is list:
        return 2 + sum(2 + _size(value) for value in answer)
    return 2 + len(answer) if type(answer) is str else 6


class UnboundedBudget(Budget):
    """Of what a user evaluates: code of the program runs until it ends, or until the user interrupts it."""

    def __init__(self) -> None:
        super().__init__(_FOREVER, int(_FOREVER))

    def run(self, cls: Optional[type], function: Callable[[], Any]) -> Any:
        return function()

    def passes_on(self, error: BaseException) -> bool:
        return signal_handlers.has_raised(error)


_FOREVER = 1e9


class _Interrupt:
    """Raises TooSlowError in this thread while it runs code of the program."""

    def __init__(self, end: float) -> None:
        self._lock = _thread.allocate_lock()
        self._active = False
        self._cls: Optional[type] = None
        self._thread = _thread.get_ident()
        self._timers: List[Callable[[], None]] = []
        left = max(0.0, end - time.monotonic())
        # All are made now: pydevd's timer holds its lock while it calls, and cannot make another one.
        for seconds in (min(patient(SLOW_SECONDS), left), *(left + repeat for repeat in _REPEATS_SECONDS)):
            self._timers.append(attached.debugger().call_after(seconds, self._fire))

    def open(self, cls: Optional[type]) -> None:
        """Begin a run, for a type or for none."""
        self._cls = cls
        self._active = True

    def _fire(self) -> None:
        with self._lock:
            if not self._active:
                return
            interrupt(self._thread, TooSlowError)
            if self._active:  # it waits in C: maybe for a lock of a thread that is stopped, and so for ever
                if self._cls is not None and len(_slow) < _MOST_SLOW:
                    _slow.setdefault(id(self._cls), (self._cls, patient(SLOW_SECONDS)))
                attached.debugger().answer_without(self._thread)

    def close(self) -> None:
        """End a run. No exception is on its way afterwards: it must not hit what runs next."""
        while True:
            try:
                with self._lock:
                    self._active = False
                return
            except TooSlowError:  # it came between the run and this method
                continue

    def dispose(self) -> None:
        for cancel in self._timers:
            cancel()


class _Mine(BaseException):
    """Raised by a thread in itself."""


def interrupt(thread: int, kind: type) -> None:
    """Raise an exception in another thread between two steps of its Python code, if it runs any now.

    What waits in C would take the exception later, and is left alone: as long as one is on its way anywhere, CPython
    3.11 enters no function in a thread that is traced. Nor is it enough to take it back. Only a thread that gets one
    clears the mark, so the caller's raises one in itself.
    """
    from trio_debugmcp.probe.inside.c_api import raise_in  # loaded only where something has to be interrupted

    raise_in(thread, kind)
    time.sleep(patient(_TAKEN_SECONDS))
    raise_in(thread, None)
    try:
        raise_in(_thread.get_ident(), _Mine)
        while True:
            pass
    except _Mine:
        return


_MOST_SLOW = 1000

_slow: Dict[int, Tuple[type, float]] = {}
"""Types whose code took too long, by id. They are kept, so that the id stays theirs; there are few."""


def slowness() -> str:
    """Say of code of the program that it took too long."""
    return f"took over {patient(SLOW_SECONDS):g} s"


def slow(cls: type) -> Optional[float]:
    """Return how long code of that type once took, if it was too long."""
    known = _slow.get(id(cls))
    return known[1] if known is not None else None
