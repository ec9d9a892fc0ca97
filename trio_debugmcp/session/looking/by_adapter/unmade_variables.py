"""`UnmadeVariables`: variables of C and C++ that are not made yet are shown as that.

Debuggers list them with what is by chance in their memory, a container with thousands of items for example. The line of
their declaration makes them, and the first instructions of a function make its arguments: lldb stops before these where
a function stands in one line.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.dap.profiles.native.gdb_values import OF_C
from trio_debugmcp.dap.profiles.native.later_declarations import declared_later
from trio_debugmcp.dap.profiles.native.native_code import NativeCode
from trio_debugmcp.dap.profiles.native.prologues import prologue_left
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import Location

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"?')
"""To the end where nothing ends it: looking from each quote to there would take as long as the square of the text."""

_NAME = re.compile(r"(?<![\w.:$\"'])(?<!->)[A-Za-z_]\w*(?!\w|\s*(?:\(|::))")
"""What may be a variable in an expression, and neither a member nor a function."""


class UnmadeVariables:
    """Those of one session's program."""

    def __init__(self, requests: Requests, sources: Sources, host: Host) -> None:
        self._requests, self._sources, self._host = requests, sources, host

    def __repr__(self) -> str:
        return f"<UnmadeVariables of {self._requests.session_id}>"

    def shown(self, variables: Sequence[DapVariable], frame: StackFrame | None) -> list[DapVariable]:
        """Return the variables of a frame that is there, those that are not made yet without a value."""
        if self._instructions_left(frame) and frame is not None:
            why = dict.fromkeys([each.name for each in variables], f"{frame.name}() is at its first instructions")
        else:
            lines = self._lines([variable.name for variable in variables], frame)
            why = {name: f"line {line} declares it" for name, line in lines.items()}

        def one(variable: DapVariable) -> DapVariable:
            value = f"<not made yet: {why.get(variable.name)}>"
            return replace(variable, value=value, variables_reference=0) if variable.name in why else variable

        return [one(variable) for variable in variables]

    def notes(self, expression: str, frame: StackFrame) -> tuple[str, ...]:
        """Return a note for each variable that an expression reads, and that is not made yet; one if none is made."""
        names = _NAME.findall(_TEXT.sub("", expression))
        advice = self.advice(frame) if names else None
        if advice is not None:
            return (advice,)
        lines = self._lines(names, frame)
        return tuple(f"`{name}` is not made yet: line {line} declares it" for name, line in sorted(lines.items()))

    def advice(self, frame: StackFrame) -> str | None:
        """Return what to do in a frame whose function is at its first instructions; None for others."""
        left = self._instructions_left(frame)
        if not left:
            return None
        said = f"the variables of {frame.name}() are not made yet: it is at its first instructions."
        if self._requests.capabilities.supports_stepping_granularity:
            return f"{said} `debug_step(granularity='instruction', count={left})` runs these"
        return f"{said} The caller's frame has what it passes, and with adapter='gdb' stops are behind these"

    def _instructions_left(self, frame: StackFrame | None) -> int:
        """Return how many instructions are to run until the function's arguments are where debuggers look for them."""
        snapshot = self._requests.snapshot
        program = None if snapshot is None else snapshot.origin.executable_path
        if frame is None or frame.instruction is None or program is None or not self._is_of_c(frame.location):
            return 0
        name, reference = frame.name, frame.instruction

        def left() -> int:
            with suppress(OSError, ValueError), open(program, "rb") as file:  # a reference may be any text
                return prologue_left(file, name, int(reference, 0))
            return 0

        try:
            return self._host.query(f"prologue of {name} in {program} at {reference}", left)
        except UsageError:  # a recording that was made without the question
            return 0

    def _is_of_c(self, location: Location) -> bool:
        is_native = isinstance(self._requests.profile.code, NativeCode)
        return is_native and location.file is not None and location.file.endswith(OF_C)

    def _lines(self, names: Iterable[str], frame: StackFrame | None) -> Mapping[str, int]:
        """Return those of the names of variables that are not made yet, with the lines that declare them."""
        location = None if frame is None else frame.location
        if location is None or location.file is None or location.line is None or not self._is_of_c(location):
            return {}
        snapshot = self._requests.snapshot
        try:
            began = None if snapshot is None else snapshot.origin.attached_at
            running = self._sources.running(location.file, began, self._host)
        except UsageError:  # not on disk, or a recording that was made without the question
            return {}
        if running.edited and not running.from_before:
            return {}
        return declared_later(running.text, location.line, names)
