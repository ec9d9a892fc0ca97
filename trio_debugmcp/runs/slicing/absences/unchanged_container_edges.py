"""Containers that were not changed: what would have changed one and did not, or has run without effect."""

from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import CONTENT, FIELDS, RecordedValue
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.absences.failed_write_edges import FailedWriteEdges
from trio_debugmcp.runs.slicing.absences.handed_container_edges import HandedContainerEdges
from trio_debugmcp.runs.slicing.absences.kept_exception_edges import KeptExceptionEdges
from trio_debugmcp.runs.slicing.absences.loop_end_edges import LoopEndEdges
from trio_debugmcp.runs.slicing.absences.unraised_edges import UnraisedEdges
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import ValuePath, copied_in
from trio_debugmcp.runs.source.source_scopes import SourceScope

_MOST_FRAMES = 20
"""Of a function that would have changed a container: the last ones."""

_MOST_ABSENT = 3

_MOST_SIZES = 100
"""Changes of a container's length that are looked at: the last ones."""

_SIZE = frozenset({rows.SIZE})


class UnchangedContainerEdges:
    """The edges to what has not changed containers of one process."""

    def __init__(
        self,
        past: PastProcess,
        decisions: Decisions,
        unraised: UnraisedEdges,
        failed_writes: FailedWriteEdges,
        kept_exceptions: KeptExceptionEdges,
        loop_ends: LoopEndEdges,
    ) -> None:
        self._past = past
        self._record = past.record
        self._decisions = decisions
        self._unraised = unraised
        self._failed_writes = failed_writes
        self._kept_exceptions = kept_exceptions
        self._loop_ends = loop_ends
        self._handed = HandedContainerEdges(past, decisions)

    def of_container(self, execution: StatementExecution, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield what would have changed a container in the same function and did not, or has run without effect."""
        if not self._record.back_of(frozenset({rows.SIZE}), value.object, execution.row):
            return
        yield from self._loop_ends.of_last_change(execution, value)
        made = self._past.executions.at(self._past.values.birth(value.object, execution.row))
        yield from self._of_changes(execution, value, execution.scope, execution.frame)
        if made is not None and made.frame != execution.frame:
            yield from self._of_changes(execution, value, made.scope, made.frame)
        yield from self._of_changes_elsewhere(execution, value, made)
        yield from self._handed.of_container(execution, value.object)
        yield from self._kept_exceptions.of_container(execution, value.object)

    def _of_changes_elsewhere(
        self, execution: StatementExecution, value: RecordedValue, made: StatementExecution | None
    ) -> Iterator[SliceEdge]:
        """Yield what would have changed the container of an attribute in another function, and never ran.

        Of one that `clear` has emptied: not since.
        """
        since = cleared(self._past, value.object, execution.row)
        labels = {self._record.label(self._record.row(value.row).key)} if value.kind in FIELDS else set()
        names = {label[1:] for label in labels if label[:1] == "."}
        known = {execution.scope, *([made.scope] if made is not None else [])}
        absent = 0
        for statement, path, _ in self._past.mentions.method_calls(names) if names else ():
            if statement.scope in known or not any(path == changed for changed, _ in statement.mutates):
                continue
            frames = self._past.scopes.frames([statement.scope])[-_MOST_FRAMES:]
            runs = [self._past.executions.last_run(statement, frame, execution.row) for frame in frames]
            if any(run is not None and run.row > since for run in runs):
                continue
            begun = [frame for frame in frames if self._record.frame(frame).start > since]
            decided = [self._decisions.against(statement, execution, since, frame) for frame in begun]
            on = [run for run in decided if run is not None and self._has(run, path, value.object)]
            if on and absent < _MOST_ABSENT:
                absent += 1
                yield from self._decisions.not_reached(on[-1], f"so {path} is not changed at line {statement.first}")

    def _has(self, run: StatementExecution, path: ValuePath, target: int) -> bool:
        found = self._past.values.value(run, path)
        return found is not None and found.object == target

    def _of_changes(
        self, execution: StatementExecution, value: RecordedValue, scope: SourceScope, frame: int
    ) -> Iterator[SliceEdge]:
        """Yield what would have changed a container in one call of a function."""
        yield from self._of_copies(execution, value, scope, frame)
        yield from self._failed_writes.of_container(execution, value.object, scope, frame)
        for statement in scope.statements:
            for path, method in statement.mutates if statement is not execution.statement else ():
                run = self._past.executions.last_run(statement, frame, execution.row)
                if run is None:
                    decided = self._decisions.against(statement, execution, 0, frame)
                    found = None if decided is None else self._past.values.value(decided, path)
                    if decided is not None and found is not None and found.object == value.object:
                        note = f"so {path} is not changed at line {statement.first}"
                        yield from self._decisions.not_reached(decided, note)
                    elif decided is None:
                        yield from self._unraised.of_handler(statement, execution, frame)
                elif (
                    method
                    and not self._past.values.is_big(value.object, execution.row)
                    and not self._past.executions.effects(run.row)
                    and not self._was_found_changed(run, value.object)
                    and self._past.executions.raised(run.row) is None
                    and statement is not execution.statement
                ):
                    found = self._past.values.value(run, path)
                    if found is not None and found.object == value.object:
                        yield SliceEdge(cost.ABSENCE, SliceNode(run.row), f"{method} changed nothing")

    def _was_found_changed(self, run: StatementExecution, target: int) -> bool:
        """Whether a container was another one when a line was over: that may be the work of the line."""
        over = min(self._past.executions.over(run), self._record.last + 1)
        number = self._record.back_of(CONTENT, target, over)
        return number > run.row and self._record.row(number).owner == run.row

    def _of_copies(
        self, execution: StatementExecution, value: RecordedValue, scope: SourceScope, frame: int
    ) -> Iterator[SliceEdge]:
        """Yield calls that were given a copy of a container, and whose results are dropped: it has stayed as it was."""
        for statement in scope.statements:
            paths = copied_in(statement.node) if statement is not execution.statement else []
            run = self._past.executions.last_run(statement, frame, execution.row) if paths else None
            for path in paths if run is not None else ():
                if run is not None and self._has(run, path, value.object):
                    yield SliceEdge(cost.WITHOUT_EFFECT, SliceNode(run.row), f"was given a copy of {path}")


def cleared(past: PastProcess, container: int, before: int) -> int:
    """Return the line that has emptied a container by `clear` last; 0: none has, and what it had counts."""
    number = past.record.back_of(_SIZE, container, before)
    for _ in range(_MOST_SIZES):
        row = past.record.row(number) if number else None
        if row is None or row.key == 0:
            return 0
        writer = past.executions.at(row.owner) if row.key == 1 and row.text == 0 else None
        if writer is not None and any(method == "clear" for _, method in writer.statement.mutates):
            return writer.row
        number = past.record.back_of(_SIZE, container, number)
    return 0
