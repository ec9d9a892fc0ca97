"""Changes by a bound method that was handed on: `flush(out.append)`, where `flush` calls `push(item)`.

The line in the function names no object that it changes, so the change is found when the call is over. Of the lines
that call the parameter it is known that they call the method.
"""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, argument
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of

_MOST_CALLS = 4
"""Functions that one line has called, which it may have handed the method to: the last ones."""


class HandedMethodEdges:
    """The edges from lines of one process while which an object changed to what called a method of it."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past

    def of_change(self, execution: StatementExecution, container: int, gap: int) -> Iterator[SliceEdge]:
        """Yield the lines that called a method of an object by a parameter, in functions that a line has called.

        `gap`: the row that found it changed.
        """
        for start in self._past.executions.calls(execution.row)[-_MOST_CALLS:]:
            scope = self._past.scopes.of_code(start.key)
            for name in scope.parameters if scope is not None else ():
                method = self._method_of(execution, container, start, name)
                calling = [
                    statement
                    for statement in (scope.statements if scope is not None and method is not None else ())
                    if any(isinstance(call.func, ast.Name) and call.func.id == name for call in statement.calls)
                ]
                for statement in calling:
                    run = self._past.executions.last_run(statement, start.subject, gap)
                    if run is not None and self._is_still(run, start, name):
                        yield SliceEdge(cost.WANTED, SliceNode(run.row), f"{name} is {method}")

    def _is_still(self, run: StatementExecution, start: Row, name: str) -> bool:
        """Whether a line has found in a parameter what it was given."""
        given, found = self._past.values.parameter(start, name), self._past.values.value(run, ValuePath(name))
        return given is not None and found is not None and given.row == found.row

    def _method_of(self, execution: StatementExecution, container: int, start: Row, name: str) -> ValuePath | None:
        """Return the path of a method of an object that a parameter was given; None: it was given something else."""
        for given in argument(self._past, execution, start, name) or ():
            path = path_of(given) if isinstance(given, ast.Attribute) else None
            held = None if path is None else self._past.values.value(execution, path.holder)
            if held is not None and held.object == container:
                return path
        return None
