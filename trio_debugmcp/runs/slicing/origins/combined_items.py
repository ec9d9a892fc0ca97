"""The items that a statement makes one value of, by `sum`, `min`, `max`, `join` and the like, if they are few.

    combined_items(past, execution)     # of `sum(line.cents for line in lines)`: 870 by #512, -374 by #662
    combined_note(past, execution)      # "of 2 items: 870 (#512), -374 (#662)"

Each has the line that computed it, from which on it was only passed on. Any may be the wrong one, not the last alone.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, argument, call_of, called
from trio_debugmcp.runs.past.read_ahead import is_same_place
from trio_debugmcp.runs.past.recorded_values import RecordedValue
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.origins.item_origins import ItemOrigins
from trio_debugmcp.runs.slicing.recorded_contents import container_kind, parts_of
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import WantedPieces
from trio_debugmcp.runs.source.read_paths import iterated_path, path_of

_COMBINING = ("sum", "fsum", "prod", "min", "max", "join", "mean", "median")

_MOST_ITEMS = 8
"""That are all looked at: of more the last line alone is followed."""

_MOST_PASSED_ON = 8
"""Calls and variables through which a value was passed on as it is."""

_MOST_TEXT = 16


class CombinedItem(NamedTuple):
    """One of the items: its text, and the node that computed it; None: that is not recorded."""

    text: str
    origin: SliceNode | None


class CombinedItemEdges:
    """The edges to what computed the items that statements of one process make one value of."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past

    def of_statement(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the lines that computed the items, each line of the source once, for its last item."""
        lines: list[object] = []
        for item in reversed(combined_items(self._past, execution)):
            made = self._past.executions.at(item.origin.row) if item.origin is not None else None
            if item.origin is not None and made is not None and made.statement not in lines:
                lines.append(made.statement)
                yield SliceEdge(cost.COMBINED, item.origin)


def combined_note(past: PastProcess, execution: StatementExecution) -> str:
    """Return of which items a statement has made a value, with the row that computed each; empty: of none, or many."""
    said = []
    for item in combined_items(past, execution):
        at = f" (#{item.origin.row})" if item.origin is not None else ""
        said.append(f"{masked_beginning(item.text, _MOST_TEXT)}{at}")
    return f"of {len(said)} items: {', '.join(said)}" if said else ""


def combined_items(past: PastProcess, execution: StatementExecution) -> list[CombinedItem]:
    """Return the items that a statement has made one value of; empty: of less than two, of many, or it is not known."""
    calls = [call for call in execution.statement.calls if called(call) in _COMBINING]
    if len(calls) != 1 or len(calls[0].args) != 1 or any(keyword.arg == "key" for keyword in calls[0].keywords):
        return []
    given = calls[0].args[0]
    if isinstance(given, ast.GeneratorExp) and not _gives_all(given):
        found = _of_rounds(past, execution, given)
    else:
        iterable = given.generators[0].iter if isinstance(given, ast.GeneratorExp) else given
        found = _of_container(past, execution, iterable)
    return found if 2 <= len(found) <= _MOST_ITEMS else []


def _of_rounds(past: PastProcess, execution: StatementExecution, expression: ast.GeneratorExp) -> list[CombinedItem]:
    """Return what the rounds of a generator expression have given."""
    given = []
    for start in past.executions.calls(execution.row):
        scope = past.scopes.of_code(start.key)
        if scope is None or not is_same_place(scope.node, expression):
            continue
        ending = past.executions.outcome(start.number)
        if ending is not None and ending.kind == rows.YIELD:
            given.append(ending)
    return [_of_round(past, expression.elt, ending) for ending in given] if len(given) <= _MOST_ITEMS else []


def _of_round(past: PastProcess, element: ast.expr, ending: Row) -> CombinedItem:
    text, execution = past.record.text(ending), past.executions.at(ending.owner)
    path = path_of(element)
    value = past.values.value(execution, path) if execution is not None and path is not None else None
    if value is not None and value.text == text:
        return CombinedItem(text, computed_by(past, value))
    for start in past.executions.calls(ending.owner):
        result = past.executions.outcome(start.number)
        if (
            execution is not None
            and call_of(past, execution, start) is element
            and result is not None
            and result.kind == rows.RETURN
        ):
            return CombinedItem(text, SliceNode(result.owner) if past.executions.at(result.owner) else None)
    return CombinedItem(text, SliceNode(ending.owner))


def _of_container(past: PastProcess, execution: StatementExecution, given: ast.expr) -> list[CombinedItem]:
    """Return the items of a container that a path leads to."""
    path = iterated_path(given)
    value = past.values.value(execution, path) if path is not None else None
    kind = container_kind(value.text) if value is not None else ""
    if value is None or kind not in ("list", "dict") or (kind == "dict") != _is_values(given):
        return []
    before = past.executions.settled(execution.row)
    size = past.record.back_of(frozenset({rows.SIZE}), value.object, before)
    if not size or past.record.row(size).text > _MOST_ITEMS:
        return []
    parts, origins = parts_of(past, value.object, before), ItemOrigins(past)
    if len(parts) != past.record.row(size).text:
        return []
    return [
        CombinedItem(part.text, origins.of_item(value.object, WantedPieces(path=(label,)), before))
        for label, part in parts.items()
    ]


def _gives_all(node: ast.GeneratorExp) -> bool:
    """Whether a generator expression gives the items of what it goes through as they are: `x for x in numbers`."""
    loop, element = node.generators[0], node.elt
    is_same = isinstance(loop.target, ast.Name) and isinstance(element, ast.Name) and element.id == loop.target.id
    return is_same and len(node.generators) == 1 and not loop.ifs


def _is_values(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called(node) == "values"


def computed_by(past: PastProcess, value: RecordedValue) -> SliceNode | None:
    """Return what computed a value that variables and calls have only passed on since; None: it is not recorded."""
    node: SliceNode | None = None
    for _ in range(_MOST_PASSED_ON):
        if value.kind not in (rows.WRITE, rows.FIELD) or not value.owner:
            return node
        name, execution = (
            past.record.label(past.record.row(value.row).key).removeprefix("."),
            past.executions.at(value.owner),
        )
        start = past.record.row(value.owner)
        if execution is None and start.kind == rows.LINE:  # generated code: what it was called with
            start = past.record.row(past.record.frame(start.subject).start)
        if execution is None:
            caller = past.executions.at(start.owner) if start.kind == rows.START and start.owner else None
            given = argument(past, caller, start, name) if caller is not None else None
            if caller is None or not given or len(given) != 1:
                return node
            node = SliceNode(caller.row, focus=(given[0],), aim="argument")
            path, at = path_of(given[0]), caller
        else:
            node = SliceNode(execution.row)
            path, at = execution.statement.copied, execution
        before = past.values.value(at, path) if path is not None else None
        if before is None or (before.object, before.text) != (value.object, value.text):
            return node
        value = before
    return node
