"""Free variables that were written again after a function was made: it reads what they are when it is called."""

import ast
from collections.abc import Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import RecordedValue
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement

_MOST_FRAMES = 20
"""Of a function, other calls of it: the last ones."""


class LateBindingEdges:
    """The edges to the definitions of functions of one process that were called too late for what they read."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_name(self, execution: StatementExecution, name: str, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield the definition of a function whose free variable was written again after it was made.

        If the function that runs was called in time: of another one of its definition that was not.
        """
        home = execution.scope.home(name)
        if home is None or home is execution.scope:
            return
        for run in (execution, *self._earlier(execution)):
            found = value if run is execution else self._past.values.value(run, ValuePath(name))
            edge = self._late(run, name, found, home) if found is not None else None
            if edge is not None:
                yield edge
                return

    def _earlier(self, execution: StatementExecution) -> Iterator[StatementExecution]:
        """Yield the runs of a statement in other calls of its function, the last first."""
        for frame in reversed(self._past.scopes.frames([execution.scope])[-_MOST_FRAMES:]):
            run = self._past.executions.last_run(execution.statement, frame, execution.row)
            if run is not None and frame != execution.frame:
                yield run

    def _late(
        self, execution: StatementExecution, name: str, value: RecordedValue, home: SourceScope
    ) -> SliceEdge | None:
        """Return the edge to the definition of the function that runs, if what it reads was written since."""
        written = self._past.executions.at(value.owner)
        if written is None or written.scope is not home:
            return None
        made = [statement for statement in home.statements if statement.first == execution.scope.first]
        defined = self._definition(execution, made, written.frame)
        then = self._past.values.name(defined, name, defined.row) if defined is not None else None
        if defined is None or then is None or defined.row >= written.row or then.text == value.text:
            return None
        note = f"reads {name} when it is called: then {value.text}, here {then.text}"
        return SliceEdge(cost.ABSENCE, SliceNode(defined.row), note)

    def _definition(
        self, execution: StatementExecution, made: list[Statement], frame: int
    ) -> StatementExecution | None:
        """Return the run of a definition that made the function which runs; None: it is not known which did."""
        called = self._function(execution)
        if called:
            defined = self._first_with(called)
            is_one_of_them = defined is not None and defined.statement in made and defined.frame == frame
            return defined if is_one_of_them else None
        runs = [
            run for statement in made for run in islice(self._past.executions.runs(statement, frame, execution.row), 2)
        ]
        return runs[0] if len(runs) == 1 else None

    def _function(self, execution: StatementExecution) -> int:
        """Return the function object that was called for a frame; 0: it is not known."""
        caller = self._past.executions.caller(execution.frame)
        text = f"<function {self._record.code(execution.code).name}>"
        paths = [path_of(call.func) for call in caller.statement.calls] if caller is not None else []
        found = [self._past.values.value(caller, path) for path in paths if caller is not None and path is not None]
        objects = {value.object for value in found if value is not None and value.text == text}
        if caller is None or len(objects) > 1:
            return 0
        return objects.pop() if objects else self._item(caller, execution)

    def _item(self, caller: StatementExecution, execution: StatementExecution) -> int:
        """Return the function that a comprehension has called for a frame: one of those it goes through."""
        heads = [node for head in caller.statement.heads for node in ast.walk(head)]
        rounds = [node for node in heads if isinstance(node, ast.comprehension)]
        calls = [node for node in heads if isinstance(node, ast.Call)]
        if len(rounds) != 1 or len(calls) != 1 or rounds[0].ifs or not isinstance(calls[0].func, ast.Name):
            return 0
        is_expression = isinstance(caller.scope.node, ast.GeneratorExp)  # each of its rounds is a line of its own
        if is_expression or self._past.executions.has_more_calls(caller.row):
            return 0
        path = path_of(rounds[0].iter) if calls[0].func.id == getattr(rounds[0].target, "id", "") else None
        through = self._past.values.value(caller, path) if path is not None else None
        place = [start.subject for start in self._past.executions.calls(caller.row)].index(execution.frame)
        item = self._past.values.field(through.object, f"[{place}]", caller.row) if through is not None else None
        return item.object if item is not None else 0

    def _first_with(self, target: int) -> StatementExecution | None:
        """Return the line at which an object came into the record: as a value there, or given to what it called."""
        first = self._record.forth_of(rows.WITH_VALUE, target, 0, by_value=True)
        owner = self._record.row(first).owner if first else 0
        if owner and self._record.row(owner).kind == rows.START:
            owner = self._record.row(owner).owner
        return self._past.executions.at(owner) if owner else None
