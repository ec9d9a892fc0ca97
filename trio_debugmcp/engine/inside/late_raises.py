"""`LateRaises`: what signal handlers have raised while a thread was in the engine, is raised in the program.

    record.raised += [error]
    late.raise_kept(record)     # the first at once, others at the next event
    late.raise_soon()           # at the next event of the main thread

No other thread has signals.
"""

from trio_debugmcp.engine.inside import interruptions
from trio_debugmcp.engine.inside.monitoring import MonitoringTool
from trio_debugmcp.engine.inside.thread_records import ThreadRecord, ThreadRecords


class LateRaises:
    """What is to be raised, of the records of threads."""

    def __init__(self, threads: ThreadRecords, events: MonitoringTool) -> None:
        self._threads = threads
        self._events = events

    def raise_kept(self, record: ThreadRecord) -> None:
        """Raise what a signal handler has raised while the thread was held: the first, and others at the next event."""
        if not record.raised:
            return
        ready: list[BaseException] = []
        interruptions.completed(record.raised, self._prepare, record, ready)
        raise ready[0]

    def _prepare(self, record: ThreadRecord, ready: list[BaseException]) -> None:
        interruptions.as_the_programs(record.raised[0])
        if len(record.raised) > 1:
            self.raise_soon()
        ready += record.raised[:1]
        del record.raised[0]

    def raise_soon(self) -> bool:
        """Have what is kept of the main thread raised at its next event; False if none will come."""
        return self._events.at_next_event(self._raise_in_main)

    def _raise_in_main(self) -> None:
        record = self._threads.current()
        if record.ident == self._threads.main:
            self.raise_kept(record)
        else:
            self.raise_soon()
