"""Pages of the history of a recorded run: of a variable, a line or a function.

    page = HistoryPage(where=RecordedCondition("price > 3"), count=20)
    history = paged(page, rows, None, lookup_at, line_of)
    history.total                                   # how many there are, of which `entries` is a page

Entries are in the order of time. A page begins at `start`; with `before` it is the last ones before that row.
"""

from collections.abc import Callable, Iterator
from heapq import merge
from itertools import islice
from typing import NamedTuple

import msgspec

from trio_debugmcp.runs.files.process_record import DELETED, ProcessRecord, Row
from trio_debugmcp.runs.files.row_search import count, each, each_about, each_back, each_of_subject
from trio_debugmcp.runs.past.recorded_conditions import RecordedCondition, ValueLookup
from trio_debugmcp.runs.shown_moments import BecauseLine

MOST_JUDGED = 20_000
"""Rows at which a condition is judged, or whose object is looked at: each takes some ten to a hundred microseconds."""

_MOST_SEARCHED = 50
"""Subjects that are each searched for; of more the rows about all are looked at."""


class RowKind(NamedTuple):
    """A kind of rows, their key, and which of them count.

    Attributes:
        kind, key: of the rows; there are none with the key 0.
        subjects: they are about one of these; None: about any.
        fits: whether a row counts, by its number and its subject; None: each does.
    """

    kind: int
    key: int
    subjects: frozenset[int] | None = None
    fits: Callable[[int, int], bool] | None = None

    @property
    def counts_all(self) -> bool:
        """Whether each row of this kind and key counts."""
        return self.subjects is None and self.fits is None


class NoHistoryError(Exception):
    """What a run has no history of, and what can be asked instead."""


class HistoryPage(msgspec.Struct, frozen=True):
    """Which entries are shown.

    Attributes:
        where: only those of which this holds.
        before: only those before this row, and the last of them; 0: all, and the first.
        start, count: how many are passed over, and shown at most.
    """

    where: RecordedCondition | None = None
    before: int = 0
    start: int = 0
    count: int = 20


class RunHistory(msgspec.Struct, frozen=True):
    """A page of a history.

    Attributes:
        entries: those of the page.
        total: how many there are; `is_least`: at least, as not all were looked at.
        undecided: of how many it is not known whether the condition holds.
        notes: what else is to be known.
    """

    entries: list[BecauseLine]
    total: int
    is_least: bool = False
    undecided: int = 0
    notes: list[str] = []


def paged(
    page: HistoryPage,
    rows: Iterator[int],
    known: int | None,
    lookup_at: Callable[[int], ValueLookup],
    line_of: Callable[[int], BecauseLine],
) -> RunHistory:
    """Return a page of rows, which come as `history_rows` yields them.

    `known`: how many there are, if that need not be counted.
    """
    if known is not None and page.where is None:
        shown = list(islice(rows, page.start, page.start + page.count))
        return RunHistory([line_of(number) for number in shown], known)
    found: list[int] = []
    total = undecided = looked = 0
    for number in islice(rows, MOST_JUDGED + 1):
        looked += 1
        if looked > MOST_JUDGED:
            break
        if page.where is not None:
            holds = page.where.holds(lookup_at(number))
            undecided += holds is None
            if not holds:
                continue
        total += 1
        if page.start < total <= page.start + page.count:
            found.append(number)
    if page.before:
        found.reverse()
    is_least = looked > MOST_JUDGED
    notes = [f"only {MOST_JUDGED:,} were looked at: narrow it by `before`"] if is_least else []
    return RunHistory([line_of(number) for number in found], total, is_least, undecided, notes)


def history_count(record: ProcessRecord, kinds: list[RowKind], before: int) -> int | None:
    """Return how many rows there are of several kinds; None: they have to be looked at for that."""
    wanted = [kind for kind in kinds if kind.key]
    if before or any(not kind.counts_all and next(each(record, kind.kind, kind.key), 0) for kind in wanted):
        return None
    return sum(count(record, kind.kind, kind.key) for kind in wanted if kind.counts_all)


def history_rows(record: ProcessRecord, kinds: list[RowKind], before: int) -> Iterator[int]:
    """Yield the rows of several kinds: in order, or with `before` the last ones before that first."""
    streams = [stream for kind in kinds if kind.key for stream in _streams(record, kind, before)]
    yield from merge(*streams, reverse=before > 0)


def _streams(record: ProcessRecord, rows: RowKind, before: int) -> list[Iterator[int]]:
    kind, key, subjects, fits = rows
    if rows.counts_all:
        return [each_back(record, kind, key, before) if before else each(record, kind, key)]
    if subjects is not None and fits is None and len(subjects) <= _MOST_SEARCHED:
        return [each_of_subject(record, kind, key, subject, before) for subject in subjects]
    return [_fitting(record, rows, before)]


def _fitting(record: ProcessRecord, rows: RowKind, before: int) -> Iterator[int]:
    kind, key, subjects, fits = rows
    for number, subject in each_about(record, kind, key, before):
        if (subjects is None or subject in subjects) and (fits is None or fits(number, subject)):
            yield number


def value_text(record: ProcessRecord, row: Row, most: int) -> str:
    """Return the value that a row left, in at most so many characters."""
    text = "deleted" if row.text == DELETED else record.text(row) or "?"
    return text if len(text) <= most else f"{text[: most - 1]}…"
