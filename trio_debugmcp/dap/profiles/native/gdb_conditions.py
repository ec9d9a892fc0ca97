"""Conditions for gdb, which runs this file itself: breakpoints say so whose condition it does not understand.

Set before the program's symbols are there, a breakpoint gets any condition. Once it has a place, gdb turns that off
if the condition does not parse there, with a warning that its DAP module drops, and calls the breakpoint verified.
"""

from importlib import import_module
from typing import Any

_NOT_UNDERSTOOD = "N"
"""What gdb lists as `enabled` of a place at which it does not understand the condition."""


class ConditionCheck:
    """Looks through the conditions whenever breakpoints get places, or symbols come that they may be about.

    Attributes:
        problems: by the number of a breakpoint: its condition, and what is wrong with it.
    """

    def __init__(self, gdb: Any, reported: Any, send_event: Any) -> None:
        self.problems: dict[int, tuple[str, str]] = {}
        self._gdb, self._send_event = gdb, send_event
        self._plain = reported._breakpoint_descriptor  # noqa: SLF001 (what it reports has no other place)
        self._is_due = False
        reported._breakpoint_descriptor = self._descriptor  # noqa: SLF001
        gdb.events.breakpoint_modified.connect(self._on_change)
        gdb.events.new_objfile.connect(self._on_change)

    def _descriptor(self, breakpoint_: Any) -> Any:
        """Return what gdb reports of a breakpoint, which is not set while its condition is not understood."""
        described = self._plain(breakpoint_)
        condition, problem = self.problems.get(breakpoint_.number, ("", ""))
        if not problem or condition != breakpoint_.condition:
            return described
        message = f"the condition `{condition}` failed: {problem}"
        return {**described, "verified": False, "reason": "failed", "message": message}

    def _on_change(self, event: Any) -> None:
        # Within the event gdb is still placing them; hits change breakpoints too.
        if not self._is_due and getattr(event, "condition", "") is not None:
            self._is_due = True
            self._gdb.post_event(self._check)

    def _check(self) -> None:
        self._is_due = False
        for each in self._gdb.breakpoints():
            problem = self._problem(each)
            found = (each.condition, problem) if problem else None
            if found == self.problems.get(each.number):
                continue
            if found is None:
                del self.problems[each.number]
            else:
                self.problems[each.number] = found
            self._send_event("breakpoint", {"reason": "changed", "breakpoint": self._descriptor(each)})

    def _problem(self, breakpoint_: Any) -> str:
        """Return what gdb does not understand of a condition; "": it does somewhere, or there is no place yet."""
        if breakpoint_.condition is None or not breakpoint_.is_valid():
            return ""
        for row in self._gdb.execute_mi("-break-info", str(breakpoint_.number))["BreakpointTable"]:
            places = row.get("locations", ())
            if not places or any(place["enabled"] != _NOT_UNDERSTOOD for place in places):
                return ""
        try:
            breakpoint_.condition = breakpoint_.condition  # as it is, gdb refuses it, and says why
        except self._gdb.error as error:
            return str(error)
        return ""


def register(gdb: Any) -> None:
    """Have gdb's DAP module report them."""
    send_event = import_module("gdb.dap.server").send_event
    ConditionCheck(gdb, import_module("gdb.dap.breakpoint"), send_event)
