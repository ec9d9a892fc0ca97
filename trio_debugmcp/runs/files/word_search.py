"""Searches for the first words of rows: by their kind and subject, or by several words at once.

    next_kind(record.rows, frozenset((RETURN, UNWIND)), 7, 913)     # the first such row of frame 7 behind row 913

Of a word the highest four bits are the kind, the lowest 32 the subject: where the subject is found, one byte tells the
kind.
"""

from trio_debugmcp.runs.files.block_indexes import HeadIndex
from trio_debugmcp.runs.files.run_files import WORD, WordFile

Highs = frozenset[int] | None
"""With which 32 bits words begin that are searched for; None: that is not known."""


def highs_of(kinds: frozenset[int], code: int, sites: list[int]) -> frozenset[int]:
    """Return with which 32 bits the rows of a call begin: those of its lines (kind 1) have statements as their keys."""
    lines = [1 << 28 | site for site in sites] if 1 in kinds else []
    return frozenset([*lines, *(kind << 28 | code for kind in kinds - {1})])


def next_kind(file: WordFile, kinds: frozenset[int], low: int, after: int, highs: Highs = None) -> int:
    """Return the first entry after one whose first word begins with one of these 4 bits and ends with these 32."""
    part = low.to_bytes(4, "little")
    for first, column in file.columns(0, after + 1, fits=lambda head: _fits(head, low, highs)):
        found = column.find(part, max(after + 1 - first, 0) * WORD)
        while found >= 0:
            if found % WORD == 0 and column[found + WORD - 1] >> 4 in kinds:
                return first + found // WORD
            found = column.find(part, found + 1)
    return 0


def last_kind(file: WordFile, kinds: frozenset[int], low: int, before: int, after: int, highs: Highs = None) -> int:
    """Return the last entry before one, and after another, whose first word is such a one, or 0."""
    part = low.to_bytes(4, "little")
    for first, column in file.columns(0, before - 1, back=True, fits=lambda head: _fits(head, low, highs)):
        begin, end = max(after + 1 - first, 0) * WORD, min(max(before - first, 0) * WORD, len(column))
        while (found := column.rfind(part, begin, end)) >= 0:
            if found % WORD == 0 and column[found + WORD - 1] >> 4 in kinds:
                return first + found // WORD
            end = found + len(part) - 1
        if first <= after + 1:
            return 0
    return 0


def next_any(file: WordFile, words: list[int], after: int) -> int:
    """Return the first entry after one whose first word is one of these, or 0: block by block for all of them."""
    parts = [word.to_bytes(WORD, "little") for word in words]
    for first, column in file.columns(0, after + 1, fits=lambda head: any(map(head.may_have, words))):
        start = max(after + 1 - first, 0) * WORD
        found = [place for part in parts if (place := _aligned(column, part, start)) >= 0]
        if found:
            return first + min(found) // WORD
    return 0


def _fits(head: HeadIndex, low: int, highs: Highs) -> bool:
    """Whether a block may have words that end with these 32 bits, and begin with some of those."""
    return head.may_be_about(low) and (highs is None or not highs.isdisjoint(head.counts))


def _aligned(column: bytes, part: bytes, start: int) -> int:
    """Return where a word is first found at or behind a place; -1: nowhere."""
    found = column.find(part, start)
    while found >= 0 and found % WORD:
        found = column.find(part, found + 1)
    return found
