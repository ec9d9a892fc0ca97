"""Lost updates: a line writes over what another thread, task or call has written since it read the place.

    #41 current = self.balance          reads 0
    #46 self.balance = current + amount of another thread: 10
    #51 self.balance = current + amount writes over that, as if it were 0 still

Said only where what is written, or that it is written, follows from a read that was certainly before the other write.
"""

import ast
import operator as operators
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.overlaps.shared_variables import SharedVariables
from trio_debugmcp.runs.slicing.recorded_contents import UnknownContent, literal
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import PathRead, path_of

WROTE_OVER = "writes over"
"""How the note begins of a line that has lost another's update."""

_MOST_WRITES = 300
"""Of one place that are looked at: the last ones."""

_MOST_STEPS = 4
"""From a name that is written back to the read that it came of."""

_SUSPENDED = ("coroutine", "async_generator")

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operators.add,
    ast.Sub: operators.sub,
    ast.Mult: operators.mul,
}


class LostUpdate(NamedTuple):
    """A read of a place, another's write of it after that, and the write over it: LINE rows; `text`: what is lost."""

    read: int
    other: int
    own: int
    text: str


class LostUpdateEdges:
    """The edges to lost updates of places of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._shared = SharedVariables(past)
        self._known: dict[int, LostUpdate | None] = {}

    def of_reads(self, execution: StatementExecution, reads: Sequence[PathRead]) -> Iterator[SliceEdge]:
        """Yield the last lost update of each place that a statement has read, and of what a condition guards."""
        for read in reads:
            value = self._past.values.read(execution, read) if not read.is_callee else None
            row = self._record.row(value.row) if value is not None else None
            is_field = row is not None and row.kind == rows.FIELD and row.key > 0
            if row is not None and (is_field or self._shared.is_of(execution, read.path, row)):
                yield from self._of_place(execution, row)
        if isinstance(execution.statement.node, ast.If):
            for write in self._guarded(execution):
                yield from self._of_place(execution, write)

    def _of_place(self, execution: StatementExecution, last: Row) -> Iterator[SliceEdge]:
        if last.number not in self._known:
            self._known[last.number] = self._last_lost(last)
        lost = self._known[last.number]
        if lost is None:
            return
        said = f"{WROTE_OVER} #{lost.other} ({self._who(lost)}: {lost.text}), later than #{lost.read} had read it"
        if lost.own not in (last.owner, execution.row):  # another run of its line may stand for it
            yield SliceEdge(0.0, SliceNode(execution.row), f"#{lost.own} {said}")
        yield SliceEdge(cost.LOST_UPDATE, SliceNode(lost.own), said)
        if lost.read != lost.own:
            yield SliceEdge(cost.LOST_UPDATE, SliceNode(lost.read), f"before #{lost.other} wrote it")
        yield SliceEdge(cost.LOST_UPDATE, SliceNode(lost.other), f"is lost: #{lost.own} {WROTE_OVER} it")

    def _who(self, lost: LostUpdate) -> str:
        """Return whose write is lost."""
        own, other = (self._record.frame(self._record.row(line).subject) for line in (lost.own, lost.other))
        if own.thread != other.thread:
            return "another thread"
        is_task = self._record.code(own.code).kind in _SUSPENDED and self._record.code(other.code).kind in _SUSPENDED
        return "another task" if is_task else self._record.code(other.code).name.replace(".<locals>", "")

    def _guarded(self, execution: StatementExecution) -> list[Row]:
        """Return the writes that a condition has led to, of places that it reads."""
        paths = {read.path for read in execution.statement.reads if read.path.steps}
        found: list[Row] = []
        for inner in execution.statement.all_inner() if paths else ():
            if paths.isdisjoint(inner.stores):
                continue
            run = self._past.executions.last_run(inner, execution.frame, self._record.last + 1)
            if run is not None and run.row > execution.row:
                labels = {str(path.steps[-1]) for path in inner.stores if path in paths}
                found += [
                    row for row in self._past.executions.effects(run.row) if self._record.label(row.key) in labels
                ]
        return found

    # --- The writes of a place ----------------------------------------------------------------------------------------

    def _last_lost(self, last: Row) -> LostUpdate | None:
        own = last
        for _ in range(_MOST_WRITES):
            number = self._shared.before(own, (rows.FIELD,))
            if not number:
                return None
            other = self._record.row(number)
            lost = self._lost(own, other) if own.owner and other.owner else None
            if lost is not None:
                return lost
            own = other
        return None

    def _lost(self, own: Row, other: Row) -> LostUpdate | None:
        """Return the lost update that a write is over the one before it; None: it knew of that, or may have."""
        writer = self._past.executions.at(own.owner)
        line = self._record.row(other.owner)
        if writer is None or line.kind != rows.LINE or line.subject == writer.frame:
            return None
        if self._record.frame(writer.frame).start > other.number or self._is_same(other):
            return None
        read = next(self._reads_behind(writer, own, other), None)
        if read is None:
            return None
        label = self._record.label(own.key)
        return LostUpdate(read, other.owner, writer.row, f"{label}={self._record.text(other)}")

    def _is_same(self, other: Row) -> bool:
        """Whether a write has left a place as it was."""
        number = self._shared.before(other, FIELDS)
        before = self._record.row(number) if number else None
        return before is not None and (before.object, before.text) == (other.object, other.text)

    def _reads_behind(self, writer: StatementExecution, own: Row, other: Row) -> Iterator[int]:
        """Yield the lines that have read a place before another write of it, and of which a write of it follows."""
        seen: set[int] = set()
        pending = [writer, *self._conditions(writer)]
        for _ in range(_MOST_STEPS):
            following: list[StatementExecution] = []
            for run in pending:
                if run.row in seen or run.row > other.number:  # it ran when the other one had written
                    continue
                seen.add(run.row)
                for read in run.statement.reads:
                    if self._is_of(run, read, own) and self._was_before(run, read, own, other):
                        yield run.row
            for run in pending:
                following += self._made(run)
            pending = following

    def _conditions(self, writer: StatementExecution) -> list[StatementExecution]:
        runs = [
            self._past.executions.last_run(outer, writer.frame, writer.row)
            for outer in writer.statement.outer()
            if isinstance(outer.node, ast.If)
        ]
        return [run for run in runs if run is not None]

    def _made(self, run: StatementExecution) -> list[StatementExecution]:
        """Return the lines of the same call that have written the local variables that a line reads."""
        found = []
        for read in run.statement.reads:
            value = self._past.values.read(run, read) if not read.path.steps else None
            made = self._past.executions.at(value.owner) if value is not None and value.owner else None
            if made is not None and made.frame == run.frame and value is not None and value.kind == rows.WRITE:
                found.append(made)
        return found

    def _is_of(self, run: StatementExecution, read: PathRead, place: Row) -> bool:
        """Whether a read is of a place."""
        path, label = read.path, self._record.label(place.key)
        if place.kind == rows.WRITE:
            return self._shared.is_of(run, path, place)
        if not path.steps:
            is_global = f".{path.name}" == label and run.scope.home(path.name) is None
            return is_global and self._record.code(run.code).globals == place.subject
        holder = self._past.values.value(run, path.holder)
        if holder is None or holder.object != place.subject:
            return False
        if str(path.steps[-1]) == label:
            return True
        value = self._past.values.value(run, path)
        return value is not None and value.kind in FIELDS and self._record.row(value.row).key == place.key

    def _was_before(self, run: StatementExecution, read: PathRead, own: Row, other: Row) -> bool:
        """Whether a line has certainly read a place before another write of it."""
        if self._past.executions.over(run) <= other.number:
            return True
        if read.after or self._past.executions.has_more_calls(run.row):  # what it called first may have taken that long
            return False
        begun = [row for row in self._past.executions.calls(run.row) if row.number < other.number]
        if begun:  # the call is under way, or it is suspended in it
            return True
        return self._is_sum(run, own, other)

    def _is_sum(self, run: StatementExecution, own: Row, other: Row) -> bool:
        """Whether what `n += 1` has written shows that it began with the value before another write."""
        node = run.statement.node
        operator = _OPERATORS.get(type(node.op)) if isinstance(node, ast.AugAssign) else None
        if operator is None or not isinstance(node, ast.AugAssign) or run.row != own.owner:
            return False
        path = path_of(node.value)
        value = self._past.values.value(run, path) if path is not None else None
        added = literal(value.text) if value is not None else literal(ast.unparse(node.value))
        number = self._shared.before(other, FIELDS)
        before, after = (literal(self._record.text(row)) if row else ... for row in (self._number(number), other))
        written = literal(self._record.text(own))
        if ... in (before, added) or any(isinstance(part, UnknownContent) for part in (before, added, after, written)):
            return False
        try:
            return bool(operator(before, added) == written != operator(after, added))
        except TypeError:
            return False

    def _number(self, number: int) -> Row | None:
        return self._record.row(number) if number else None
