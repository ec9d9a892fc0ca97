"""Every write of a variable, an attribute or an item in a recorded run, with the value before and after it."""

import ast
import re
from itertools import islice

import msgspec

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import DELETED, ProcessRecord, Row
from trio_debugmcp.runs.files.row_search import counts
from trio_debugmcp.runs.histories.histories import (
    HistoryPage,
    NoHistoryError,
    RowKind,
    RunHistory,
    history_count,
    history_rows,
    paged,
)
from trio_debugmcp.runs.histories.recorded_conditions import ValueLookup
from trio_debugmcp.runs.past.frame_moments import value_in
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS
from trio_debugmcp.runs.slicing.because_lines import BecauseLine, because_line
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of

_MOST_TEXT = 100

_WITH_VALUE = frozenset((rows.WRITE, rows.FIELD, rows.SEEN, rows.GAP, rows.SEEN_NAME, rows.RETURN, rows.RAISE))

_SIZE = frozenset((rows.SIZE,))

_MOST_LOOKED_AT = 50

_MOST_NAMES = 8


def variable_history(past: PastProcess, expression: str, page: HistoryPage) -> RunHistory:
    """Return every write of a variable, in any function; or of an attribute or item, on any object.

    Behind the name of a class (`Cart.total`) only objects of that class count.

    Raises:
        NoHistoryError: it is not a path, or was never written.
    """
    path = _path(expression)
    record = past.record
    modules = {code.globals for code in record.codes}
    kinds = _of_attribute(record, path, modules) if path.steps else _of_name(record, path.name, modules)
    notes = []
    if not path.steps and not next(history_rows(record, kinds, page.before), 0):
        kinds = _of_attribute(record, ValuePath("", (f".{path.name}",)), modules)
        notes = [f"no variable is called {path.name}: these are attributes, of any object"]
    if not next(history_rows(record, kinds, page.before), 0):
        when = f" before #{page.before}" if page.before else " in this run"
        raise NoHistoryError(f"`{expression}` was never written{when}. {_similar(record, path)}".strip())

    def lookup_at(number: int) -> ValueLookup:
        return _lookup(past, record.row(number))

    def line_of(number: int) -> BecauseLine:
        return _write_line(past, record.row(number), modules)

    if _has_changes(record, kinds, page.before):
        notes.append("what is in it was changed as well, which is not listed here: why(expression=…) leads to that")
    known = history_count(record, kinds, page.before)
    history = paged(page, history_rows(record, kinds, page.before), known, lookup_at, line_of)
    return msgspec.structs.replace(history, notes=[*history.notes, *notes])


def _has_changes(record: ProcessRecord, kinds: list[RowKind], before: int) -> bool:
    """Whether the content of an object changed that some of the first writes gave."""
    written = {record.row(number).object for number in islice(history_rows(record, kinds, before), _MOST_LOOKED_AT)}
    sizes = [record.back_of(_SIZE, number, record.last + 1) for number in written - {0}]
    return any(record.row(size).key == 1 for size in sizes if size)


def _path(expression: str) -> ValuePath:
    try:
        path = path_of(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        path = None
    if path is None or any(isinstance(step, ValuePath) for step in path.steps):
        raise NoHistoryError(
            f"`{expression}` is not a variable, an attribute, or an item by a constant, such as total, Cart.total or "
            "order['total']"
        )
    return path


def _of_name(record: ProcessRecord, name: str, modules: set[int]) -> list[RowKind]:
    """Return the writes of a name: in frames, and in the globals of modules."""

    def is_of_module(number: int) -> bool:
        return record.row(number).subject in modules

    field = record.key_of(f".{name}")
    return [
        (rows.WRITE, record.key_of(name), None),
        (rows.FIELD, field, is_of_module),
        (rows.GAP, field, is_of_module),
    ]


def _of_attribute(record: ProcessRecord, path: ValuePath, modules: set[int]) -> list[RowKind]:
    key, known = record.key_of(str(path.steps[-1])), dict.fromkeys(modules, False)
    wanted = path.name if path.name[:1].isupper() and len(path.steps) == 1 else None

    def fits(number: int) -> bool:
        subject = record.row(number).subject
        if subject not in known:
            known[subject] = wanted is None or class_of(record, subject) in (None, wanted)
        return known[subject]

    return [(rows.FIELD, key, fits), (rows.GAP, key, fits)]


def class_of(record: ProcessRecord, number: int) -> str | None:
    """Return the name of the class of an object, from the text that it had as a value; None: it is not known."""
    row = record.forth_of(_WITH_VALUE, number, 0, by_value=True)
    found = re.match(r"<?([\w.]+)", record.text(record.row(row))) if row else None
    return None if found is None else found[1].rpartition(".")[2]


def before_write(record: ProcessRecord, row: Row) -> Row | None:
    """Return the row with the value that was there before a write; None: it is not known."""
    kinds = (rows.WRITE, rows.SEEN_NAME) if row.kind == rows.WRITE else FIELDS
    number = max(record.back(kind, row.key, row.subject, row.number) for kind in kinds)
    return record.row(number) if number else None


def _lookup(past: PastProcess, row: Row) -> ValueLookup:
    record = past.record
    frame = row.subject if row.kind == rows.WRITE else record.row(row.owner).subject if row.owner else 0

    def lookup(path: ValuePath) -> str | None:
        if path.name in ("new", "old") and not path.steps:
            found = row if path.name == "new" else before_write(record, row)
            return None if found is None or found.text == DELETED else record.text(found)
        if record.label(row.key) in (path.name, f".{path.name}") and not path.steps:
            return record.text(row)
        value = value_in(past, frame, path, row.number) if frame else None
        return None if value is None else value.text

    return lookup


def _write_line(past: PastProcess, row: Row, modules: set[int]) -> BecauseLine:
    record = past.record
    old, new = before_write(record, row), _shown(record, row)
    change = new if old is None else f"{_shown(record, old)} -> {new}"
    label = record.label(row.key)
    if label.startswith("."):
        label = label[1:] if row.subject in modules else f"{class_of(record, row.subject) or ''}{label}"
    notes = []
    if row.kind == rows.GAP:
        notes = ["found changed here, by something that was not recorded"]
    elif row.owner and record.row(row.owner).kind == rows.START:
        notes = ["an argument"]
    line = because_line(past, row.owner or row.number)
    return msgspec.structs.replace(line, values=[f"{label}: {change}"], notes=notes)


def _shown(record: ProcessRecord, row: Row) -> str:
    text = "deleted" if row.text == DELETED else record.text(row) or "?"
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"


def _similar(record: ProcessRecord, path: ValuePath) -> str:
    """Return which names were written that look alike."""
    wanted = str(path.steps[-1] if path.steps else path.name).strip(".[]'").lower()
    labels = {record.label(key) for kind in (rows.WRITE, rows.FIELD) for key in counts(record, kind)}
    names = {label.strip(".") for label in labels}
    near = sorted(name for name in names if name and (name.lower()[:3] == wanted[:3] or wanted in name.lower()))
    return f"Written were: {', '.join(near[:_MOST_NAMES])}." if near else ""
