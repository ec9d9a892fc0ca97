"""Variables that were set from outside of their function: through `f_locals`, a cell's `cell_contents`, by a debugger.

The recorder finds them with another value than the one that their function gave them. The line during which that
happened is named, if it was a recorded one; else it is a gap.
"""

from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_scopes import MOST_FRAMES
from trio_debugmcp.runs.past.recorded_values import RecordedValue
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.origins.object_edges import ObjectEdges
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode, ValueGap

_LINES = frozenset({rows.LINE})

_ONE_OF_SEVERAL = "in one of several calls of {}: which of them is not known"


class OutsideWrites:
    """The edges to what has set variables of one process from outside."""

    def __init__(self, past: PastProcess, objects: ObjectEdges) -> None:
        self._past = past
        self._record = past.record
        self._objects = objects

    def of_seen_name(
        self, execution: StatementExecution, name: str, value: RecordedValue, price: float
    ) -> Iterator[SliceEdge]:
        """Yield where a value comes from that a variable was found with."""
        found = self._record.row(value.row)
        setter = self._past.executions.at(value.owner) if value.owner else None
        if setter is not None and setter.row != execution.row and name not in setter.statement.names:
            yield SliceEdge(cost.OUTSIDE, SliceNode(setter.row), f"set {name} through its frame or cell")
            return
        under_way, last = self._written(execution, name, value.row) if found.subject == execution.frame else (0, 0)
        if under_way:  # that line has written it already, and is not over
            yield SliceEdge(price, SliceNode(under_way))
        elif value.object:
            yield from self._objects.of_seen(value, None, price)
        elif edges := list(self._of_any_call(execution, name, value, price)):
            yield from edges
        elif last:
            self._objects.gaps.note(ValueGap(execution.row, last, name))

    def _of_any_call(
        self, execution: StatementExecution, name: str, value: RecordedValue, price: float
    ) -> Iterator[SliceEdge]:
        """Yield the last line that has given a variable of an outer function that value, in whichever call of it."""
        home, key = execution.scope.home(name), self._record.key_of(name)
        frames = self._past.scopes.frames_of(home) if home is not None and home is not execution.scope else []
        written = [self._record.back(rows.WRITE, key, frame, value.row) for frame in frames]
        alike = [row for row in written if row and self._past.values.value_at(row).text == value.text]
        if home is not None and len(frames) > 1 and alike:
            owner = self._record.row(max(alike)).owner
            names = (name,) if self._record.row(owner).kind == rows.START else ()
            function = home.name.rpartition(".")[2]
            yield SliceEdge(price, SliceNode(owner, names=names), _ONE_OF_SEVERAL.format(function))

    def _written(self, execution: StatementExecution, name: str, before: int) -> tuple[int, int]:
        """Return the line under way that writes a variable of an outer function, and the last one that has; 0: none."""
        home, key = execution.scope.home(name), self._record.key_of(name)
        frames = self._past.scopes.frames_of(home) if home is not None else []
        if not 0 < len(frames) < MOST_FRAMES:  # the one that counts may not be among them
            return 0, 0
        written = [self._record.back(rows.WRITE, key, frame, before) for frame in frames]
        owners = {self._record.row(row).owner for row in written if row}
        lines = [self._record.back_of(_LINES, frame, before) for frame in frames if home is not execution.scope]
        runs = [self._past.executions.at(line) for line in lines if line and line not in owners]
        under_way = [run.row for run in runs if run is not None and name in run.statement.names]
        return max(under_way, default=0), max(owners, default=0)
