"""`BreakpointCalls`: where the program calls `breakpoint()` it stops: at the frame's next line, or before its end.

Python asks `sys.breakpointhook`. A hook that the program has set itself stays, and so does what PYTHONBREAKPOINT names
at the time of the call. Each thread that calls it stops, whatever others do meanwhile.
"""

import posix
import sys
from typing import Any

from trio_debugmcp.engine.inside import monitoring
from trio_debugmcp.engine.inside.attention import Attention
from trio_debugmcp.engine.inside.held_threads import HeldThreads
from trio_debugmcp.engine.inside.monitoring import MonitoringTool
from trio_debugmcp.engine.inside.program_files import ProgramFiles
from trio_debugmcp.engine.inside.thread_records import ThreadRecord, ThreadRecords

_frame: Any = sys._getframe

_modules: dict[str, Any] = sys.modules

_USER = "breakpoint()"

_IN_FRAME = monitoring.LINE | monitoring.JUMP | monitoring.PY_RETURN

_NAME = b"PYTHONBREAKPOINT"

_OFF = b"0"
"""Its value with which `breakpoint()` does nothing."""


class BreakpointCalls:
    """The hook, while the debugger is there, and the threads that have called it and have not stopped yet."""

    def __init__(
        self,
        threads: ThreadRecords,
        held: HeldThreads,
        events: MonitoringTool,
        attention: Attention,
        files: ProgramFiles,
    ) -> None:
        self._threads = threads
        self._held = held
        self._events = events
        self._attention = attention
        self._files = files
        self._own: Any = None
        self._calling: set[ThreadRecord] = set()

    def begin(self) -> None:
        """Have the program's calls stop it. Before it runs on."""
        program = _modules["sys"]  # `sys` is our own copy
        default = program.__breakpointhook__
        if _hook_name() not in (b"", _OFF) or program.breakpointhook is not default:
            return

        def breakpointhook(*args: Any, **named: Any) -> Any:
            name = _hook_name()
            if not name:
                return self._called(_frame(1))
            return None if name == _OFF else default(*args, **named)

        self._own = program.breakpointhook = breakpointhook

    def end(self) -> None:
        """Give the hook back, unless the program has set another."""
        own, self._own = self._own, None
        program = _modules["sys"]
        if own is not None and program.breakpointhook is own:
            program.breakpointhook = program.__breakpointhook__

    def _called(self, frame: Any) -> None:
        record = self._threads.current()
        if record.ident in self._threads.own or record.is_evaluating or self._held.is_over:
            return
        self._calling.add(record)
        self._attention.open(_USER)
        self._events.restart()
        self._watch(record, frame)

    def _watch(self, record: ThreadRecord, frame: Any) -> None:
        record.halting = frame
        self._events.want_in(_USER, frame.f_code, _IN_FRAME)

    def at_unwind(self, record: ThreadRecord, frame: Any) -> None:
        """An exception leaves the frame in which a thread is to stop: it does so in a caller."""
        while frame is not None:
            frame = frame.f_back
            if frame is not None and self._files.steps_into(frame.f_code.co_filename):
                self._watch(record, frame)
                return
        self.stopped(record)

    def stopped(self, record: ThreadRecord) -> None:
        """A thread has stopped, or there is no frame left in which it could."""
        record.halting = None
        self._calling.discard(record)
        if not self._calling:
            self._attention.close(_USER)
            self._events.forget(_USER)


def _hook_name() -> bytes:
    """Return what PYTHONBREAKPOINT is at this moment: the program may set it."""
    try:
        environment = vars(_modules["os"].environ)["_data"]
    except (AttributeError, KeyError, TypeError):  # what the program has put in its place Python does not see either
        environment = posix.environ
    found = environment.get(_NAME, b"")
    return found if type(found) is bytes else b""
