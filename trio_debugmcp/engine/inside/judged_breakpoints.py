"""`JudgedBreakpoint`: a breakpoint with its condition, which is judged in the frame that has come to it.

A condition that begins with `@` is the debugger's own: the probe judges it, counts its hits and records them.
"""

from typing import Any, Callable

from trio_debugmcp.engine.inside import quick_conditions
from trio_debugmcp.engine.inside.quick_conditions import NOT_QUICK
from trio_debugmcp.probe.inside import message_templates, signal_handlers

HIT, REACHED = "@hit ", "@reached "
"""How the debugger's own conditions begin: of breakpoints that the probe judges, and of traced functions."""

ROUNDS = ".rounds"
"""A name that no variable can have. Conditions with it are meant for rounds of comprehensions."""

_FAILED = "Error while evaluating expression in conditional breakpoint"
"""How pydevd begins, when it says why a condition has failed: so the debugger reads it."""


class JudgedBreakpoint:
    """One breakpoint of the debugger.

    Attributes:
        condition: of the program, or an empty text.
        of_rounds: it may hold in rounds of a comprehension.
        problem: why its condition cannot be judged, or an empty text.
        report: has the debugger print a line.
    """

    __slots__ = ("_code", "_nested", "_own", "_quick", "condition", "id", "line", "of_rounds", "problem", "report")

    def __init__(self, number: int, wanted: dict[str, Any], report: Callable[[str], None]) -> None:
        self.id = number
        self.line = int(wanted.get("line") or 0)
        self.problem = ""
        self.report = report
        self.condition = condition = str(wanted.get("condition") or "")
        self.of_rounds = ROUNDS in condition
        self._own = judge_of(condition)
        self._code: Any = None
        self._nested = False
        self._quick: Callable[[Any], Any] | None = None
        if condition and self._own is None:
            try:
                self._code = compile(condition, "<breakpoint>", "eval", dont_inherit=True)
                self._nested = message_templates.needs_own_names(condition, self._code)
                self._quick = quick_conditions.made(condition)
            except (SyntaxError, ValueError) as error:
                self.problem = f"{type(error).__name__}: {error}"

    def holds(self, frame: Any) -> bool:
        """Whether the program is to stop. A condition that raises an error stops."""
        if self._own is not None:
            return self._own(frame)
        if self._code is None:
            return True
        quick = self._quick
        try:
            result = NOT_QUICK if quick is None else quick(frame.f_locals)
            if result is NOT_QUICK:
                self._quick = None  # it is about a global variable, or an attribute of a class: not looked for again
                result = message_templates.evaluate(self._code, self._nested, frame.f_globals, frame.f_locals)
            return bool(result)
        except BaseException as error:
            if signal_handlers.has_raised(error):
                raise
            self.report(f"{_FAILED}: {self.condition}\n{type(error).__name__}: {error}\n")
            return True


def judge_of(condition: str) -> Callable[[Any], bool] | None:
    """Return what judges a condition of the debugger's own in a frame; None if it is one of the program."""
    if not condition.startswith((HIT, REACHED)):
        return None
    from trio_debugmcp.probe.inside import hits  # loaded only in programs that are asked

    if condition.startswith(HIT):
        specification = condition[len(HIT) :]
        return lambda frame: hits.hit_in(specification, frame)
    number = int(condition[len(REACHED) :])

    def reached(frame: Any) -> bool:
        hits.reached(number, frame)
        return False

    return reached
