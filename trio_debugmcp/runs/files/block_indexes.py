"""`BlockIndexes`: what is in the full blocks of rows, so that a search reads only those that may have what it wants.

    indexes = BlockIndexes()
    head = indexes.heads[path] = head_index(column)     # of the first words of a block
    head.may_have(word), head.may_be_about(subject), head.counts[high]

A full block never changes, so what is known of it holds when the record is opened anew, also while it is written.
It takes some tens of kilobytes a block. Made when a block is first read, or before anybody asks.
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
        counts: how often each number is what one begins with, its kind and key.
        kinds: those of the rows.
        subjects: all frames and objects that they are about, in order.
        newest: frames up to this number began before the block; for numbers up to this one the words are known.
        words: those about such numbers, in order.
    """

    counts: Counter[int]
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
        if word >> 32 not in self.counts or not has(self.subjects, subject):
            return False
        return subject > self.newest or has(self.words, word)


_Heads = dict[Path, HeadIndex]

_Values = dict[Path, "array[int]"]


class BlockIndexes:
    """What is known of blocks, by the path of each: `heads` of their first words, `values` which objects they tell."""

    def __init__(self) -> None:
        self.heads: _Heads = {}
        self.values: _Values = {}


def head_index(column: bytes) -> HeadIndex:
    """Return what is known of the first words of a block."""
    halves = memoryview(column).cast("I")
    lows, highs = halves[::2].tolist(), halves[1::2].tolist()
    counts, subjects = Counter(highs), set(lows)
    begins = {high for high in counts if high >> 28 == _START}
    newest = min(compress(lows, map(begins.__contains__, highs)), default=_ALL) - 1
    old = {subject for subject in subjects if subject <= newest}
    words = set(compress(memoryview(column).cast("Q").tolist(), map(old.__contains__, lows)))
    kinds = frozenset([high >> 28 for high in counts])
    return HeadIndex(counts, kinds, array("I", sorted(subjects)), newest, array("Q", sorted(words)))


def value_index(column: bytes) -> "array[int]":
    """Return which objects second words tell, in order."""
    return array("I", sorted(set(memoryview(column).cast("I")[::2].tolist())))


def has(numbers: "array[int]", number: int) -> bool:
    """Whether a number is among some that are in order."""
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number
