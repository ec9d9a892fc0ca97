"""Variables of a function or module around: assignments in other functions, and in that one, that were not reached.

A function reads `count`, and finds what it was set to first: `count += 1` in another one, with `nonlocal count`,
did not run.
"""

from collections.abc import Iterator

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import RecordedValue
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge
from trio_debugmcp.runs.source.read_paths import ValuePath
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement

_MOST_FRAMES = 20
"""Of a function that would have set the variable: the last ones."""

_MOST_ABSENT = 2


class OuterNameEdges:
    """The edges to what decided that variables which several functions have in common were not set in one process."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._decisions = decisions

    def of_name(self, execution: StatementExecution, name: str, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield what decided against other functions' assignments to a variable since it got its value."""
        left = _MOST_ABSENT
        given = self._past.executions.at(value.owner) if value.owner else None
        for writer in self._writers(execution, name):
            if given is not None and given.statement is writer:
                continue
            frames = self._past.scopes.frames([writer.scope])[-_MOST_FRAMES:]
            decided = [self._decisions.against(writer, execution, value.owner, frame) for frame in frames]
            found = [run for run in decided if run is not None and self._has(run, name, value)]
            if found and left:
                left -= 1
                times = f" ({len(found)} times in the last {len(frames)} calls)" if len(found) > 1 else ""
                yield from self._decisions.not_reached(found[-1], f"so {name} is not set at line {writer.first}{times}")

    def _writers(self, execution: StatementExecution, name: str) -> list[Statement]:
        """Return the assignments to a variable in functions that share it, but for those of a function's own."""
        home = execution.scope.home(name)
        around = home or execution.scope.module
        sharing = [scope for scope in around.all_inner() if _is_declared(scope, name) and scope.home(name) is home]
        scopes = sharing if around is execution.scope else [*sharing, around]
        writers = [writer for scope in scopes for writer in scope.writers(name)]
        return [writer for writer in writers if not writer.is_definition and writer is not execution.statement]

    def _has(self, run: StatementExecution, name: str, value: RecordedValue) -> bool:
        """Whether a variable of that name, where a line ran, is the one that still has a value."""
        held = self._past.values.value(run, ValuePath(name))
        return held is not None and (held.row, held.owner) == (value.row, value.owner)


def _is_declared(scope: SourceScope, name: str) -> bool:
    return name in scope.body.outside
