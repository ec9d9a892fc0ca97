"""Writes that an exception has ended before they wrote: `number = int(text)`, where another line kept the exception."""

import ast
from collections.abc import Iterable, Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement

_MOST_FRAMES = 20
"""Of a function that would have set an attribute: the last ones."""

_MOST_RUNS = 50
"""Of a statement in one frame: the last ones."""

_MOST_NAMES = 50
"""Places of one object from which its names are taken: the first ones."""

_WRITES = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr


class FailedWriteEdges:
    """The edges to lines of one process that would have written, and raised instead."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._record = past.record
        self._decisions = decisions

    def of_name(self, execution: StatementExecution, name: str, since: int) -> Iterator[SliceEdge]:
        """Yield the last line that would have set a name of a frame, after a row."""
        failed = (self._last(writer, execution.frame, execution.row, since) for writer in execution.scope.writers(name))
        yield from self._of_last(failed, f"so {name} is not set")

    def of_attribute(self, execution: StatementExecution, label: str, holder: int) -> Iterator[SliceEdge]:
        """Yield the last line that would have set an attribute of an object, after it was set last."""
        since = self._record.back(rows.FIELD, self._record.key_of(label), holder, execution.row)
        for writer in self._past.mentions.storing(label):
            frames = self._past.scopes.frames([writer.scope])[-_MOST_FRAMES:]
            failed = (self._last(writer, frame, execution.row, since) for frame in frames)
            on = (run for run in failed if run is not None and self._is_on(run, label, holder))
            yield from self._of_last(on, f"so {label} is not set")
            property_set = _property_of(writer.scope)
            if property_set:
                yield from self.of_computed(execution, f".{property_set}", holder)

    def of_computed(self, execution: StatementExecution, label: str, holder: int) -> Iterator[SliceEdge]:
        """Yield the last line that would have called what sets an attribute or item of an object, as a property does.

        What sets it has written another attribute, or nothing: what holds is that no later line has set it.
        """
        if label[:1] == ".":
            writers = self._past.mentions.storing(label)
        else:
            writers = [writer for writer, _ in self._past.mentions.item_stores(self._names_of(holder, execution.row))]
        last: StatementExecution | None = None
        for writer in dict.fromkeys(writers):
            for frame in self._past.scopes.frames([writer.scope])[-_MOST_FRAMES:]:
                runs = islice(self._past.executions.runs(writer, frame, execution.row), _MOST_RUNS)
                run = next((run for run in runs if self._is_on(run, label, holder)), None)
                last = max(filter(None, (last, run)), key=lambda run: run.row, default=None)
        if last is not None and self._has_failed(last):
            yield from self._decisions.not_reached(last, f"so {label} is not set")

    def _names_of(self, target: int, before: int) -> set[str]:
        """Return the names and attributes by which an object was known."""
        names = set[str]()
        found = self._record.forth_of(rows.WITH_VALUE, target, 0, by_value=True)
        for _ in range(_MOST_NAMES):
            if not found or found >= before:
                break
            row = self._record.row(found)
            if row.kind in (rows.WRITE, rows.FIELD, rows.SEEN):
                names.add(self._record.label(row.key).removeprefix("."))
            found = self._record.forth_of(rows.WITH_VALUE, target, found, by_value=True)
        return names

    def of_container(
        self, execution: StatementExecution, target: int, scope: SourceScope, frame: int
    ) -> Iterator[SliceEdge]:
        """Yield the last line in a frame that would have changed a container."""
        is_big = self._past.values.is_big(target, execution.row)  # what a method has changed of it may not be recorded
        for statement in scope.statements:
            for path in [path for path, method in statement.mutates if not (method and is_big)]:
                failed = self._last(statement, frame, execution.row, 0)
                value = self._past.values.value(failed, path) if failed is not None else None
                if value is not None and value.object == target:
                    yield from self._of_last([failed], f"so {path} is not changed")

    def _of_last(self, failed: Iterable[StatementExecution | None], note: str) -> Iterator[SliceEdge]:
        last = max((run for run in failed if run is not None), key=lambda run: run.row, default=None)
        if last is not None:
            yield from self._decisions.not_reached(last, note)

    def _last(self, writer: Statement, frame: int, before: int, since: int) -> StatementExecution | None:
        """Return the last run of a statement, between two rows, that has raised and written nothing."""
        if len(writer.nodes) > 1 or not isinstance(writer.node, _WRITES):
            return None
        for run in islice(self._past.executions.runs(writer, frame, before), _MOST_RUNS):
            if run.row <= since:
                return None
            if self._has_failed(run):
                return run
        return None

    def _has_failed(self, run: StatementExecution) -> bool:
        """Whether a run of a statement has raised and written nothing."""
        return self._past.executions.raised(run.row) is not None and not self._past.executions.effects(run.row)

    def _is_on(self, run: StatementExecution, label: str, holder: int) -> bool:
        """Whether a line would have set that attribute or item of that object."""
        holders = [
            self._past.values.value(run, path.holder)
            for path in run.statement.stores
            if self._past.values.label_of(run, path.steps[-1]) == label
        ]
        return any(value is not None and value.object == holder for value in holders)


def _property_of(scope: SourceScope) -> str:
    """Return the name of the property whose setter a function is; empty: it is not one."""
    decorators = getattr(scope.node, "decorator_list", ())
    setters = [part.value for part in decorators if isinstance(part, ast.Attribute) and part.attr == "setter"]
    return next((part.id for part in setters if isinstance(part, ast.Name)), "")
