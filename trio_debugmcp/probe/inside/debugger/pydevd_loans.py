"""`PydevdLoan`: threads that pydevd holds run on while a stopped one evaluates what may wait for one of them.

    loan = PydevdLoan(pydevd, call_after)   # by the stopped thread; the others run after a moment
    loan.end()                              # they are held again
    loan.has_begun                          # they have run
    loan.has_passed                         # one of them came to a breakpoint, and did not stop

Pydevd's own way (`unblock_threads_on_timeout`) notifies the client that the program has continued, and that it has
stopped again: a client that shows the stop would lose it. Here no event is sent, as the stop is what it was: a
thread whose own stop was reported stays in it, others pass breakpoints as long as an evaluation lasts, as the one that
evaluates does (it may wait for them, and could not be woken), and what comes to a stop later waits until the program
has moved, and stops then.
"""

import _thread
import os
from typing import Any, Callable, List, Set, Tuple

from trio_debugmcp.probe.inside.debugger.pydevd_parts import part
from trio_debugmcp.probe.inside.debugger.seam import known_threads

AFTER_SECONDS = 0.1
"""Most evaluations have ended by then, and nothing has moved for them."""

_acquire: Any = _thread.LockType.acquire  # kept: a program may put another one into the class of locks

_LIFECYCLE = "_pydevd_bundle.pydevd_thread_lifecycle"

_loans: List["PydevdLoan"] = []
"""Those that have begun and not ended."""

_evaluating: List["PydevdLoan"] = []
"""Those that have not ended."""

_leaving: Set[Any] = set()
"""Threads that leave pydevd's loop of a stop without having been continued."""

_stops: List["_EvaluatingStop"] = []
"""The stops in which something was evaluated. One lasts until its thread continues."""

_LOOK_SECONDS = 0.05
"""Between two looks at whether a thread that waits is lent meanwhile, or the stop it waits for has ended otherwise."""


class _EvaluatingStop:
    """A stop whose thread has evaluated. Its lock is free as soon as the thread has left it."""

    def __init__(self, thread: Any) -> None:
        self.thread = thread
        self.process = os.getpid()
        self.over = _thread.allocate_lock()
        _acquire(self.over)


class PydevdLoan:
    """The threads that are held, for the length of one evaluation.

    Attributes:
        has_begun: they have run, or still do.
        has_passed: one has passed a breakpoint, or a thread that the evaluation has made.
    """

    def __init__(self, pydevd: Any, call_after: Callable[[float, Callable[[], None]], Callable[[], None]]) -> None:
        self.has_begun = self.has_passed = False
        self.thread = _current_thread()
        self.process = os.getpid()
        self._pydevd = pydevd
        self._is_over = False
        self._reasons: List[Tuple[Any, Any]] = []
        self._keeps_stop = self.thread is not None and _patch(pydevd)
        _forget_parent()
        if self._keeps_stop and not any(each.thread is self.thread for each in _stops):
            _stops.append(_EvaluatingStop(self.thread))
        _evaluating.append(self)
        self._cancel = call_after(AFTER_SECONDS, self._begin)

    def _begin(self) -> None:
        lock, running = part(_LIFECYCLE, "suspend_threads_lock"), part(_LIFECYCLE, "STATE_RUN")
        info_of: Any = part(_LIFECYCLE, "set_additional_thread_info")
        if lock is None or running is None or info_of is None or not self._keeps_stop:
            return
        with lock:
            _forget_parent()
            evaluating = [self.thread, *(each.thread for each in _loans)]
            reported = [each for each in _reported(self._pydevd) if each is not self.thread]
            others = [each for each in _threads() if each not in evaluating and each not in reported]
            if self._is_over or not others:
                return
            self._reasons = [(each, each.stop_reason) for each in reported]
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
            if self in _evaluating:
                _evaluating.remove(self)
            if self in _loans:
                if _loans == [self]:
                    suspend(self._pydevd, self.thread)
                    for thread, reason in self._reasons:
                        thread.stop_reason = reason
                _loans.remove(self)


def _current_thread() -> Any:
    """Return this thread; the program may have another function in place of `threading.current_thread`."""
    return known_threads().get(_thread.get_ident())


def _threads() -> List[Any]:
    find = part("_pydevd_bundle.pydevd_utils", "get_non_pydevd_threads")
    return [each for each in find() if not getattr(each, "pydev_do_not_trace", False)]


def _reported(pydevd: Any) -> List[Any]:
    """Return the threads that have stopped for a reason of their own; where none has (a pause), the first that did."""
    others = part("_pydevd_bundle.pydevd_comm_constants", "CMD_THREAD_SUSPEND")
    own = [each for each in _threads() if _is_held(each) and getattr(each, "stop_reason", others) != others]
    return own or list(pydevd.threads_suspended_single_notification._suspended_thread_id_to_thread.values())[:1]


def _is_held(thread: Any) -> bool:
    info = getattr(thread, "additional_info", None)
    return info is not None and info.pydev_state == part(_LIFECYCLE, "STATE_SUSPEND")


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

    def set_suspend(thread: Any, stop_reason: Any, *arguments: Any, **named: Any) -> None:
        if thread is not _current_thread() or _has_turn(thread, stop_reason):
            stop(thread, stop_reason, *arguments, **named)

    set_suspend.knows_loans = True  # type: ignore[attr-defined]
    notifications.on_thread_resume = on_thread_resume
    pydevd.set_suspend = set_suspend
    return True


def _forget_parent() -> None:
    """Forget what was so in the process of which this one is a fork."""
    _loans[:] = [each for each in _loans if each.process == os.getpid()]
    _evaluating[:] = [each for each in _evaluating if each.process == os.getpid()]
    _stops[:] = [each for each in _stops if each.process == os.getpid()]


def _continued(thread: Any) -> None:
    for each in [each for each in _stops if each.thread is thread]:
        _stops.remove(each)
        each.over.release()


def _has_turn(thread: Any, stop_reason: Any) -> bool:
    """Wait until the program has moved from the stops in which something was evaluated.

    Returns:
        Whether this thread is to stop then: not at a breakpoint that it reaches for an evaluation.
    """
    _forget_parent()
    is_breakpoint = stop_reason == part("_pydevd_bundle.pydevd_comm_constants", "CMD_SET_BREAK")
    for each in [each for each in _stops if each.thread is not thread]:
        while _is_held(each.thread):
            running = list(_evaluating)
            if is_breakpoint and running and not _is_held(thread):
                for loan in running:
                    loan.has_passed = True
                return False
            if _acquire(each.over, True, _LOOK_SECONDS):
                each.over.release()
                break
    return True
