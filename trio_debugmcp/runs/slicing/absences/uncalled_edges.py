"""What no call has done: methods that would have set or changed something of an object, and were not called for it."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, argument
from trio_debugmcp.runs.past.recorded_scopes import MOST_FRAMES
from trio_debugmcp.runs.past.recorded_values import RecordedValue, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.absences.later_call_edges import LaterCallEdges
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement

_MOST_FRAMES = 20
"""Of a function that would have called a method: the last ones."""

_MOST_UNCALLED = 2

_MOST_HOLDERS = 20
"""Objects that have one container: the first ones."""

_FIELDS = frozenset({rows.FIELD})

_SIZES = frozenset({rows.SIZE})


class UncalledEdges:
    """The edges to what decided against the calls that would have filled an object of one process."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._decisions = decisions
        self._later = LaterCallEdges(past)

    def of_kept(self, execution: StatementExecution, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield what decided against calls of methods of the objects that have a container as an attribute."""
        if not self._past.record.back_of(_SIZES, value.object, execution.row):
            return
        kept: dict[int, tuple[str, RecordedValue]] = {}
        found = self._past.record.forth_of(_FIELDS, value.object, 0, by_value=True)
        for _ in range(_MOST_HOLDERS):
            if not found or found >= execution.row:
                break
            row = self._past.record.row(found)
            label, holder = self._past.record.label(row.key), self._holder(row)
            if label[:1] == "." and holder is not None and found != value.row:
                kept[row.subject] = label, holder
            found = self._past.record.forth_of(_FIELDS, value.object, found, by_value=True)
        for label, holder in kept.values():
            yield from self.of_attribute(execution, label, holder)

    def _holder(self, row: Row) -> RecordedValue | None:
        """Return the object that a row gives an attribute; None: no row has it as a value."""
        known = self._past.record.forth_of(rows.WITH_VALUE, row.subject, 0, by_value=True)
        return self._past.values.value_at(known) if known else None

    def of_attribute(self, execution: StatementExecution, label: str, holder: RecordedValue) -> Iterator[SliceEdge]:
        """Yield what decided against calls of methods that set an attribute of an object, or change what is in it."""
        left = _MOST_UNCALLED
        for method in self._methods(type_name(holder.text), label):
            called = self._first_call(method, holder.object)
            yield from self._later.of_method(execution, method, holder.object)
            if called and called < execution.row:
                continue
            name = method.name.rpartition(".")[2]
            calls = self._past.mentions.calling(name)
            for statement in dict.fromkeys(found for found, call in calls if isinstance(call.func, ast.Attribute)):
                decided = self._decided(statement, execution) if statement.scope is not method else None
                if decided is not None and left:
                    left -= 1
                    yield from self._decisions.not_reached(
                        decided, f"so {name} is not called at line {statement.first}"
                    )
            yield from self._of_handed(execution, name, holder.object, called)

    def _of_handed(self, execution: StatementExecution, name: str, holder: int, called: int) -> Iterator[SliceEdge]:
        """Yield the line that has handed over a method of an object that was not called, and what was done with it.

        Args:
            execution: the line before which it was not.
            name: of the method.
            holder: the object.
            called: the row of a later call; 0: there is none.
        """
        note = f"hands {name} over, which is {f'called later, at #{called}' if called else 'not called'}"
        for statement, path, _ in self._past.mentions.calls_with({name}):
            for frame in reversed(self._past.scopes.frames([statement.scope])[-_MOST_FRAMES:]):
                run = self._past.executions.last_run(statement, frame, execution.row)
                held = self._past.values.value(run, path.holder) if run is not None and path.steps else None
                if run is None or held is None or held.object != holder:
                    continue
                yield SliceEdge(cost.MISSING, SliceNode(run.row), note)
                for start in self._past.executions.calls(run.row):
                    yield from self._of_taken(run, start, name)
                break

    def _of_taken(self, run: StatementExecution, start: Row, name: str) -> Iterator[SliceEdge]:
        """Yield the lines of a call that read the parameter by which it was given a method."""
        scope = self._past.scopes.of_code(start.key)
        for parameter in scope.parameters if scope is not None else ():
            given = argument(self._past, run, start, parameter)
            if scope is None or not any(getattr(part, "attr", "") == name for part in given or ()):
                continue
            for statement in scope.statements:
                reads = {read.path.name for read in statement.reads if not read.path.steps}
                taken = self._past.executions.last_run(statement, start.subject, self._past.record.last + 1)
                if parameter in reads and taken is not None:
                    yield SliceEdge(cost.MISSING, SliceNode(taken.row), f"takes {parameter}, which is {name}")

    def _decided(self, statement: Statement, execution: StatementExecution) -> StatementExecution | None:
        """Return what decided against a statement in the last call of its function; None if it ran in one."""
        frames = self._past.scopes.frames([statement.scope])[-_MOST_FRAMES:]
        if any(self._past.executions.last_run(statement, frame, execution.row) for frame in frames):
            return None
        found = (self._decisions.against(statement, execution, 0, frame) for frame in reversed(frames))
        return next((decided for decided in found if decided is not None), None)

    def _methods(self, class_name: str, label: str) -> Iterator[SourceScope]:
        """Yield the methods of a class, and of its bases, that change an attribute of their object."""
        for kind in self._past.scopes.classes(class_name):
            for method in kind.inner:
                own = method.body.own
                if method.name.rpartition(".")[2] != "__init__" and any(_changes(part, label) for part in own):
                    yield method
            for base in kind.bases:
                yield from self._methods(base, label)

    def _first_call(self, method: SourceScope, holder: int) -> int:
        """Return the row of the first call of a method for an object, or for one that is not known; 0: none."""
        own = method.parameters[0] if method.parameters else ""
        frames = self._past.scopes.frames([method])
        if len(frames) >= MOST_FRAMES:  # there may be earlier ones
            return self._past.record.first
        for frame in frames:
            start = self._past.record.row(self._past.record.frame(frame).start)
            value = self._past.values.parameter(start, own)
            if value is None or value.object == holder:
                return start.number
        return 0


def _changes(statement: Statement, label: str) -> bool:
    """Whether a statement, or one in its blocks, sets an attribute of that name or changes what is in it."""
    parts = [statement, *statement.all_inner()]
    paths = [path for part in parts for path in [*part.stores, *(changed for changed, _ in part.mutates)]]
    return any(len(path.steps) == 1 and path.steps[0] == label for path in paths)
