"""Which objects a variable or path has had as its value in a recorded run, and how what is in them changed.

    held = objects_of(past, ValuePath("cart", (".lines",)))     # of every frame, or every object of a class
    rows = content_rows(record, held.objects, 0)                # items and attributes of these, and lengths

A change of a length is a row of its own where it is not known what was changed.
"""

from collections.abc import Iterator
from heapq import merge
from itertools import chain, islice

import msgspec

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import each_about, each_of_subject
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.source.read_paths import ValuePath

_MOST_ROWS = 20_000
"""With values of one name, looked at for the objects that it has had."""

_MOST_OBJECTS = 50
"""Whose content is looked at: each is searched for in the whole record."""

_MOST_SEARCHED = 10_000_000
"""Rows, of all objects together: some tenths of a second."""

_NAMES = (rows.WRITE, rows.SEEN_NAME)

_FIELDS = (rows.FIELD, rows.SEEN, rows.GAP)

_FOUND_CHANGED = (1, 2)
"""Keys of rows SIZE that tell a change."""


class HeldObjects(msgspec.Struct, frozen=True):
    """The objects that a path has had; `is_cut`: there may be more."""

    objects: frozenset[int]
    is_cut: bool = False


def objects_of(past: PastProcess, path: ValuePath) -> HeldObjects:
    """Return the objects that a name or path has had as its value, wherever it stands.

    Behind the name of a class (`Cart.lines`) it is an attribute of any object of that class.
    """
    record = past.record
    if path.name[:1].isupper() and path.steps:
        held, steps = _of_class(past, path), path.steps[1:]
    else:
        held, steps = _of_name(record, path.name), path.steps
    for step in steps:
        key = record.key_of(str(step))
        found, is_cut = set[int](), held.is_cut
        numbers = _rows_of(record, _FIELDS, key)
        for looked, (number, subject) in enumerate(islice(numbers, _MOST_ROWS + 1)):
            is_cut |= looked == _MOST_ROWS
            if subject in held.objects:
                found.add(record.rows.word(number, 1) & 0xFFFF_FFFF)
        held = HeldObjects(frozenset(found - {0}), is_cut)
    return held


def _of_name(record: ProcessRecord, name: str) -> HeldObjects:
    modules = {code.globals for code in record.codes}
    found, is_cut = set[int](), False
    for looked, (number, _) in enumerate(islice(_rows_of(record, _NAMES, record.key_of(name)), _MOST_ROWS + 1)):
        is_cut |= looked == _MOST_ROWS
        found.add(record.rows.word(number, 1) & 0xFFFF_FFFF)
    field = record.key_of(f".{name}")
    of_modules = (
        each_of_subject(record, kind, field, module) for kind in _FIELDS if field for module in sorted(modules)
    )
    for number in islice(chain.from_iterable(of_modules), _MOST_ROWS):
        found.add(record.rows.word(number, 1) & 0xFFFF_FFFF)
    return HeldObjects(frozenset(found - {0}), is_cut)


def _of_class(past: PastProcess, path: ValuePath) -> HeldObjects:
    record = past.record
    known: dict[int, bool] = {}
    found, is_cut = set[int](), False
    told = _rows_of(record, _FIELDS, record.key_of(str(path.steps[0])))
    for looked, (number, subject) in enumerate(islice(told, _MOST_ROWS)):
        is_cut |= looked == _MOST_ROWS - 1
        held = record.rows.word(number, 1) & 0xFFFF_FFFF
        if held and subject not in known:  # most have a number or a text, and are of no account here
            known[subject] = past.classes.of(subject, number) == path.name
        if held and known[subject]:
            found.add(held)
    return HeldObjects(frozenset(found), is_cut)


def _rows_of(record: ProcessRecord, kinds: tuple[int, ...], key: int) -> Iterator[tuple[int, int]]:
    """Yield the rows of some kinds about a key with their subjects, those of one kind after those of another."""
    for kind in kinds if key else ():
        yield from each_about(record, kind, key)


def looked_into(record: ProcessRecord, objects: frozenset[int]) -> list[int]:
    """Return the objects whose content is looked at: of very many the first."""
    length = max(record.last - record.first, 1)
    return sorted(objects)[: max(3, min(_MOST_OBJECTS, _MOST_SEARCHED // length))]


def content_rows(record: ProcessRecord, objects: list[int], before: int) -> Iterator[int]:
    """Yield the rows with which the content of objects changed: in order, or with `before` the last first."""
    found = record.rows
    if before:
        streams = [found.last_like(0, number, before) for number in objects]
    else:
        streams = [found.next_like(0, number, 0) for number in objects]
    for number in merge(*streams, reverse=bool(before)):
        if _is_change(record, record.row(number)):
            yield number


def _is_change(record: ProcessRecord, row: rows.Row) -> bool:
    """Whether a row tells a change; a change of a length only where nothing else says what was changed."""
    if row.kind == rows.SIZE:
        before = _beside(record, row, -1)
        return row.key in _FOUND_CHANGED and (before is None or before.kind == rows.SIZE or not before.key)
    after = None if row.key else _beside(record, row, 1)
    return row.kind in (rows.FIELD, rows.GAP) and (after is None or after.kind != rows.SIZE)


def _beside(record: ProcessRecord, row: rows.Row, way: int) -> rows.Row | None:
    """Return the row before or behind one, if it is about the content of the same object."""
    number = row.number + way
    found = record.row(number) if record.first <= number <= record.last else None
    if found is None or found.subject != row.subject or found.kind not in (rows.FIELD, rows.GAP, rows.SIZE):
        return None
    return found
