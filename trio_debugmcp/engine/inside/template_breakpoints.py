"""Breakpoints in templates: where they are in the code that runs for a template.

    lines_in(code, names, by_file, real)   # {20: [breakpoint]}: of line 4, which begins on line 20 of the code

Jinja and Mako make Python code of a template, with a map of lines: a line without code of its own counts as the next
that has some. Django renders the nodes of a template, each in a call of one function: there its node is looked at.
"""

from typing import Any, Callable

from trio_debugmcp.probe.inside.debugger import template_frames

_NAMES_OF_JINJA = ("blocks", "debug_info")
"""Names that the module which Jinja makes of a template assigns."""


class NodeBreakpoint:
    """A breakpoint on a line of a template of Django, looked at where a node is rendered.

    Attributes:
        id: as of the breakpoint.
        of_rounds: no rounds of comprehensions are in a template.
    """

    __slots__ = ("_breakpoint", "_file", "_line", "_real", "id")

    of_rounds = False

    def __init__(self, breakpoint: Any, file: str, line: int, real: Callable[[str], str]) -> None:
        self.id = breakpoint.id
        self._breakpoint = breakpoint
        self._file = file
        self._line = line
        self._real = real

    def holds(self, frame: Any) -> bool:
        """Whether the node is on the line, and the program is to stop there."""
        place = template_frames.place_of(frame, self._line)
        if place is None or place[1] != self._line or self._real(place[0]) != self._file:
            return False
        return bool(self._breakpoint.holds(frame))


def is_template(path: str) -> bool:
    """Whether a file with breakpoints may be a template: all that is not Python."""
    return not path.endswith((".py", ".pyw"))


def is_module_of_jinja(code: Any) -> bool:
    """Whether a code object is the module that Jinja makes of a template: its lines are nowhere in the template."""
    is_module = code.co_name == "<module>" and is_template(str(code.co_filename))
    return is_module and all(name in code.co_names for name in _NAMES_OF_JINJA)


def lines_in(
    code: Any, names: Any, by_file: dict[str, dict[int, list[Any]]], real: Callable[[str], str]
) -> dict[int, list[Any]] | None:
    """Return the breakpoints of templates on each line of a code object; None if it is not one of a template."""
    if template_frames.renders_node(code):
        if code.co_qualname != "Node.render_annotated":
            return {}  # of a text, which nothing is looked for in
        return _nodes(code, by_file, real)
    if is_module_of_jinja(code):
        return {}
    made = template_frames.lines_of(str(code.co_filename), names)
    if made is None:
        return None
    file, begins = made
    here = {line for _, _, line in code.co_lines()}
    lines: dict[int, list[Any]] = {}
    for wanted, breakpoints in by_file.get(real(file), {}).items():
        place = min((line for line, _ in begins if line >= wanted), default=0)
        for line, begin in begins:
            if line == place and begin in here:
                lines.setdefault(begin, []).extend(breakpoints)
    return lines


def _nodes(code: Any, by_file: dict[str, dict[int, list[Any]]], real: Callable[[str], str]) -> dict[int, list[Any]]:
    first = min((line for _, _, line in code.co_lines() if line and line > code.co_firstlineno), default=0)
    nodes = [
        NodeBreakpoint(breakpoint, file, line, real)
        for file, lines in by_file.items()
        if is_template(file)
        for line, breakpoints in lines.items()
        for breakpoint in breakpoints
    ]
    return {first: nodes} if nodes else {}
