"""`BreakpointCalls`: where the program calls `breakpoint()` it stops, at the next line that it comes to.

Python asks `sys.breakpointhook`. A hook that the program has set itself stays, and so does what PYTHONBREAKPOINT names.
"""

import posix
import sys
from typing import Any

from trio_debugmcp.engine.inside.held_threads import HeldThreads
from trio_debugmcp.engine.inside.steps import Steps
from trio_debugmcp.engine.inside.thread_records import ThreadRecords

_frame: Any = sys._getframe

_modules: dict[str, Any] = sys.modules

_environ: dict[bytes, bytes] = posix.environ


class BreakpointCalls:
    """The hook, while the debugger is there."""

    def __init__(self, threads: ThreadRecords, held: HeldThreads, steps: Steps) -> None:
        self._threads = threads
        self._held = held
        self._steps = steps
        self._own: Any = None

    def begin(self) -> None:
        """Have the program's calls stop it. Before it runs on."""
        program = _modules["sys"]  # `sys` is our own copy
        if _environ.get(b"PYTHONBREAKPOINT") or program.breakpointhook is not program.__breakpointhook__:
            return

        def breakpointhook(*args: Any, **named: Any) -> None:
            self._called(_frame(1))

        self._own = program.breakpointhook = breakpointhook

    def end(self) -> None:
        """Give the hook back, unless the program has set another."""
        own, self._own = self._own, None
        program = _modules["sys"]
        if own is not None and program.breakpointhook is own:
            program.breakpointhook = program.__breakpointhook__

    def _called(self, frame: Any) -> None:
        record = self._threads.current()
        if record.ident not in self._threads.own and not record.is_evaluating and not self._held.is_over:
            self._steps.begin("over", record, frame, reason="breakpoint")
