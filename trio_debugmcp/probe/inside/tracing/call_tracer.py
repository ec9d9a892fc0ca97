"""The trace of a function's calls: found by a breakpoint that never stops, followed to their end, then taken away.

    begin(1, {"name": "total", "calls": 1, "stop": True})
    reached(1)                  # the condition of a breakpoint on the function's first line: always False
    state(find(1))              # how often it was looked for and seen, and whether the trace has ended
    find(1).take()              # ends it; all that was recorded

There is one trace at a time in a program. Calls are followed by `sys.monitoring` where there is one, else by functions
that are put in front of pydevd's for `sys.settrace`. A call in another one that is followed counts as part of that.
"""

import _thread
import atexit
import sys
from typing import Any, Dict, List, Optional

from trio_debugmcp.probe.inside import record_connection
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.encoding import encoded
from trio_debugmcp.probe.inside.tracing import call_record
from trio_debugmcp.probe.inside.tracing.call_record import CallRecord
from trio_debugmcp.probe.inside.values.program_text import error_text
from trio_debugmcp.probe.inside.visible_frames import Json

_PIECE = 50000
"""Characters of a record, which is bounded on the way."""

LEFT = "trace"
"""The kind of such a record."""


class CallTracer:
    """The calls of one function.

    Attributes:
        open: the calls under way, by their frames.
        ended: nothing more is recorded.
    """

    def __init__(self, number: int, asked: Json) -> None:
        self.number = number
        self.name = str(asked["name"])
        self.calls, self.stop = int(asked["calls"]), bool(asked.get("stop"))
        self.head = int(asked.get("head", 1000))
        self.open: Dict[Any, CallRecord] = {}
        self.records: List[CallRecord] = []
        self.looked = self.under_way = 0
        self.ended = False
        self.lock = _thread.allocate_lock()
        self.failure = ""
        self.follower = _follower(self)
        atexit.register(self._leave)

    def reached(self, frame: Any) -> None:
        """A frame is at the first line of the function: begin to follow it, if its call begins there."""
        if self.ended or frame.f_code.co_name != self.name or frame in self.open:
            return
        self.looked += 1
        if not call_record.begins(frame):
            self.under_way += 1
            return
        with self.lock:
            if len(self.records) >= self.calls or self._is_inside(frame):
                return
            record = self.open[frame] = CallRecord(frame, self.head)
            self.records.append(record)
        record.begin(frame)
        self.follower.follow(frame)

    def _is_inside(self, frame: Any) -> bool:
        """Whether a frame is called by one that is followed."""
        back = frame.f_back
        while back is not None and self.open:
            if back in self.open:
                return True
            back = back.f_back
        return False

    def finished(self, frame: Any, arg: Any) -> None:
        """A call that was followed has ended. After the last one the thread stops, if wanted."""
        self.open.pop(frame, None)
        if len(self.records) < self.calls or self.open or self.ended:
            return
        self.end()
        if self.stop:
            stop_after(frame, arg)

    def _leave(self) -> None:
        """The program ends, and pydevd answers no more: record the calls over our own connection, if there is one."""
        line = record_connection.line()
        if line is None or not line.is_open or not self.records:
            return
        self.end()
        text = encoded({"answer": self.answer()})
        pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
        line.write("".join(encoded([LEFT, str(self.number), 0, 0, piece]) + "\n" for piece in pieces).encode())

    def answer(self) -> Json:
        """Return all that the trace has recorded."""
        return {**state(self), "calls": [record.json() for record in self.records]}

    def take(self) -> Json:
        """End, and return all that was recorded."""
        self.end()
        atexit.unregister(self._leave)
        return self.answer()

    def fail(self, error: Exception) -> None:
        """Something of ours has failed: nothing more is recorded, and the program continues.

        Where only the stack had no room left for us, that event is not recorded, and the ones after it are.
        """
        if isinstance(error, RecursionError):
            return
        self.failure = self.failure or error_text(error)
        self.end()

    def overflow(self, frame: Any) -> None:
        """A frame is entered with which the stack is almost full: end, and stop in it, if a stop is wanted."""
        self.failure = self.failure or "RecursionError: the stack is almost full, and calls cannot be followed further"
        self.end()
        if self.stop:
            attached.debugger().stop_in(frame, None, None)

    def end(self) -> None:
        """Record nothing more, and take away what was put into the program for it."""
        with self.lock:
            if self.ended:
                return
            self.ended = True
        self.follower.close()
        for frame, record in list(self.open.items()):
            record.stop(frame)


def _follower(trace: CallTracer) -> Any:
    if hasattr(sys, "monitoring"):
        from trio_debugmcp.probe.inside.tracing import by_monitoring

        return by_monitoring.Monitoring(trace)
    from trio_debugmcp.probe.inside.tracing import by_settrace

    return by_settrace.Tracing(trace)


# --- Stopping ---------------------------------------------------------------------------------------------------------


def stop_after(frame: Any, arg: Any) -> None:
    """Stop this thread in the frame that a call returns to, as after a step out.

    Where that is library code, in the frame that is about to return: what comes next may be an event loop for hours.
    """
    back = frame.f_back
    top = frame if back is None or attached.is_own(back) or attached.debugger().is_library(back) else back
    attached.debugger().stop_in(top, arg, frame)


# --- The questions ----------------------------------------------------------------------------------------------------


_trace: Optional[CallTracer] = None


def begin(number: int, asked: Json) -> None:
    """Begin a trace; one that is there ends."""
    global _trace  # noqa: PLW0603 (one for each process)
    if _trace is not None:
        _trace.take()
    _trace = CallTracer(number, asked)


def find(number: int) -> Optional[CallTracer]:
    """Return the trace with that number, if it is the program's."""
    return _trace if _trace is not None and _trace.number == number else None


def reached(number: int) -> bool:
    """The condition of the breakpoint on the first line of the function."""
    reached_in(number, attached.debugger().judged_frame(sys._getframe(1)))
    return False


def reached_in(number: int, frame: Any) -> None:
    """A frame is at the first line of the function."""
    trace = find(number)
    if trace is not None and not trace.ended:
        try:
            trace.reached(frame)
        except Exception as error:
            trace.fail(error)


def state(trace: CallTracer) -> Json:
    """Return how far a trace is."""
    return {
        "looked": trace.looked,
        "underWay": trace.under_way,
        "begun": len(trace.records),
        "open": len(trace.open),
        "ended": trace.ended,
        "failure": trace.failure,
    }
