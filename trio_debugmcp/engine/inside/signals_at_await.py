"""`SignalsAtAwait`: what a signal handler raises while an event is served in which the interpreter takes no signals.

    @without_a_check
    def on_resume(code, offset): ...                # begins without a look for signals
    signals.keep(code, offset, error)               # raised at the next event, if it was not due in this one

A generator that awaits another one, or yields from it, continues only to continue that one. The interpreter takes no
signal there, so what its handler raises arrives in the innermost one, which may have to clean up.
"""

from typing import Any

from trio_debugmcp.engine.inside.catching import opcodes
from trio_debugmcp.engine.inside.held_threads import HeldThreads
from trio_debugmcp.engine.inside.monitoring import MonitoringTool
from trio_debugmcp.engine.inside.thread_records import ThreadRecords

_RESUME = "RESUME"

_AFTER_AWAIT = 2
"""The argument of `RESUME` where a generator continues that awaits another one, or yields from it; and above."""


def without_a_check(function: Any) -> Any:
    """Have a function begin without a look for signals, as a generator does that continues where it awaits another."""
    code = function.__code__
    text = bytearray(code.co_code)
    for place in range(0, len(text), 2):
        if opcodes.NAMES.get(text[place]) == _RESUME:
            text[place + 1] = _AFTER_AWAIT
            function.__code__ = code.replace(co_code=bytes(text))
            break
    return function


class SignalsAtAwait:
    """What was raised where a generator continues that awaits another one."""

    def __init__(self, threads: ThreadRecords, events: MonitoringTool, held: HeldThreads) -> None:
        self._threads = threads
        self._events = events
        self._held = held

    def keep(self, code: Any, offset: int, error: BaseException) -> bool:
        """Have an exception raised at the next event; False if it is due where it is, or nothing would raise it."""
        if not _awaits(code, offset) or self._events.soon is not None:
            return False
        self._threads.current().raised = error
        return self._events.at_next_event(self._raise)

    def _raise(self) -> None:
        record = self._threads.current()
        if record.ident == self._threads.main:
            self._held.raise_kept(record)
        else:
            self._events.at_next_event(self._raise)


def _awaits(code: Any, offset: int) -> bool:
    """Whether a generator continues at an offset of its code only to continue another one."""
    text = code.co_code
    return opcodes.NAMES.get(text[offset]) == _RESUME and text[offset + 1] & 3 >= _AFTER_AWAIT
