"""What did not happen: writes that were not reached, loops that ended early, what was made before."""

import ast
from collections.abc import Iterator, Sequence

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import MAKERS, PastProcess
from trio_debugmcp.runs.past.recorded_values import RecordedValue, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.absent_item_edges import AbsentItemEdges
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.absences.failed_write_edges import FailedWriteEdges
from trio_debugmcp.runs.slicing.absences.kept_exception_edges import KeptExceptionEdges
from trio_debugmcp.runs.slicing.absences.late_binding_edges import LateBindingEdges
from trio_debugmcp.runs.slicing.absences.loop_end_edges import LoopEndEdges
from trio_debugmcp.runs.slicing.absences.namesake_edges import NamesakeEdges
from trio_debugmcp.runs.slicing.absences.outer_name_edges import OuterNameEdges
from trio_debugmcp.runs.slicing.absences.passed_handler_edges import passed_handlers
from trio_debugmcp.runs.slicing.absences.unbound_edges import UnboundEdges
from trio_debugmcp.runs.slicing.absences.uncalled_edges import UncalledEdges
from trio_debugmcp.runs.slicing.absences.unchanged_container_edges import UnchangedContainerEdges
from trio_debugmcp.runs.slicing.absences.unfinished_call_edges import UnfinishedCallEdges
from trio_debugmcp.runs.slicing.absences.unraised_edges import UnraisedEdges
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath
from trio_debugmcp.runs.source.source_scopes import Statement

_MOST_FRAMES = 20
"""Of a function in which an attribute would have been written: the last ones."""

_MOST_ABSENT = 3


class AbsenceEdges:
    """The edges to what did not happen in one process: to names, attributes, contents, and in loops.

    Attributes:
        decisions: what decided against a statement.
        unraised: what did not raise.
    """

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self.decisions = Decisions(past)
        self.unraised = UnraisedEdges(past, self.decisions)
        self._uncalled = UncalledEdges(past, self.decisions)
        self._unfinished = UnfinishedCallEdges(past, self.decisions)
        self._namesakes = NamesakeEdges(past)
        self._outer_names = OuterNameEdges(past, self.decisions)
        self._loop_ends = LoopEndEdges(past)
        self._late_bindings = LateBindingEdges(past)
        self._failed_writes = FailedWriteEdges(past, self.decisions)
        self._kept_exceptions = KeptExceptionEdges(past)
        decisions = past, self.decisions, self.unraised, self._failed_writes
        self._unbound = UnboundEdges(*decisions)
        self._absent_items = AbsentItemEdges(past, self.decisions)
        self._containers = UnchangedContainerEdges(*decisions, self._kept_exceptions, self._loop_ends)

    def of_statement(self, execution: StatementExecution, items: Sequence[int] = ()) -> Iterator[SliceEdge]:
        """Yield what did not happen to what a statement read, or before it.

        Args:
            execution: the statement.
            items: of what its comprehension goes through, the objects that matter; empty: all of them.
        """
        yield from self.unraised.of_statement(execution)
        yield from self._unbound.of_statement(execution)
        yield from passed_handlers(self._past, execution)
        yield from self._absent_items.of_statement(execution)
        yield from self.of_reads(execution, execution.statement.reads, items)

    def of_reads(
        self, execution: StatementExecution, reads: Sequence[PathRead], items: Sequence[int] = ()
    ) -> Iterator[SliceEdge]:
        """Yield what did not happen to what was read, or is asked about, when a statement ran."""
        for read in reads:
            if read.is_callee:
                continue
            value = self._past.values.read(execution, read)
            if value is not None:
                yield from self._of_read(execution, read, value, items)
                yield from self._unfinished.of_read(execution, read, value)
            else:
                yield from self._of_nearest(execution, read.path)
                yield from self._of_unset_attribute(execution, read.path)
                yield from self._of_computed(execution, read.path)

    def _of_unset_attribute(self, execution: StatementExecution, path: ValuePath) -> Iterator[SliceEdge]:
        """Yield where an object was filled that has not the attribute for want of which a statement fails."""
        raised, label = self._past.executions.raised(execution.row), str(path.steps[-1]) if path.steps else ""
        holder = self._past.values.value(execution, path.holder) if label[:1] == "." else None
        is_unset = raised is not None and self._record.text(raised).startswith("AttributeError")
        if holder is None or not holder.object or not is_unset:
            return
        yield from self._of_attribute(execution, label, holder.object)
        first = self._record.forth_of(frozenset({rows.WRITE}), holder.object, 0, by_value=True)
        start = self._record.row(first).owner if first else 0
        if start and self._record.row(start).kind == rows.START:
            last = self._past.executions.last_line(self._record.row(start).subject)
            note = f"sets no {label} of it"
            for row in dict.fromkeys((start, last)):
                if row and self._past.executions.outcome(start) is not None:
                    yield SliceEdge(cost.ABSENCE, SliceNode(row), note if row == start else "")

    def _of_computed(self, execution: StatementExecution, path: ValuePath) -> Iterator[SliceEdge]:
        """Yield what did not set that which an object computes: by a property, `__getattr__`, `__getitem__`."""
        holder = self._past.values.value(execution, path.holder) if path.steps else None
        label = self._past.values.label_of(execution, path.steps[-1]) if path.steps else None
        if holder is not None and holder.object and label is not None:
            yield from self._failed_writes.of_computed(execution, label, holder.object)

    def _of_nearest(self, execution: StatementExecution, path: ValuePath) -> Iterator[SliceEdge]:
        """Yield what did not happen to the nearest container on a path that leads nowhere."""
        while path.steps:
            path = path.holder
            value = self._past.values.value(execution, path)
            if value is not None:
                if value.object:
                    yield from self._containers.of_container(execution, value)
                return

    def _of_read(
        self, execution: StatementExecution, read: PathRead, value: RecordedValue, items: Sequence[int]
    ) -> Iterator[SliceEdge]:
        if read.of_items:
            for item in items or self._past.values.items(value.object, execution.row)[:_MOST_FRAMES]:
                yield from self._of_attribute(execution, read.of_items, item)
        elif not read.path.steps:
            yield from self._of_name(execution, read.path.name, value)
            yield from self._outer_names.of_name(execution, read.path.name, value)
            yield from self._namesakes.of_name(execution, read.path.name, value)
            yield from self._late_bindings.of_name(execution, read.path.name, value)
            yield from self._loop_ends.of_loop(execution, value)
        elif isinstance(read.path.steps[-1], str) and read.path.steps[-1][0] == ".":
            holder = self._past.values.value(execution, read.path.holder)
            if holder is not None and holder.object:
                yield from self._of_attribute(execution, read.path.steps[-1], holder.object)
                yield from self._uncalled.of_attribute(execution, read.path.steps[-1], holder)
        if value.object and (read.is_whole or isinstance(execution.statement.node, ast.Return)):
            yield from self._containers.of_container(execution, value)
            yield from self._uncalled.of_kept(execution, value)

    # --- Would have been set ------------------------------------------------------------------------------------------

    def _of_name(self, execution: StatementExecution, name: str, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield conditions and exceptions for which a name was not set between its last write and its use."""
        if execution.scope.home(name) is not execution.scope and execution.scope.parent is not None:
            return
        yield from self._failed_writes.of_name(execution, name, value.owner)
        absent = 0
        for writer in reversed(execution.scope.writers(name)):
            if writer.is_definition or writer is execution.statement or absent >= _MOST_ABSENT:
                continue
            run = self._past.executions.last_run(writer, execution.frame, execution.row)
            if run is not None and run.row >= value.owner:
                continue
            decided = self.decisions.against(writer, execution, value.owner)
            if decided is not None:
                absent += 1
                yield from self.decisions.not_reached(decided, f"so {name} is not set at line {writer.first}")
            elif run is None:
                yield from self.unraised.of_handler(writer, execution, execution.frame)

    def _of_attribute(self, execution: StatementExecution, label: str, holder: int) -> Iterator[SliceEdge]:
        """Yield conditions against which an attribute of an object was not set, in whichever function."""
        yield from self._of_setattr(execution, label, holder)
        yield from self._failed_writes.of_attribute(execution, label, holder)
        yield from self._kept_exceptions.of_attribute(execution, label, holder)
        for writer in self._past.mentions.storing(label):
            edges = []
            frames = self._past.scopes.frames([writer.scope])[-_MOST_FRAMES:]
            for frame in frames:
                run = self._past.executions.last_run(writer, frame, execution.row)
                another = self._another(run, writer, label, holder) if run is not None else ""
                if run is not None and another:
                    yield SliceEdge(cost.ANOTHER, SliceNode(run.row), f"sets {label} of {another}")
                decided = None if run is not None else self.decisions.against(writer, execution, 0, frame)
                if decided is not None and self._is_on(decided, writer, label, holder):
                    edges.append(decided)
            if edges:
                times = f" ({len(edges)} times in the last {len(frames)} calls)" if len(edges) > 1 else ""
                yield from self.decisions.not_reached(edges[-1], f"so {label} is not set at line {writer.first}{times}")

    def _of_setattr(self, execution: StatementExecution, label: str, holder: int) -> Iterator[SliceEdge]:
        """Yield calls of `setattr` on an object that have set other attributes, or what decided against them."""
        for statement, path, name in self._past.mentions.attribute_updates():
            for frame in self._past.scopes.frames([statement.scope])[-_MOST_FRAMES:]:
                run = self._past.executions.last_run(statement, frame, execution.row)
                decided = None if run is not None else self.decisions.against(statement, execution, 0, frame)
                at = run or decided
                held = self._past.values.value(at, path) if at is not None and path is not None else None
                is_on = held is not None and held.object == holder
                if decided is not None and is_on:
                    yield from self.decisions.not_reached(decided, f"so line {statement.first} sets nothing of {path}")
                if run is not None and is_on and not (self._has_set(run, label) or self._has_called(run, holder)):
                    yield SliceEdge(
                        cost.LOOP_END, SliceNode(run.row, focus=(name,)), f"sets another attribute than {label}"
                    )

    def _has_set(self, run: StatementExecution, label: str) -> bool:
        """Whether a line has set an attribute of that name."""
        return any(self._record.label(effect.key) == label for effect in self._past.executions.effects(run.row))

    def _has_called(self, run: StatementExecution, holder: int) -> bool:
        """Whether a line has called a method of an object, as that which sets a property: it may set anything."""
        firsts = [start.number for start in self._past.executions.calls(run.row)]
        written = [row for start in firsts for row in self._past.executions.effects(start)[:1]]
        return any(row.kind == rows.WRITE and row.object == holder for row in written)

    def _another(self, run: StatementExecution, writer: Statement, label: str, holder: int) -> str:
        """Return to which other type than that of an object a statement gave an attribute; empty: to none.

        One that the other object has from elsewhere, too, is its own: nothing is mixed up there.
        """
        if writer.scope.name.rpartition(".")[2] in MAKERS:
            return ""
        own = self._past.values.value_at(self._record.forth_of(rows.WITH_VALUE, holder, 0, by_value=True) or 1)
        for path in writer.stores:
            value = self._past.values.value(run, path.holder) if path.steps[-1] == label else None
            if value is None or value.object == holder or self._is_own(value.object, label, writer):
                continue
            one, other = type_name(value.text), type_name(own.text)
            if value.text.startswith("<class "):
                return f"the {value.text[1:-1]}"
            if one != other:
                return f"<{one}>, not of <{other}>" if one and other else "another object"
        return ""

    def _is_own(self, target: int, label: str, writer: Statement) -> bool:
        """Whether an object has got an attribute from another statement first."""
        key = self._record.key_of(label)
        found = [self._record.forth(kind, key, target, 0) for kind in (rows.FIELD, rows.SEEN)]
        first = min((row for row in found if row), default=0)
        run = self._past.executions.at(self._record.row(first).owner) if first else None
        return bool(first) and (run is None or run.statement is not writer)

    def _is_on(self, decided: StatementExecution, writer: Statement, label: str, holder: int) -> bool:
        """Whether a statement would have set the attribute of that object."""
        for path in writer.stores:
            if path.steps[-1] == label:
                value = self._past.values.value(decided, path.holder)
                return value is not None and value.object == holder
        return False
