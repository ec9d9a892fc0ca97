"""What a frame of a recorded process was at a moment: the statement under way, its variables, its callers.

    line = line_at(record, 913)                     # the LINE row that row 913 belongs to
    value = value_in(past, frame, path, 913)        # what a path was, as that frame saw it
    shown, has_more = locals_in(past, frame, 913)

A moment is before a row: what the row has changed is not in it.
"""

from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS, RecordedValue, type_name
from trio_debugmcp.runs.past.shown_fields import shown_field
from trio_debugmcp.runs.source.read_paths import ValuePath

MOST_LOCALS = 100

_MOST_ROWS = 20_000
"""Of one frame, in which its names are looked for, the last ones first."""

_MOST_LAST_ROWS = 500
"""Of a frame whose names are known from its source, for those that are not."""

_DEFINED = ("<function ", "<class ", "<module ", "<built-in ")
"""How the texts begin of what a module has anyway."""

_LINES = frozenset((rows.LINE,))

_OF_FRAMES = frozenset(range(rows.LINE, rows.FIELD)) | {rows.SEEN_NAME}
"""Kinds of rows that are about a frame; the others are about an object."""


class PastFrame(NamedTuple):
    """A frame of a stack: its number, its code, and the line that was under way, or its first one."""

    number: int
    code: int
    line: int
    row: int


def line_at(record: ProcessRecord, number: int) -> int:
    """Return the LINE row that a row belongs to: itself, its owner, or of a call its first line; 0: there is none."""
    row = record.row(number)
    if row.kind == rows.LINE:
        return number
    if row.kind in (rows.START, rows.RESUME):
        return record.forth_of(_LINES, row.subject, number)
    if row.owner >= record.first and row.owner and record.row(row.owner).kind == rows.LINE:
        return row.owner
    frame = row.subject if row.kind in _OF_FRAMES else record.row(row.owner).subject if row.owner else 0
    return record.forth_of(_LINES, frame, number) if frame else 0


def value_in(past: PastProcess, frame: int, path: ValuePath, before: int) -> RecordedValue | None:
    """Return what a path was before a row, as a frame saw it; None: it is not known."""
    record = past.record
    line = record.back_of(_LINES, frame, before) or record.forth_of(_LINES, frame, before - 1)
    execution = past.executions.at(line) if line else None
    value = past.values.value(execution, path, before) if execution is not None else None
    if value is not None or (execution is not None and not path.steps):
        return value
    if path.steps:
        holder, step = value_in(past, frame, path.holder, before), path.steps[-1]
        return _attribute(past, frame, holder, step, before) if holder is not None and isinstance(step, str) else None
    key = record.key_of(path.name)
    number = record.back_any((rows.WRITE, rows.SEEN_NAME), (key,), frame, before) if key else 0
    return past.values.value_at(number) if number else None


def _attribute(past: PastProcess, frame: int, holder: RecordedValue, step: str, before: int) -> RecordedValue | None:
    """Return an attribute of an object before a row: of which there is a row, or its text shows it, or it is seen next.

    What is seen next was there before, as far as recorded code is concerned.
    """
    record, key = past.record, past.record.key_of(step)
    if step[:1] != "." or past.scopes.has_property(type_name(holder.text), step[1:]):
        return None
    known = past.values.field(holder.object, step, before) if holder.object else None
    shown = shown_field(holder.text, step[1:]) if known is None else None
    if known is not None or shown is not None:
        return known or holder._replace(text=shown or "", object=0)
    seen = record.forth(rows.SEEN, key, holder.object, before) if key and holder.object else 0
    owner = record.row(record.row(seen).owner) if seen and record.row(seen).owner else None
    is_next = owner is not None and owner.kind == rows.LINE and owner.subject == frame
    is_next = is_next and not record.back_any(tuple(FIELDS), (key,), holder.object, seen)
    return past.values.value_at(seen) if is_next else None


ShownValue = tuple[str, int]
"""A value's text, and the number of its object; 0: an atom."""


def newest_values(
    past: PastProcess, kinds: frozenset[int], subject: int, before: int, most: int, most_rows: int = _MOST_ROWS
) -> tuple[dict[str, ShownValue], bool]:
    """Return the last values before a row that rows of some kinds tell about a subject, by label, the newest first.

    And whether there may be more.
    """
    record, looked, at = past.record, 0, before
    newest: dict[str, ShownValue] = {}
    while at and looked < most_rows and len(newest) < most:
        at, looked = record.back_of(kinds, subject, at), looked + 1
        if at:
            value = past.values.value_at(at)
            label = record.label(record.row(at).key)
            if label not in newest:
                newest[label] = past.values.text_at(value, before), value.object
    return {label: value for label, value in newest.items() if value[0] not in ("deleted", "")}, bool(at)


def locals_in(past: PastProcess, frame: int, before: int) -> tuple[dict[str, ShownValue], bool]:
    """Return the variables of a frame before a row, parameters first, then the last written; and whether it has more.

    Those of a module are what it has written into its globals, but functions, classes and modules.
    """
    record = past.record
    code = record.code(record.frame(frame).code)
    is_module = code.kind == "module"
    kinds = frozenset(FIELDS) if is_module else frozenset((rows.WRITE, rows.SEEN_NAME))
    scope = None if is_module else past.scopes.of_code(code.number)
    most = _MOST_ROWS if scope is None else _MOST_LAST_ROWS
    found, has_more = newest_values(past, kinds, code.globals if is_module else frame, before, MOST_LOCALS, most)
    newest = {label.removeprefix("."): value for label, value in found.items()}
    known = code.params if scope is None else (*code.params, *sorted(scope.bound), *code.free)
    for name in known:  # of a long call, too
        value = None if name in newest else value_in(past, frame, ValuePath(name), before)
        if value is not None and value.text not in ("deleted", ""):
            newest[name] = past.values.text_at(value, before), value.object
    has_more &= scope is None
    order = {name: place for place, name in enumerate(code.params)}
    names = sorted(newest, key=lambda name: order.get(name, len(order)))
    shown = {name: newest[name] for name in names}
    if is_module:
        shown = {name: value for name, value in shown.items() if not value[0].startswith(_DEFINED)}
    return shown, has_more


def stack_at(record: ProcessRecord, line: int) -> list[PastFrame]:
    """Return the frames under way at a LINE row, the innermost first, each with the line that it was in."""
    frames: list[PastFrame] = []
    while line and line >= record.first:
        row = record.row(line)
        frame = record.frame(row.subject)
        shown = record.site(row.key).line if row.kind == rows.LINE else record.code(frame.code).first
        frames.append(PastFrame(row.subject, frame.code, shown, line))
        # A generator was continued by another line than the one that made it.
        entered = max(frame.start, record.back_of(frozenset((rows.RESUME,)), row.subject, line))
        line = record.row(entered).owner if entered >= record.first else 0
    return frames
