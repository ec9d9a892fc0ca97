"""Names of one object: of what is asked about, a line has changed it by another name.

    #26 extra.append(row)       [1]=12; extra and base are one object

It is said of objects that the question is about, and not of a parameter and its argument.
"""

import ast
from collections.abc import Iterable, Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import says_nothing, type_name
from trio_debugmcp.runs.slicing.recorded_contents import container_kind, parts_of
from trio_debugmcp.runs.slicing.slicing_nodes import SliceNode
from trio_debugmcp.runs.source.read_paths import ValuePath, reads_of

_MOST_HELD = 200
"""Places in which an object was found that are looked at: the first ones."""

_MOST_SAID = 2

_PLACES = frozenset({rows.WRITE, rows.FIELD, rows.SEEN})


def asked_objects(past: PastProcess, nodes: Iterable[SliceNode]) -> frozenset[int]:
    """Return the objects that a question is about."""
    found = set[int]()
    for node in nodes:
        execution = past.executions.at(node.row)
        reads = reads_of(*node.focus) if node.focus else execution.statement.reads if execution is not None else []
        paths = [*(read.path for read in reads if not read.is_callee), *map(ValuePath, node.names)]
        for path in [*paths, *(path.holder for path in paths if path.steps and str(path.steps[-1])[0] == "[")]:
            value = past.values.value(execution, path, past.executions.ended(node.row)) if execution else None
            if value is not None and not says_nothing(value.text):
                found.add(value.object)
    return frozenset(found - {0})


def alias_note(past: PastProcess, asked: frozenset[int], execution: StatementExecution) -> str:
    """Return by which other names an object is known that a line has changed; empty: it has none, or is not asked."""
    for path in dict.fromkeys(_changed(execution)):
        value = past.values.value(execution, path)
        if value is None or value.object not in asked:
            continue
        others = list(dict.fromkeys(islice(_others(past, execution, path, value.object), _MOST_HELD)))
        if others:
            return f"{_listed([str(path), *others])} are one object"
    return ""


def items_note(past: PastProcess, execution: StatementExecution) -> str:
    """Return which items of a list that a line has made are one list, dict or set: `[[0] * 3] * 3`; empty: none."""
    for effect in past.executions.effects(execution.row):
        if not effect.object or container_kind(past.record.text(effect)) != "list":
            continue
        if past.values.birth(effect.object, past.record.last + 1) != execution.row:
            continue
        labels: dict[int, list[str]] = {}
        for label, part in parts_of(past, effect.object, past.executions.ended(execution.row)).items():
            if part.object and container_kind(part.text) in ("list", "dict", "set"):
                labels.setdefault(part.object, []).append(label)
        for same in labels.values():
            if len(same) > 1:
                name = past.record.label(effect.key).removeprefix(".")
                return f"{_listed([name + label for label in same])} are one object"
    return ""


def _listed(names: list[str]) -> str:
    left = len(names) - _MOST_SAID - 1
    said = [*names[: _MOST_SAID + 1], *([f"{left} more"] if left > 0 else [])]
    return f"{', '.join(said[:-1])} and {said[-1]}"


def _changed(execution: StatementExecution) -> Iterator[ValuePath]:
    """Yield the paths of the objects that a statement changes by a method, an item, or in place."""
    yield from (path for path, _ in execution.statement.mutates)
    yield from (path.holder for path in execution.statement.stores if str(path.steps[-1])[0] == "[")
    if isinstance(execution.statement.node, ast.AugAssign):
        yield from execution.statement.carried


def _others(past: PastProcess, execution: StatementExecution, path: ValuePath, target: int) -> Iterator[str]:
    """Yield the names in the same function or its module, and attributes of other objects, with the same object."""
    record, module = past.record, past.record.code(execution.code).globals
    holder = past.values.value(execution, path.holder) if path.steps else None
    for number in islice(record.rows.next_like(1, target, record.first - 1), _MOST_HELD):
        row = record.row(number)
        if number >= execution.row or row.kind not in _PLACES or not row.key:
            continue
        label = record.label(row.key)
        if row.kind == rows.WRITE and row.subject == execution.frame and label != str(path):
            is_still = _is(past, execution, ValuePath(label), target)
        elif row.kind != rows.WRITE and row.subject == module:
            label = label[1:]
            is_still = (
                label != str(path)
                and execution.scope.home(label) in (None, execution.scope)
                and _is(past, execution, ValuePath(label), target)
            )
        elif row.kind != rows.WRITE and label[:1] == "[" and holder is not None and row.subject == holder.object:
            label = f"{path.holder}{label}"
            is_still = label != str(path) and _is_item(past, execution, row, target)
        elif row.kind != rows.WRITE and label[:1] == "." and (holder is None or row.subject != holder.object):
            is_still = _is_item(past, execution, row, target)
            label = f"{label} of {_owner(past, row.subject)}"
        else:
            continue
        if is_still:
            yield label


def _is(past: PastProcess, execution: StatementExecution, path: ValuePath, target: int) -> bool:
    value = past.values.value(execution, path)
    return value is not None and value.object == target


def _is_item(past: PastProcess, execution: StatementExecution, row: Row, target: int) -> bool:
    field = past.values.field(row.subject, past.record.label(row.key), execution.row)
    return field is not None and field.object == target


def _owner(past: PastProcess, number: int) -> str:
    """Return the type of an object."""
    known = past.record.forth_of(rows.WITH_VALUE, number, 0, by_value=True)
    name = type_name(past.record.text(past.record.row(known))) if known else ""
    return f"another <{name}>" if name else "another object"
