"""`HeldThreads`: threads that have stopped. One stop at a time; while it lasts, no other thread continues.

A thread that stops stays inside the event that it has stopped at, and does there what the debugger asks it to do. The
others park at the next line, jump, call or return that they come to, before they judge anything there: so each hit of a
breakpoint is a stop of its own, in turn. What waits in C waits where it is.
"""

import _thread
import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside import interruptions, monitoring
from trio_debugmcp.engine.inside.attention import Attention
from trio_debugmcp.engine.inside.interruptions import is_own_code
from trio_debugmcp.engine.inside.late_raises import LateRaises
from trio_debugmcp.engine.inside.monitoring import MonitoringTool
from trio_debugmcp.engine.inside.thread_records import ThreadRecord, ThreadRecords, program_frame

_PARKING = monitoring.LINE | monitoring.JUMP | monitoring.PY_RETURN | monitoring.PY_YIELD

_USER = "all-stop"

_frame: Any = sys._getframe
_is_finalizing = sys.is_finalizing
_exc_info = sys.exc_info

_MOST_ROUNDS = 20
"""Looks at the threads, which move on between two of them."""

_MOST_FRAMES = 50
"""In which one of ours is looked for."""

RESUME = None
"""What a stopped thread is given when it is to continue."""

_UNPARK = object()
"""What a parked thread is given when the stop is over."""


class ThreadStop:
    """A stop of one thread.

    Attributes:
        frame: where it is; that is not the innermost frame where a function is just returning to it.
        body: of the event `stopped`.
        returned: names and values of what was called in the step that has led here.
        exception: (type, value, traceback) at hand, or None.
        mode: of the exception breakpoint that stops here.
        caught_by: who will catch the exception, as far as that is known.
        handled: the exception that is being handled, in any frame of the thread, or None.
        is_begun: all is done that a stop begins with.
        is_over: the thread is to continue.
        is_answered: its event is to have an answer; None as long as that is not decided.
        sent: has an item as soon as the event is sent.
    """

    def __init__(self, record: ThreadRecord, frame: Any, reason: str, **body: Any) -> None:
        self.record = record
        self.frame = frame
        self.body = {
            "reason": reason,
            "threadId": record.id,
            "preserveFocusHint": False,
            "allThreadsStopped": True,
            **body,
        }
        self.returned: list[tuple[str, Any]] = []
        self.exception: Any = None
        self.mode = ""
        self.caught_by: dict[str, Any] | None = None
        self.handled: Any = None
        self.is_begun = self.is_over = False
        self.is_answered: bool | None = None
        self.sent: list[bool] = []


class HeldThreads:
    """The turn to stop, and the threads that wait for its end.

    Attributes:
        holder: the thread whose stop it is.
        is_over: the debugger is gone: nothing stops any more.
        faults: errors of ours, of what held threads were to do.
        at_stop: called when a thread has the turn to stop.
        is_sending: whether a thread is in the midst of a message to the debugger, which has to come to its end.
        parked: threads that wait for the end of the turn; some may run again since.
        loans: evaluations for which the others run.
        late: raises what signal handlers have raised meanwhile.
    """

    def __init__(
        self,
        threads: ThreadRecords,
        events: MonitoringTool,
        attention: Attention,
        announce: Callable[[ThreadStop], None],
        miss: Callable[[ThreadStop], None],
    ) -> None:
        self.holder: ThreadRecord | None = None
        self.is_over = False
        self._threads = threads
        self._events = events
        self._attention = attention
        self._announce = announce
        self._miss = miss
        self.faults: list[BaseException] = []
        self.at_stop: Callable[[], None] = lambda: None
        self.is_sending: Callable[[int], bool] = lambda _: False
        self._lock = _thread.allocate_lock()
        self.parked: list[ThreadRecord] = []
        self.loans: list[Any] = []
        self.late = LateRaises(threads, events)

    # --- By the thread itself -----------------------------------------------------------------------------------------

    def stop(self, stop: ThreadStop, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Hold the calling thread at a stop until it is resumed; `is_wanted` is asked again when it has its turn.

        While the interpreter ends there is no stop: no other thread runs any more that would end it. Nor is there one
        while the thread sends: it would be held with the lock that all who have something to say wait for.
        """
        record = stop.record
        if _is_finalizing() or self.is_sending(record.ident):
            if not self.is_over:
                self._miss(stop)
            return
        try:
            interruptions.completed(record.raised, self._hold, stop, is_wanted)
        finally:
            record.stop = None
            interruptions.completed(record.raised, self._give_turn, record)
        self.late.raise_kept(record)

    def _hold(self, stop: ThreadStop, is_wanted: Callable[[], bool]) -> None:
        """Begin a stop, and serve until it is over. Called again when interrupted, and continues with the rest."""
        if stop.is_over:
            return
        record = stop.record
        self._take_turn(record)
        if record.stop is None:
            if self.is_over or not is_wanted():
                stop.is_over = True
                return
            record.stop = stop
        if not stop.is_begun:
            stop.handled = _exc_info()[1]
            self.at_stop()
            self._hold_others()
            self._announce(stop)
            stop.is_begun = True
        self._serve(record, RESUME)
        stop.is_over = True

    def park(self, record: ThreadRecord, frame: Any, *, at_breakpoint: bool = False) -> None:
        """Hold the calling thread in a frame as long as another one is stopped.

        Where it may be about to stop itself, it is held also while an evaluation has the others run.
        """
        try:
            while self._holds(record, at_breakpoint=at_breakpoint):
                record.parked = frame
                self.parked.append(record)
                if self._holds(record, at_breakpoint=at_breakpoint):  # else it was resumed before
                    self._serve(record, _UNPARK)
        finally:
            record.parked = None
        self.late.raise_kept(record)

    def _holds(self, record: ThreadRecord, *, at_breakpoint: bool) -> bool:
        if self.holder is None or self.holder is record or self.is_over or _is_finalizing():
            return False
        if self.is_sending(record.ident):
            return False
        return at_breakpoint or not self.loans

    def _serve(self, record: ThreadRecord, end: Any) -> None:
        """Do what other threads put into the inbox of the calling one, until the end."""
        while not self.is_over:
            item = record.inbox.take(record.raised)
            if item is end:
                break
            if item is not RESUME and item is not _UNPARK:  # those are of an earlier stop
                self.faults += interruptions.done_once(record.raised, item)  # a fault of ours resumes nothing

    def _take_turn(self, record: ThreadRecord) -> None:
        while not self.is_over:
            with self._lock:
                if self.holder is None or self.holder is record:
                    self.holder = record
                    return
            self.park(record, program_frame(_frame(1)), at_breakpoint=True)

    def _give_turn(self, record: ThreadRecord) -> None:
        if self.holder is record:
            self.release()

    def _hold_others(self) -> None:
        """Have the other threads park; done when each is where it will come by an event."""
        if not self._threads.are_several():
            return
        self._attention.open(_USER)
        self._events.restart()
        watched: set[int] = set()
        for _ in range(_MOST_ROUNDS):
            fresh = [
                code
                for ident, top in self._threads.tops().items()
                if not self._threads.of(ident).is_held
                for code in _next_codes(top)
                if id(code) not in watched
            ]
            if not fresh:
                return
            for code in fresh:
                watched.add(id(code))
                self._events.want_in(_USER, code, _PARKING)

    # --- By the thread that reads requests ----------------------------------------------------------------------------

    def resume(self, record: ThreadRecord) -> None:
        """Let a stopped thread continue, and those that wait for it."""
        self.release()
        record.inbox.put(RESUME)

    def lend(self, loan: Any) -> bool:
        """Have the other threads run as long as a loan lasts; return whether they do."""
        with self._lock:
            if self.holder is None or self.is_over:
                return False
            self.loans.append(loan)
        self._unpark()
        return True

    def take_back(self, loan: Any) -> None:
        """A loan is over: have the other threads held again, if the stop still lasts."""
        with self._lock:
            if loan not in self.loans:
                return
            self.loans.remove(loan)
            if self.loans:
                return
        self._hold_others()

    def _unpark(self) -> None:
        parked, self.parked = self.parked, []
        for record in parked:
            record.inbox.put(_UNPARK)

    def release(self) -> None:
        """End the turn: the next thread may stop."""
        self._attention.close(_USER)
        self._events.forget(_USER)
        self.holder = None
        self.loans.clear()
        self._unpark()

    def end(self) -> None:
        """Nothing stops any more, and all that is held continues."""
        self.is_over = True
        holder = self.holder
        self.release()
        if holder is not None:
            holder.inbox.put(RESUME)


def _next_codes(top: Any) -> list[Any]:
    """Return the code in which a thread continues: of its innermost frame, or of those from which it has come to us."""
    codes = []
    above = None
    for _ in range(_MOST_FRAMES):
        if top is None:
            break
        if not is_own_code(top.f_code) and (above is None or is_own_code(above.f_code)):
            codes.append(top.f_code)
        above, top = top, top.f_back
    return codes
