"""The places that a statement reads: items of containers and attributes of objects, also those that are not there.

    AskedPlaces(past).of(execution, reads)      # of `balances.get(name)`: the balances, and `['bob']`

An item that was read under a key which no path leads to is known by the object that came from there.
"""

import ast
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.row_search import keys_of
from trio_debugmcp.runs.past.asked_keys import label_of_keys
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS, RecordedValue
from trio_debugmcp.runs.source.read_paths import PathRead, path_of

_ASKING = ("get", "pop", "count", "index")

_MOST_KEYS = 40
"""Of a container of which an item was read under a key that is not known."""


class AskedPlace(NamedTuple):
    """A place that a statement reads.

    Attributes:
        holder: the container or object that it is in.
        label: of the place in that: `['bob']`, `.available`.
        value: what is there; None: nothing.
    """

    holder: RecordedValue
    label: str
    value: RecordedValue | None

    @property
    def key(self) -> str:
        """The key, as a value is shown; empty: it is an attribute, or a small number, which much else is, too."""
        key = self.label[1:-1] if self.label[:1] == "[" else ""
        return "" if key.lstrip("-").isdigit() and len(key) < 2 else key

    @property
    def since(self) -> int:
        """The row at which the place was written; 0: it was not, but was there with what it is in, or is not there."""
        return self.value.row if self.value is not None and self.value.kind == rows.FIELD else 0


class AskedPlaces:
    """The places that statements of one process read."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of(self, execution: StatementExecution, reads: Sequence[PathRead]) -> Iterator[AskedPlace]:
        """Yield the places that some reads of a statement go to, and that of an item under a key which it computes."""
        values, before = self._past.values, self._past.executions.settled(execution.row)
        for read in reads:
            if read.path in execution.statement.carried:
                continue
            holder, label = None, None
            if read.asked_for and (read.target_of is None or _is_asking(read.target_of)):
                holder, label = values.value(execution, read.path), self._label(execution, read.asked_for[0])
            elif read.path.steps and not read.is_callee:
                holder = values.value(execution, read.path.holder)
                label = values.label_of(execution, read.path.steps[-1])
            if holder is not None and holder.object and label:
                yield AskedPlace(holder, label, values.field(holder.object, label, before))
        place = self._computed(execution)
        if place is not None:
            yield place

    def _label(self, execution: StatementExecution, key: ast.expr) -> str:
        if isinstance(key, ast.Constant):
            return f"[{key.value!r}]" if isinstance(key.value, str | int) else ""
        path = path_of(key)
        value = self._past.values.value(execution, path) if path is not None else None
        is_known = value is not None and not value.object
        return f"[{value.text}]" if is_known and value is not None else label_of_keys(self._past, execution, key)

    def _computed(self, execution: StatementExecution) -> AskedPlace | None:
        """Return the place of an item that a statement gets under a key that it computes: `return days[day(x)]`."""
        node = getattr(execution.statement.node, "value", None)
        path = path_of(node.value) if isinstance(node, ast.Subscript) and path_of(node) is None else None
        holder = self._past.values.value(execution, path) if path is not None else None
        ending = self._past.executions.ending(execution.row)
        made = [*self._past.executions.effects(execution.row)[-1:], *([ending] if ending is not None else [])]
        if holder is None or not holder.object or not made or not made[-1].object:
            return None
        for key in islice(keys_of(self._record, FIELDS, holder.object, execution.row), _MOST_KEYS):
            label = self._record.label(key)
            value = self._past.values.field(holder.object, label, execution.row) if key else None
            if value is not None and value.object == made[-1].object:
                return AskedPlace(holder, label, value)
        return None


def _is_asking(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _ASKING
