"""Calls after a time, in a thread of our own, which is there only as long as a call is awaited.

    cancel = call_after(0.5, interrupt, start_thread)
    cancel()

A forked child has a thread of its own for its calls.
"""

import _thread
import posix
import time
from typing import Any, Callable, List

_acquire: Any = _thread.LockType.acquire  # kept: a program may put another one into the class of locks

Start = Callable[[Callable[[], None]], None]


class _Watch:
    """The calls that are awaited in this process."""

    def __init__(self, start: Start) -> None:
        self.pid = posix.getpid()
        self._start = start
        self._lock = _thread.allocate_lock()
        self._calls: List[List[Any]] = []
        self._running = False
        self._news = _thread.allocate_lock()  # held, but when the thread is to look at the calls anew
        _acquire(self._news)

    def add(self, call: List[Any]) -> None:
        with self._lock:
            self._calls.append(call)
            starts, self._running = not self._running, True
        if starts:
            self._start(self._run)
        else:
            self._wake()

    def remove(self, call: List[Any]) -> None:
        with self._lock:
            self._calls = [each for each in self._calls if each is not call]
        self._wake()

    def _wake(self) -> None:
        with self._lock:
            if self._news.locked():
                self._news.release()

    def _run(self) -> None:
        while True:
            with self._lock:
                call = min(self._calls, key=lambda each: each[0], default=None)
                if call is None:
                    self._running = False
                    return
            left = call[0] - time.monotonic()
            if left > 0:
                _acquire(self._news, True, left)
                continue
            self.remove(call)
            call[1]()


_watches: List[_Watch] = []


def call_after(seconds: float, function: Callable[[], None], start: Start) -> Callable[[], None]:
    """Call a function after that time, in a thread that is made by `start`; return what takes that back."""
    if not _watches or _watches[-1].pid != posix.getpid():  # in a fork the thread is not there, and locks may be held
        _watches[:] = [_Watch(start)]
    watch, call = _watches[-1], [time.monotonic() + seconds, function]
    watch.add(call)
    return lambda: watch.remove(call)
