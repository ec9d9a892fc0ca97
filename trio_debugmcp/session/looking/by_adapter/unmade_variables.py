"""`UnmadeVariables`: variables of C and C++ that the line of their declaration has not made yet are shown as that.

Debuggers list them with what is by chance in their memory, a container with thousands of items for example.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.dap.profiles.native.gdb_values import OF_C
from trio_debugmcp.dap.profiles.native.later_declarations import declared_later
from trio_debugmcp.dap.profiles.native.native_code import NativeCode
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.payloads import Location

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')

_NAME = re.compile(r"(?<![\w.:$\"'])(?<!->)[A-Za-z_]\w*(?!\w|\s*(?:\(|::))")
"""What may be a variable in an expression, and neither a member nor a function."""


class UnmadeVariables:
    """Those of one session's program."""

    def __init__(self, requests: Requests, sources: Sources, host: Host) -> None:
        self._requests, self._sources, self._host = requests, sources, host

    def __repr__(self) -> str:
        return f"<UnmadeVariables of {self._requests.session_id}>"

    def shown(self, variables: Sequence[DapVariable], location: Location | None) -> list[DapVariable]:
        """Return the variables of a frame that is there, those that are not made yet without a value."""
        lines = self.lines([variable.name for variable in variables], location)

        def one(variable: DapVariable) -> DapVariable:
            line = lines.get(variable.name)
            value = f"<not made yet: line {line} declares it>"
            return variable if line is None else replace(variable, value=value, variables_reference=0)

        return [one(variable) for variable in variables]

    def notes(self, expression: str, location: Location | None) -> tuple[str, ...]:
        """Return a note for each variable that an expression reads, and that is not made yet."""
        lines = self.lines(_NAME.findall(_TEXT.sub("", expression)), location)
        return tuple(f"`{name}` is not made yet: line {line} declares it" for name, line in sorted(lines.items()))

    def lines(self, names: Iterable[str], location: Location | None) -> Mapping[str, int]:
        """Return those of the names of variables that are not made yet, with the lines that declare them."""
        if location is None or location.file is None or location.line is None:
            return {}
        if not location.file.endswith(OF_C) or not isinstance(self._requests.profile.code, NativeCode):
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
