"""Items that the condition of a comprehension has left out, with the values that decided it.

    #530 low = [item for item in items if item.stock < item.least]     leaves out 1 of 3: <Item sku='C3'> (item.stock=8)

A record has no row of a round that gave nothing, so the condition is judged here, over what was recorded of each item.
What was made says whether that is right: where it has not as many items, nothing is said.
"""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from trio_debugmcp.masking.mask import masked_beginning, masked_value
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.read_ahead import is_same_place
from trio_debugmcp.runs.past.recorded_values import RecordedValue, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.folded_conditions import folded_holds, is_at_bound
from trio_debugmcp.runs.slicing.origins.combined_items import computed_by
from trio_debugmcp.runs.slicing.origins.item_origins import ItemOrigins
from trio_debugmcp.runs.slicing.recorded_contents import container_kind, literal, parts_of
from trio_debugmcp.runs.slicing.short_names import short_name
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import WantedPieces, is_in
from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath, reads_of

_MOST_ITEMS = 60
"""Of a container that a comprehension goes through."""

_MOST_LEFT_OUT = 3
"""Items that are named whichever they are; of more only those that are missing, or are just at the bound."""

_MOST_SAID, _MOST_VALUES, _MOST_TEXT, _MOST_NAME = 2, 3, 24, 40

_COUNTED = re.compile(r"(?:list|dict|set) of ([\d,]+)")

_PART = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|.""", re.DOTALL)
"""A text, or any other sign."""

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class _LeftOut(NamedTuple):
    """An item that was left out: what it is, what the condition read, whether it is missing, or just at a bound."""

    name: str
    values: dict[str, RecordedValue]
    is_missing: bool
    is_at_bound: bool


class FilteredItemEdges:
    """The edges to items that comprehensions of one process have left out."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._items = ItemOrigins(past)

    def of_statement(self, execution: StatementExecution, wanted: WantedPieces) -> Iterator[SliceEdge]:
        """Yield what a statement has left out, said beside it, and what gave missing items the values that decided."""
        inner = [part for head in execution.statement.heads for part in ast.walk(head)]
        filtering = [part for part in inner if isinstance(part, _Comprehension) and part.generators[0].ifs]
        if len(filtering) != 1 or len(filtering[0].generators) != 1 or filtering[0].generators[0].is_async:
            return
        gone, count = self._left_out(execution, filtering[0], wanted)
        chosen = [one for one in gone if one.is_missing] or [one for one in gone if one.is_at_bound]
        chosen.sort(key=lambda one: not one.is_at_bound)
        if not gone or not (chosen or len(gone) <= _MOST_LEFT_OUT):
            return
        said = [self._said(one) for one in (chosen or gone)[:_MOST_SAID]]
        left = len(gone) - len(said)
        more = [f"{left} more"] if left else []
        note = f"leaves out {len(gone)} of {count}: {', '.join([*said, *more])}"
        yield SliceEdge(0.0, SliceNode(execution.row), note)
        for value in [value for one in gone if one.is_missing for value in one.values.values()][:_MOST_VALUES]:
            origin = computed_by(self._past, value)
            if origin is not None and origin.row < execution.row:
                yield SliceEdge(cost.MISSING, origin)

    def _said(self, one: _LeftOut) -> str:
        values = [
            f"{path}={masked_beginning(masked_value(path, value.text), _MOST_TEXT)}"
            for path, value in one.values.items()
        ]
        return f"{one.name} ({' '.join(values[:_MOST_VALUES])})" if values else one.name

    def _left_out(
        self, execution: StatementExecution, node: _Comprehension, wanted: WantedPieces
    ) -> tuple[list[_LeftOut], int]:
        """Return the items that a comprehension has left out, and through how many it went; none: it is not known."""
        generator = node.generators[0]
        iterated, before = self._items.iterated(execution, generator.iter), self._past.executions.settled(execution.row)
        given = self._given(execution, node)
        if iterated is None or not iterated.object or given is None:
            return [], 0
        before = max(before, iterated.row + 1)
        size = self._record.back_of(frozenset({rows.SIZE}), iterated.object, before)
        parts = parts_of(self._past, iterated.object, before) if size else {}
        is_whole = bool(size) and len(parts) == self._record.row(size).text <= _MOST_ITEMS
        if not is_whole or (container_kind(iterated.text) == "dict" and not _gives_values(generator.iter)):
            return [], 0
        gone: list[_LeftOut] = []
        condition = ast.BoolOp(ast.And(), list(generator.ifs)) if len(generator.ifs) > 1 else generator.ifs[0]
        reads = [read for read in reads_of(condition) if not read.is_callee]
        for label, part in parts.items():
            bound = self._items.bound(generator, label, part)
            values = self._values(execution, reads, bound, before)
            texts = {path: value.text for path, value in values.items()}
            holds = folded_holds(condition, texts)
            if holds is None:
                return [], 0
            if not holds:
                gone.append(self._one(condition, part, values, wanted, before))
        return (gone, len(parts)) if len(parts) - len(gone) == given else ([], 0)

    def _one(
        self,
        condition: ast.expr,
        part: RecordedValue,
        values: dict[str, RecordedValue],
        wanted: WantedPieces,
        before: int,
    ) -> _LeftOut:
        name = short_name(self._past, part, before)
        texts = [part.text, name, *(value.text for value in values.values())]
        if part.object:
            texts += [field.text for field in parts_of(self._past, part.object, before).values()]
        is_missing = any(is_in(piece, text) for piece in wanted.missing for text in texts)
        bounds = {path: value.text for path, value in values.items()}
        return _LeftOut(masked_beginning(name, _MOST_NAME), values, is_missing, is_at_bound(condition, bounds))

    def _values(
        self, execution: StatementExecution, reads: list[PathRead], bound: dict[str, RecordedValue], before: int
    ) -> dict[str, RecordedValue]:
        """Return what a condition has read, by paths: of an item that of a round; what is computed is not known."""
        values = {}
        for read in reads:
            path = read.path
            known = bound.get(path.name)
            value = self._along(known, path, before) if known is not None else self._past.values.value(execution, path)
            if value is not None:
                values[str(path)] = value
        return values

    def _along(self, item: RecordedValue, path: ValuePath, before: int) -> RecordedValue | None:
        value: RecordedValue | None = item
        for step in path.steps:
            is_computed = (
                value is not None
                and isinstance(step, str)
                and step[:1] == "."
                and self._past.scopes.has_property(type_name(value.text), step[1:])
            )
            known = None if is_computed else self._items.along(value, (step,), before)
            value = known if known is not None or value is None else self._in_text(value, step, before)
        return value

    def _in_text(self, holder: RecordedValue, step: "str | ValuePath", before: int) -> RecordedValue | None:
        """Return an item of a dictionary or list that no line has named so far, by the text of that."""
        content = literal(holder.text) if self._past.values.text_at(holder, before) == holder.text else None
        if not isinstance(step, str) or step[:1] != "[" or not isinstance(content, dict | list):
            return None
        try:
            item = content[literal(step[1:-1])]
        except (LookupError, TypeError):
            return None
        is_atom = item is None or isinstance(item, str | int | float)
        return holder._replace(text=repr(item), object=0, kind=rows.SEEN) if is_atom else None

    def _given(self, execution: StatementExecution, node: _Comprehension) -> int | None:
        """Return how many items a comprehension has given; None: it is not known."""
        if isinstance(node, ast.GeneratorExp):
            return self._given_by_rounds(execution, node)
        statement = execution.statement.node
        if getattr(statement, "value", None) is not node:
            return None
        ending = self._past.executions.ending(execution.row)
        made = [*self._past.executions.effects(execution.row)[-1:], *([ending] if ending is not None else [])]
        if not made or not made[-1].object:
            return None
        return _length(self._record.text(made[-1]))

    def _given_by_rounds(self, execution: StatementExecution, node: ast.GeneratorExp) -> int | None:
        """Return how many items a generator expression has given; None: it was not come to its end."""
        given, is_over = 0, False
        for start in self._past.executions.calls(execution.row):
            scope = self._past.scopes.of_code(start.key)
            if scope is not None and is_same_place(scope.node, node):
                ending = self._past.executions.outcome(start.number)
                if ending is None or ending.kind == rows.UNWIND or is_over:
                    return None
                given += ending.kind == rows.YIELD
                is_over = ending.kind == rows.RETURN
        return given if is_over else None


def _length(text: str) -> int | None:
    """Return how many items the text of a list, set or dictionary says that it has; None: it does not show them all."""
    counted = _COUNTED.fullmatch(text)
    if counted is not None:
        return int(counted[1].replace(",", ""))
    if text in ("[]", "{}", "set()"):
        return 0
    if text[:1] not in ("[", "{") or "…" in text:
        return None
    deep, commas = 0, 0
    for part in _PART.finditer(text):
        deep += (part[0] in "([{<") - (part[0] in ")]}>")
        commas += part[0] == "," and deep == 1
    return commas + 1 if deep == 0 else None


def _gives_values(node: ast.expr) -> bool:
    """Whether an iteration goes through the values of a dictionary, or its pairs."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("values", "items")
