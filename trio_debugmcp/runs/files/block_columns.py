"""`BlockColumns`: the blocks of a file of words, and their columns as far as they are read, or needed at all.

What is known of a full block says of most searches that it need not be read (`may_have`).
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
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
from trio_debugmcp.runs.files.block_indexes import BlockIndex, BlockIndexes, high_counts
from trio_debugmcp.runs.files.index_files import load_index

ENTRIES = 65_536

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


class BlockColumns:
    """The blocks of one file; blocks and places are counted from 0.

    Attributes:
        firsts, lasts: the numbers of the first and the last entry of each block.
        known: what is known of each.
        first, last: numbers of the entries that are there; last is 0 where there is none.
        state: how the recorder left the file.
    """

    def __init__(self, directory: Path, name: str, width: int, indexes: BlockIndexes | None = None) -> None:
        self._width = width
        self._learns = indexes is not None
        self._columns: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        blocks = [kept_block(path, width) for path in sorted(directory.glob(f"{name}-*.z"))]
        self._blocks = [block for block in blocks if block is not None]
        self.state = 0
        self._add_live(directory / name)
        self.known = [_index_of(block, indexes) for block in self._blocks]
        self.firsts = [block.first for block in self._blocks]
        self.lasts = [block.first + block.entries - 1 for block in self._blocks]
        self.first, self.last = (self.firsts[0], self.lasts[-1]) if self._blocks else (1, 0)

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

    def count_high(self, high: int) -> int:
        """Return how many first words begin with these 32 bits."""
        return sum(self._counts(block, high)[high] for block in range(len(self._blocks)))

    def high_counts(self) -> Counter[int]:
        """Return how often each number is what first words begin with."""
        counts: Counter[int] = Counter()
        for block in range(len(self._blocks)):
            counts.update(self._counts(block))
        return counts

    def words(self) -> Iterator[tuple[int, list[list[int]]]]:
        """Yield the number of the first entry of each block, and its words, a list for each place."""
        for block, first in enumerate(self.firsts):
            columns = [memoryview(self.column(block, place)).cast("Q").tolist() for place in range(self._width)]
            yield first, columns

    @property
    def first_words(self) -> "list[FirstWords]":
        """The first words of each block, which are read when they are asked for."""
        return [
            FirstWords(block, partial(self._counts, number), partial(self.column, number, 0))
            for number, block in enumerate(self._blocks)
        ]

    def may_have(self, place: int, part: bytes, at: int) -> Callable[[int], bool]:
        """Return what says whether a block may have these bytes there: not, if that is known."""
        number = int.from_bytes(part, "little")

        def may_tell(block: int) -> bool:
            is_known = place == 2 or (len(part) < WORD and at == 0)
            return not is_known or self.known[block].may_tell(place, number, self.firsts[block])

        def may_begin(block: int) -> bool:
            known = self.known[block].head
            if known is None:
                return True
            if len(part) == WORD:
                return known.may_have(number)
            return number in known.highs if at else known.may_be_about(number)

        return may_tell if place else may_begin

    def _counts(self, block: int, high: int | None = None) -> Counter[int]:
        """Return how often each number is what first words of a block begin with; `high`: only this one is wanted."""
        known = self.known[block]
        if known.counts is not None:
            return known.counts
        if high is not None and known.head is not None and high not in known.head.highs:
            return Counter()
        counts = high_counts(self.column(block, 0))
        if self._learns and self._blocks[block].path is not None:  # else it may grow
            known.counts = counts
        return counts

    def column(self, block: int, place: int) -> bytes:
        """Return the words at a place of all entries of a block."""
        known = self._columns.get((block, place))
        if known is None:
            known = block_column(self._blocks[block], place)
            if self._learns:
                self.known[block].learn(place, known, self.firsts[block])
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
