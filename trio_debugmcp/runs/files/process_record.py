"""`ProcessRecord`: what one process of a recorded run did, row by row, searched from behind.

    run = open_run(Path("RUN"))
    record = run.processes[0]
    row = record.row(record.last)
    record.back(WRITE, record.key_of("total"), row.subject, row.number)     # its last write in that frame

A row is of one of the kinds below; what its key, subject, value and owner are stands in docs/recording-runs.md.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from trio_debugmcp.runs.files.block_files import RunFileError
from trio_debugmcp.runs.files.block_indexes import BlockIndexes
from trio_debugmcp.runs.files.library_calls import library_calls
from trio_debugmcp.runs.files.record_facts import record_facts
from trio_debugmcp.runs.files.recorded_code import RecordedCode, recorded_code
from trio_debugmcp.runs.files.run_files import WordFile
from trio_debugmcp.runs.files.run_texts import TextFile, facts_of
from trio_debugmcp.runs.files.word_search import highs_of, last_kind, next_any, next_kind

LINE, START, RESUME, RETURN, YIELD, UNWIND, RAISE = 1, 2, 3, 4, 5, 6, 7
WRITE, FIELD, SEEN, GAP, SIZE, SEEN_NAME = 8, 9, 10, 11, 12, 13

DELETED = 1
"""The number of the text of what was deleted."""

INDEX = 1 << 27
"""In a key: the rest is an index."""

_INT, _ZERO = 1 << 31, 1 << 30

WITH_VALUE = frozenset((RETURN, YIELD, UNWIND, RAISE, WRITE, FIELD, SEEN, GAP, SEEN_NAME))
"""Rows that have a value."""

_KEYED_BY_CODE = frozenset((START, RESUME, RETURN, YIELD, UNWIND, RAISE))
"""Rows whose whole first word follows from their kind and frame."""

_ABOUT_FRAMES = _KEYED_BY_CODE | {LINE, WRITE, SEEN_NAME}
"""Rows whose subject is a frame: there are none before its START row."""

_SIZES, _SIZE_KEYS = frozenset((SIZE,)), range(4)

_OVER = frozenset((RETURN, UNWIND))

_SHORT = 1 << 16
"""Rows behind its first in which the end of a call is looked for, so that it is searched no further."""

_MOST_WITHOUT = 50_000
"""First words of which it is kept where the last search has not found them."""


class Row(NamedTuple):
    """One row; `text` is the number of one: see `ProcessRecord.text`."""

    number: int
    kind: int
    key: int
    subject: int
    text: int
    object: int
    owner: int


class Site(NamedTuple):
    """A statement: the number of its code, and its first line."""

    number: int
    code: int
    line: int


class FrameRecord(NamedTuple):
    """One call: a frame is one however often it is left and continued. `start` is its START row."""

    number: int
    code: int
    start: int
    parent: int
    thread: int


class _RowsWithout(NamedTuple):
    """Rows of which none has a first word: those behind `row` and before another; `is_such`: `row` itself has it."""

    row: int
    before: int
    is_such: bool


class ProcessRecord:
    """The record of one process. Rows, names, code and frames are asked of it, hence so many methods.

    Attributes:
        directory: its files.
        first, last: numbers of the rows that are there; rows before `first` were dropped.
        facts: what is known of it as a whole.
        library_calls: functions of libraries that it called, which were not recorded.
        rows, frames: its words as they are, for `row_search`.
    """

    def __init__(self, directory: Path, indexes: BlockIndexes | None = None) -> None:
        self.directory = directory
        self.rows = WordFile(directory, "rows", 3, BlockIndexes() if indexes is None else indexes)
        self.frames = WordFile(directory, "frames", 2)
        self._texts = TextFile(directory)
        self._without: dict[int, _RowsWithout] = {}
        self._span = lru_cache(50_000)(self._span_of)
        self._telling = lru_cache(20_000)(self._next_telling)
        self.first, self.last = self.rows.first, self.rows.last
        facts = facts_of(directory)
        self._codes = {fact["code"]: recorded_code(fact) for fact in facts if "code" in fact and "file" in fact}
        self._sites = {fact["site"]: Site(fact["site"], fact["code"], fact["line"]) for fact in facts if "site" in fact}
        self._sites_of: dict[int, list[Site]] = defaultdict(list)
        for site in sorted(self._sites.values(), key=lambda site: site.line):
            self._sites_of[site.code].append(site)
        self._frames_of: dict[int, list[int]] | None = None
        self._sources: dict[int, str | None] = {}
        self.facts = record_facts(facts, self.rows.state, self.first - 1)
        self.library_calls = library_calls(facts)

    def __repr__(self) -> str:
        return f"<ProcessRecord {self.directory} rows {self.first} to {self.last}>"

    # --- Rows ---------------------------------------------------------------------------------------------------------

    def row(self, number: int) -> Row:
        """Return a row.

        Raises:
            RunFileError: there is none of that number, or not any more.
        """
        first, second, owner = self.rows.words(number)
        key, subject = first >> 32 & 0x0FFF_FFFF, first & 0xFFFF_FFFF
        return Row(number, first >> 60, key, subject, second >> 32, second & 0xFFFF_FFFF, owner)

    def back(self, kind: int, key: int, subject: int, before: int, after: int = 0) -> int:
        """Return the last row before one, and after another, of this kind, key and subject; 0: none."""
        word = kind << 60 | key << 32 | subject
        if kind in _ABOUT_FRAMES:
            begun, ended = self._span(subject)
            before, after = min(before, ended + 1), max(after, begun - 1)
        known = self._without.get(word)
        if known is not None and known.row < before <= known.before and (known.is_such or after >= known.row):
            return known.row if known.is_such and known.row > after else 0
        row = self.rows.last_equal(0, word, before, after)
        if len(self._without) >= _MOST_WITHOUT:
            self._without.clear()
        self._without[word] = _RowsWithout(row or after, before, row > 0)
        return row

    def back_any(self, kinds: Iterable[int], keys: Iterable[int], subject: int, before: int, after: int = 0) -> int:
        """Return the last row before one, and after another, of one of these kinds and keys about a subject; 0: none.

        Those that are rare are looked for no further back than to the last of the others.
        """
        last = 0
        for kind, key in product(kinds, keys):
            last = self.back(kind, key, subject, before, max(after, last)) or last
        return last

    def forth(self, kind: int, key: int, subject: int, after: int) -> int:
        """Return the first row after one of this kind, key and subject; 0: none."""
        return next(self.rows.equal(0, kind << 60 | key << 32 | subject, after), 0)

    def back_of(self, kinds: frozenset[int], subject: int, before: int) -> int:
        """Return the last row before one of these kinds about a subject, whatever its key; 0: none."""
        if kinds == _SIZES:  # an object may have millions of other rows
            return self.back_any(kinds, _SIZE_KEYS, subject, before)
        after = 0
        if kinds <= _ABOUT_FRAMES:
            begun, ended = self._span(subject)
            before, after = min(before, ended + 1), max(begun - 1, 0)
        return last_kind(self.rows, kinds, subject, before, after, self._highs_of(kinds, subject))

    def _span_of(self, frame: int) -> tuple[int, int]:
        """Return the rows between which all rows of a frame are: its first and its last one, unless it was long."""
        if not self.frames.has(frame):
            return self.first, self.last
        begun, words = self.frames.word(frame, 0), self._first_words(_OVER, frame)
        ended = next_any(self.rows, words, max(begun, self.first - 1), begun + _SHORT)
        return begun, ended or self.last

    def _first_words(self, kinds: frozenset[int], frame: int) -> list[int]:
        code = self.frames.word(frame, 1) >> 32
        return [kind << 60 | code << 32 | frame for kind in kinds]

    def forth_of(
        self, kinds: frozenset[int], subject: int, after: int, *, by_value: bool = False, until: int = 0
    ) -> int:
        """Return the first row after one of these kinds about a subject, whatever its key; 0: none.

        `by_value`: the first whose value is that object. `until`: of rows of a call other than LINE: before that one.
        """
        after = max(after, self.first - 1)
        if kinds <= _KEYED_BY_CODE and not by_value and self.frames.has(subject):
            return next_any(self.rows, self._first_words(kinds, subject), after, until)
        if not by_value:
            return next_kind(self.rows, kinds, subject, after, self._highs_of(kinds, subject))
        return self._telling(kinds, subject, after)

    def _next_telling(self, kinds: frozenset[int], subject: int, after: int) -> int:
        for number in self.rows.next_like(1, subject, after):
            if self.rows.word(number, 0) >> 60 in kinds:
                return number
        return 0

    def _highs_of(self, kinds: frozenset[int], subject: int) -> frozenset[int] | None:
        """Return with which 32 bits rows of a frame begin that are of these kinds; None: that is not known."""
        if not kinds <= _KEYED_BY_CODE | {LINE} or not self.frames.has(subject):
            return None
        code = self.frames.word(subject, 1) >> 32
        return highs_of(kinds, code, [site.number for site in self.sites_of(code)])

    # --- Names --------------------------------------------------------------------------------------------------------

    def text(self, row: Row | int) -> str:
        """Return the text of a row's value, or of the row of a number; empty where none was kept."""
        number = self.rows.word(row, 1) >> 32 if isinstance(row, int) else row.text
        if number & _INT:
            return str((number & (_INT - 1)) - _ZERO)
        return "" if number == 0 else self._texts.text(number)

    def label(self, key: int) -> str:
        """Return a key as text: a name, `.name`, `[3]` or `['k']`."""
        if key & INDEX:
            return f"[{key & (INDEX - 1)}]"
        return self._texts.text(key) if key else ""

    def key_of(self, text: str) -> int:
        """Return the number of a name, of `.name`, `[3]` or `['k']`; 0: never seen."""
        if text[:1] == "[" and text[1:-1].isdigit():
            return INDEX | int(text[1:-1])
        return self._texts.key(text)

    # --- Code and frames ----------------------------------------------------------------------------------------------

    def site(self, number: int) -> Site:
        """Return a statement by its number."""
        found = self._sites.get(number)
        if found is None:
            raise RunFileError(f"the record has no statement {number}")
        return found

    def code(self, number: int) -> RecordedCode:
        """Return a code by its number."""
        found = self._codes.get(number)
        if found is None:
            raise RunFileError(f"the record has no code {number}")
        return found

    @property
    def codes(self) -> list[RecordedCode]:
        """All code that ran, in the order in which it was first seen."""
        return list(self._codes.values())

    def sites_of(self, code: int) -> list[Site]:
        """Return the statements of a code that ran, by line."""
        return self._sites_of.get(code, [])

    @property
    def last_frame(self) -> int:
        """The number of the newest frame."""
        return self.frames.last

    def frame(self, number: int) -> FrameRecord:
        """Return a frame by its number."""
        start, word = self.frames.word(number, 0), self.frames.word(number, 1)
        thread = self.rows.word(start, 1) >> 32 if self.rows.has(start) else 0
        return FrameRecord(number, word >> 32, start, word & 0xFFFF_FFFF, thread)

    def frames_of(self, code: int) -> list[int]:
        """Return the frames of a code, in the order in which they began."""
        if self._frames_of is None:
            self._frames_of = defaultdict(list)
            for first, (_, words) in self.frames.blocks.words():
                for number, word in enumerate(words, first):
                    self._frames_of[word >> 32].append(number)
        return self._frames_of.get(code, [])

    def source(self, code: int) -> str | None:
        """Return the text that a code was made of, as it was then, or None."""
        number = self.code(code).source
        if number is None:
            return None
        if number not in self._sources:
            try:
                text = (self.directory / f"source-{number}").read_text(encoding="utf-8", errors="replace")
            except OSError:
                text = None
            self._sources[number] = text
        return self._sources[number]


class RecordedRun:
    """All processes of a run, the launched one first."""

    def __init__(self, directory: Path, processes: list[ProcessRecord]) -> None:
        self.directory = directory
        self.processes = processes

    def __repr__(self) -> str:
        return f"<RecordedRun {self.directory} of {len(self.processes)} processes>"


def open_run(directory: Path, indexes: BlockIndexes | None = None) -> RecordedRun:
    """Open a recorded run; `indexes`: what is known of its blocks since it was opened before.

    Raises:
        RunFileError: there is none in that directory, or one that cannot be read.
    """
    folders = [path for path in directory.glob("p-*") if (path / "rows").is_file()]
    if not folders:
        raise RunFileError(f"there is no recorded run in {directory}")
    records = [ProcessRecord(path, indexes) for path in sorted(folders, key=_began)]
    return RecordedRun(directory, records)


def _began(path: Path) -> tuple[float, str]:
    for fact in facts_of(path):
        if "run" in fact:
            return float(fact.get("time", 0)), path.name
    return 0.0, path.name
