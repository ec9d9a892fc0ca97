"""Rows of a recorded process found whatever they are about: every run of a statement, every write of a name.

    rows = each(record, LINE, site)                 # in order
    rows = each_back(record, LINE, site, 913)       # the last before row 913 first
    count = counts(record, LINE)[site]

A row is searched as the bytes of its kind and key, so a record of millions takes milliseconds.
"""

from collections.abc import Iterator

from trio_debugmcp.runs.files.process_record import RESUME, START, ProcessRecord, Row
from trio_debugmcp.runs.files.word_search import about, back_with_key, words_about

_KEY_BITS = 28


def subject_of(record: ProcessRecord, number: int) -> int:
    """Return the subject of a row alone."""
    return record.rows.word(number, 0) & 0xFFFF_FFFF


def thread_of(record: ProcessRecord, row: Row) -> int:
    """Return the number of the thread that a row of a frame is of: another one may continue a coroutine."""
    if row.kind in (START, RESUME):
        return record.rows.word(row.number, 1) >> 32
    frame = record.frame(row.subject)
    if record.code(frame.code).kind in ("function", "module", "class", "lambda"):
        return frame.thread
    resumed = record.back_of(frozenset((RESUME,)), row.subject, row.number)
    return record.rows.word(resumed, 1) >> 32 if resumed else frame.thread


def each(record: ProcessRecord, kind: int, key: int, after: int = 0) -> Iterator[int]:
    """Yield the rows after one of this kind and key, in order."""
    yield from record.rows.next_high(0, kind << _KEY_BITS | key, after)


def each_back(record: ProcessRecord, kind: int, key: int, before: int) -> Iterator[int]:
    """Yield the rows before one of this kind and key, the last first."""
    yield from record.rows.last_high(0, kind << _KEY_BITS | key, before)


def each_about(record: ProcessRecord, kind: int, key: int, before: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the rows of this kind and key with their subjects: in order, or those before one, the last first."""
    yield from about(record.rows, kind << _KEY_BITS | key, before)


def each_of_subject(record: ProcessRecord, kind: int, key: int, subject: int, before: int = 0) -> Iterator[int]:
    """Yield the rows of this kind, key and subject: in order, or those before one, the last first."""
    word = kind << 60 | key << 32 | subject
    if not before:
        yield from record.rows.equal(0, word, 0)
        return
    while before := record.rows.last_equal(0, word, before):
        yield before


def count(record: ProcessRecord, kind: int, key: int) -> int:
    """Return how many rows there are of this kind and key."""
    return record.rows.blocks.count_high(kind << _KEY_BITS | key)


def each_of_code_back(record: ProcessRecord, kinds: tuple[int, ...], before: int) -> Iterator[int]:
    """Yield the rows before one of these kinds, whose keys are code, the last first."""
    tops = bytes(kind << 4 for kind in kinds)  # the other four bits are of the key: there are never so many codes
    yield from record.rows.last_top(tops, before)


def counts(record: ProcessRecord, kind: int) -> dict[int, int]:
    """Return how many rows of a kind there are of each key."""
    found = record.rows.blocks.high_counts()
    return {high & (1 << _KEY_BITS) - 1: count for high, count in found.items() if high >> _KEY_BITS == kind}


def keys_of(record: ProcessRecord, kinds: frozenset[int], subject: int, before: int) -> set[int]:
    """Return the keys of rows of some kinds about a subject: of all before a row, and of some behind it."""
    words = words_about(record.rows, subject, before)
    return {word >> 32 & (1 << _KEY_BITS) - 1 for word in words if word >> 60 in kinds}


def keys_back(record: ProcessRecord, kinds: frozenset[int], subject: int, before: int) -> Iterator[tuple[int, int]]:
    """Yield the rows before one of some kinds about an object, the last first, and their keys.

    Of those with key 0, about all that is in a long container, of which there is one for each change, only the last.
    """
    of_all = record.back_any(kinds, (0,), subject, before)
    for number, key in back_with_key(record.rows, kinds, subject, before):
        if number < of_all:
            yield of_all, 0
            of_all = 0
        yield number, key
    if of_all:
        yield of_all, 0


def called_by(record: ProcessRecord, frame: int) -> Iterator[int]:
    """Yield the frames that a frame has called, in order; of 0: with which threads begin."""
    yield from record.frames.next_like(1, frame, frame)
