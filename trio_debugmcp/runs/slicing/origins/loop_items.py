"""Which item of a container a round of a loop, or of a generator expression, has taken, and what has put it there."""

import ast
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.row_search import keys_back
from trio_debugmcp.runs.past.executions import StatementExecution, was_closed
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.past.read_ahead import is_same_place
from trio_debugmcp.runs.past.recorded_values import FIELDS, RecordedValue, container_word
from trio_debugmcp.runs.slicing.origins.item_origins import ItemOrigins
from trio_debugmcp.runs.slicing.recorded_contents import parts_of
from trio_debugmcp.runs.slicing.slicing_nodes import SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import WantedPieces
from trio_debugmcp.runs.source.read_paths import ValuePath, iterated_path, names_in, reads_of

_DECIDED_BY_ONE = ("all", "any", "next")
"""Calls that have looked at no further item once one has decided."""

_MOST_WRITES = 50_000
"""Writes into a long container among which that of an object is looked for: the last ones."""


class LoopItem(NamedTuple):
    """An item that a round has taken.

    Attributes:
        origin: the line that has put the item into its container, or has made the container with it.
        container: what the loop goes through: a path; `.0` of the first one of a generator expression.
    """

    origin: SliceNode
    container: ValuePath | None


class LoopItems:
    """The items that the rounds of loops of one process have taken."""

    def __init__(self, past: PastProcess, items: ItemOrigins) -> None:
        self._past = past
        self._items = items

    def of_round(self, execution: StatementExecution, wanted: WantedPieces) -> list[LoopItem]:
        """Return those items that a round has taken and that are known, of the innermost loop first."""
        taken = []
        for container, at, loop in self._loops(execution):
            origin = self._origin(execution, at, loop, wanted)
            if origin is not None:
                taken.append(LoopItem(origin, container))
        return taken

    def read_whole(self, execution: StatementExecution) -> Iterator[tuple[str, RecordedValue]]:
        """Yield the containers that a round of a generator expression has taken, and looked into, by their names."""
        node = execution.statement.node
        if not isinstance(node, ast.GeneratorExp):
            return
        settled = self._past.executions.settled(execution.row)
        taken = {name for loop in node.generators for name in names_in(loop.target)}
        for read in reads_of(node.elt, *(test for loop in node.generators for test in loop.ifs)):
            if read.is_whole and not read.path.steps and read.path.name in taken:
                value = self._past.values.value(execution, read.path, settled)
                if value is not None and value.object and container_word(value.text):
                    yield read.path.name, value

    def decided(self, execution: StatementExecution) -> set[ValuePath]:
        """Return the containers of a line of which one item alone has decided: that of the round that was the last."""
        paths = set()
        for call in execution.statement.calls:
            expression = call.args[0] if call.args else None
            if called(call) in _DECIDED_BY_ONE and isinstance(expression, ast.GeneratorExp):
                path = iterated_path(expression.generators[0].iter)
                if path is not None and self._has_stopped_early(execution, expression):
                    paths.add(path)
        return paths

    def _has_stopped_early(self, execution: StatementExecution, expression: ast.GeneratorExp) -> bool:
        """Whether the last round of a generator expression has given something, and was not the end of its items."""
        for start in reversed(self._past.executions.calls(execution.row)):
            scope = self._past.scopes.of_code(start.key)
            if scope is not None and is_same_place(scope.node, expression):
                ending = self._past.executions.outcome(start.number)
                if ending is None or not was_closed(self._past.record, ending):
                    return ending is not None and ending.kind == rows.YIELD
        return False

    def _loops(
        self, execution: StatementExecution
    ) -> Iterator[tuple[ValuePath | None, StatementExecution, ast.comprehension]]:
        """Yield the loops of a statement, what it reads for each, and the line that had evaluated that."""
        node = execution.statement.node
        if isinstance(node, ast.For | ast.AsyncFor):
            yield None, execution, ast.comprehension(node.target, node.iter, [], 0)
        elif isinstance(node, ast.GeneratorExp):
            for loop in node.generators[:0:-1]:
                yield iterated_path(loop.iter), execution, loop
            caller = self._past.executions.caller(execution.frame)
            if caller is not None:
                yield ValuePath(".0"), caller, node.generators[0]

    def _origin(
        self, execution: StatementExecution, at: StatementExecution, loop: ast.comprehension, wanted: WantedPieces
    ) -> SliceNode | None:
        """Return what has put an item into its container; None: not known."""
        iterated = self._items.iterated(at, loop.iter)
        values = self._values(execution, loop.target)
        if iterated is None or not iterated.object or not values:
            return None
        before = self._past.executions.settled(execution.row)
        label = self._label(iterated.object, before, loop, values)
        rest = wanted.path if isinstance(loop.target, ast.Name) else ()
        return self._items.of_item(iterated.object, wanted._replace(path=(label, *rest)), before) if label else None

    def _values(self, execution: StatementExecution, target: ast.expr) -> dict[str, tuple[int, str]]:
        """Return the objects and texts that the names of a target have in a round."""
        names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
        written = {
            self._past.record.label(effect.key).removeprefix("."): (effect.object, self._past.record.text(effect))
            for effect in self._past.executions.effects(execution.row)
        }
        is_inner = isinstance(execution.statement.node, ast.GeneratorExp)
        values = {}
        for name in names:
            value = self._past.values.value(execution, ValuePath(name)) if is_inner and name not in written else None
            if name in written:
                values[name] = written[name]
            elif value is not None:  # an outer loop's
                values[name] = value.object, value.text
        return values

    def _label(self, container: int, before: int, loop: ast.comprehension, values: dict[str, tuple[int, str]]) -> str:
        """Return the label of the one item of a container that the names of a target are; empty: not known."""
        fitting = [
            label
            for label, part in parts_of(self._past, container, before).items()
            if self._fits(self._items.bound(loop, label, part), values)
        ]
        if fitting:
            return fitting[0] if len(fitting) == 1 else ""
        return self._label_in_long(container, before, loop, values)

    def _fits(self, bound: dict[str, RecordedValue], values: dict[str, tuple[int, str]]) -> bool:
        """Whether names have what is bound: the same objects, whatever is in them by now, or equal texts."""
        return bool(bound) and all(
            name in values and (value.object, values[name][1] if value.object else value.text) == values[name]
            for name, value in bound.items()
        )

    def _label_in_long(
        self, container: int, before: int, loop: ast.comprehension, values: dict[str, tuple[int, str]]
    ) -> str:
        """Return the label of an object in a long container, by the last time that it was put there."""
        taken, _ = values.get(getattr(loop.target, "id", ""), (0, ""))
        if not taken:  # texts may be equal
            return ""
        record = self._past.record
        for number, key in islice(keys_back(record, FIELDS, container, before), _MOST_WRITES):
            if key and record.row(number).object == taken:
                label = record.label(key)
                part = self._past.values.field(container, label, before)
                is_still_there = part is not None and self._fits(self._items.bound(loop, label, part), values)
                return label if is_still_there else ""
        return ""
