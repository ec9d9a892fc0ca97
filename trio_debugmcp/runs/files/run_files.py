"""The files of words of a recorded process, as its recorder leaves them: blocks that are read when they are needed.

    words = WordFile(directory, "rows", width=3)
    words.word(4711, 0)                             # the first word of entry 4711
    words.last_equal(0, key, before=4711)           # the last entry before it that has this first word, or 0

The recorder may still write while this reads: what is read is as it was when the file was opened. The format is written
by `engine/inside/recorder/run_blocks.py`.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import compress
from pathlib import Path

from trio_debugmcp.runs.files.block_columns import BlockColumns
from trio_debugmcp.runs.files.block_files import WORD, RunFileError
from trio_debugmcp.runs.files.block_indexes import BlockIndexes, HeadIndex


class WordFile:
    """Entries of some words each, numbered from 1; those of the oldest blocks may be gone.

    Args:
        indexes: what is known of full blocks, and will be; None: nothing is kept of them.

    Attributes:
        blocks: where they are.
        first, last: numbers of the entries that are there; last is 0 where there is none.
        state: how the recorder left the file: 0 while it runs, or when it was killed.
    """

    def __init__(self, directory: Path, name: str, width: int, indexes: BlockIndexes | None = None) -> None:
        self.blocks = BlockColumns(directory, name, width, indexes)
        self.state = self.blocks.state
        self._width = width
        self._firsts, self._lasts, self._column = self.blocks.firsts, self.blocks.lasts, self.blocks.column
        self._near: tuple[int, int, list[memoryview[int]]] = (1, 0, [])  # of the block from which words were read last
        self._read_last: list[tuple[int, int, memoryview[int]]] = [(1, 0, memoryview(b""))] * width  # of a place
        self.first, self.last = self.blocks.first, self.blocks.last

    # --- Entries ------------------------------------------------------------------------------------------------------

    def word(self, number: int, place: int) -> int:
        """Return a word of an entry.

        Raises:
            RunFileError: there is no entry of that number, or not any more.
        """
        first, last, column = self._read_last[place]
        if not first <= number <= last:
            block = bisect_right(self._firsts, number) - 1
            if not self.has(number):
                raise RunFileError(f"row {number} is not in the record, which has rows {self.first} to {self.last}")
            first, column = self._firsts[block], memoryview(self._column(block, place)).cast("Q")
            self._read_last[place] = first, self._lasts[block], column
        return column[number - first]

    def words(self, number: int) -> list[int]:
        """Return all words of an entry. Raises what `word` raises."""
        first, last, columns = self._near
        if not first <= number <= last:
            block = bisect_right(self._firsts, number) - 1
            if block < 0 or number > self._lasts[block]:
                return [self.word(number, 0)]
            first = self._firsts[block]
            columns = [memoryview(self._column(block, place)).cast("Q") for place in range(self._width)]
            self._near = first, self._lasts[block], columns
        return [column[number - first] for column in columns]

    def has(self, number: int) -> bool:
        """Whether an entry is there."""
        block = bisect_right(self._firsts, number) - 1
        return block >= 0 and number <= self._lasts[block]

    def last_equal(self, place: int, word: int, before: int, after: int = 0) -> int:
        """Return the last entry before one, and after another, that has this very word at a place, or 0."""
        return self._last(place, word.to_bytes(WORD, "little"), before, 0, after)

    def equal(self, place: int, word: int, after: int, until: int = 0) -> Iterator[int]:
        """Yield the entries after one, and before `until`, that have this very word at a place, in order."""
        yield from self._next(place, word.to_bytes(WORD, "little"), after, until=until)

    def equal_of_kinds(
        self, word: int, kinds: frozenset[int], after: int, until: int, fits: Callable[[HeadIndex], bool]
    ) -> Iterator[int]:
        """Yield the entries between two that have this very third word, and whose first word begins with these 4 bits.

        `fits`: only of blocks whose first words do, as far as these are known.
        """
        table = bytes(byte >> 4 in kinds for byte in range(256))
        may_have = self.blocks.may_have(2, word.to_bytes(WORD, "little"), 0)
        for block in range(max(bisect_right(self._firsts, after + 1) - 1, 0), len(self._firsts)):
            first, known = self._firsts[block], self.blocks.known[block].head
            if first >= until:
                return
            if not may_have(block) or (known is not None and not fits(known)):
                continue
            start, end = max(after + 1 - first, 0), until - first
            are_such = self._column(block, 0)[start * WORD + WORD - 1 : end * WORD : WORD].translate(table)
            if 1 in are_such:
                words = memoryview(self._column(block, 2)).cast("Q")[start:end]
                yield from (first + start + at for at in compress(range(len(words)), are_such) if words[at] == word)

    def last_like(self, place: int, low: int, before: int) -> Iterator[int]:
        """Yield the entries before one whose word at a place ends with these 32 bits, the last first."""
        part = low.to_bytes(4, "little")
        while before := self._last(place, part, before, 0):
            yield before

    def next_like(self, place: int, low: int, after: int) -> Iterator[int]:
        """Yield the entries after one whose word at a place ends with these 32 bits, in order."""
        yield from self._next(place, low.to_bytes(4, "little"), after)

    def last_high(self, place: int, high: int, before: int) -> Iterator[int]:
        """Yield the entries before one whose word at a place begins with these 32 bits, the last first."""
        part = high.to_bytes(4, "little")
        while before := self._last(place, part, before, 4):
            yield before

    def next_high(self, place: int, high: int, after: int) -> Iterator[int]:
        """Yield the entries after one whose word at a place begins with these 32 bits, in order."""
        yield from self._next(place, high.to_bytes(4, "little"), after, 4)

    def last_top(self, tops: bytes, before: int) -> Iterator[int]:
        """Yield the entries before one whose first word begins with one of these bytes, the last first."""
        kinds = {top >> 4 for top in tops}
        for block in range(bisect_right(self._firsts, before - 1) - 1, -1, -1):
            first, known = self._firsts[block], self.blocks.known[block].head
            if known is not None and known.kinds.isdisjoint(kinds):
                continue
            column = self._column(block, 0)[WORD - 1 : max(before - first, 0) * WORD : WORD]
            found = max(map(column.rfind, _each_byte(tops)))
            while found >= 0:
                yield first + found
                found = max(column.rfind(top, 0, found) for top in _each_byte(tops))

    def columns(
        self,
        place: int,
        start: int = 0,
        *,
        back: bool = False,
        fits: Callable[[HeadIndex], bool] | None = None,
    ) -> Iterator[tuple[int, bytes]]:
        """Yield blocks from the one that has an entry on: the number of its first entry, its words at a place.

        `fits`: only those whose first words do, as far as these are known.
        """
        block = max(bisect_right(self._firsts, start) - 1, 0)
        for number in range(block, -1, -1) if back else range(block, len(self._firsts)):
            if number < len(self._firsts):
                known = self.blocks.known[number].head
                if known is None or fits is None or fits(known):
                    yield self._firsts[number], self._column(number, place)

    def _last(self, place: int, part: bytes, before: int, at: int, after: int = 0) -> int:
        block, may_have = bisect_right(self._firsts, before - 1) - 1, self.blocks.may_have(place, part, at)
        while block >= 0 and self._lasts[block] >= after:
            if not may_have(block):
                block -= 1
                continue
            column, first = self._column(block, place), self._firsts[block]
            end = min(max(before - first, 0) * WORD, len(column))
            begin = max(after + 1 - first, 0) * WORD
            while end > begin:
                found = column.rfind(part, begin, end)
                if found < 0:
                    break
                if found % WORD == at:
                    return first + found // WORD
                end = found + len(part) - 1
            block -= 1
        return 0

    def _next(self, place: int, part: bytes, after: int, at: int = 0, until: int = 0) -> Iterator[int]:
        may_have = self.blocks.may_have(place, part, at)
        for block in range(max(bisect_right(self._firsts, after + 1) - 1, 0), len(self._firsts)):
            if until and self._firsts[block] >= until:
                return
            if not may_have(block):
                continue
            column, first = self._column(block, place), self._firsts[block]
            end = (until - first) * WORD if until else len(column)
            start = max(after + 1 - first, 0) * WORD
            while (found := column.find(part, start, end)) >= 0:
                if found % WORD == at:
                    yield first + found // WORD
                    start = found + WORD
                else:
                    start = found + 1


def _each_byte(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]
