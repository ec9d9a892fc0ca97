"""Indexes of full blocks in files beside them, so that the first question to a long run need not make them.

    for path in blocks_without_index(directory):
        write_index(path)
    load_index(index, block)                # what was written of a block, if it is of this very block

`rows-000007.index` belongs to `rows-000007.z`. It is written by the server while the program runs, never by the
program. Its head has the version, and the shape of the block: its first row, its rows, and the compressed size of each
column. An index of another version or shape, or one that is torn, is passed over, and made anew when it is needed.
"""

import struct
import zlib
from array import array
from collections import Counter
from contextlib import suppress
from pathlib import Path

from trio_debugmcp.runs.files.block_files import RowBlock, RunFileError, block_column, kept_block
from trio_debugmcp.runs.files.block_indexes import (
    BlockIndex,
    HeadIndex,
    head_index,
    high_counts,
    owner_index,
    value_index,
)

_MAGIC = 0x5452_4D44_4944_5801
"""The first word; its last byte is the version."""

_HEAD = struct.Struct("<QI")
"""The magic, and the checksum of the rest."""

_BODY = struct.Struct("<6Q5I")
"""The block's shape, `newest`, and how many highs, subjects, values, words and owners follow."""

_WIDTH = 3

MOST_BYTES = 256 * 1024
"""Of the index of one block, which is some 400 KB itself; a larger one is not written."""

_ENDING = ".index"


def blocks_without_index(directory: Path) -> list[Path]:
    """Return the full blocks of rows below the directory of a run that have no index yet, the oldest first.

    Indexes of blocks that were dropped are removed.
    """
    without = []
    for process in sorted(directory.glob("p-*")):
        blocks = {path.stem: path for path in process.glob("rows-*.z")}
        known = {path.stem: path for path in process.glob(f"rows-*{_ENDING}")}
        for stem in known.keys() - blocks.keys():
            known[stem].unlink(missing_ok=True)
        without += [blocks[stem] for stem in sorted(blocks.keys() - known.keys())]
    return without


def write_index(path: Path) -> None:
    """Write the index of a full block; of one that cannot be read, or whose index is too large, an empty file.

    Raises:
        OSError: the directory is gone, or full.
    """
    part = path.with_suffix(f"{_ENDING}.part")
    try:
        part.write_bytes(_packed(path))
        part.replace(path.with_suffix(_ENDING))
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def _packed(path: Path) -> bytes:
    try:
        block = kept_block(path, _WIDTH)
        if block is None:
            return b""
        first, second, third = (block_column(block, place) for place in range(_WIDTH))
    except RunFileError:
        return b""
    head, counts = head_index(first), high_counts(first)
    columns = (
        array("I", counts), array("I", counts.values()), head.subjects, value_index(second), head.words,
        owner_index(third, block.first),
    )  # fmt: skip
    body = _BODY.pack(*_shape(block), head.newest, *map(len, columns[1:])) + b"".join(map(array.tobytes, columns))
    return _HEAD.pack(_MAGIC, zlib.crc32(body)) + body if len(body) <= MOST_BYTES else b""


def load_index(index: BlockIndex, block: RowBlock) -> None:
    """Take what was written of a block, unless it is known, or what was written is of another one."""
    path = block.path
    if path is None or index.counts is not None:
        return
    try:
        with open(path.with_suffix(_ENDING), "rb") as file:
            data = file.read(_HEAD.size + MOST_BYTES + 1)
    except OSError:
        return
    body = memoryview(data)[_HEAD.size :]
    if len(body) < _BODY.size or _HEAD.unpack_from(data) != (_MAGIC, zlib.crc32(body)):
        return
    told = _BODY.unpack_from(body)
    if told[:5] != _shape(block):
        return
    highs, counts, subjects, values, words, owners = _columns(body[_BODY.size :], told[6:])
    index.head = HeadIndex.of(frozenset(highs), subjects, told[5], words)
    index.counts = Counter(dict(zip(highs, counts, strict=True)))
    index.values, index.owners = values, owners


def _columns(data: memoryview, sizes: tuple[int, ...]) -> list["array[int]"]:
    columns, place = [], 0
    for kind, size in zip("IIIIQQ", (sizes[0], *sizes), strict=True):
        column = array(kind)
        end = place + size * column.itemsize
        column.frombytes(data[place:end])
        columns.append(column)
        place = end
    return columns


def _shape(block: RowBlock) -> tuple[int, ...]:
    return (block.first, block.entries, *block.sizes)
