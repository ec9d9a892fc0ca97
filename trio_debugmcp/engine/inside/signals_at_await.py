"""`SignalsAtAwait`: what a signal handler raises while an event is served in which the interpreter takes no signals.

    @without_checks
    def on_resume(code, offset): ...                # begins without a look for signals
    signals.keep(code, offset, error)               # raised at the next event, if it was not due in this one

A generator that awaits another one, or yields from it, continues only to continue that one. The interpreter takes no
signal there, so what its handler raises arrives in the innermost one, which may have to clean up.
"""

from typing import Any

from trio_debugmcp.engine.inside.catching import opcodes
from trio_debugmcp.engine.inside.interruptions import QUIET_RESUME
from trio_debugmcp.engine.inside.late_raises import LateRaises
from trio_debugmcp.engine.inside.monitoring import MonitoringTool
from trio_debugmcp.engine.inside.thread_records import ThreadRecords

_RESUME = "RESUME"


class SignalsAtAwait:
    """What was raised where a generator continues that awaits another one."""

    def __init__(self, threads: ThreadRecords, events: MonitoringTool, late: LateRaises) -> None:
        self._threads = threads
        self._events = events
        self._late = late

    def keep(self, code: Any, offset: int, error: BaseException) -> bool:
        """Have an exception raised at the next event; False if it is due where it is, or nothing would raise it."""
        if not _awaits(code, offset) or self._events.soon is not None:
            return False
        self._threads.current().raised += [error]
        return self._late.raise_soon()


def _awaits(code: Any, offset: int) -> bool:
    """Whether a generator continues at an offset of its code only to continue another one."""
    text = code.co_code
    return opcodes.NAMES.get(text[offset]) == _RESUME and text[offset + 1] & 3 >= QUIET_RESUME
