"""Rows that are written by halves of their words, in one block and over the end of one."""

from pathlib import Path

from trio_debugmcp.engine.inside.recorder.run_blocks import ENTRIES, HEAD_BYTES, ROW_BYTES, RunDirectory, WordBlocks


def blocks(path: Path) -> WordBlocks:
    return WordBlocks(RunDirectory(str(path), 1 << 30), "rows", 3)


def test_a_row_is_the_same_by_its_words_and_by_their_halves(tmp_path: Path) -> None:
    rows = blocks(tmp_path)
    numbers = [rows.add(8 << 60 | 5 << 32 | 7, 3 << 32 | 2, 9), rows.add_row(7, (8 << 28) + 5, 2, 3, 9)]
    numbers += [rows.add(1 << 60 | 5 << 32 | 7, 0, 0), rows.add_line(7, (1 << 28) + 5)]
    assert numbers == [1, 2, 3, 4]
    assert list(rows.view[:3]) == list(rows.view[3:6])
    assert list(rows.view[6:9]) == list(rows.view[9:12])


def test_rows_continue_at_the_beginning_of_the_next_block(tmp_path: Path) -> None:
    rows = blocks(tmp_path)
    written = [rows.add, lambda *words: rows.add_row(words[0], 0, 0, 0, 0), lambda *words: rows.add_line(words[0], 0)]
    for number in range(1, 2 * ENTRIES + 5):
        assert written[number % 3](number, 0, 0) == number
    assert rows.base == 2 * ENTRIES + 1
    assert list(rows.view[:15:3]) == [*range(2 * ENTRIES + 1, 2 * ENTRIES + 5), 0]
    assert rows.place == HEAD_BYTES + 4 * ROW_BYTES
    assert sorted(path.name for path in tmp_path.glob("*.z")) == ["rows-000000.z", "rows-000001.z"]
