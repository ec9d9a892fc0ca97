"""Every write of a variable, an attribute or an item in a recorded run, and of what is in it: before and after."""

import ast
from collections.abc import Iterator
from heapq import merge
from itertools import islice

import msgspec

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import DELETED, ProcessRecord, Row
from trio_debugmcp.runs.files.row_search import each_about
from trio_debugmcp.runs.histories.content_histories import HeldObjects, content_rows, looked_into, objects_of
from trio_debugmcp.runs.histories.histories import (
    HistoryPage,
    NoHistoryError,
    RowKind,
    RunHistory,
    history_count,
    history_rows,
    paged,
    value_text,
)
from trio_debugmcp.runs.histories.object_marks import mark_of
from trio_debugmcp.runs.past.frame_moments import value_in
from trio_debugmcp.runs.past.past_process import PastProcess, getter_of
from trio_debugmcp.runs.past.recorded_conditions import ValueLookup
from trio_debugmcp.runs.past.recorded_values import FIELDS
from trio_debugmcp.runs.past.written_names import written_instead
from trio_debugmcp.runs.shown_moments import BecauseLine
from trio_debugmcp.runs.slicing.shown.because_lines import because_line
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of

_MOST_TEXT = 100

_OF_OBJECTS = (rows.FIELD, rows.GAP, rows.SIZE)

_ONLY_LENGTH = "of more than 60 items only the length is watched, and those items that a line names or changes itself"

_FOUND = "found changed here, by something that was not recorded"

_MOST_COMPARED = 50
"""Rows, the first ones, of which it is looked whether they are about one object."""

_MOST_LOOKED = 1_000
"""Rows about attributes of a variable's name, looked at for one that is not a module's."""


def variable_history(past: PastProcess, expression: str, page: HistoryPage) -> RunHistory:
    """Return every write of a variable, an attribute or an item, and every change of what is in it.

    A variable is one in any function or module; an attribute or item is that of the objects that the path before it
    has had. Behind the name of a class (`Cart.total`) these are all objects of that class.

    Raises:
        NoHistoryError: it is not a path, or was never written.
    """
    path = _path(expression)
    record = past.record
    modules = {code.globals for code in record.codes}
    kinds, notes = _of_attribute(past, path, modules) if path.steps else (_of_name(record, path.name, modules), [])
    held = objects_of(past, path)
    inside = looked_into(record, held.objects)
    if not path.steps and not held.objects and not next(history_rows(record, kinds, page.before), 0):
        kinds, notes = _of_attribute(past, ValuePath("", (f".{path.name}",)), modules)
        notes = [f"no variable is called {path.name}: these are attributes, of any object"]
    elif not path.steps and (owner := _other_owner(past, path.name, modules)):
        notes = [*notes, f"only variables: for attributes of that name pass {owner}.{path.name}"]
    if held.is_cut or len(inside) < len(held.objects):
        notes = [*notes, f"what is in it was looked for in {len(inside)} of its values; there are more"]
    if any(past.values.is_big(number, record.last + 1) for number in inside):
        notes = [*notes, _ONLY_LENGTH]

    def found() -> Iterator[int]:
        return _merged(history_rows(record, kinds, page.before), content_rows(record, inside, page.before), page)

    instead = _of_getter(past, path)
    notes = [*notes, instead] if instead else notes
    if not next(found(), 0):
        when = f" before #{page.before}" if page.before else " in this run"
        never = f"`{expression}` was never written by recorded code{when}. {written_instead(record, path)}"
        raise NoHistoryError(f"{instead}." if instead else never)
    contents = frozenset(inside)
    is_of_many = _is_of_many(record, found(), modules)

    def line_of(number: int) -> BecauseLine:
        row = record.row(number)
        is_of_object = row.kind in _OF_OBJECTS and row.subject not in modules
        is_content = is_of_object and row.subject in contents
        line = _content_line(past, row, expression.strip()) if is_content else _write_line(past, row, modules)
        return _marked(past, line, row) if is_of_many and is_of_object else line

    known = None if inside else history_count(record, kinds, page.before)
    history = paged(page, found(), known, lambda number: _lookup(past, record.row(number)), line_of)
    return msgspec.structs.replace(history, notes=[*history.notes, *notes])


def _is_of_many(record: ProcessRecord, found: Iterator[int], modules: set[int]) -> bool:
    """Whether rows, as far as it is looked, are about several objects."""
    first = [record.row(number) for number in islice(found, _MOST_COMPARED)]
    return len({row.subject for row in first if row.kind in _OF_OBJECTS} - modules) > 1


def _marked(past: PastProcess, line: BecauseLine, row: Row) -> BecauseLine:
    """Return a line that says which object it is about, as far as that is known."""
    mark = mark_of(past, row.subject, past.record.label(row.key))
    return msgspec.structs.replace(line, notes=[*line.notes, mark]) if mark else line


def _of_getter(past: PastProcess, path: ValuePath) -> str:
    """Return where the values of a property are; empty: it is another attribute."""
    step = str(path.steps[-1]) if path.steps else ""
    getter = getter_of(past, step[1:]) if step[:1] == "." else None
    return f"{path} is a property: history_get(function='{getter}') has what it returned" if getter else ""


def _merged(writes: Iterator[int], changes: Iterator[int], page: HistoryPage) -> Iterator[int]:
    """Yield writes and changes in the order of time, or with `before` from the last on; each once."""
    last = 0
    for number in merge(writes, changes, reverse=bool(page.before)):
        if number != last:
            yield number
        last = number


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
    field, of_modules = record.key_of(f".{name}"), frozenset(modules)
    return [
        RowKind(rows.WRITE, record.key_of(name)),
        RowKind(rows.FIELD, field, of_modules),
        RowKind(rows.GAP, field, of_modules),
    ]


def _of_attribute(past: PastProcess, path: ValuePath, modules: set[int]) -> tuple[list[RowKind], list[str]]:
    """Return the writes of the last attribute or item of a path, and what is to be said of these."""
    record, key = past.record, past.record.key_of(str(path.steps[-1]))
    wanted = path.name if path.name[:1].isupper() and len(path.steps) == 1 else None
    holders = HeldObjects(frozenset()) if wanted or not path.name else objects_of(past, path.holder)
    is_any = not wanted and (holders.is_cut or not holders.objects)
    known = dict.fromkeys(modules, False)

    def is_of_class(number: int, subject: int) -> bool:
        if subject not in known:
            known[subject] = wanted is None or past.classes.of(subject, number) in (None, wanted)
        return known[subject]

    subjects, fits = (None, is_of_class) if wanted or is_any else (holders.objects, None)
    notes = [f"of any object, as it is not known which {path.holder} was"] if is_any and path.name else []
    kinds = [RowKind(rows.FIELD, key, subjects, fits), RowKind(rows.GAP, key, subjects, fits)]
    if wanted:
        kinds.append(RowKind(rows.WRITE, record.key_of(str(path.steps[-1])[1:]), _bodies(record, wanted)))
    return kinds, notes


def _bodies(record: ProcessRecord, name: str) -> frozenset[int]:
    """Return the frames that are bodies of classes of a name."""
    codes = [code.number for code in record.codes if code.kind == "class" and code.name.rpartition(".")[2] == name]
    return frozenset(frame for code in codes for _, frame in each_about(record, rows.START, code))


def _class_of_body(record: ProcessRecord, frame: int) -> str | None:
    """Return the name of the class whose body a frame is; None: it is of something else."""
    code = record.code(record.frame(frame).code)
    return code.name.rpartition(".")[2] if code.kind == "class" else None


def _other_owner(past: PastProcess, name: str, modules: set[int]) -> str | None:
    """Return the class of an object with an attribute that is called as a variable is; None: there is none."""
    key = past.record.key_of(f".{name}")
    found = islice(each_about(past.record, rows.FIELD, key), _MOST_LOOKED) if key else ()
    return next((past.classes.of(subject, number) for number, subject in found if subject not in modules), None)


def before_write(record: ProcessRecord, row: Row) -> Row | None:
    """Return the row with the value that was there before a write; None: it is not known."""
    kinds = (rows.WRITE, rows.SEEN_NAME) if row.kind == rows.WRITE else FIELDS
    number = record.back_any(kinds, (row.key,), row.subject, row.number) if row.key else 0
    return record.row(number) if number else None


def _lookup(past: PastProcess, row: Row) -> ValueLookup:
    record = past.record
    frame = row.subject if row.kind == rows.WRITE else record.row(row.owner).subject if row.owner else 0

    def lookup(path: ValuePath) -> str | None:
        if path.name in ("new", "old") and not path.steps and row.kind == rows.SIZE:
            return str(row.text if path.name == "new" else row.object)
        if path.name in ("new", "old") and not path.steps:
            found = row if path.name == "new" else before_write(record, row)
            return None if found is None or found.text == DELETED else record.text(found)
        if row.kind != rows.SIZE and record.label(row.key) in (path.name, f".{path.name}") and not path.steps:
            return record.text(row)
        value = value_in(past, frame, path, row.number) if frame else None
        return None if value is None else value.text

    return lookup


def _write_line(past: PastProcess, row: Row, modules: set[int]) -> BecauseLine:
    record = past.record
    old, new = before_write(record, row), value_text(record, row, _MOST_TEXT)
    change = new if old is None else f"{value_text(record, old, _MOST_TEXT)} -> {new}"
    label = record.label(row.key)
    if label.startswith("."):
        label = label[1:] if row.subject in modules else f"{past.classes.of(row.subject, row.number) or ''}{label}"
    elif row.kind == rows.WRITE and (name := _class_of_body(record, row.subject)) is not None:
        label = f"{name}.{label}"
    notes = []
    if row.kind == rows.GAP:
        notes = [_FOUND]
    elif row.owner and record.row(row.owner).kind == rows.START:
        notes = ["an argument"]
    line = because_line(past, row.owner or row.number)
    return msgspec.structs.replace(line, values=[f"{label}: {change}"], notes=[*line.notes, *notes])


def _content_line(past: PastProcess, row: Row, expression: str) -> BecauseLine:
    """Return the line of a change of what is in a value: of an item, an attribute, or of its length alone."""
    record = past.record
    if row.kind == rows.SIZE:
        is_moved = row.key == 1 and row.text == row.object
        value = f"{expression}: in another order" if is_moved else f"len({expression}): {row.object} -> {row.text}"
    elif not row.key:
        value = f"{expression}: changed, it is not known where"
    else:
        old, new = before_write(record, row), value_text(record, row, _MOST_TEXT)
        label = record.label(row.key)
        value = f"{expression}{label}: {new if old is None else f'{value_text(record, old, _MOST_TEXT)} -> {new}'}"
    is_gap = row.kind == rows.GAP or (row.kind == rows.SIZE and row.key != 1)
    line = because_line(past, row.owner or row.number)
    return msgspec.structs.replace(line, values=[value], notes=[*line.notes, *([_FOUND] if is_gap else [])])
