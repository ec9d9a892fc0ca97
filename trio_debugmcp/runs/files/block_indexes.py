"""`BlockIndexes`: what is in the full blocks of rows, so that a search reads only those that may have what it wants.

    index = BlockIndexes().of(path)
    index.learn(0, column, first)                       # of the first words of a block
    index.head.may_have(word), index.head.may_be_about(subject), high in index.head.highs

A full block never changes, so what is known of it holds when the record is opened anew, also while it is written.
It takes some tens of kilobytes a block. Read from the file beside it (`index_files`), or made when a block is first
read; `counts` when a question asks how many.
"""

from array import array
from bisect import bisect_left
from collections import Counter
from itertools import compress
from pathlib import Path
from typing import NamedTuple

_START = 2

_ALL = 1 << 32


class HeadIndex(NamedTuple):
    """The first words of a block.

    Attributes:
        highs: the numbers that one begins with, its kind and key.
        kinds: those of the rows.
        subjects: all frames and objects that they are about, in order.
        newest: frames up to this number began before the block; for numbers up to this one the words are known.
        words: those about such numbers, in order.
    """

    highs: frozenset[int]
    kinds: frozenset[int]
    subjects: "array[int]"
    newest: int
    words: "array[int]"

    @classmethod
    def of(cls, highs: frozenset[int], subjects: "array[int]", newest: int, words: "array[int]") -> "HeadIndex":
        """Return it without what follows from the rest."""
        return cls(highs, frozenset([high >> 28 for high in highs]), subjects, newest, words)

    def may_be_about(self, subject: int) -> bool:
        """Whether rows may be about a frame or an object."""
        return has(self.subjects, subject)

    def may_have(self, word: int) -> bool:
        """Whether a row may have this very first word."""
        subject = word & 0xFFFF_FFFF
        if word >> 32 not in self.highs or not has(self.subjects, subject):
            return False
        return subject > self.newest or has(self.words, word)

    def words_about(self, subject: int) -> list[int] | None:
        """Return the first words about a frame or an object, each once; None: they are not known."""
        if not self.may_be_about(subject):
            return []
        if subject > self.newest:
            return None
        part, words = subject.to_bytes(4, "little"), self.words.tobytes()
        found, place = [], words.find(part)
        while place >= 0:
            if place % 8 == 0:
                found.append(self.words[place // 8])
            place = words.find(part, place + 1)
        return found


class BlockIndex:
    """What is known of one block; None: not yet.

    Attributes:
        head: of its first words.
        values: which objects its second words tell, in order.
        owners: which rows before the block its third words tell, in order; 0, no row, is not among them.
        counts: how often each number is what first words begin with.
    """

    __slots__ = ("counts", "head", "owners", "values")

    def __init__(self) -> None:
        self.head: HeadIndex | None = None
        self.values: array[int] | None = None
        self.owners: array[int] | None = None
        self.counts: Counter[int] | None = None

    def learn(self, place: int, column: bytes, first: int) -> None:
        """Keep what is in a column; `first`: the number of the first row."""
        if place == 0 and self.head is None:
            self.head = head_index(column)
        elif place == 1 and self.values is None:
            self.values = value_index(column)
        elif place == 2 and self.owners is None:
            self.owners = owner_index(column, first)

    def may_tell(self, place: int, number: int, first: int) -> bool:
        """Whether second words may tell an object, third words a row; `first`: the number of the first row."""
        if place == 1:
            return self.values is None or has(self.values, number)
        return number >= first or not number or self.owners is None or has(self.owners, number)


class BlockIndexes:
    """What is known of blocks, by the path of each."""

    def __init__(self) -> None:
        self._of: dict[Path, BlockIndex] = {}

    def of(self, path: Path) -> BlockIndex:
        """Return what is known of a block, and will be."""
        return self._of.setdefault(path, BlockIndex())


def head_index(column: bytes) -> HeadIndex:
    """Return what is known of the first words of a block."""
    halves = _halves(column)
    lows, highs = halves[::2], frozenset(halves[1::2])
    begins = [at for high in highs if high >> 28 == _START if (at := _first_of(column, high)) >= 0]
    # Frames are numbered as they begin: the first that begins in the block is the lowest.
    newest = int.from_bytes(column[min(begins) - 4 : min(begins)], "little") - 1 if begins else _ALL - 1
    words = sorted(set(compress(memoryview(column).cast("Q"), map(newest.__ge__, lows))))
    return HeadIndex.of(highs, array("I", sorted(set(lows))), newest, array("Q", words))


def high_counts(column: bytes) -> Counter[int]:
    """Return how often each number is what first words begin with."""
    return Counter(_halves(column)[1::2])


def _first_of(column: bytes, high: int) -> int:
    """Return where the first word that begins with these 32 bits has them; -1: none has."""
    part = high.to_bytes(4, "little")
    place = column.find(part)
    while place >= 0 and place % 8 != 4:
        place = column.find(part, place + 1)
    return place


def value_index(column: bytes) -> "array[int]":
    """Return which objects second words tell, in order."""
    return array("I", sorted(set(_halves(column)[::2])))


def owner_index(column: bytes, first: int) -> "array[int]":
    """Return which rows before the first one third words tell, in order."""
    words = _halves(column)[::2] if first < _ALL - len(column) else memoryview(column).cast("Q")
    owners = set(words)
    return array("Q", sorted([owner for owner in owners if 0 < owner < first]))


def _halves(column: bytes) -> "array[int]":
    halves = array("I")
    halves.frombytes(column)
    return halves


def has(numbers: "array[int]", number: int) -> bool:
    """Whether a number is among some that are in order."""
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number
