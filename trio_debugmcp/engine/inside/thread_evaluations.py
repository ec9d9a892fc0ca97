"""`ThreadEvaluations`: what held threads evaluate for the debugger, from its begin to its end, whatever ends it.

    evaluations.run(record, evaluate)   # in the held thread itself; returns the value, or raises what that has raised
    evaluations.interrupt()             # of all threads; returns how many there are
    evaluations.is_stuck(record)        # it was interrupted, and has not ended

Code in Python is interrupted by an exception that the interpreter raises in the thread. What waits in C (a lock, a
queue, a connection) takes that only when it has ended; the main thread is woken by a signal, whose handler raises it.
A thread that cannot be woken is stuck, and the stop is still one: a thread of ours evaluates in its frames, and the
program can continue; the thread does when what it waits for has come.
"""

import _thread
from typing import Any, Callable

from trio_debugmcp.engine.inside.interruptions import is_of_signal
from trio_debugmcp.engine.inside.thread_loans import ThreadLoan
from trio_debugmcp.engine.inside.thread_records import ThreadRecord, ThreadRecords
from trio_debugmcp.probe.inside import signal_handlers
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.waking import EvaluationInterrupt, Waker

_TRIES = 5
"""For the end of an evaluation, which an interrupt of ours may cut short."""

_get_ident = _thread.get_ident


class ThreadEvaluation:
    """What one thread evaluates.

    Attributes:
        loan: the other threads, as long as it lasts.
        is_over: it has ended: nothing interrupts it any more.
        is_interrupted: an exception is on its way to it.
        is_stuck: it has not ended though it was interrupted.
        is_given_up: the debugger waits for its end no more.
    """

    def __init__(self, record: ThreadRecord, loan: ThreadLoan) -> None:
        self.record = record
        self.loan = loan
        self.is_over = False
        self.is_interrupted = False
        self.is_stuck = False
        self.is_given_up = False
        self.lock = _thread.allocate_lock()
        self.waker = Waker()


class ThreadEvaluations:
    """The evaluations that have begun and not ended, by thread."""

    def __init__(self, threads: ThreadRecords, held: Any) -> None:
        self._threads = threads
        self._held = held
        self._running: dict[int, ThreadEvaluation] = {}

    # --- By the thread that evaluates ---------------------------------------------------------------------------------

    def run(self, record: ThreadRecord, evaluate: Callable[[], Any]) -> Any:
        """Evaluate. What it waits for may be another thread's to do, so those run meanwhile if it takes long.

        Raises:
            BaseException: what it has raised.
        """
        running = ThreadEvaluation(record, ThreadLoan(self._held, attached.debugger().call_after))
        ident = _get_ident()
        value: Any = None
        failure: BaseException | None = None
        has_begun = has_value = False
        for _ in range(_TRIES):  # an interrupt may arrive behind the evaluation: it must not reach the program
            try:
                if not has_begun:
                    has_begun = True
                    self._begin(ident, running)
                    value = evaluate()
                    has_value = True
                self._end(ident, running)
                break
            except BaseException as error:
                is_behind = self.keep(error) or isinstance(error, EvaluationInterrupt)
                if not (is_behind and has_value):
                    failure = failure or error
        if failure is not None:
            raise failure
        return value

    def keep(self, error: BaseException) -> bool:
        """Keep what a signal handler has raised in what this thread evaluates: the program has it when it continues.

        Return whether one has raised it.
        """
        raised = self._threads.current().raised
        if any([each is error for each in raised]):
            return True
        if not is_of_signal(error):
            return False
        raised.append(error)
        if isinstance(error, KeyboardInterrupt) and signal_handlers.handler_step(error.__traceback__) is None:
            error.with_traceback(None)  # the program has not called what was evaluated
        return True

    def circumstances(self) -> dict[str, bool]:
        """Return what is to be said of the evaluation that the calling thread has just done.

        `othersRan`: the other threads of the program ran meanwhile. `elsewhere`: its own thread is stuck.
        """
        running = self._running[_get_ident()]
        if running.record.ident != _get_ident():
            return {"elsewhere": True}
        return {"othersRan": True} if running.loan.has_begun and self._threads.are_several() else {}

    def _begin(self, ident: int, running: ThreadEvaluation) -> None:
        running.waker.open(ident == self._threads.main)
        self._running[ident] = running

    def _end(self, ident: int, running: ThreadEvaluation) -> None:
        with running.lock:
            running.is_over = True
        self._running.pop(ident, None)
        running.loan.end()
        if running.is_interrupted:
            from trio_debugmcp.probe.inside.c_api import raise_in

            raise_in(ident, None)
        running.waker.close()

    # --- By the thread that reads requests ----------------------------------------------------------------------------

    def interrupt(self) -> int:
        """Interrupt what threads evaluate; return how many do, without those that were given up before."""
        from trio_debugmcp.probe.inside import bounds

        running = dict(self._running)
        for ident, each in running.items():
            each.loan.end()  # not only when it ends: what waits in C code may not be interrupted
            bounds.interrupt(ident, EvaluationInterrupt)
            with each.lock:
                each.is_stuck = not each.is_over
                if each.is_stuck and each.waker.wake():
                    each.is_interrupted = True
        return len([each for each in running.values() if not each.is_given_up])

    def is_stuck(self, record: ThreadRecord) -> bool:
        """Whether a thread evaluates what does not end though it was interrupted."""
        return self._of(record) is not None

    def give_up(self, record: ThreadRecord) -> None:
        """Wait no more for what a thread evaluates that is stuck."""
        running = self._of(record)
        if running is not None:
            running.is_given_up = True

    def leave(self, record: ThreadRecord) -> None:
        """Have what a thread evaluates end as soon as it comes back from C code: the program continues."""
        from trio_debugmcp.probe.inside.c_api import raise_in

        running = self._of(record)
        if running is None:
            return
        with running.lock:
            if not running.is_over:
                running.is_interrupted = True
                raise_in(record.ident, EvaluationInterrupt)

    def _of(self, record: ThreadRecord) -> ThreadEvaluation | None:
        running = self._running.get(record.ident)
        return running if running is not None and running.is_stuck and not running.is_over else None
