"""Variables: what is asked about them, and how clients see those of the probe, with a path that leads back. Pure."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import UNSET, Struct

from trio_debugmcp.dap.messages import DapVariable, EvaluateBody
from trio_debugmcp.probe.answers import ProbeVariable
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, Variable

ScopeName = Literal["all", "locals", "arguments", "globals"]


class FramePlace(Struct, frozen=True):
    """A frame of a thread, or of a `task` by its name, by its index; 0 is the top, the innermost.

    Attributes:
        is_own: of a task, in place of the index: the innermost frame that is not a library's, if there is one.
    """

    thread_id: int
    index: int = 0
    task: str | None = None
    is_own: bool = False

    def parameters(self) -> dict[str, Any]:
        """Return what says to the probe which frame is meant."""
        if self.task is not None:
            return {"task": self.task, "frame": None if self.is_own else self.index}
        return {"thread": self.thread_id, "frame": self.index}


class VariablesQuestion(Struct, frozen=True):
    """Which variables, and how much of each.

    Attributes:
        path: of the value whose inside is asked about; without it the scope counts.
        names: only variables with one of these names, or paths.
        limit: characters of a value.
        size: characters of the answer, about.
    """

    scope: ScopeName = "locals"
    path: str | None = None
    start: int = 0
    count: int = 100
    depth: int = 1
    filter: str | None = None
    names: tuple[str, ...] | None = None
    limit: int = MAX_VALUE_LENGTH
    size: int | None = None

    def wants(self, name: str, path: str | None = None) -> bool:
        """Return whether a variable of that name and path is asked for, where an answer has more."""
        named = not self.names or name in self.names or path in self.names
        return named and (self.filter or "").lower() in name.lower()

    def at(self, place: FramePlace, *names: str) -> dict[str, Any]:
        """Return the parameters of the question to the probe about a frame: all fields, or those of these names."""
        asked: dict[str, Any] = {name: getattr(self, name) for name in names or self.__struct_fields__}
        return {**place.parameters(), **asked}


class VariablesPage(Struct, frozen=True):
    """Some of the variables that there are."""

    variables: list[Variable]
    total: int
    leaf: Variable | None = None
    """What the path leads to, where nothing is inside of it."""


def child_count(value: DapVariable | EvaluateBody) -> int | None:
    """Return how many children a value has: 0 for a leaf, None if the adapter does not count them."""
    if not value.variables_reference:
        return 0
    counted = (value.named_variables or 0) + (value.indexed_variables or 0)
    return counted or None


def probe_variable(variable: ProbeVariable, is_path: Callable[[str], bool], unknown: str | None = None) -> Variable:
    """Return a variable of the probe's as clients see it; `unknown` stands for a value that was withheld."""
    path = variable.name if variable.path is None else variable.path
    return Variable(
        name=variable.name,
        value=variable.value if unknown is None or not variable.withheld else unknown,
        type=variable.type,
        path=path if path.isidentifier() or (path and is_path(path)) else None,
        child_count=variable.size,
        digest=variable.digest,
        children=[probe_variable(child, is_path, unknown) for child in variable.children] or UNSET,
        same=variable.same or UNSET,
    )
