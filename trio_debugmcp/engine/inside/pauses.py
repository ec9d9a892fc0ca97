"""`Pauses`: threads that run are to stop at the next line that they come to; the first one that does stops.

A stop at the entry is one of these: at the first line of the main module.
"""

from typing import Any

from trio_debugmcp.engine.inside import greenlet_frames, monitoring
from trio_debugmcp.engine.inside.attention import Attention
from trio_debugmcp.engine.inside.interruptions import is_own_code
from trio_debugmcp.engine.inside.monitoring import MonitoringTool
from trio_debugmcp.engine.inside.program_files import ProgramFiles
from trio_debugmcp.engine.inside.thread_records import ThreadRecords

_USER = "pause"

_IN_CODE = monitoring.LINE | monitoring.JUMP

_MOST_FRAMES = 50
"""Of one thread, in which it may continue without entering a function."""


class Pauses:
    """A pause that is wanted.

    Attributes:
        is_wanted: whether a thread is to stop.
        reason: why, as DAP says it.
    """

    def __init__(
        self, events: MonitoringTool, attention: Attention, files: ProgramFiles, threads: ThreadRecords
    ) -> None:
        self.is_wanted = False
        self.reason = "pause"
        self._events = events
        self._attention = attention
        self._files = files
        self._threads = threads

    def begin_at_entry(self) -> None:
        """Have the main thread stop at the entry. Before the program begins."""
        self.is_wanted, self.reason = True, "entry"
        self._attention.open(_USER)

    def begin(self) -> None:
        """Have a thread stop."""
        self.is_wanted, self.reason = True, "pause"
        self._attention.open(_USER)
        self._events.restart()
        for top in [*self._threads.tops().values(), *greenlet_frames.waiting_frames()]:
            frame = top
            for _ in range(_MOST_FRAMES):
                if frame is None:
                    break
                if self._counts(frame.f_code):
                    self._events.want_in(_USER, frame.f_code, _IN_CODE)
                frame = frame.f_back

    def end(self) -> bool:
        """Have threads continue; return whether one was to stop."""
        wanted, self.is_wanted = self.is_wanted, False
        if wanted:
            self._attention.close(_USER)
            self._events.forget(_USER)
        return wanted

    def at_entry(self, code: Any) -> None:
        """A function is entered, or continues."""
        if self._counts(code):
            self._events.want_in(_USER, code, _IN_CODE)

    def stops_in(self, frame: Any) -> bool:
        """Whether a thread stops in a frame."""
        if self.reason == "entry":
            return bool(frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__")
        return self._counts(frame.f_code)

    def _counts(self, code: Any) -> bool:
        return not is_own_code(code) and self._files.steps_into(code.co_filename)
