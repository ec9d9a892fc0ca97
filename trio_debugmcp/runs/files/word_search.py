"""Searches for the first words of rows: by their kind and subject, or by several words at once.

    next_kind(record.rows, frozenset((RETURN, UNWIND)), 7, 913)     # the first such row of frame 7 behind row 913

Of a word the highest four bits are the kind, the lowest 32 the subject: where the subject is found, one byte tells the
kind.
"""

from collections.abc import Iterator
from itertools import compress

from trio_debugmcp.runs.files.block_files import WORD
from trio_debugmcp.runs.files.block_indexes import HeadIndex
from trio_debugmcp.runs.files.run_files import WordFile

KEY_BITS = (1 << 28) - 1

_NEAR = 8
"""Entries that are looked at one by one before a search: a call that makes none is over by then."""

_FIRST_WINDOW = 1024 * WORD
"""How many bytes are looked at first."""

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


def back_with_key(file: WordFile, kinds: frozenset[int], low: int, before: int) -> Iterator[tuple[int, int]]:
    """Yield those entries before one that `last_kind` finds and that have a key, the last first, and their keys."""

    def fits(head: HeadIndex) -> bool:
        words = head.words_about(low)
        return words is None or any(word >> 60 in kinds and word >> 32 & KEY_BITS for word in words)

    part = low.to_bytes(4, "little")
    for first, column in file.columns(0, before - 1, back=True, fits=fits):
        end = min(max(before - first, 0) * WORD, len(column))
        while (found := column.rfind(part, 0, end)) >= 0:
            end = found + len(part) - 1
            if found % WORD == 0 and column[found + WORD - 1] >> 4 in kinds:
                key = int.from_bytes(column[found + 4 : found + WORD], "little") & KEY_BITS
                if key:
                    yield first + found // WORD, key


def about(file: WordFile, high: int, before: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the entries whose first word begins with these 32 bits, and the 32 bits with which it ends.

    In order; with `before` those before that one, the last first.
    """
    part, is_back = high.to_bytes(4, "little"), before > 0
    for first, column in file.columns(0, before - 1, back=is_back, fits=lambda head: high in head.highs):
        lows = memoryview(column).cast("I")
        end = min(max(before - first, 0) * WORD, len(column)) if is_back else len(column)
        place = column.rfind(part, 0, end) if is_back else column.find(part)
        while place >= 0:
            is_high = place % WORD == 4
            if is_high:
                yield first + place // WORD, lows[place // 4 - 1]
            if is_back:
                place = column.rfind(part, 0, place - 4 if is_high else place + 3)
            else:
                place = column.find(part, place + WORD if is_high else place + 1)


def last_value_of(file: WordFile, low: int, before: int, most: int) -> int:
    """Return the last of so many entries before one whose second word ends with these 32 bits, or 0.

    Only of those in the same block.
    """
    first, column = next(file.columns(1, before - 1, back=True))
    end = max(before - first, 0) * WORD
    found = column.rfind(low.to_bytes(4, "little"), max(end - most * WORD, 0), end)
    return first + found // WORD if found >= 0 and found % WORD == 0 else 0


def next_any(file: WordFile, words: list[int], after: int, until: int = 0) -> int:
    """Return the first entry after one, and before `until`, whose first word is one of these; 0: none.

    It is searched for all of them at once, in growing pieces: one of them is often near, and the others are nowhere.
    """
    near = min(after + _NEAR, until - 1 if until else file.last, file.last)
    for number in range(max(after + 1, file.first), near + 1):
        if file.word(number, 0) in words:
            return number
    after = max(after, near)
    parts = [word.to_bytes(WORD, "little") for word in words]
    for first, column in file.columns(0, after + 1, fits=lambda head: any(map(head.may_have, words))):
        if until and first >= until:
            break
        start, window = max(after + 1 - first, 0) * WORD, _FIRST_WINDOW
        last = (until - first) * WORD if until else len(column)
        while start < min(last, len(column)):
            piece = end = min(start + window, last)
            for part in parts:
                if (place := _aligned(column, part, start, end)) >= 0:
                    end = place
            if end < piece:
                return first + end // WORD
            start, window = end, window * 4
    return 0


def words_about(file: WordFile, low: int, before: int) -> set[int]:
    """Return the first words that end with these 32 bits, each once: of the entries before one, and of some behind it.

    A block whose words are known is not read.
    """
    found: set[int] = set()

    def is_to_be_read(head: HeadIndex) -> bool:
        words = head.words_about(low)
        found.update(words or ())
        return words is None

    for first, column in file.columns(0, fits=is_to_be_read):
        if first >= before:
            break
        found.update(compress(memoryview(column).cast("Q"), map(low.__eq__, memoryview(column).cast("I")[::2])))
    return found


def _fits(head: HeadIndex, low: int, highs: Highs) -> bool:
    """Whether a block may have words that end with these 32 bits, and begin with some of those."""
    return head.may_be_about(low) and (highs is None or not highs.isdisjoint(head.highs))


def _aligned(column: bytes, part: bytes, start: int, end: int) -> int:
    """Return where a word is first found from one place up to another, both between words; -1: nowhere."""
    found = column.find(part, start, end)
    while found >= 0 and found % WORD:
        found = column.find(part, found + 1, end)
    return found
