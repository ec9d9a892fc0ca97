"""What a line that adds up has added: the rounds that led to the value that an answer shows.

    rounds_of(past, execution)          # "7 writes from 0: +3 (#6), +4 (#10), -5 (#14), +6 (#18), …, +8 (#26), +9"

A slice shows each line of the source once, by its last round; the wrong one may be another. The line need not have been
come to in each round of its loop, hence its writes are what is counted.
"""

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.recorded_contents import Number, literal, object_number

_MOST_ROUNDS = 2_000
"""That are looked at: the last ones."""

_MOST_WHOLE = 8
"""Rounds that are all shown."""

_SHOWN_AT_ENDS, _SHOWN_BETWEEN = 2, 2
"""Rounds that are shown: the first and the last ones, and of the others those that changed most."""

_MOST_TEXT = 16

_READERS = frozenset({"get", "setdefault", "pop"})


class _Round(NamedTuple):
    """A round: its row, what it added, as text, and how much that is."""

    row: int
    added: str
    size: Number


def rounds_of(past: PastProcess, execution: StatementExecution) -> str:
    """Return what the rounds of a line that adds up have added, up to this one; empty: it does not, or once only."""
    if not _adds_up(execution):
        return ""
    labels = _labels(past, execution)
    effects = [effect for effect in past.executions.effects(execution.row) if past.record.label(effect.key) in labels]
    if len({effect.key for effect in effects if past.record.label(effect.key)[:1] == "["}) > 1:
        return ""  # as of an array: which of its items is meant is not known here
    for effect in effects:
        if not effect.object or object_number(past.record.text(effect)) is not None:
            writes = list(_writes(past, execution, effect))
            if len(writes) > 2 or (len(writes) == 2 and _is_own(past, execution, writes[1])):
                return _summary(past, execution, writes)
    return ""


def _adds_up(execution: StatementExecution) -> bool:
    statement = execution.statement
    if len(statement.nodes) > 1 or not isinstance(statement.node, ast.Assign | ast.AugAssign):
        return False
    holders = {path.holder for path in statement.stores}
    is_read = any(
        read.path in holders and getattr(read.target_of.func, "attr", "") in _READERS
        for read in statement.reads
        if read.target_of is not None
    )
    return bool(statement.carried) or is_read


def _labels(past: PastProcess, execution: StatementExecution) -> set[str]:
    """Return the labels of what a line adds to: a name, an attribute, whichever item."""
    statement = execution.statement
    labels = {past.record.label(effect.key) for effect in past.executions.effects(execution.row)}
    attributes = {str(path.steps[-1]) for path in statement.stores}
    is_module = {f".{name}" for name in statement.names}
    return {label for label in labels if label[:1] == "[" or label in statement.names | attributes | is_module}


def _is_own(past: PastProcess, execution: StatementExecution, row: Row) -> bool:
    writer = past.executions.at(row.owner) if row.owner else None
    return writer is not None and writer.statement is execution.statement


def _writes(past: PastProcess, execution: StatementExecution, effect: Row) -> Iterator[Row]:
    """Yield the writes of one place by a line, the last first, and the value that the first of them found."""
    row, shown = effect, 0
    for _ in range(_MOST_ROUNDS):
        if not row.owner or row.owner != shown:  # a line may be seen to have written it more than once
            yield row
        shown = row.owner
        if not _is_own(past, execution, row):
            return
        # The rare ones first: that there is none is found once, and known from then on.
        kinds = (rows.WRITE,) if row.kind == rows.WRITE else (rows.GAP, rows.SEEN, rows.FIELD)
        number = past.record.back_any(kinds, (row.key,), row.subject, row.number)
        if not number:
            return
        row = past.record.row(number)


def _summary(past: PastProcess, execution: StatementExecution, writes: list[Row]) -> str:
    begun = "" if _is_own(past, execution, writes[-1]) else past.record.text(writes.pop())
    texts = [begun, *(past.record.text(row) for row in reversed(writes))]
    found = [
        _round(row.owner, before, after) for row, before, after in zip(reversed(writes), texts, texts[1:], strict=False)
    ]
    start = f" from {masked_beginning(begun, _MOST_TEXT)}" if begun else ""
    least = "the last " if len(writes) >= _MOST_ROUNDS - 1 else ""
    if len({one.added for one in found}) == 1:
        return f"{least}{len(found):,} writes{start}, each {found[0].added}"
    shown = _chosen(found)
    said, last = list[str](), -1
    for place in shown:
        if place != last + 1:
            said.append("…")
        last = place
        at = "" if place == len(found) - 1 else f" (#{found[place].row})"
        said.append(f"{found[place].added}{at}")
    left = len(found) - len(shown)
    omitted = f"; {left:,} left out" if left else ""
    return f"{least}{len(found):,} writes{start}: {', '.join(said)}{omitted}"


def _chosen(found: list[_Round]) -> list[int]:
    """Return the places of the rounds that are shown."""
    places = list(range(len(found)))
    if len(found) <= _MOST_WHOLE:
        return places
    middle = places[_SHOWN_AT_ENDS:-_SHOWN_AT_ENDS]
    most = sorted(middle, key=lambda place: -found[place].size)[:_SHOWN_BETWEEN]
    return sorted({*places[:_SHOWN_AT_ENDS], *most, *places[-_SHOWN_AT_ENDS:]})


def _round(row: int, before: str, after: str) -> _Round:
    one, other = literal(before) if before else None, literal(after)
    added = _difference(one, other)
    if added is not None:
        said = f"{added:+,.12g}" if isinstance(added, float) else f"{'+' if added >= 0 else ''}{added}"
        return _Round(row, said, added if added >= 0 else -added)
    if isinstance(one, str) and isinstance(other, str) and other.startswith(one):
        return _Round(row, f"+{masked_beginning(repr(other[len(one) :]), _MOST_TEXT)}", len(other) - len(one))
    return _Round(row, f"={masked_beginning(after, _MOST_TEXT)}", 0)


def _difference(one: Any, other: Any) -> Number | None:
    """Return by how much two numbers differ; None: they are other values, or of kinds that are not added."""
    if any(isinstance(number, bool) or not isinstance(number, Number) for number in (one, other)):
        return None
    try:
        added: Number = other - one
    except (TypeError, ArithmeticError):
        return None
    return added if added == added else None
