"""`LineBreakpoints`: breakpoints on lines of files, found in code objects as these are entered.

    answers = breakpoints.set("/app/shop.py", [{"line": 12, "condition": "total > 3"}])
    breakpoints.prepare(code)           # when a function is entered or continues: its lines are reported if any has one
    breakpoints.at(code, line)          # those on a line that is reached

When breakpoints are set, the code of functions that have begun is looked at as well.
"""

import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside import monitoring, template_breakpoints
from trio_debugmcp.engine.inside.judged_breakpoints import JudgedBreakpoint
from trio_debugmcp.engine.inside.monitoring import MonitoringTool
from trio_debugmcp.engine.inside.program_files import ProgramFiles, is_missing
from trio_debugmcp.engine.inside.thread_records import frame_of

_frame: Any = sys._getframe

_USER = "breakpoints"

_NO_FILE = "Breakpoint in file that does not exist."
"""As pydevd says it. The breakpoint is set: the program may make the file."""

_MOST_PLANS = 5000
"""Code objects with breakpoints. A program may execute one text again and again."""

NOT_LOOKED_FOR: frozenset[int] = frozenset([-1])
"""Instructions of a line of which they are not known yet."""


class LinePlan:
    """What is looked for on one line of a code object.

    Attributes:
        line: its number.
        breakpoints: those that are judged there.
        of_rounds: those of them that may hold in rounds of a comprehension.
        beginnings: the instructions at which it is reached; None if all are, `NOT_LOOKED_FOR` before it is first.
    """

    __slots__ = ("beginnings", "breakpoints", "line", "of_rounds")

    def __init__(self, line: int, breakpoints: list[JudgedBreakpoint]) -> None:
        self.line = line
        self.breakpoints = breakpoints
        self.of_rounds = [breakpoint for breakpoint in breakpoints if breakpoint.of_rounds]
        self.beginnings: frozenset[int] | None = NOT_LOOKED_FOR


class CodePlan:
    """What is looked for in one code object; `names` are its globals, if it is of a template."""

    __slots__ = ("code", "has_on_entry", "lines", "names")

    def __init__(self, code: Any, lines: dict[int, LinePlan], names: Any) -> None:
        self.code = code
        self.lines = lines
        self.names = names
        self.has_on_entry = code.co_firstlineno in lines


class LineBreakpoints:
    """The breakpoints of all files, and the code objects that have some.

    Attributes:
        is_empty: there are none.
    """

    def __init__(
        self,
        events: MonitoringTool,
        files: ProgramFiles,
        tops: Callable[[], dict[int, Any]],
        report: Callable[[str], None],
    ) -> None:
        self._events = events
        self._files = files
        self._tops = tops
        self._by_path: dict[str, dict[int, list[JudgedBreakpoint]]] = {}
        self._by_file: dict[str, dict[int, list[JudgedBreakpoint]]] = {}
        self.is_empty = True
        self._has_templates = False
        self._by_name: dict[str, Any] = {}
        self._plans: dict[int, CodePlan] = {}
        self._last = -1
        self.report = report

    def number(self) -> int:
        """Return the number of a new breakpoint."""
        self._last += 1
        return self._last

    # --- Setting ------------------------------------------------------------------------------------------------------

    def set(self, path: str, wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Set the breakpoints of a file in place of those it had; return what DAP's response says of each."""
        file = self._files.real(self._files.here(path))
        lines: dict[int, list[JudgedBreakpoint]] = {}
        answers: list[dict[str, Any]] = []
        said = {"verified": False, "message": _NO_FILE} if is_missing(file) else {"verified": True}
        for each in wanted:
            made = JudgedBreakpoint(self.number(), each, self.report)
            if made.problem:
                answers.append({"verified": False, "id": made.id, "line": made.line, "message": made.problem})
                continue
            lines.setdefault(made.line, []).append(made)
            answers.append({**said, "id": made.id, "line": made.line, "source": {"path": path}})
        if lines:
            self._by_path[path] = lines
        else:
            self._by_path.pop(path, None)
        self._put(file)
        self._by_name = {}
        self.is_empty = not self._by_path
        self._has_templates = any(template_breakpoints.is_template(file) for file in self._by_file)
        self._renew()
        return answers

    def _put(self, file: str) -> None:
        """Put the breakpoints of a file together: the debugger may know it by several paths, each with some."""
        together: dict[int, list[JudgedBreakpoint]] = {}
        for path, lines in self._by_path.items():
            if self._files.real(self._files.here(path)) == file:
                for line, made in lines.items():
                    together[line] = [*together.get(line, ()), *made]
        if together:
            self._by_file[file] = together
        else:
            self._by_file.pop(file, None)

    def _renew(self) -> None:
        """Look at all code again, also at that of functions which have begun."""
        for plan in list(self._plans.values()):
            self._plans.pop(id(plan.code), None)
            self._events.want_in(_USER, plan.code, self._planned(plan.code, plan.names))
        self._events.restart()
        seen: set[int] = set()
        for top in self._tops().values():
            frame = top
            while frame is not None:
                if id(frame) in seen:
                    break
                seen.add(id(frame))
                self.prepare(frame.f_code, frame)
                frame = frame.f_back

    def prepare(self, code: Any, frame: Any = None) -> None:
        """Have the lines of a code object reported, if a breakpoint is on one of them; `frame` runs it."""
        if self._has_templates:
            self._prepare_template(code, frame or frame_of(code, _frame(1)))
            return
        lines = self._by_name.get(code.co_filename, self)
        if lines is self:
            lines = self._by_name[code.co_filename] = self._by_file.get(self._files.real(code.co_filename))
        if lines is not None and id(code) not in self._plans:
            self._events.want_in(_USER, code, self._planned(code, None))

    def _prepare_template(self, code: Any, frame: Any) -> None:
        """The same where there are breakpoints in templates: the file of a code object need not be the template's."""
        if id(code) not in self._plans:
            wanted = self._planned(code, None if frame is None else frame.f_globals)
            if wanted:
                self._events.want_in(_USER, code, wanted)

    def _planned(self, code: Any, names: Any) -> int:
        """Make the plan of a code object; return the events that it takes. `names`: its globals, if they are known."""
        lines = self._by_file.get(self._files.real(code.co_filename))
        made = None
        if self._has_templates:
            made = template_breakpoints.lines_in(code, names, self._by_file, self._files.real)
            lines = lines if made is None else made
        if not lines:
            return 0
        mine = {line: LinePlan(line, lines[line]) for _, _, line in code.co_lines() if line in lines}
        if not mine:
            return 0
        if made is not None:  # the source is not the code's, so no statement is looked for in it
            for plan in mine.values():
                plan.beginnings = None
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()  # they are made again when they are needed
        self._plans[id(code)] = CodePlan(code, mine, None if made is None else names)
        return monitoring.LINE | monitoring.JUMP

    # --- Reaching -----------------------------------------------------------------------------------------------------

    def has_on_entry(self, code: Any) -> bool:
        """Whether a breakpoint is on the line on which a code object is entered.

        From 3.13 on the interpreter does not report such a line where it does not report the entry.
        """
        plan = self._plans.get(id(code))
        return plan is not None and plan.has_on_entry

    def at(self, code: Any, line: int) -> LinePlan | None:
        """Return what is looked for on a line of a code object, None if no breakpoint is there."""
        plan = self._plans.get(id(code))
        return None if plan is None else plan.lines.get(line)
