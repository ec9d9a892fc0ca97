"""Rows found by what they are: the quick ways find what looking at each row does."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tests.runs.recorded_programs import fresh_folder, python, record, run_recorded
from trio_debugmcp.runs.comparing.run_alignment import RunAlignment
from trio_debugmcp.runs.files.block_files import RunFileError, kept_block
from trio_debugmcp.runs.files.block_indexes import BlockIndex, BlockIndexes
from trio_debugmcp.runs.files.index_files import blocks_without_index, load_index, write_index
from trio_debugmcp.runs.files.owned_rows import owned_rows
from trio_debugmcp.runs.files.process_record import (
    FIELD,
    GAP,
    LINE,
    RAISE,
    RETURN,
    SIZE,
    START,
    UNWIND,
    WITH_VALUE,
    WRITE,
    ProcessRecord,
    Row,
)
from trio_debugmcp.runs.files.row_search import count, each_about, each_of_code_back, each_of_subject, keys_back
from trio_debugmcp.runs.past import recorded_scopes
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.recorded_contents import parts_of
from trio_debugmcp.runs.source.source_reader import ScopedSource, read_source

pytestmark = pytest.mark.real

ROUNDS = """\
class Meter:
    def __init__(self, **fields):
        for name, value in fields.items():
            setattr(self, name, value)


def read(meter, number):
    if number % 1000 == 0:
        raise ValueError(number)
    return meter.base + number


meter, total = Meter(base=1), 0
for number in range(1, 9001):
    try:
        total += read(meter, number)
    except ValueError:
        meter.base = 2
"""


@cache
def _recorded() -> Path:
    return record(ROUNDS, python(3, 13)).processes[0].directory


def recorded_rounds() -> ProcessRecord:
    """A record of `ROUNDS`, whose files are another test's, too."""
    return ProcessRecord(_recorded())


def own_rounds() -> ProcessRecord:
    """The same with files that a test may change."""
    return ProcessRecord(Path(copytree(_recorded(), fresh_folder() / "run" / "p-1-0")))


def all_of(process: ProcessRecord) -> list[Row]:
    """The rows of a record, in order."""
    return [process.row(number) for number in range(process.first, process.last + 1)]


@cache
def all_rows() -> list[Row]:
    """Those of `ROUNDS`."""
    return all_of(recorded_rounds())


def test_raises_are_found_backwards_through_all_blocks() -> None:
    process = recorded_rounds()
    rows = [process.row(number) for number in range(process.last, process.first - 1, -1)]
    ends = [row.number for row in rows if row.kind in (RAISE, UNWIND)]
    assert len(ends) == 27  # in `read`, of its frame, where it is caught
    assert list(each_of_code_back(process, (UNWIND, RAISE), process.last + 1)) == ends
    assert list(each_of_code_back(process, (UNWIND, RAISE), ends[4])) == ends[5:]


def test_the_frames_of_each_code_are_those_that_began_with_it() -> None:
    process = recorded_rounds()
    for code in process.codes:
        starts = [number for number in range(process.first, process.last + 1) if process.row(number).kind == START]
        frames = [process.row(start).subject for start in starts if process.row(start).key == code.number]
        assert process.frames_of(code.number) == frames


def test_rows_of_kinds_about_a_subject_are_those_that_looking_at_each_row_finds() -> None:
    process = recorded_rounds()
    rows = [process.row(number) for number in range(process.first, process.last + 1)]
    assert len(rows) > 1 << 16, "of two blocks"
    ends, lines, fields = frozenset((RETURN, UNWIND)), frozenset((LINE,)), frozenset((FIELD, GAP))
    sizes = frozenset((SIZE,))
    places = [1, 2, 500, 65_000, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, process.last - 3, process.last + 1]
    for kinds, subjects in (
        (ends, (1, 3, 4000)),
        (lines, (1, 3, 4000)),
        (fields, (1, 2)),
        (sizes, (1, 2, 3)),
        (ends | lines, (1, 9000)),
    ):
        for subject in subjects:
            fitting = [row.number for row in rows if row.kind in kinds and row.subject == subject]
            for place in places:
                before = [number for number in fitting if number < place]
                after = [number for number in fitting if number > place]
                assert process.back_of(kinds, subject, place) == max(before, default=0)
                assert process.forth_of(kinds, subject, place) == min(after, default=0)


def test_the_first_line_of_a_call_is_not_looked_for_before_the_call() -> None:
    process = recorded_rounds()
    start = process.frame(process.last_frame).start
    assert start > 1 << 16, "in the second block"
    searched = counted_columns(process)
    assert process.back_of(frozenset((LINE,)), process.last_frame, start + 1) == 0
    assert len({*searched}) == 1, "the block that the call begins in"


def counted_columns(process: ProcessRecord) -> list[int]:
    """The first rows of the blocks that are searched from now on."""
    searched: list[int] = []
    columns = process.rows.columns

    def counted(place: int, start: int = 0, **more: Any) -> Iterator[tuple[int, bytes]]:
        for first, column in columns(place, start, **more):
            searched.append(first)
            yield first, column

    process.rows.columns = counted  # type: ignore[method-assign]
    return searched


def test_rows_about_an_object_come_back_with_their_keys_as_looking_at_each_row_finds_them() -> None:
    process = recorded_rounds()
    fields = frozenset((FIELD, GAP))
    for subject in {row.subject for row in all_rows() if row.kind in fields}:
        for place in (2, 65_000, 1 << 16, (1 << 16) + 1, process.last + 1):
            found = [row for row in all_rows() if row.kind in fields and row.subject == subject and row.number < place]
            assert list(keys_back(process, fields, subject, place)) == [(row.number, row.key) for row in found[::-1]]


def test_the_items_of_a_list_that_has_grown_long_are_read_without_a_search_for_each_change() -> None:
    program = "items = []\nfor number in range(3000):\n    items.append(number)\n"
    past = PastProcess(record(program, python(3, 13)).processes[0])
    columns, searches = past.record.rows.columns, list[int]()

    def counted(place: int, *arguments: Any, **options: Any) -> Iterator[tuple[int, bytes]]:
        searches.append(place)
        return columns(place, *arguments, **options)

    past.record.rows.columns = counted  # type: ignore[method-assign]
    made = past.record.key_of(".items")
    items = next(row for row in all_of(past.record) if row.kind == FIELD and row.key == made).object
    assert len(parts_of(past, items, past.record.last + 1)) == 100
    assert len(searches) < 20


def test_a_place_that_is_asked_about_again_is_not_searched_again() -> None:
    process = recorded_rounds()
    writes = [row for number in range(process.first, process.last + 1) if (row := process.row(number)).kind == WRITE]
    first, last = writes[0], process.last + 1
    at = max(row.number for row in writes if (row.key, row.subject) == (first.key, first.subject))
    assert process.back(WRITE, first.key, first.subject, last) == at
    process.rows.last_equal = lambda *_: pytest.fail("it was searched")  # type: ignore[method-assign]
    assert process.back(WRITE, first.key, first.subject, last - 1, at - 1) == at
    assert process.back(WRITE, first.key, first.subject, last, at) == 0
    assert process.back_any((WRITE,), (first.key,), first.subject, at + 1) == at


def test_rows_of_a_call_are_not_looked_for_behind_its_end() -> None:
    process = recorded_rounds()
    starts = [number for number in range(process.first, process.last + 1) if process.row(number).kind == START]
    early = next(row for start in starts if (row := process.row(start)).number > 500)
    ended = process.forth_of(frozenset((RETURN, UNWIND)), early.subject, early.number)
    last_equal, spans = process.rows.last_equal, list[tuple[int, int]]()

    def counted(place: int, word: int, before: int, after: int = 0) -> int:
        spans.append((after, before))
        return last_equal(place, word, before, after)

    process.rows.last_equal = counted  # type: ignore[method-assign]
    assert process.back(WRITE, 1 << 20, early.subject, process.last + 1) == 0, "a name that it has not"
    assert spans == [(early.number - 1, ended + 1)]


def test_a_full_block_is_not_read_again_for_what_is_not_in_it() -> None:
    directory = own_rounds().directory
    indexes = BlockIndexes()
    first = ProcessRecord(directory, indexes)
    (full,) = directory.glob("rows-*.z")
    lines = [site for code in first.codes for site in first.sites_of(code.number)]
    counted = {site.number: count(first, LINE, site.number) for site in lines}
    assert first.forth_of(WITH_VALUE, 1 << 31, 0, by_value=True) == 0, "the second words are read"
    assert indexes.of(full).head is not None
    full.write_bytes(full.read_bytes()[:-100_000] + bytes(100_000))  # reading it is an error
    again = ProcessRecord(directory, indexes)
    assert {site.number: count(again, LINE, site.number) for site in lines} == counted
    assert again.back_of(frozenset((FIELD, GAP)), 1 << 31, again.last) == 0
    assert again.forth_of(WITH_VALUE, 1 << 31, 0, by_value=True) == 0
    assert again.back(RETURN, 1, again.last_frame, again.last) == 0
    with pytest.raises(RunFileError):
        ProcessRecord(directory).forth_of(WITH_VALUE, 1 << 31, 0, by_value=True)


def test_an_index_beside_a_block_is_taken_for_it_if_it_is_of_that_very_block() -> None:
    process = own_rounds()
    (full,) = blocks_without_index(process.directory.parent)
    lines = [site for code in process.codes for site in process.sites_of(code.number)]
    counted = {site.number: count(process, LINE, site.number) for site in lines}
    called = next(number for number in range(process.first, process.last) if process.row(number).kind == LINE)
    owned = list(owned_rows(process, called))
    write_index(full)
    assert blocks_without_index(process.directory.parent) == []
    index, packed = full.with_suffix(".index"), full.read_bytes()
    full.write_bytes(packed[:-200_000] + bytes(200_000))  # reading it is an error
    again = ProcessRecord(process.directory)
    assert {site.number: count(again, LINE, site.number) for site in lines} == counted
    assert again.forth_of(WITH_VALUE, 1 << 31, 0, by_value=True) == 0
    full.write_bytes(packed)
    assert list(owned_rows(ProcessRecord(process.directory), called)) == owned
    good = index.read_bytes()
    for torn in (b"", good[:500], good[:-1] + b"?", b"?" + good[1:], good[:12] + b"?" + good[13:]):
        index.write_bytes(torn)
        assert IndexOf(full).is_unknown, "another version, another block, or half of it"
    index.write_bytes(good)
    assert not IndexOf(full).is_unknown
    full.unlink()
    assert blocks_without_index(process.directory.parent) == []
    assert not index.exists(), "its block was dropped"


class IndexOf:
    """What is read of the index of a block."""

    def __init__(self, path: Path) -> None:
        block, index = kept_block(path, 3), BlockIndex()
        assert block is not None
        load_index(index, block)
        self.is_unknown = index.counts is None and index.head is None and index.owners is None


def test_a_call_that_lasts_for_the_whole_run_is_looked_for_in_blocks_that_tell_it() -> None:
    index = BlockIndex()
    assert index.may_tell(2, 3, 100), "not known yet"
    index.learn(2, b"".join(owner.to_bytes(8, "little") for owner in (0, 7, 120, 5, 7)), 100)
    assert [number for number in range(110) if index.may_tell(2, number, 100)] == [0, 5, 7, *range(100, 110)]


def test_statements_that_set_attributes_are_found_in_the_files_that_can_have_them() -> None:
    past = PastProcess(recorded_rounds())
    assert [statement.first for statement in past.mentions.storing(".base")] == [18]
    assert [statement.first for statement, _, _ in past.mentions.attribute_updates()] == [4]
    assert past.mentions.storing(".number") == []


USED = """\
class Basket:
    def __init__(self):
        self.items = []

    def put(self, item):
        self.items.append(item)
"""

UNUSED = """\
def never_called(basket):
    basket.items.append(
        1
    )


def called(basket):
    return len(basket.items)
"""

BOTH = """\
from unused import called
from used import Basket

basket = Basket()
basket.put(3)
called(basket)
"""


def test_files_are_parsed_only_where_what_is_looked_for_is_in_code_that_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fresh_folder()
    (folder / "project").mkdir()
    (folder / "project" / "used.py").write_text(USED)
    (folder / "project" / "unused.py").write_text(UNUSED)
    past = PastProcess(run_recorded(BOTH, python(3, 13), folder).run.processes[0])
    parsed: list[str] = []

    def counted(text: str) -> ScopedSource | None:
        parsed.append(text)
        return read_source(text)

    monkeypatch.setattr(recorded_scopes, "read_source", counted)
    calls = [(statement.first, str(path)) for statement, path, _ in past.mentions.method_calls({"items"})]
    assert calls == [(6, "self.items")]
    assert parsed == [USED]


def test_rows_of_a_kind_and_key_come_with_their_subjects_in_order_and_back() -> None:
    process = recorded_rounds()
    for kind, key in {(row.kind, row.key) for row in all_rows() if row.kind in (FIELD, GAP, WRITE)}:
        true = [(row.number, row.subject) for row in all_rows() if (row.kind, row.key) == (kind, key)]
        middle = true[len(true) // 2][0]
        assert list(each_about(process, kind, key)) == true
        assert list(each_about(process, kind, key, middle)) == [pair for pair in reversed(true) if pair[0] < middle]
        of_one = [number for number, subject in true if subject == true[-1][1]]
        assert list(each_of_subject(process, kind, key, true[-1][1])) == of_one
        assert list(each_of_subject(process, kind, key, true[-1][1], process.last + 1)) == of_one[::-1]


def test_rows_that_no_line_did_are_found_in_a_block_with_an_index_too() -> None:
    process = own_rounds()
    for path in blocks_without_index(process.directory.parent):
        write_index(path)
    of_none = [row.number for row in all_rows() if not row.owner]
    known = ProcessRecord(process.directory)
    assert list(known.rows.equal(2, 0, 0)) == of_none
    assert known.rows.last_equal(2, 0, of_none[-1]) == of_none[-2]


def test_the_class_of_an_object_that_a_call_was_given_is_not_looked_for_in_the_whole_record() -> None:
    process = recorded_rounds()
    written = [row for row in all_rows() if row.kind == FIELD and process.label(row.key) == ".base"]
    classes = PastProcess(process).classes
    assert {classes.of(row.subject) for row in written} == {"Meter"}
    process.forth_of = lambda *_, **__: pytest.fail("it was searched")  # type: ignore[method-assign]
    assert {classes.of(row.subject, row.number) for row in written} == {"Meter"}
    process.rows.word = lambda *_: pytest.fail("a row was read again")  # type: ignore[method-assign]
    assert {classes.of(row.subject, row.number) for row in written} == {"Meter"}


def test_blocks_that_are_equal_as_they_are_compressed_are_not_read_to_compare_their_steps() -> None:
    one, other = own_rounds().directory, own_rounds().directory
    truth = sum(row.kind == LINE for row in all_rows())
    for directory in (one, other):
        (full,) = directory.glob("rows-*.z")
        write_index(full)
        block = kept_block(full, 3)
        assert block is not None
        data = full.read_bytes()
        full.write_bytes(data[: block.offset] + bytes(block.sizes[0]) + data[block.offset + block.sizes[0] :])
    alignment = RunAlignment(PastProcess(ProcessRecord(one)), PastProcess(ProcessRecord(other)))
    (pair,) = alignment.pairs()
    parting = alignment.parting(pair)
    assert (parting.has_ended, parting.same) == (True, truth)
