"""`Children`: processes that the program starts get the engine, too, and dial in as the program did.

A fork has it already: it dials in again, by the same door. A new interpreter finds the directory with our
`sitecustomize` in its environment, to which it is added on the way (`started_pythons`).

A thread of ours would make the interpreter warn about each fork: it ends before one, and begins again after it.
"""

import posix
import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside.carrying_home import CarryingHome
from trio_debugmcp.engine.inside.ended_children import EndedChildren
from trio_debugmcp.engine.inside.started_pythons import StartedPythons
from trio_debugmcp.engine.inside.thread_records import program_frame

_COUNTS_LATE = sys.version_info >= (3, 13)
"""Whether the interpreter counts the threads only when these functions have been called."""

_frame: Any = sys._getframe


class Children:
    """What is done around the starts of children.

    Attributes:
        are_debugged: whether they dial in at all.
        parent: in a fork the process that it is one of, which may have ended since; else 0.
    """

    def __init__(self, home: CarryingHome) -> None:
        self.are_debugged = True
        self.parent = 0
        self._engine: Any = None
        self._forking: Any = None
        self._forked_at = 0
        self._again: Callable[[], None] = lambda: None
        self._home = home
        self._started = StartedPythons(
            home.path, lambda: self.are_debugged and not self._engine.is_over, self._at_replacement, self._at_child
        )

    def parent_now(self) -> int:
        """Return the process that this one is a child of."""
        return self.parent or posix.getppid()

    def watch(self, engine: Any, again: Callable[[], None]) -> None:
        """Follow the children of this process from now on; `again` starts the engine anew in a fork."""
        known, self._engine, self._again = self._engine, engine, again
        self.are_debugged = True
        if known is None:
            posix.register_at_fork(
                before=self._before_fork, after_in_child=self._in_child, after_in_parent=self._in_parent
            )
            self._started.wrap()
            EndedChildren(self._at_end).wrap()
            engine.dispatch.at_start_of_process = self._started.at_start

    def leave_alone(self) -> None:
        """Have children start without the engine."""
        self.are_debugged = False
        self._home.remove()

    # --- Forks --------------------------------------------------------------------------------------------------------

    def _before_fork(self) -> None:
        self._engine.reader.rest()
        self._forking = frame = _frame().f_back
        self._forked_at = -1 if frame is None else frame.f_lasti

    def _in_parent(self) -> None:
        # What is evaluated for the debugger has no events, and may take long, or end in a stop.
        if _COUNTS_LATE and not self._engine.threads.current().is_evaluating:
            self._engine.events.at_next_event(self._resume)
        else:
            self._forking = None
            self._engine.reader.resume()

    def _resume(self) -> None:
        """Have the thread of ours run again when the fork has returned: others may be called at its end, as we are."""
        forking = self._forking
        is_there = _COUNTS_LATE and forking is not None and forking.f_lasti == self._forked_at
        if is_there and program_frame(_frame()) is not forking:
            self._engine.events.at_next_event(self._resume)
        else:
            self._forking = None
            self._engine.reader.resume()

    def _in_child(self) -> None:
        engine, self._forking = self._engine, None
        self._started.begin_in_fork()
        self.parent = engine.pid
        follows = self.are_debugged and not engine.is_over
        engine.forget_parent()
        try:
            if follows:
                self._again()
        finally:
            # Only now: while it is open the debugger does not take the parent for ended, whose child this is.
            engine.connection.close()

    def _at_child(self, pid: int) -> None:
        """A Python was started: this process may end before that one has dialed in."""
        if not self._engine.is_over:
            self._engine.event("pythonStarted", {"pid": pid})

    def _at_end(self, pid: int, exit_code: int) -> None:
        if self.are_debugged and not self._engine.is_over:
            self._engine.event("childEnded", {"pid": pid, "exitCode": exit_code})

    def _at_replacement(self) -> None:
        if not self._engine.is_over:
            self._engine.event("exited", {"exitCode": 0, "pydevdReason": "processReplaced"})
