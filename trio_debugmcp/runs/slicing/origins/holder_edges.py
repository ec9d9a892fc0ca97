"""What holds what is read: of which object an attribute or item was read, and where that one and the key come from."""

from collections.abc import Callable, Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import MAKERS, PastProcess, computed_value
from trio_debugmcp.runs.past.recorded_values import RecordedValue
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.origins.object_edges import ObjectEdges
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge
from trio_debugmcp.runs.slicing.wanted_pieces import WantedPieces
from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath

OfValue = Callable[[StatementExecution, ValuePath, RecordedValue, float], Iterator[SliceEdge]]
"""Yields what has given a path its value, at a cost."""


class HolderEdges:
    """The edges to what holds values of one process."""

    def __init__(self, past: PastProcess, objects: ObjectEdges, of_value: OfValue) -> None:
        self._past = past
        self._objects = objects
        self._of_value = of_value

    def of_holder(self, execution: StatementExecution, read: PathRead, wanted: WantedPieces) -> Iterator[SliceEdge]:
        """Yield what decided of which object an attribute or item was read, and of which that one.

        Of what has made a container with the item, only that is wanted; one that was written later is followed from
        there.
        """
        path, way = read.path, wanted.path
        value = self._past.values.read(execution, read)
        came_with = value is not None and self._came_with_maker(value)
        before = self._past.values.bound(execution, read)
        while path.steps:
            step, path = path.steps[-1], path.holder
            holder = self._past.values.value(execution, path)
            if holder is None:
                return
            label = self._past.values.label_of(execution, step)
            label = self._past.values.kept_under(holder, label, before) if label else None
            way = (label, *way) if label else ()
            is_last = len(path.steps) == len(read.path.steps) - 1
            is_near = is_last and (path.name not in ("self", "cls") or self._is_replaced(path, holder))
            if is_near or _is_index(step):
                for edge in self._of_value(execution, path, holder, cost.HOLDER):
                    yield edge.with_path(wanted._replace(path=way)) if came_with else edge
            if _is_index(step):  # another order is another item
                item = WantedPieces(path=(label or str(step),))
                yield from self._objects.of_content(execution, str(path), holder, before, item)

    def _came_with_maker(self, value: RecordedValue) -> bool:
        """Whether an item was in its container from the first: seen there, or stored by code that has no lines."""
        return value.kind == rows.SEEN or (value.kind == rows.FIELD and self._past.executions.at(value.owner) is None)

    def _is_replaced(self, path: ValuePath, holder: RecordedValue) -> bool:
        """Whether an attribute was given another object than that which its maker gave it."""
        writer = self._past.executions.at(holder.owner) if path.steps and holder.kind == rows.FIELD else None
        return writer is not None and writer.scope.name.rpartition(".")[2] not in MAKERS

    def of_keys(self, execution: StatementExecution, path: ValuePath) -> Iterator[SliceEdge]:
        """Yield where the keys come from by which a path has chosen an item."""
        for step in path.steps:
            value = self._past.values.value(execution, step) if isinstance(step, ValuePath) else None
            if isinstance(step, ValuePath) and value is not None:
                yield from self._of_value(execution, step, value, cost.FOCUS)

    def of_nearest(self, execution: StatementExecution, read: PathRead, wanted: WantedPieces) -> Iterator[SliceEdge]:
        """Yield what is known of the nearest object on a path whose own value is not in the record."""
        path, way = read.path, wanted.path
        last = str(path.steps[-1]) if path.steps else ""
        if last[:1] == "." and computed_value(self._past, execution, path) is None:
            yield from self._objects.of_unseen_attribute(execution, path, last)
        while path.steps:
            step, path = path.steps[-1], path.holder
            label = self._past.values.label_of(execution, step)
            way = (label, *way) if label else ()
            value = self._past.values.value(execution, path)
            if value is not None:
                for edge in self._of_value(execution, path, value, cost.READ):
                    yield edge.with_path(wanted._replace(path=way))
                if value.object:
                    settled = self._past.executions.settled(execution.row)
                    item = wanted._replace(path=way)
                    yield from self._objects.of_content(execution, str(path), value, settled, item)
                return


def _is_index(step: str | ValuePath) -> bool:
    return isinstance(step, str) and step[:1] == "[" and step[1:-1].lstrip("-").isdigit()
