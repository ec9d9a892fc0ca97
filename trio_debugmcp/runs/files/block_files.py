"""Full blocks of words of a recorded process: one file each, compressed column by column, which never changes.

    block = kept_block(Path("p-4711-0/rows-000007.z"), width=3)
    column = block_column(block, 0)                 # the first word of each entry

Written by `engine/inside/recorder/run_blocks.py`.
"""

import zlib
from pathlib import Path
from typing import NamedTuple

MAGIC = 0x5452_4D44_5255_4E01

MAGIC_NAME = MAGIC >> 8
"""The magic without the version, its last byte."""

HEAD_WORDS, WORD = 8, 8

_MOST_ENTRIES, _MOST_FIRST = 1 << 20, 1 << 48
"""Of a block, and before it: what says more is none of a recorder, and would take memory without a bound."""


class RunFileError(Exception):
    """A file of a recorded run that cannot be read, and why."""


class RowBlock(NamedTuple):
    """Entries from number `first` on: where its columns begin in its file, and their sizes; no path: it may grow."""

    first: int
    entries: int
    path: Path | None
    sizes: tuple[int, ...]
    offset: int


def kept_block(path: Path, width: int) -> RowBlock | None:
    """Read the head of a full block; None if it is torn: the process has ended while it was written."""
    with path.open("rb") as file:
        head = words_of(file.read(WORD * (1 + 4 + width)), 5 + width)
    if len(head) < 5 + width:
        return None
    sizes, offset = tuple(head[5:]), WORD + head[0]
    if path.stat().st_size < offset + sum(sizes) or head[1] != MAGIC:
        return None
    if not 0 < head[2] < _MOST_FIRST or head[4] > _MOST_ENTRIES:
        return None
    return RowBlock(head[2], head[4], path, sizes, offset)


def block_column(block: RowBlock, place: int) -> bytes:
    """Return a word of each entry.

    Raises:
        RunFileError: it cannot be read, or is of another length.
    """
    assert block.path is not None
    try:
        with block.path.open("rb") as file:
            file.seek(block.offset + sum(block.sizes[:place]))
            column = zlib.decompressobj().decompress(file.read(block.sizes[place]), block.entries * WORD + 1)
    except (OSError, zlib.error) as error:
        raise RunFileError(f"{block.path} cannot be read: {error}") from error
    if len(column) != block.entries * WORD:
        raise RunFileError(f"{block.path} cannot be read: a column of it has not the words of {block.entries} entries")
    return column


def is_same_column(one: RowBlock, other: RowBlock, place: int) -> bool:
    """Whether two blocks are known to have the same words at a place: they are compressed to the same bytes."""
    if one.entries != other.entries or one.sizes[place : place + 1] != other.sizes[place : place + 1]:
        return False
    data = _compressed(one, place)
    return data is not None and data == _compressed(other, place)


def _compressed(block: RowBlock, place: int) -> bytes | None:
    if block.path is None:
        return None
    try:
        with block.path.open("rb") as file:
            file.seek(block.offset + sum(block.sizes[:place]))
            return file.read(block.sizes[place])
    except OSError:
        return None


def words_of(data: bytes, count: int) -> list[int]:
    """Return the first words of some bytes, as many as there are."""
    part = data[: count * WORD]
    return [int.from_bytes(part[at : at + WORD], "little") for at in range(0, len(part) // WORD * WORD, WORD)]


def filled(column: bytes) -> int:
    """Return how many entries of a block are written: those before the first that is not, which is all zeros."""
    end = len(column)
    zero = bytes(WORD)
    found = column.find(zero)
    while found >= 0:
        if found % WORD == 0:
            return found // WORD
        found = column.find(zero, found + 1)
    return end // WORD
