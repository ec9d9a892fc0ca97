"""Indexes are written beside the blocks of a run while it is recorded, and never where its files have gone."""

import zlib
from pathlib import Path

import trio
from trio.testing import MockClock

from trio_debugmcp.runs.files.block_files import MAGIC
from trio_debugmcp.runs.files.index_files import blocks_without_index
from trio_debugmcp.session.block_indexing import LOOK_SECONDS, BlockIndexing


def add_block(process: Path, number: int, *, first: int = 0, entries: int = 1, rest: bytes = b"") -> None:
    """Write a block of one row, as a recorder does, or one whose head says something else."""
    columns = [zlib.compress((word or number).to_bytes(8, "little") + rest) for word in (1 << 60 | 1, 2, 0)]
    head = [MAGIC, first or number + 1, 3, entries, *map(len, columns)]
    packed = b"".join(word.to_bytes(8, "little") for word in (len(head) * 8, *head))
    process.mkdir(parents=True, exist_ok=True)
    (process / f"rows-{number:06d}.z").write_bytes(packed + b"".join(columns))


async def forgotten(directory: str) -> None:
    """Do nothing about a run that has all of its indexes."""


async def indexed(directory: Path) -> None:
    while blocks_without_index(directory):
        await trio.sleep(LOOK_SECONDS)


async def test_blocks_have_indexes_while_the_run_is_recorded_and_when_it_is_over(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    whole: list[tuple[str, int]] = []

    async def is_whole(directory: str) -> None:
        whole.append((directory, len([*tmp_path.glob("*/*.index")])))

    indexing = BlockIndexing(is_whole)
    add_block(tmp_path / "p-1-0", 0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(indexing.run)
        indexing.begin(str(tmp_path))
        await indexed(tmp_path)
        add_block(tmp_path / "p-1-0", 1)
        add_block(tmp_path / "p-2-0", 0)
        await indexed(tmp_path)
        add_block(tmp_path / "p-2-0", 1)
        indexing.end(str(tmp_path))
        while repr(indexing) != "<BlockIndexing {}>":
            await trio.sleep(LOOK_SECONDS)
        nursery.cancel_scope.cancel()
    assert whole == [(str(tmp_path), 4)], "it is told once, when nothing will be added"
    assert [*tmp_path.glob("*/*.part")] == []


async def test_nothing_is_written_for_a_run_that_was_forgotten(tmp_path: Path, autojump_clock: MockClock) -> None:
    indexing = BlockIndexing(forgotten)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(indexing.run)
        indexing.begin(str(tmp_path))
        await indexing.forget(str(tmp_path))
        add_block(tmp_path / "p-1-0", 0)
        await trio.sleep(LOOK_SECONDS * 2)
        nursery.cancel_scope.cancel()
    assert len(blocks_without_index(tmp_path)) == 1


async def test_a_run_whose_files_have_gone_ends_no_other(tmp_path: Path, autojump_clock: MockClock) -> None:
    indexing = BlockIndexing(forgotten)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(indexing.run)
        indexing.begin(str(tmp_path / "gone"))
        indexing.begin(str(tmp_path / "here"))
        add_block(tmp_path / "here" / "p-1-0", 0)
        await indexed(tmp_path / "here")
        nursery.cancel_scope.cancel()


async def test_a_block_that_no_recorder_has_written_ends_nothing(tmp_path: Path, autojump_clock: MockClock) -> None:
    indexing = BlockIndexing(forgotten)
    add_block(tmp_path / "p-1-0", 0, entries=2)
    add_block(tmp_path / "p-1-0", 1, first=(1 << 64) - 1)
    add_block(tmp_path / "p-1-0", 2, entries=1 << 40)
    add_block(tmp_path / "p-1-0", 3, rest=b"torn")
    add_block(tmp_path / "p-1-0", 4)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(indexing.run)
        indexing.begin(str(tmp_path))
        await indexed(tmp_path)
        nursery.cancel_scope.cancel()
    sizes = [path.stat().st_size for path in sorted(tmp_path.glob("*/*.index"))]
    assert sizes[:-1] == [0, 0, 0, 0]
    assert sizes[-1] > 0
