"""Calls followed by `sys.monitoring`, with a tool of our own beside pydevd's: Python 3.12 and newer.

Lines and returns are reported of the function alone, and of what it calls; entries and exceptions of everything, as
there is no other way to see those, for as long as a call is followed.
"""

import sys
from typing import Any, Callable, Dict, Set

from trio_debugmcp.probe.inside.tracing import call_record

_TOOLS = (3, 4, 1, 2, 5, 0)
"""In the order in which they are tried: the first two have no meaning, the others are a profiler's or the like."""

_NAME = "trio_debugmcp trace"


class Monitoring:
    """Follows the frames of one trace, in any thread."""

    def __init__(self, trace: Any) -> None:
        self._trace = trace
        self._monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 (the oldest Python has none)
        self._codes: Set[Any] = set()
        self._callees: Dict[Any, Any] = {}
        self._inner: Dict[Any, Any] = {}
        self._tool = next((each for each in _TOOLS if self._monitoring.get_tool(each) is None), -1)
        if self._tool < 0:
            raise call_record.UnableError("all tools of sys.monitoring are in use")
        self._monitoring.use_tool_id(self._tool, _NAME)
        events = self._monitoring.events
        self._callbacks: Dict[int, Callable[..., None]] = {
            events.LINE: self._line,
            events.PY_START: self._start,
            events.PY_RESUME: self._resume,
            events.PY_THROW: self._throw,
            events.PY_RETURN: self._return,
            events.PY_YIELD: self._yield,
            events.RAISE: self._raise,
            events.PY_UNWIND: self._unwind,
        }

    def follow(self, frame: Any) -> None:
        events = self._monitoring.events
        if not self._codes:
            for event, callback in self._callbacks.items():
                self._monitoring.register_callback(self._tool, event, self._guarded(callback))
            everywhere = events.PY_START | events.RAISE | events.PY_UNWIND | events.PY_THROW
            self._monitoring.set_events(self._tool, everywhere)
        wanted = events.LINE | events.PY_RETURN | events.PY_YIELD | events.PY_RESUME
        self._codes.add(frame.f_code)
        self._monitoring.set_local_events(self._tool, frame.f_code, wanted)

    def close(self) -> None:
        monitoring = self._monitoring
        if monitoring.get_tool(self._tool) != _NAME:
            return
        monitoring.set_events(self._tool, 0)
        for code in list(self._codes):
            monitoring.set_local_events(self._tool, code, 0)
        for event in self._callbacks:
            monitoring.register_callback(self._tool, event, None)
        monitoring.free_tool_id(self._tool)
        self._callees.clear()
        self._inner.clear()

    # --- Events: called by the interpreter, so the frame that they are about is the one above ------------------------

    def _guarded(self, callback: Callable[..., None]) -> Callable[..., None]:
        """Return a callback whose own failure does not reach the program."""

        def guarded(code: Any, where: int, *value: Any) -> None:
            if self._trace.ended:
                return
            try:
                callback(sys._getframe(1), where, *value)
            except Exception as error:
                self._trace.fail(error)

        return guarded

    def _line(self, frame: Any, number: int) -> None:
        record = self._trace.open.get(frame)
        if record is not None:
            record.line(frame, number)

    def _start(self, frame: Any, offset: int) -> None:
        record = self._record_above(frame)
        if record is None:
            return
        note = None
        if call_record.is_inner(frame.f_code):
            self._inner[frame] = record
        else:
            note = record.called(frame)
        if note is not None:
            self._callees[frame] = (record, note)
        if note is not None or frame in self._inner:
            self._watch(frame.f_code)

    def _resume(self, frame: Any, offset: int) -> None:
        record = self._trace.open.get(frame)
        if record is not None:
            record.resumed()
        elif frame not in self._callees:  # the others have waited
            self._start(frame, offset)

    def _throw(self, frame: Any, offset: int, error: BaseException) -> None:
        record = self._trace.open.get(frame)
        if record is not None:
            record.resumed()

    def _return(self, frame: Any, offset: int, value: Any) -> None:
        if self._left(frame, "returned", value):
            return
        record = self._trace.open.get(frame)
        if record is not None:
            record.returned(frame, value)
            self._trace.finished(frame, value)

    def _yield(self, frame: Any, offset: int, value: Any) -> None:
        record = self._trace.open.get(frame)
        how = call_record.suspends(frame, offset)
        if record is not None:
            record.suspended(frame, how, value)
        elif how == "yielded":
            self._left(frame, how, value)

    def _raise(self, frame: Any, offset: int, error: BaseException) -> None:
        record = self._trace.open.get(frame)
        if record is not None and not call_record.ends_loop(frame, error):
            record.raised(error)

    def _unwind(self, frame: Any, offset: int, error: BaseException) -> None:
        if self._left(frame, "raised", error):
            return
        record = self._trace.open.get(frame)
        if record is not None:
            record.failed(frame, error)
            self._trace.finished(frame, None)

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _record_above(self, frame: Any) -> Any:
        above = frame.f_back
        return self._trace.open.get(above) or self._inner.get(above)

    def _watch(self, code: Any) -> None:
        """Have the returns of a function reported that a followed one calls; it may be the followed one itself."""
        if code not in self._codes:
            events = self._monitoring.events
            self._codes.add(code)
            self._monitoring.set_local_events(self._tool, code, events.PY_RETURN | events.PY_YIELD | events.PY_RESUME)

    def _left(self, frame: Any, how: str, value: Any) -> bool:
        """Complete the note of a call; return whether it was one."""
        if how != "yielded":
            self._inner.pop(frame, None)
        found = self._callees.pop(frame, None)
        if found is None:
            return False
        record, note = found
        record.call_ended(note, how, value)
        return True
