"""Pages of the history of a recorded run: of a variable, a line or a function.

    page = HistoryPage(where=RecordedCondition("price > 3"), count=20)
    history = paged(page, rows, None, lookup_at, line_of)
    history.total                                   # how many there are, of which `entries` is a page

Entries are in the order of time. A page begins at `start`; with `before` it is the last ones before that row.
"""

from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from trio_debugmcp.runs.files.process_record import DELETED, ProcessRecord, Row
from trio_debugmcp.runs.files.row_search import count, each, each_back
from trio_debugmcp.runs.past.recorded_conditions import RecordedCondition, ValueLookup
from trio_debugmcp.runs.shown_moments import BecauseLine

MOST_JUDGED = 20_000
"""Rows at which a condition is judged, or whose object is looked at: each takes some ten to a hundred microseconds."""

RowKind = tuple[int, int, Callable[[int], bool] | None]
"""A kind of rows, their key, and which of them count."""


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
    wanted = [(kind, key, fits) for kind, key, fits in kinds if key]
    if before or any(fits is not None and next(each(record, kind, key), 0) for kind, key, fits in wanted):
        return None
    return sum(count(record, kind, key) for kind, key, fits in wanted if fits is None)


def history_rows(record: ProcessRecord, kinds: list[RowKind], before: int) -> Iterator[int]:
    """Yield the rows of several kinds: in order, or with `before` the last ones before that first."""
    streams = []
    for kind, key, fits in kinds:
        if key:
            found = each_back(record, kind, key, before) if before else each(record, kind, key)
            streams.append(found if fits is None else filter(fits, found))
    if len(streams) == 1:
        yield from streams[0]
        return
    heads = {place: number for place, stream in enumerate(streams) if (number := next(stream, 0))}
    nearest = max if before else min
    while heads:
        place = nearest(heads, key=lambda head: heads[head])
        yield heads.pop(place)
        if number := next(streams[place], 0):
            heads[place] = number


def value_text(record: ProcessRecord, row: Row, most: int) -> str:
    """Return the value that a row left, in at most so many characters."""
    text = "deleted" if row.text == DELETED else record.text(row) or "?"
    return text if len(text) <= most else f"{text[: most - 1]}…"
