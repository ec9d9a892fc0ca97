"""`EventDispatch`: what each event of the interpreter leads to, and in which order it is looked at.

A callback runs in the thread of the program that the event is about, before that continues. What comes first: a stop of
another thread, for which this one parks; then the step under way and a pause; then breakpoints.

No callback raises, but for what belongs to the program: where the stack has no room for us, nothing may be called any
more, so each has a clause of its own for that. A place is disabled only if no part looks at all events, and
that is asked last: between that and the end of the callback no other thread runs.

Long because each event has its callback, and a callback calls as little as it can.
"""

import sys
from typing import Any, Callable, Sequence

from trio_debugmcp.engine.inside import interruptions, monitoring
from trio_debugmcp.engine.inside.attention import Attention
from trio_debugmcp.engine.inside.breakpoint_calls import BreakpointCalls
from trio_debugmcp.engine.inside.comprehension_rounds import Round
from trio_debugmcp.engine.inside.exception_stops import ExceptionStops
from trio_debugmcp.engine.inside.function_breakpoints import FunctionBreakpoints
from trio_debugmcp.engine.inside.held_threads import HeldThreads, ThreadStop
from trio_debugmcp.engine.inside.interruptions import is_foreign, is_own_code, without_checks
from trio_debugmcp.engine.inside.line_breakpoints import NOT_LOOKED_FOR, LineBreakpoints, LinePlan
from trio_debugmcp.engine.inside.line_loops import LineLoops
from trio_debugmcp.engine.inside.monitoring import DISABLE, MonitoringTool
from trio_debugmcp.engine.inside.pauses import Pauses
from trio_debugmcp.engine.inside.signals_at_await import SignalsAtAwait
from trio_debugmcp.engine.inside.stack_room import call_with_room
from trio_debugmcp.engine.inside.started_pythons import STARTS
from trio_debugmcp.engine.inside.statement_beginnings import StatementBeginnings
from trio_debugmcp.engine.inside.steps import Steps
from trio_debugmcp.engine.inside.thread_records import ThreadRecord, ThreadRecords, arrival, frame_of

_frame: Any = sys._getframe


class EventDispatch:
    """The callbacks of all events: one of each kind, hence so many methods.

    Attributes:
        faults: errors of ours, which the program has not seen.
        at_start_of_process: called when a function begins that starts one.
    """

    def __init__(
        self,
        threads: ThreadRecords,
        events: MonitoringTool,
        attention: Attention,
        held: HeldThreads,
        steps: Steps,
        breakpoints: LineBreakpoints,
        functions: FunctionBreakpoints,
        exceptions: ExceptionStops,
        pauses: Pauses,
        calls: BreakpointCalls,
        beginnings: StatementBeginnings,
    ) -> None:
        self.faults: list[BaseException] = []
        self._unjudged = 0
        self._threads = threads
        self._events = events
        self._attention = attention
        self._held = held
        self._steps = steps
        self._breakpoints = breakpoints
        self._functions = functions
        self._exceptions = exceptions
        self._pauses = pauses
        self._calls = calls
        self._loops = LineLoops()
        self._signals = SignalsAtAwait(threads, events, held.late)
        self._beginnings = beginnings
        self.at_start_of_process: Callable[[], None] = lambda: None

    def callbacks(self) -> dict[int, Any]:
        """Return the callback of each event."""
        return {
            monitoring.PY_START: self._on_start,
            monitoring.PY_RESUME: self._on_resume,
            monitoring.PY_THROW: self._on_throw,
            monitoring.PY_UNWIND: self._on_unwind,
            monitoring.PY_RETURN: self._on_return,
            monitoring.PY_YIELD: self._on_yield,
            monitoring.RAISE: self._on_raise,
            monitoring.LINE: self._on_line,
            monitoring.JUMP: self._on_jump,
            monitoring.CALL: self._on_call,
        }

    # --- Entries ------------------------------------------------------------------------------------------------------

    def _on_start(self, code: Any, offset: int) -> Any:
        try:
            if self._events.soon is not None:
                self._soon(code)
            if code.co_name in STARTS:
                self.at_start_of_process()
            if not self._functions.has(code):
                return self._on_entry(code, offset)
            self._functions.at_entry(self._threads.current(), _frame(1))
            self._on_entry(code, offset)
        except RecursionError:
            pass  # the stack has no room left for us
        except BaseException as error:
            self._fail(error)
        return None

    def _on_entry(self, code: Any, offset: int) -> Any:
        try:
            self._breakpoints.prepare(code)
            if self._attention.is_open and not is_own_code(code):
                frame = frame_of(code, _frame(1))
                record = self._arrived(frame)
                if record is not None:
                    step = self._steps.current
                    if step is not None:
                        self._steps.at_entry(step, record, frame)
                    if self._pauses.is_wanted:
                        self._pauses.at_entry(code)
        except RecursionError:
            return None  # the stack has no room left for us
        except BaseException as error:
            self._fail(error)
        return None if self._attention.is_open or self._breakpoints.has_on_entry(code) else DISABLE

    @without_checks
    def _on_resume(self, code: Any, offset: int) -> Any:
        if self._breakpoints.is_empty and not self._attention.is_open and self._events.soon is None:
            return DISABLE  # nothing is called: where signals are not due, none is looked for
        try:
            if self._events.soon is not None:
                self._soon(code)
            return self._on_entry(code, offset)
        except RecursionError:
            return None  # the stack has no room left for us
        except BaseException as error:
            if not self._signals.keep(code, offset, error):
                raise
            return None

    def _on_throw(self, code: Any, offset: int, error: BaseException) -> None:
        try:
            self._on_entry(code, offset)
        except RecursionError:
            pass  # the stack has no room left for us

    # --- Lines --------------------------------------------------------------------------------------------------------

    def _on_line(self, code: Any, line: int) -> Any:
        try:
            if self._events.soon is not None:
                self._soon(code)
            frame = _frame(1)
            if code.co_exceptiontable and self._loops.is_inner(code, frame.f_lasti, line):
                return self._pass_inner(frame)
            if self._attention.is_open and self._looked_at(frame, line):
                return None
            there = self._breakpoints.at(code, line)
            if there is None and not self._attention.is_open and not self._functions.has(code):
                return None if self._attention.is_open else DISABLE
            call_with_room(self._reach, frame, line, there, False)
        except RecursionError:
            pass  # the stack has no room left for us
        except BaseException as error:
            self._fail(error)
        return None

    def _on_jump(self, code: Any, offset: int, destination: int) -> Any:
        if self._events.soon is not None:
            self._soon(code)
        line = 0
        try:
            line = self._loops.line(code, offset, destination)
            frame = _frame(1)
            if line:
                if self._attention.is_open and self._looked_at(frame, line, is_loop=True):
                    return None
                there = self._breakpoints.at(code, line)
                if there is None and not self._attention.is_open:
                    return None if self._attention.is_open else DISABLE
                call_with_room(self._reach, frame, line, there, True)
            else:
                if self._attention.is_open:
                    self._arrived(frame)
                round_ = self._loops.round(code, offset, destination)
                for each in () if round_ is None else round_.lines:
                    there = self._breakpoints.at(code, each)
                    if there is not None and there.of_rounds:
                        line = each
                        call_with_room(self._reach_round, frame, round_, there)
        except RecursionError:
            return None  # the stack has no room left for us
        except BaseException as error:
            self._fail(error)
            return None
        return None if self._attention.is_open or (line and self._breakpoints.at(code, line)) else DISABLE

    def _pass_inner(self, frame: Any) -> Any:
        """A statement is under way: only another thread's stop and a pause count."""
        if not self._attention.is_open:
            return DISABLE
        record = None if is_own_code(frame.f_code) else self._arrived(frame)
        if record is not None and self._pauses.is_wanted and self._pauses.stops_in(frame):
            self._stop(ThreadStop(record, frame, self._pauses.reason), lambda: self._pauses.is_wanted)
        return None

    def _looked_at(self, frame: Any, line: int, is_loop: bool = False) -> bool:
        """Park for another thread's stop, stop for a step or a pause; return whether the line is done with."""
        code = frame.f_code
        if is_own_code(code):
            return True
        record = self._arrived(frame)
        if record is None:
            return True
        if record.passing is not None:
            passed, record.passing = record.passing, None
            if passed[0] is frame and passed[1] == line:
                return True
        step = self._steps.current
        if step is not None and self._steps.at_line(step, record, frame, is_loop):
            self._step_stop(record, frame, self._hits(record, frame, self._breakpoints.at(code, line), is_loop))
            return True
        if record.halting is frame:
            self._breakpoint_stop(record, frame, self._hits(record, frame, self._breakpoints.at(code, line), is_loop))
            return True
        if self._pauses.is_wanted and self._pauses.stops_in(frame):
            self._stop(ThreadStop(record, frame, self._pauses.reason), lambda: self._pauses.is_wanted)
            return True
        return self._breakpoints.at(code, line) is None and record.entering is not frame

    def _reach(self, frame: Any, line: int, there: LinePlan | None, is_loop: bool) -> None:
        record = self._threads.current()
        if record.is_evaluating or record.ident in self._threads.own:
            return
        if self._held.holder is not None:  # its stop began after this line did, or an evaluation has this thread run
            self._held.park(record, frame, at_breakpoint=True)
            there = self._breakpoints.at(frame.f_code, line)  # which may have been set, or taken back, meanwhile
        hits = self._hits(record, frame, there, is_loop)
        if hits:
            self._breakpoint_stop(record, frame, hits)

    def _reach_round(self, frame: Any, round_: Round, there: LinePlan) -> None:
        """A round of a comprehension ends, with the values that its variables had in it."""
        record = self._threads.current()
        if record.is_evaluating or record.ident in self._threads.own:
            return
        if self._held.holder is not None:
            self._held.park(record, frame, at_breakpoint=True)
            there = self._breakpoints.at(frame.f_code, there.line) or LinePlan(there.line, [])
        names = round_.frame(frame)
        hits = [breakpoint for breakpoint in there.of_rounds if breakpoint.holds(names)]
        if hits:
            self._breakpoint_stop(record, frame, hits)

    def _hits(self, record: ThreadRecord, frame: Any, there: LinePlan | None, is_loop: bool) -> Sequence[Any]:
        """Return the breakpoints at which a thread is to stop on a line: if a statement begins there, or a round."""
        entered: Sequence[Any] = ()
        if record.entering is not None:
            if record.entering is frame:
                entered = self._functions.reached(frame)
            record.entering = None
        if there is None:
            return entered
        if not is_loop:
            beginnings = there.beginnings
            if beginnings is NOT_LOOKED_FOR:
                beginnings = there.beginnings = self._beginnings.of(frame.f_code, there.line)
            if beginnings is not None and frame.f_lasti not in beginnings:
                return entered
        hits = [breakpoint for breakpoint in there.breakpoints if breakpoint.holds(frame)]
        return [*entered, *hits] if entered else hits

    # --- Other events, which are reported while a step is under way, or a thread is to park ---------------------------

    def _on_call(self, code: Any, offset: int, function: Any, argument: Any) -> Any:
        try:
            if self._events.soon is not None:
                self._soon(code)
            step = self._steps.current
            if step is not None:
                self._steps.at_call(step, _frame(1), offset, function)
        except RecursionError:
            pass  # the stack has no room left for us
        except BaseException as error:
            self._fail(error)

    def _on_return(self, code: Any, offset: int, value: Any) -> Any:
        try:
            if self._events.soon is not None:
                self._soon(code)
            record = self._arrived(_frame(1))
            if record is not None and record.halting is _frame(1):  # it has come to no further line
                self._breakpoint_stop(record, _frame(1), [])
            step = self._steps.current
            if step is not None and record is not None:
                back = self._steps.at_return(step, record, _frame(1), value)
                if back is not None:
                    self._step_stop(record, back, [])
        except RecursionError:
            pass  # the stack has no room left for us
        except BaseException as error:
            self._fail(error)

    def _on_yield(self, code: Any, offset: int, value: Any) -> Any:
        try:
            record = self._arrived(_frame(1))
            step = self._steps.current
            if step is not None and record is not None:
                back = self._steps.at_yield(step, _frame(1), value)
                if back is not None:
                    self._step_stop(record, back, [])
        except RecursionError:
            pass  # the stack has no room left for us
        except BaseException as error:
            self._fail(error)

    def _on_unwind(self, code: Any, offset: int, error: BaseException) -> Any:
        try:
            frame = _frame(1)
            record, step = self._threads.current(), self._steps.current
            if step is not None:
                self._steps.at_unwind(step, record, frame)
            if record.halting is frame:
                self._calls.at_unwind(record, frame)
            if self._exceptions.is_wanted:
                back = frame.f_back
                if issubclass(type(error), BaseExceptionGroup):
                    record.pending.pass_on(error, frame)
                record.unwound = None if back is None else arrival(error, back)
                if back is None and self._exceptions.at_end(record, frame, offset, error):
                    self._exception_stop(record, frame, offset, error, "unhandled")
        except RecursionError:
            pass  # the stack has no room left for us
        except BaseException as failure:
            self._fail(failure)

    def _on_raise(self, code: Any, offset: int, error: BaseException) -> Any:
        try:
            frame = _frame(1)
            if isinstance(error, RecursionError):
                call_with_room(self._raised, frame, offset, error)
                return
            has_come = interruptions.clean(error)
            if not self._exceptions.is_wanted:
                return
            record = self._threads.current()
            arrived = has_come and record.unwound == arrival(error, frame)
            record.unwound = None
            if record.pending.is_ending(error, has_come=has_come):
                return
            if arrived and record.pending.is_quiet and not self._unjudged:  # it was judged where it was raised
                return
            self._judge(record, frame, offset, error, arrived)
        except RecursionError:
            # the stack has no room left for us
            self._unjudged = id(error)
        except BaseException as failure:
            self._fail(failure)

    def _raised(self, frame: Any, offset: int, error: BaseException) -> None:
        has_come = interruptions.clean(error)
        if self._exceptions.is_wanted:
            record = self._threads.current()
            arrived = has_come and record.unwound == arrival(error, frame)
            record.unwound = None
            if not record.pending.is_ending(error, has_come=has_come):
                self._judge(record, frame, offset, error, arrived)

    def _judge(self, record: ThreadRecord, frame: Any, offset: int, error: BaseException, arrived: bool) -> None:
        if record.is_evaluating or record.ident in self._threads.own:
            return
        if self._unjudged:  # in a frame further in there was no room for it
            arrived = arrived and self._unjudged != id(error)
            self._unjudged = 0
        mode = self._exceptions.at_raise(record, frame, offset, error, arrived)
        if mode is not None:
            self._exception_stop(record, frame, offset, error, mode)

    def _exception_stop(self, record: ThreadRecord, frame: Any, offset: int, error: BaseException, mode: str) -> None:
        name = type(error).__qualname__
        stop = ThreadStop(record, frame, "exception", description=name, text=name)
        stop.exception = type(error), error, error.__traceback__
        stop.mode = mode
        if mode != "unhandled":
            stop.caught_by = self._exceptions.caught_by(frame, offset, error)
        record.pending.stopped(error)
        if mode == "unhandled":
            record.pending.ended(error)
        self._stop(stop)
        stop.exception = None

    def _soon(self, code: Any) -> None:
        try:
            if not is_own_code(code):
                self._events.take_soon()
        except RecursionError:
            pass  # the stack has no room left for us
        except BaseException as error:
            self._fail(error)

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _arrived(self, frame: Any) -> ThreadRecord | None:
        """Park if another thread is stopped; return the record of this thread, None if nothing may stop in it."""
        record = self._threads.current()
        if record.ident in self._threads.own or record.is_evaluating:
            return None
        if self._held.holder is not None:
            self._held.park(record, frame)
        return record

    def _step_stop(self, record: ThreadRecord, frame: Any, hits: Sequence[Any]) -> None:
        step = self._steps.current
        returned = step.returned if step is not None else []
        is_breakpoint = bool(hits) or record.halting is frame
        stop = ThreadStop(record, frame, "breakpoint" if is_breakpoint else "step", **_hit_ids(hits))
        stop.returned = returned
        self._stop(stop)

    def _breakpoint_stop(self, record: ThreadRecord, frame: Any, hits: Sequence[Any]) -> None:
        self._stop(ThreadStop(record, frame, "breakpoint", **_hit_ids(hits)))

    def _stop(self, stop: ThreadStop, is_wanted: Callable[[], bool] = lambda: True) -> None:
        if stop.record.halting is stop.frame:
            self._calls.stopped(stop.record)
        if not stop.record.is_evaluating:
            self._held.stop(stop, is_wanted)

    def _fail(self, error: BaseException) -> None:
        """Keep an error of ours from the program.

        Raises:
            BaseException: what a signal handler of the program has raised.
        """
        if is_foreign(error):
            raise interruptions.as_the_programs(error)
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(error)


def _hit_ids(hits: Sequence[Any]) -> dict[str, Any]:
    return {"hitBreakpointIds": [each.id for each in hits]} if hits else {}


_MOST_FAULTS = 20
