"""The files of words of a recorded process, as its recorder leaves them: blocks that are read when they are needed.

    words = WordFile(directory, "rows", width=3)
    words.word(4711, 0)                             # the first word of entry 4711
    words.last_equal(0, key, before=4711)           # the last entry before it that has this first word, or 0

The recorder may still write while this reads: what is read is as it was when the file was opened. The format is written
by `engine/inside/recorder/run_blocks.py`.
"""

from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from trio_debugmcp.runs.files.block_files import (
    HEAD_WORDS,
    MAGIC,
    MAGIC_NAME,
    WORD,
    RowBlock,
    RunFileError,
    block_column,
    filled,
    is_same_column,
    kept_block,
    words_of,
)
from trio_debugmcp.runs.files.block_indexes import BlockIndex, BlockIndexes, HeadIndex, high_counts
from trio_debugmcp.runs.files.index_files import load_index

ENTRIES = 65_536

KEY_MARK = 1 << 31

KEPT_COLUMNS = 120
"""Columns of blocks that are kept in memory, of half a megabyte each."""


class FirstWords(NamedTuple):
    """The first words of the entries of a block.

    Attributes:
        block: where they are.
        counts: returns how often each number is what they begin with.
        read: returns them.
    """

    block: RowBlock
    counts: Callable[[], Counter[int]]
    read: Callable[[], bytes]

    def is_same(self, other: "FirstWords") -> bool:
        """Whether another block is known to have the same: they are not read for that."""
        return is_same_column(self.block, other.block, 0)


class WordFile:
    """Entries of some words each, numbered from 1; those of the oldest blocks may be gone.

    They are searched from both ends, by whole words and by halves, hence so many methods.

    Args:
        indexes: what is known of full blocks, and will be; None: nothing is kept of them.

    Attributes:
        first, last: numbers of the entries that are there; last is 0 where there is none.
        state: how the recorder left the file: 0 while it runs, or when it was killed.
    """

    def __init__(self, directory: Path, name: str, width: int, indexes: BlockIndexes | None = None) -> None:
        self._width = width
        self._learns = indexes is not None
        self._columns: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        blocks = [kept_block(path, width) for path in sorted(directory.glob(f"{name}-*.z"))]
        self._blocks = [block for block in blocks if block is not None]
        self.state = 0
        self.torn = len(blocks) - len(self._blocks)
        self._near: tuple[int, int, list[memoryview[int]]] = (1, 0, [])  # of the block from which words were read last
        self._read_last: list[tuple[int, int, memoryview[int]]] = [(1, 0, memoryview(b""))] * width  # of a place
        self._add_live(directory / name)
        self._known = [_index_of(block, indexes) for block in self._blocks]
        self._firsts = [block.first for block in self._blocks]
        self.first = self._firsts[0] if self._blocks else 1
        self.last = self._blocks[-1].first + self._blocks[-1].entries - 1 if self._blocks else 0

    def _add_live(self, path: Path) -> None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise RunFileError(f"the recorded run has no file {path.name}: {error.strerror}") from error
        head = words_of(data, HEAD_WORDS)
        if len(head) < HEAD_WORDS or head[0] >> 8 != MAGIC_NAME:
            raise RunFileError(f"{path} is not of a recorded run")
        if head[0] != MAGIC:
            raise RunFileError(
                f"{path} was recorded by another version of trio-debugmcp (format {head[0] & 0xFF}, "
                f"this one reads {MAGIC & 0xFF}): record the run again"
            )
        first, self.state = head[1], head[3]
        if self._blocks and self._blocks[-1].first == first:  # it was just kept when the process ended
            return
        words = memoryview(data)[HEAD_WORDS * WORD : (HEAD_WORDS + ENTRIES * self._width) * WORD]
        words = words[: len(words) // (WORD * self._width) * WORD * self._width].cast("Q")
        columns = [words[place :: self._width].tobytes() for place in range(self._width)]
        count = filled(columns[0])
        if count:
            number = len(self._blocks)
            for place, column in enumerate(columns):
                self._columns[number, place] = column[: count * WORD]
            self._blocks.append(RowBlock(first, count, None, (), 0))

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
            self._read_last[place] = first, first + self._blocks[block].entries - 1, column
        return column[number - first]

    def words(self, number: int) -> list[int]:
        """Return all words of an entry. Raises what `word` raises."""
        first, last, columns = self._near
        if not first <= number <= last:
            block = bisect_right(self._firsts, number) - 1
            if block < 0 or number - self._firsts[block] >= self._blocks[block].entries:
                return [self.word(number, 0)]
            first = self._firsts[block]
            columns = [memoryview(self._column(block, place)).cast("Q") for place in range(self._width)]
            self._near = first, first + self._blocks[block].entries - 1, columns
        return [column[number - first] for column in columns]

    def has(self, number: int) -> bool:
        """Whether an entry is there."""
        block = bisect_right(self._firsts, number) - 1
        return block >= 0 and number - self._firsts[block] < self._blocks[block].entries

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
        may_have = self._searched(2, word.to_bytes(WORD, "little"), 0)
        for block in range(max(bisect_right(self._firsts, after + 1) - 1, 0), len(self._blocks)):
            first, known = self._firsts[block], self._known[block].head
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

    def count_high(self, high: int) -> int:
        """Return how many first words begin with these 32 bits."""
        return sum(self._counts(block, high)[high] for block in range(len(self._blocks)))

    def last_top(self, tops: bytes, before: int) -> Iterator[int]:
        """Yield the entries before one whose first word begins with one of these bytes, the last first."""
        kinds = {top >> 4 for top in tops}
        for block in range(bisect_right(self._firsts, before - 1) - 1, -1, -1):
            first, known = self._firsts[block], self._known[block].head
            if known is not None and known.kinds.isdisjoint(kinds):
                continue
            column = self._column(block, 0)[WORD - 1 : max(before - first, 0) * WORD : WORD]
            found = max(map(column.rfind, _each_byte(tops)))
            while found >= 0:
                yield first + found
                found = max(column.rfind(top, 0, found) for top in _each_byte(tops))

    def high_counts(self) -> Counter[int]:
        """Return how often each number is what first words begin with."""
        counts: Counter[int] = Counter()
        for block in range(len(self._blocks)):
            counts.update(self._counts(block))
        return counts

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
                known = self._known[number].head
                if known is None or fits is None or fits(known):
                    yield self._firsts[number], self._column(number, place)

    def blocks(self) -> Iterator[tuple[int, list[list[int]]]]:
        """Yield the number of the first entry of each block, and its words, a list for each place."""
        for block, first in enumerate(self._firsts):
            columns = [memoryview(self._column(block, place)).cast("Q").tolist() for place in range(self._width)]
            yield first, columns

    @property
    def first_words(self) -> "list[FirstWords]":
        """The first words of each block, which are read when they are asked for."""
        return [
            FirstWords(block, partial(self._counts, number), partial(self._column, number, 0))
            for number, block in enumerate(self._blocks)
        ]

    def _last(self, place: int, part: bytes, before: int, at: int, after: int = 0) -> int:
        block, may_have = bisect_right(self._firsts, before - 1) - 1, self._searched(place, part, at)
        while block >= 0 and self._firsts[block] + self._blocks[block].entries > after:
            if not may_have(block):
                block -= 1
                continue
            column, first = self._column(block, place), self._firsts[block]
            end = min(max(before - first, 0), self._blocks[block].entries) * WORD
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
        may_have = self._searched(place, part, at)
        for block in range(max(bisect_right(self._firsts, after + 1) - 1, 0), len(self._blocks)):
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

    def _searched(self, place: int, part: bytes, at: int) -> Callable[[int], bool]:
        """Return what says whether a block may have these bytes there: not, if that is known."""
        number = int.from_bytes(part, "little")

        def may_tell(block: int) -> bool:
            is_known = place == 2 or (len(part) < WORD and at == 0)
            return not is_known or self._known[block].may_tell(place, number, self._firsts[block])

        def may_begin(block: int) -> bool:
            known = self._known[block].head
            if known is None:
                return True
            if len(part) == WORD:
                return known.may_have(number)
            return number in known.highs if at else known.may_be_about(number)

        return may_tell if place else may_begin

    def _counts(self, block: int, high: int | None = None) -> Counter[int]:
        """Return how often each number is what first words of a block begin with; `high`: only this one is wanted."""
        known = self._known[block]
        if known.counts is not None:
            return known.counts
        if high is not None and known.head is not None and high not in known.head.highs:
            return Counter()
        counts = high_counts(self._column(block, 0))
        if self._learns and self._blocks[block].path is not None:  # else it may grow
            known.counts = counts
        return counts

    def _column(self, block: int, place: int) -> bytes:
        known = self._columns.get((block, place))
        if known is None:
            known = block_column(self._blocks[block], place)
            if self._learns:
                self._known[block].learn(place, known, self._firsts[block])
            while len(self._columns) >= KEPT_COLUMNS:
                old = next((key for key in self._columns if self._blocks[key[0]].path is not None), None)
                if old is None:
                    break
                del self._columns[old]
            self._columns[block, place] = known
        elif self._blocks[block].path is not None:
            self._columns.move_to_end((block, place))
        return known


def _index_of(block: RowBlock, indexes: BlockIndexes | None) -> BlockIndex:
    """Return what is known of a block; of one that may grow nothing is kept."""
    if indexes is None or block.path is None:
        return BlockIndex()
    index = indexes.of(block.path)
    load_index(index, block)
    return index


def _each_byte(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]
