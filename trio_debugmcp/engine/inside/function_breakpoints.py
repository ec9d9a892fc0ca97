"""`FunctionBreakpoints`: breakpoints on functions by name, which stop at the first line of each call."""

from typing import Any

from trio_debugmcp.engine.inside import monitoring
from trio_debugmcp.engine.inside.judged_breakpoints import JudgedBreakpoint
from trio_debugmcp.engine.inside.monitoring import MonitoringTool
from trio_debugmcp.engine.inside.thread_records import ThreadRecord

_USER = "function breakpoints"


class FunctionBreakpoints:
    """The names of functions at which threads stop."""

    def __init__(self, events: MonitoringTool) -> None:
        self._events = events
        self._by_name: dict[str, list[JudgedBreakpoint]] = {}

    def set(self, wanted: list[dict[str, Any]], number: Any, report: Any) -> list[dict[str, Any]]:
        """Set these in place of those there were; return what DAP's response says of each."""
        by_name: dict[str, list[JudgedBreakpoint]] = {}
        answers: list[dict[str, Any]] = []
        for each in wanted:
            made = JudgedBreakpoint(number(), each, report)
            by_name[str(each["name"])] = [made]  # of two with one name each judges for both: the last one does it
            answers.append({"verified": not made.problem, "id": made.id, "message": made.problem})
        self._by_name = by_name
        self._events.forget(_USER)
        self._events.restart()
        return answers

    def has(self, code: Any) -> bool:
        """Whether a breakpoint is on a function of that name."""
        return code.co_name in self._by_name

    def at_entry(self, record: ThreadRecord, frame: Any) -> None:
        """A function of such a name is entered: its first line is to be judged."""
        self._events.want_in(_USER, frame.f_code, monitoring.LINE)
        record.entering = frame

    def reached(self, frame: Any) -> list[JudgedBreakpoint]:
        """Return the breakpoints at which a frame is to stop at its first line."""
        return [each for each in self._by_name.get(frame.f_code.co_name, ()) if each.holds(frame)]
