"""`PydevdLoan`: threads that pydevd holds run on while a stopped one evaluates what may wait for one of them.

    loan = PydevdLoan(pydevd, call_after)   # by the stopped thread; the others run after a moment
    loan.end()                              # they are held again
    loan.has_begun                          # they have run

Pydevd's own way (`unblock_threads_on_timeout`) notifies the client that the program has continued, and that it has
stopped again: a client that shows the stop would lose it. Here no event is sent, as the stop is what it was. A
thread that comes to a stop of its own meanwhile waits, and stops when the program has moved.
"""

import _thread
import os
from typing import Any, Callable, List, Set

from trio_debugmcp.probe.inside.debugger.pydevd_parts import part
from trio_debugmcp.probe.inside.debugger.seam import known_threads

AFTER_SECONDS = 0.1
"""Most evaluations have ended by then, and nothing has moved for them."""

_acquire: Any = _thread.LockType.acquire  # kept: a program may put another one into the class of locks

_LIFECYCLE = "_pydevd_bundle.pydevd_thread_lifecycle"

_loans: List["PydevdLoan"] = []
"""Those that have begun and not ended."""

_leaving: Set[Any] = set()
"""Threads that leave pydevd's loop of a stop without having been continued."""

_stops: List["_LentStop"] = []
"""The stops in which threads were lent. One lasts until its thread continues."""


class _LentStop:
    """A stop whose thread has had others run. Its lock is free as soon as it is over."""

    def __init__(self, thread: Any) -> None:
        self.thread = thread
        self.process = os.getpid()
        self.over = _thread.allocate_lock()
        _acquire(self.over)


class PydevdLoan:
    """The threads that are held, for the length of one evaluation.

    Attributes:
        has_begun: they have run, or still do.
    """

    def __init__(self, pydevd: Any, call_after: Callable[[float, Callable[[], None]], Callable[[], None]]) -> None:
        self.has_begun = False
        self.thread = _current_thread()
        self.process = os.getpid()
        self._pydevd = pydevd
        self._is_over = False
        self._cancel = call_after(AFTER_SECONDS, self._begin)

    def _begin(self) -> None:
        lock, running = part(_LIFECYCLE, "suspend_threads_lock"), part(_LIFECYCLE, "STATE_RUN")
        info_of: Any = part(_LIFECYCLE, "set_additional_thread_info")
        if lock is None or running is None or info_of is None or not _patch(self._pydevd):
            return
        with lock:
            _forget_parent()
            evaluating = [self.thread, *(each.thread for each in _loans)]
            others = [each for each in _threads() if each not in evaluating]
            if self._is_over or self.thread is None or not others:
                return
            if not any(each.thread is self.thread for each in _stops):
                _stops.append(_LentStop(self.thread))
            for each in others:
                info = info_of(each)
                info.pydev_original_step_cmd = info.pydev_step_cmd = -1
                info.pydev_step_stop = None
                info.pydev_state = running
                if info.is_in_wait_loop:
                    _leaving.add(each)
                    self._pydevd.get_internal_queue_and_event(_thread_id(each))[1].set()
            info.update_stepping_info()  # of all threads
            self.has_begun = True
            _loans.append(self)

    def end(self) -> None:
        """The evaluation has ended, or its time is over: have the threads held again."""
        self._cancel()
        lock, suspend = part(_LIFECYCLE, "suspend_threads_lock"), part(_LIFECYCLE, "suspend_all_threads")
        if lock is None or suspend is None:
            return
        with lock:
            self._is_over = True
            if self in _loans:
                if _loans == [self]:
                    suspend(self._pydevd, self.thread)
                _loans.remove(self)


def _current_thread() -> Any:
    """Return this thread; the program may have another function in place of `threading.current_thread`."""
    return known_threads().get(_thread.get_ident())


def _threads() -> List[Any]:
    find = part("_pydevd_bundle.pydevd_utils", "get_non_pydevd_threads")
    return [each for each in find() if not getattr(each, "pydev_do_not_trace", False)]


def _thread_id(thread: Any) -> Any:
    return part("_pydevd_bundle.pydevd_constants", "get_thread_id")(thread)


def _patch(pydevd: Any) -> bool:
    """Have pydevd's stops know of loans; return whether they do."""
    notifications: Any = type(getattr(pydevd, "threads_suspended_single_notification", None))
    resumed, stop = getattr(notifications, "on_thread_resume", None), getattr(pydevd, "set_suspend", None)
    if resumed is None or stop is None:
        return False
    if getattr(stop, "knows_loans", False):
        return True

    def on_thread_resume(self: Any, thread_id: Any, thread: Any) -> None:
        _continued(thread)
        if thread in _leaving:
            _leaving.discard(thread)
            with self._lock:
                self._suspended_thread_id_to_thread.pop(thread_id, None)
            return
        resumed(self, thread_id, thread)

    def set_suspend(thread: Any, *arguments: Any, **named: Any) -> None:
        if thread is _current_thread():
            _wait_for_turn(thread)
        stop(thread, *arguments, **named)

    set_suspend.knows_loans = True  # type: ignore[attr-defined]
    notifications.on_thread_resume = on_thread_resume
    pydevd.set_suspend = set_suspend
    return True


def _forget_parent() -> None:
    """Forget what was so in the process of which this one is a fork."""
    _loans[:] = [each for each in _loans if each.process == os.getpid()]
    _stops[:] = [each for each in _stops if each.process == os.getpid()]


def _continued(thread: Any) -> None:
    for each in [each for each in _stops if each.thread is thread]:
        _stops.remove(each)
        each.over.release()


def _wait_for_turn(thread: Any) -> None:
    """Wait for the end of the stops that have lent this thread, before it has a stop of its own."""
    _forget_parent()
    for each in [each for each in _stops if each.thread is not thread]:
        with each.over:
            pass
