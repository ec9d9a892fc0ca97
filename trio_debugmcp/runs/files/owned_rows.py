"""What a line of a recorded process owns: the rows that tell what it has written, called, looked at and raised.

    written = owned_of_kinds(record, 36, frozenset((WRITE, FIELD)))     # by the line of row 36

They are all between its row and the next line of its frame.
"""

from collections.abc import Iterable, Iterator
from itertools import product

from trio_debugmcp.runs.files.block_indexes import HeadIndex
from trio_debugmcp.runs.files.process_record import LINE, RETURN, UNWIND, WRITE, ProcessRecord, Row

_WRITES = frozenset((WRITE,))

_NOT_AFTER = frozenset((LINE, RETURN, UNWIND))


def owned_rows(record: ProcessRecord, row: int) -> Iterator[int]:
    """Yield the rows whose owner a LINE or START row is, in order, up to the next line of its frame."""
    subject = record.rows.word(row, 0) & 0xFFFF_FFFF
    last = record.forth_of(_NOT_AFTER, subject, row) or record.rows.last
    yield from record.rows.equal(2, row, row, last + 1)


def owned_of_kinds(record: ProcessRecord, row: int, kinds: frozenset[int], keys: Iterable[int] = ()) -> list[Row]:
    """Return those rows that `owned_rows` yields which are of some kinds; `keys`: only with these.

    A line that goes through very many items owns a row of each, and few others: blocks without such are not read.
    """
    subject = record.rows.word(row, 0) & 0xFFFF_FFFF
    last = record.forth_of(_NOT_AFTER, subject, row) or record.rows.last
    others, highs = kinds - _WRITES, [kind << 28 | key for kind, key in product(kinds, keys)]

    def fits(head: HeadIndex) -> bool:
        if highs:
            return not head.highs.isdisjoint(highs)
        if not head.kinds.isdisjoint(others):
            return True
        words = head.words_about(subject) if kinds & _WRITES else []  # a line writes names of its own frame alone
        return words is None or any(word >> 60 == WRITE for word in words)

    owned = map(record.row, record.rows.equal_of_kinds(row, kinds, row, last + 1, fits))
    return [each for each in owned if not highs or each.kind << 28 | each.key in highs]


def owned_rows_back(record: ProcessRecord, row: int) -> Iterator[int]:
    """Yield the rows that `owned_rows` yields, the last first."""
    subject = record.rows.word(row, 0) & 0xFFFF_FFFF
    number = (record.forth_of(_NOT_AFTER, subject, row) or record.rows.last) + 1
    while number := record.rows.last_equal(2, row, number, row):
        yield number
