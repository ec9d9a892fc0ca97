"""`BlockIndexes`: what is in the full blocks of rows, so that a search reads only those that may have what it wants.

    indexes = BlockIndexes()
    head = indexes.heads[path] = head_index(column)     # of the first words of a block
    head.may_have(word), head.may_be_about(subject), high in head.highs

A full block never changes, so what is known of it holds when the record is opened anew, also while it is written.
It takes some tens of kilobytes a block. Made when a block is first read; `counts` when a question asks how many.
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

    def may_be_about(self, subject: int) -> bool:
        """Whether rows may be about a frame or an object."""
        return has(self.subjects, subject)

    def may_have(self, word: int) -> bool:
        """Whether a row may have this very first word."""
        subject = word & 0xFFFF_FFFF
        if word >> 32 not in self.highs or not has(self.subjects, subject):
            return False
        return subject > self.newest or has(self.words, word)


_Heads = dict[Path, HeadIndex]

_Values = dict[Path, "array[int]"]

_Counts = dict[Path, Counter[int]]


class BlockIndexes:
    """What is known of blocks, by the path of each.

    Attributes:
        heads: of their first words.
        values: which objects their second words tell.
        counts: how often each number is what first words begin with.
    """

    def __init__(self) -> None:
        self.heads: _Heads = {}
        self.values: _Values = {}
        self.counts: _Counts = {}


def head_index(column: bytes) -> HeadIndex:
    """Return what is known of the first words of a block."""
    halves = _halves(column)
    lows, highs = halves[::2], frozenset(halves[1::2])
    begins = [at for high in highs if high >> 28 == _START if (at := _first_of(column, high)) >= 0]
    # Frames are numbered as they begin: the first that begins in the block is the lowest.
    newest = int.from_bytes(column[min(begins) - 4 : min(begins)], "little") - 1 if begins else _ALL - 1
    words = sorted(set(compress(memoryview(column).cast("Q"), map(newest.__ge__, lows))))
    kinds = frozenset([high >> 28 for high in highs])
    return HeadIndex(highs, kinds, array("I", sorted(set(lows))), newest, array("Q", words))


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


def _halves(column: bytes) -> "array[int]":
    halves = array("I")
    halves.frombytes(column)
    return halves


def has(numbers: "array[int]", number: int) -> bool:
    """Whether a number is among some that are in order."""
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number
