"""Variables of the same name: what a function has set of its own, where that of a function around it was meant."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import RecordedValue
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import SourceScope

_MOST_FRAMES = 20
"""Of a function that has a variable of the name: the last ones."""


class NamesakeEdges:
    """The edges to other variables of the same name in one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past

    def of_name(self, execution: StatementExecution, name: str, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield where inner functions have set a variable of their own since one got the constant that it still has."""
        home = execution.scope.home(name) or execution.scope.module
        writer = self._past.executions.at(value.owner) if value.owner else None
        if writer is None or writer.scope is not home or not writer.statement.is_constant:
            return
        for scope in home.all_inner():
            if scope.is_function and name in scope.bound and name not in scope.parameters:
                run = self._last_write(scope, name, execution.row)
                if run is not None and run.row > writer.row:
                    function = scope.name.rpartition(".")[2]
                    yield SliceEdge(cost.NAMESAKE, SliceNode(run.row), f"sets a {name} of {function} alone")

    def _last_write(self, scope: SourceScope, name: str, before: int) -> StatementExecution | None:
        """Return the last run of an assignment to a name in the last calls of a function."""
        writers = [each for each in scope.writers(name) if isinstance(each.node, ast.Assign | ast.AugAssign)]
        for frame in reversed(self._past.scopes.frames([scope])[-_MOST_FRAMES:]):
            for writer in writers:
                run = self._past.executions.last_run(writer, frame, before)
                if run is not None:
                    return run
        return None
