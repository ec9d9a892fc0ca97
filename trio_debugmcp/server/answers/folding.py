"""The lines that a call ran, with loops folded to a few turns. Pure.

    folded([22, 23, 22, 23, 22, 23, 22, 23, 22, 25], keep=1)
    # [22, 23, Fold(turns=2, lines=4, first=22, last=23), 22, 23, 22, 25], with what stands for each line in its place

A loop is where a line runs again, and all that ran between stands below it; its first turns and its last are kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

from msgspec import Struct


class Numbered(Protocol):
    """What has the number of a line."""

    @property
    def number(self) -> int: ...


L = TypeVar("L", bound=Numbered)

_BELOW_ALL = 1 << 60
"""The number of a gap: it may be in any loop."""


class Gap(Struct, frozen=True):
    """Lines that were only counted: how often each ran."""

    counts: Mapping[int, int]
    number: int = _BELOW_ALL

    @property
    def lines(self) -> int:
        """How many there were."""
        return sum(self.counts.values())


class Fold(Struct, frozen=True):
    """Turns of a loop that are left out: how many, of how many lines, and the lines that they span."""

    turns: int
    lines: int
    first: int
    last: int


class Cut(Struct, frozen=True):
    """Lines that are left out."""

    lines: int


def folded(steps: Sequence[L | Gap], keep: int) -> list[L | Gap | Fold]:
    """Fold every loop to its first `keep` turns and its last one, also loops in these."""
    return list(_folded(steps, keep))


def _folded(steps: Sequence[L | Gap], keep: int) -> Iterator[L | Gap | Fold]:
    at = 0
    while at < len(steps):
        starts = _turns(steps, at)
        if len(starts) < 2:
            yield steps[at]
            at += 1
            continue
        turns = [steps[one:two] for one, two in pairwise(starts)]
        left_out = turns[keep:-1]
        few = len(left_out) < 2 and not any(isinstance(each, Gap) for turn in left_out for each in turn)
        for turn in turns[: len(turns) if few else keep]:
            yield turn[0]
            yield from _folded(turn[1:], keep)
        if not few:
            yield _fold(left_out, steps[at].number)
            yield turns[-1][0]
            yield from _folded(turns[-1][1:], keep)
        at = starts[-1]
        yield steps[at]  # where the loop finds that there is no more, or is left
        at += 1


def _turns(steps: Sequence[L | Gap], at: int) -> list[int]:
    """Return where the turns of a loop begin whose first line is there, the last of them unfinished."""
    head = steps[at]
    starts = [at]
    if isinstance(head, Gap):
        return starts
    for index in range(at + 1, len(steps)):
        if steps[index].number == head.number:
            starts.append(index)
        elif steps[index].number < head.number:
            break
    return starts


def _fold(turns: Sequence[Sequence[L | Gap]], head: int) -> Fold:
    count, lines, last = len(turns), 0, head
    for turn in turns:
        for piece in turn:
            if isinstance(piece, Gap):
                count += piece.counts.get(head, 0)
                lines += piece.lines
                last = max([last, *(number for number in piece.counts)])
            else:
                lines += 1
                last = max(last, piece.number)
    return Fold(count, lines, head, last)


def cut(steps: Sequence[L | Gap | Fold], most: int) -> list[L | Gap | Fold | Cut]:
    """Leave out the middle of what is still too long; two thirds of what stays are the beginning."""
    if len(steps) <= most:
        return list(steps)
    before = most * 2 // 3
    after = most - before
    middle = steps[before : len(steps) - after]
    lines = sum(each.lines if isinstance(each, Gap | Fold) else 1 for each in middle)
    return [*steps[:before], Cut(lines), *steps[len(steps) - after :]]
