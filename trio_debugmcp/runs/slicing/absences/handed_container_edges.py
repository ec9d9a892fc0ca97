"""Containers that were handed to functions, which have not put anything into them: what decided against that there.

    def render(self, scope, out):
        for item in self.items(scope):          # ends; so line 3 does not run with out
            self.body.render(item, out)

Only of lines that have run in none of the calls that were given the container.
"""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge
from trio_debugmcp.runs.source.read_paths import ValuePath
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement

_MOST_CALLS = 40
"""That were given the container: the first ones."""

_MOST_SAID = 2

_WRITES = frozenset({rows.WRITE})


class HandedContainerEdges:
    """The edges to what decided in calls of one process that a container which they were given is not changed."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._decisions = decisions

    def of_container(self, execution: StatementExecution, container: int) -> Iterator[SliceEdge]:
        """Yield what decided against the lines that change a container, or hand it on, in calls before a statement."""
        said = 0
        for (scope, name), frames in self._calls_with(container, execution.row).items():
            for statement in scope.statements:
                if said == _MOST_SAID or not _is_used_by(statement, name, is_own=_is_own(scope, name)):
                    continue
                if any(self._past.executions.last_run(statement, frame, execution.row) for frame in frames):
                    continue
                decided = [self._decisions.against(statement, execution, 0, frame) for frame in frames]
                found = [run for run in decided if run is not None]
                if found:
                    said += 1
                    yield from self._decisions.not_reached(
                        found[-1], f"so line {statement.first} does not run with {name}"
                    )

    def _calls_with(self, container: int, before: int) -> dict[tuple[SourceScope, str], list[int]]:
        """Return the frames that were given a container before a row, by their functions and parameters."""
        found: dict[tuple[SourceScope, str], list[int]] = {}
        number, record = 0, self._past.record
        for _ in range(_MOST_CALLS):
            number = record.forth_of(_WRITES, container, number, by_value=True)
            if not number or number >= before:
                break
            row = record.row(number)
            start = record.row(row.owner) if row.owner else None
            scope = self._past.scopes.of_code(start.key) if start is not None and start.kind == rows.START else None
            if scope is not None:
                found.setdefault((scope, record.label(row.key)), []).append(row.subject)
        return found


def _is_own(scope: SourceScope, name: str) -> bool:
    """Whether a parameter is the `self` of a method: an object is handed to each of its own methods."""
    return scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef) and name == scope.parameters[0]


def _is_used_by(statement: Statement, name: str, *, is_own: bool) -> bool:
    """Whether a statement changes what a variable is, or hands it to a call, where it is not the object's `self`."""
    if any(path == ValuePath(name) for path, _ in statement.mutates):
        return True
    if is_own:
        return False
    given = [argument for call in statement.calls for argument in (*call.args, *(word.value for word in call.keywords))]
    return any(isinstance(argument, ast.Name) and argument.id == name for argument in given)
