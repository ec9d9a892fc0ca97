"""Lines that go through very many items, and lists that have grown very long: few of their rows are looked at."""

from collections import defaultdict
from functools import cache
from pathlib import Path
from shutil import copytree

import pytest

from tests.runs.recorded_programs import fresh_folder, python, record
from trio_debugmcp.runs.files.block_files import kept_block
from trio_debugmcp.runs.files.index_files import blocks_without_index, write_index
from trio_debugmcp.runs.files.owned_rows import owned_of_kinds
from trio_debugmcp.runs.files.process_record import (
    FIELD,
    GAP,
    LINE,
    SEEN,
    SIZE,
    START,
    WRITE,
    ProcessRecord,
    Row,
)
from trio_debugmcp.runs.files.row_search import keys_back
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS
from trio_debugmcp.runs.slicing.recorded_contents import parts_of

pytestmark = pytest.mark.real

GROWN = """\
class Basket:
    def __init__(self):
        self.items, self.seen = [], {}
    def add(self, item):
        self.items.append(item)
        self.seen["last"] = item


basket = Basket()
for number in range(300):
    basket.add(number)
items = basket.items
for number in range(29_000):
    items.append(number)
for place in (*range(200, 260), *range(120)):
    if place == 0:
        items.append(0)
    items[place] = place + 1
assert all(number < 29_000 for number in items)
"""


_WRITTEN = frozenset((WRITE, FIELD))


@cache
def _recorded() -> Path:
    return record(GROWN, python(3, 13)).processes[0].directory


@cache
def all_rows() -> list[Row]:
    """The rows of `GROWN`, in order."""
    process = ProcessRecord(_recorded())
    return [process.row(number) for number in range(process.first, process.last + 1)]


@cache
def with_indexes() -> ProcessRecord:
    """The record of `GROWN` with an index beside each full block, of which nothing may be read but the first ones."""
    directory = Path(copytree(_recorded(), fresh_folder() / "run" / "p-1-0"))
    for path in blocks_without_index(directory.parent):
        write_index(path)
    return ProcessRecord(directory)


def unreadable(process: ProcessRecord, block: int) -> ProcessRecord:
    """The same record with a block that cannot be read any more."""
    copied = Path(copytree(process.directory, fresh_folder() / "run" / "p-1-0"))
    path = copied / f"rows-{block:06}.z"
    kept = kept_block(path, 3)
    assert kept is not None
    path.write_bytes(path.read_bytes()[: kept.offset] + bytes(sum(kept.sizes)))
    return ProcessRecord(copied)


def line_of(process: ProcessRecord, line: int, place: int = 0) -> int:
    """The row at which a line of the program began."""
    began = [row.number for row in all_rows() if row.kind == LINE and process.site(row.key).line == line]
    return began[place]


def rows_of_items(process: ProcessRecord) -> list[Row]:
    """The rows that tell what is in the long list."""
    made = process.key_of(".items")
    items = next(row for row in all_rows() if row.kind == FIELD and row.key == made).object
    return [row for row in all_rows() if row.kind in FIELDS and row.subject == items]


@pytest.mark.parametrize("is_indexed", [True, False], ids=["indexed", "not read yet"])
def test_what_a_line_owns_of_some_kinds_is_what_looking_at_each_row_finds(*, is_indexed: bool) -> None:
    process = with_indexes() if is_indexed else ProcessRecord(_recorded())
    begun = [row.number for row in all_rows() if row.kind in (LINE, START)]
    owned: dict[int, list[Row]] = defaultdict(list)
    for row in all_rows():
        owned[row.owner].append(row)
    of_sizes, of_values = frozenset((SIZE,)), frozenset((FIELD, GAP, SEEN))
    rounds = [row for row in begun if (4 << 16) - 40 < row <= 4 << 16]
    for line in (*rounds, *begun[:40], *begun[2_000:2_040], line_of(process, 19), *begun[-5:]):
        for kinds, keys in (
            (_WRITTEN, ()),
            ({WRITE}, ()),
            (of_sizes, ()),
            (of_sizes, (1,)),
            (of_values, (0,)),
            ({START}, ()),
        ):
            wanted = [row for row in owned[line] if row.kind in kinds and (not keys or row.key in keys)]
            assert owned_of_kinds(process, line, frozenset(kinds), keys) == wanted


def test_a_block_in_which_a_line_writes_nothing_is_not_read_for_what_it_has_written() -> None:
    process = unreadable(with_indexes(), 3)
    line = line_of(process, 19)
    assert line < 3 << 16 < 4 << 16 < process.last, "it goes on through all of the fourth block"
    assert owned_of_kinds(process, line, _WRITTEN) == []
    assert owned_of_kinds(process, line, frozenset((SIZE,)), (1,)) == []


def test_changes_of_a_long_list_of_which_no_item_is_known_are_not_gone_through() -> None:
    process = with_indexes()
    rows = rows_of_items(process)
    assert {row.key for row in rows if 1 << 16 < row.number <= 2 << 16} == {0}, "a block with no other"
    last = max(row.number for row in rows if row.key == 0)
    wanted = [(row.number, row.key) for row in reversed(rows) if row.key or row.number == last]
    for each in (process, unreadable(process, 1), ProcessRecord(_recorded())):
        assert list(keys_back(each, FIELDS, rows[0].subject, process.last + 1)) == wanted


def parts_by_looking(process: ProcessRecord, before: int, most: int = 100) -> list[str]:
    """The labels of what is in the long list, in the order in which that came into it, by each of its rows."""
    first: dict[int, int] = {}
    for row in reversed([row for row in rows_of_items(process) if row.number < before]):
        first[row.key] = row.number
        if len(first) == most:
            break
    return [process.label(key) for key in sorted(first, key=first.__getitem__)]


def test_the_items_of_a_long_list_are_those_that_looking_at_each_of_its_rows_finds() -> None:
    process = with_indexes()
    past = PastProcess(process)
    rows = rows_of_items(process)
    of_all = [row.number for row in rows if not row.key]
    keyed = [row.number for row in rows if row.key]
    last = of_all[-1]
    assert keyed[-180] < last < keyed[-120], "of the last 180 that are known, 120 are behind the last that is not"
    around = (of_all[0], of_all[0] + 1, of_all[5] + 1, last, last + 1, keyed[-60], keyed[-21], keyed[-20])
    places = (keyed[40], keyed[150], *around, process.last + 1)
    for before in places:
        assert list(parts_of(past, rows[0].subject, before)) == parts_by_looking(process, before)
