"""Calls followed by `sys.settrace`, with pydevd's functions behind ours: Python up to 3.11.

pydevd judges a breakpoint inside its trace function, and the interpreter then puts what that returns into the frame, in
place of what is there. So the C function that the interpreter calls for the thread is replaced until the next event,
which is ours: then ours are put in front of pydevd's, for the frame and for what the thread enters. They pass on all
they see, and go once the trace has ended: from the frames at once, from a thread with the next event in it.

A trace function that raises is taken away by the interpreter for good, and at the end of the stack every one raises,
pydevd's as well. So a trace ends before that, and a program that is to stop does it there.
"""

import _thread
import sys
from typing import Any, Dict, Optional

from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.tracing import call_record

_EVENTS = ("call", "exception", "line", "return", "c_call", "c_exception", "c_return", "opcode")
"""By the numbers that C has for them."""


_ROOM = 100
"""Frames for which a stack must have room: pydevd stops in the program's own thread."""


def _is_full() -> bool:
    """Whether the stack has little room left."""
    limit = sys.getrecursionlimit()
    try:
        sys._getframe(max(limit - _ROOM, limit // 2))
    except ValueError:
        return False
    return True


class Tracing:
    """Follows the frames of one trace."""

    def __init__(self, trace: Any) -> None:
        if "ctypes" not in sys.modules:
            raise call_record.UnableError("it has no ctypes")
        self.trace = trace
        self.inner: Dict[Any, Any] = {}
        self.waiting: Dict[Any, Any] = {}
        self._threads: Dict[int, _TracedThread] = {}
        self._fronts: Dict[Any, _Front] = {}

    def follow(self, frame: Any) -> None:
        """Report what happens in a frame of this thread from the next event on."""
        ident = _thread.get_ident()
        thread = self._threads.get(ident)
        if thread is None or not thread.active:
            thread = self._threads[ident] = _TracedThread(self)
        thread.take(frame)

    def put(self, frame: Any, front: "_Front") -> "_Front":
        self._fronts[frame] = front
        return front

    def left(self, frame: Any) -> None:
        self._fronts.pop(frame, None)

    def close(self) -> None:
        """Put pydevd's functions back in this thread. In others the next event does so, which only they can have."""
        here = self._threads.get(_thread.get_ident())
        for frame, front in list(self._fronts.items()):
            if front.thread is here and frame.f_trace is front:
                frame.f_trace = front.behind
        self._fronts.clear()
        self.inner.clear()
        self.waiting.clear()
        if here is not None:
            here.remove()


class _TracedThread:
    """The trace function of one thread, in front of pydevd's."""

    def __init__(self, tracing: Tracing) -> None:
        self.active = True
        self._tracing, self._trace = tracing, tracing.trace
        self._function: Any = self._entered  # one object, so that it can be found again
        self._behind: Any = sys.gettrace()
        self._first: Any = None
        self._waiting: Any = None

    def take(self, frame: Any) -> None:
        """Follow a frame of this thread from the next event on: pydevd is in its trace function for it now."""
        ctypes: Any = sys.modules["ctypes"]
        self._waiting = frame
        kind = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.py_object, ctypes.c_int, ctypes.c_void_p)
        self._first = kind(self._first_event)
        ctypes.pythonapi.PyEval_SetTrace(self._first, ctypes.py_object(self))

    def _first_event(self, _: Any, frame: Any, what: int, argument: Optional[int]) -> int:
        """Do what the interpreter's own C function does, once."""
        try:
            attached.debugger().set_trace(self._function)
            waiting, self._waiting = self._waiting, None
            record = self._trace.open.get(waiting)
            if record is not None:
                front = _Followed(self, record, waiting.f_trace)
                waiting.f_trace = self._tracing.put(waiting, front)
            ctypes: Any = sys.modules["ctypes"]
            arg = ctypes.cast(argument, ctypes.py_object).value if argument else None
            function = self._function if what == 0 else frame.f_trace
            found = function(frame, _EVENTS[what], arg) if function is not None else None
            if found is not None:
                frame.f_trace = found
        except Exception as error:  # from C nothing can be raised here
            self._trace.fail(error)
        return 0

    def _entered(self, frame: Any, event: str, arg: Any) -> Any:
        """The thread enters a frame, or resumes one."""
        found = self._behind(frame, event, arg) if self._behind is not None else None
        if sys.gettrace() is not self._function:  # pydevd has put another one there: the first that a thread gets
            self._behind = sys.gettrace()
            attached.debugger().set_trace(self._function)
        if self._trace.ended:
            self.remove()
            return found
        if _is_full():
            self._trace.overflow(frame)
            return found
        try:
            front = self._front(frame, found)
        except Exception as error:
            self._trace.fail(error)
            return found
        return found if front is None else self._tracing.put(frame, front)

    def _front(self, frame: Any, found: Any) -> Any:
        record = self._trace.open.get(frame)
        if record is not None:
            record.resumed()
            return _Followed(self, record, found)
        above = frame.f_back
        record = self._trace.open.get(above) or self._tracing.inner.get(above)
        if record is None:
            return None
        if call_record.is_inner(frame.f_code):
            self._tracing.inner[frame] = record
            return _Inner(self, record, found)
        note = self._tracing.waiting.pop(frame, None) or record.called(frame)
        return None if note is None else _Called(self, record, found, note)

    def left(self, frame: Any) -> None:
        self._tracing.left(frame)
        self._tracing.inner.pop(frame, None)

    def waits(self, frame: Any, note: Any) -> None:
        """A function that was called is left, and will be resumed before it has a result."""
        self._tracing.waiting[frame] = note

    def finished(self, frame: Any, arg: Any) -> None:
        self._trace.finished(frame, arg)

    @property
    def ended(self) -> bool:
        return bool(self._trace.ended)

    def fail(self, error: Exception) -> None:
        self._trace.fail(error)

    def remove(self) -> None:
        """Put pydevd's function back; in the thread whose it is."""
        self.active = False
        if sys.gettrace() is self._function:
            attached.debugger().set_trace(self._behind)


class _Front:
    """In front of pydevd's function for a frame, to which everything is passed on."""

    def __init__(self, thread: _TracedThread, record: Any, behind: Any, note: Any = None) -> None:
        self.thread, self.record, self.behind, self.note = thread, record, behind, note
        self.error: Any = None
        self.error_at = -1

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        self._report(event != "return", frame, event, arg)
        found = self.behind(frame, event, arg) if self.behind is not None else None
        self.behind = found if found is not None else self.behind
        self._report(event == "return", frame, event, arg)  # pydevd sees the return first: ours may stop here
        if not self.thread.ended:
            return self
        self.thread.remove()
        if self.behind is None:
            frame.f_trace = None
        return self.behind

    def _report(self, now: bool, frame: Any, event: str, arg: Any) -> None:
        if now and not self.thread.ended:
            try:
                self.seen(frame, event, arg)
            except Exception as error:
                self.thread.fail(error)

    def seen(self, frame: Any, event: str, arg: Any) -> None:
        """Record an event."""
        if event == "exception":
            self.error, self.error_at = arg[1], frame.f_lasti
        elif event == "return":
            how = self._how(frame)
            if how in ("returned", "raised"):
                self.thread.left(frame)
            self.gone(frame, how, self.error if how == "raised" else arg)
            self.error = None

    def _how(self, frame: Any) -> str:
        """Return how a frame is left. What was thrown into a generator leaves it at the instruction of its yield."""
        if call_record.returns(frame):
            return "returned"
        thrown = self.error is not None and self.error_at == frame.f_lasti
        return "raised" if thrown else call_record.suspends(frame, frame.f_lasti) or "raised"

    def gone(self, frame: Any, how: str, value: Any) -> None:
        """The frame is left, for now or for good."""


class _Followed(_Front):
    """A call that is followed."""

    def seen(self, frame: Any, event: str, arg: Any) -> None:
        if event == "line":
            self.error = None
            self.record.line(frame, frame.f_lineno)
        elif event == "exception" and not call_record.ends_loop(frame, arg[1]):
            self.record.raised(arg[1])
        super().seen(frame, event, arg)

    def gone(self, frame: Any, how: str, value: Any) -> None:
        if how == "returned":
            self.record.returned(frame, value)
        elif how == "raised":
            self.record.failed(frame, value)
        else:
            self.record.suspended(frame, how, value)
            return
        self.thread.finished(frame, value if how == "returned" else None)


class _Called(_Front):
    """A function that a followed call calls."""

    def gone(self, frame: Any, how: str, value: Any) -> None:
        if how in ("awaits", "delegates"):
            self.thread.waits(frame, self.note)
        else:
            self.record.call_ended(self.note, how, value)


class _Inner(_Front):
    """A comprehension in a followed call."""
