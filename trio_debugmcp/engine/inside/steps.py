"""`Steps`: one thread continues by a line, into a call, or out of a function.

A step belongs to a frame, not to a thread: over an `await` it stays with the frame, which continues later, and over a
`yield` too, unless it is to go in. A generator expression has one line, and may not be continued: from there a step
goes to where its value goes.
What a step means:

- over: the next line of the frame; where the frame ends, the place in its caller to which it returns.
- out: the place to which the frame returns; of a generator, also where the value goes that it yields next.
- in: the first line of the next function that is of interest, or the next line, whichever comes first; of a generator
  that yields, where the value goes.
- in, of one call of the statement: the first line of what that leads to; where it does not, as over.

Where a frame returns to a library, the step continues to the next line of the user's, wherever that is.
"""

from typing import Any

from trio_debugmcp.engine.inside import monitoring
from trio_debugmcp.engine.inside.attention import Attention
from trio_debugmcp.engine.inside.call_targets import CallTarget
from trio_debugmcp.engine.inside.interruptions import is_own_code
from trio_debugmcp.engine.inside.monitoring import MonitoringTool
from trio_debugmcp.engine.inside.program_files import ProgramFiles, is_made_by_library
from trio_debugmcp.engine.inside.thread_records import ThreadRecord

_USER = "step"

_IN_FRAME = monitoring.LINE | monitoring.JUMP | monitoring.PY_RETURN | monitoring.PY_YIELD | monitoring.CALL

_COROUTINE = 0x80 | 0x100
"""Flags of the code of coroutines, plain ones and those that `types.coroutine` makes."""

_GENERATOR, _ASYNC_GENERATOR = 0x20, 0x200

_GENERATOR_EXPRESSION = "<genexpr>"

_WRAPPED = "async_generator_wrapped_value"
"""The type in which an async generator hands out what it yields; what is not wrapped is awaited."""

YIELDED = "(yield) "
"""Before the name of a generator, where the value is one that it has yielded."""

_MOST_CALLEES = 1000

_Function: Any = type(lambda: None)
_Method: Any = type(Attention().open)


_name_of: Any = type.__dict__["__name__"].__get__


class StepUnderWay:
    """One step under way.

    Attributes:
        frame: where it continues; None if only what comes next in the thread counts.
        returned: what the functions have returned that the frame has called, or a generator has yielded.
        target: the call that is to be gone into, or None if it is not a certain one.
    """

    __slots__ = ("callees", "frame", "goes_in", "is_out", "record", "returned", "target")

    def __init__(self, kind: str, record: ThreadRecord, frame: Any, target: CallTarget | None) -> None:
        self.record = record
        self.frame = frame
        self.target = target
        self.goes_in = kind == "in" and target is None
        self.is_out = kind == "out"
        self.returned: list[tuple[str, Any]] = []
        self.callees: dict[int, Any] = {}


class Steps:
    """The step under way, if there is one."""

    def __init__(self, events: MonitoringTool, attention: Attention, files: ProgramFiles) -> None:
        self.current: StepUnderWay | None = None
        self.keeps_returned = False
        self._events = events
        self._attention = attention
        self._files = files

    def begin(self, kind: str, record: ThreadRecord, frame: Any, target: CallTarget | None = None) -> None:
        """Begin a step: `over`, `in` or `out`. Before the thread is resumed."""
        self.end()
        self.current = StepUnderWay(kind, record, frame, target)
        self._attention.open(_USER)
        self._events.restart()
        self._watch(self.current, frame)
        if target is not None and target.code is not frame.f_code:
            self._events.want_in(_USER, target.code, monitoring.CALL)

    def end(self) -> None:
        """End the step: it has come to its stop, or another stop has come before."""
        if self.current is not None:
            self.current.frame = self.current.target = None  # so that no frame lives longer because of it
            self.current = None
            self._attention.close(_USER)
            self._events.forget(_USER)

    def _watch(self, step: StepUnderWay, frame: Any) -> None:
        step.frame = frame
        self._events.want_in(_USER, frame.f_code, _IN_FRAME)

    # --- Events: each returns whether the thread is to stop -----------------------------------------------------------

    def at_line(self, step: StepUnderWay, record: ThreadRecord, frame: Any, is_loop: bool) -> bool:
        """A line begins, or a loop on one line begins again."""
        if frame is step.frame:
            return not step.is_out and (step.target is None or is_loop or not step.target.is_ahead(frame))
        return self._follows_any(step, record, frame)

    def at_entry(self, step: StepUnderWay, record: ThreadRecord, frame: Any) -> None:
        """A function is entered, or continues."""
        target = step.target
        goes_in = step.goes_in if target is None else target.leads_to(frame)
        if goes_in and step.record is record and self._counts(frame) and not record.is_evaluating:
            self._events.want_in(_USER, frame.f_code, _IN_FRAME)
            step.frame, step.target = frame, None

    def at_call(self, step: StepUnderWay, frame: Any, offset: int, function: Any) -> None:
        """The frame calls something: have its value reported."""
        if step.target is not None:
            step.target.called(frame, offset, function)
        if frame is not step.frame or not self.keeps_returned:
            return
        kind = type(function)
        if kind is not _Function:
            function = function.__func__ if kind is _Method else None
        if type(function) is _Function and len(step.callees) < _MOST_CALLEES:
            code = function.__code__
            if id(code) not in step.callees and code is not frame.f_code:
                step.callees[id(code)] = code
                self._events.want_in(_USER, code, monitoring.PY_RETURN)

    def at_return(self, step: StepUnderWay, record: ThreadRecord, frame: Any, value: Any) -> Any:
        """A function returns. Returns the frame to stop in, or None."""
        if frame is not step.frame and not self._follows_any(step, record, frame):
            if frame.f_back is step.frame and step.frame is not None and id(frame.f_code) in step.callees:
                step.returned.append((frame.f_code.co_qualname, value))
            return None
        return self._back(step, frame, value)

    def at_yield(self, step: StepUnderWay, frame: Any, value: Any) -> Any:
        """A generator yields, or a coroutine waits. Returns the frame to stop in, or None."""
        goes_out = step.is_out or frame.f_code.co_name == _GENERATOR_EXPRESSION
        if frame is not step.frame or not (goes_out or step.goes_in):
            return None
        flags = frame.f_code.co_flags
        if flags & _COROUTINE or (flags & _ASYNC_GENERATOR and _name_of(type(value)) != _WRAPPED):
            return None  # it waits
        if goes_out:
            return self._back(step, frame, value, YIELDED)
        self._follow_any(step, frame.f_back)
        return None

    def at_unwind(self, step: StepUnderWay, record: ThreadRecord, frame: Any) -> None:
        """An exception leaves a function: what comes next counts, in its caller."""
        if frame is step.frame or self._follows_any(step, record, frame):
            self._leave(step, frame)

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _counts(self, frame: Any) -> bool:
        files, code = self._files, frame.f_code
        if is_own_code(code) or not files.steps_into(code.co_filename):
            return False
        return not files.just_my_code or not is_made_by_library(frame)

    def _back(self, step: StepUnderWay, frame: Any, value: Any, how: str = "") -> Any:
        """A frame returns to its caller. Returns that, if it is the user's."""
        back = frame.f_back
        if back is not None and self._counts(back):
            step.returned.append((how + frame.f_code.co_qualname, value))
            return back
        self._leave(step, frame)
        return None

    def _leave(self, step: StepUnderWay, frame: Any) -> None:
        """A frame ends, and control goes to its caller: the next line counts there, or where that leads to."""
        back = frame.f_back
        step.is_out, step.target = False, None
        if back is not None and self._counts(back):
            self._watch(step, back)
            return
        self._follow_any(step, back)

    def _follow_any(self, step: StepUnderWay, frame: Any) -> None:
        """Have only what comes next count, in whichever frame of the user's, from the first one outward.

        What a generator passes on (`yield from`) may come next further out.
        """
        step.goes_in, step.frame = True, None
        while frame is not None:
            if self._counts(frame):
                self._events.want_in(_USER, frame.f_code, _IN_FRAME)
                if not frame.f_code.co_flags & _GENERATOR:
                    return
            frame = frame.f_back

    def _follows_any(self, step: StepUnderWay, record: ThreadRecord, frame: Any) -> bool:
        return step.goes_in and step.frame is None and step.record is record and self._counts(frame)
