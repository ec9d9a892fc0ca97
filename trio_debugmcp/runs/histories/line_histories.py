"""Every run of a line in a recorded run, with its values; and how often each line of a file ran."""

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import counts
from trio_debugmcp.runs.histories.histories import (
    HistoryPage,
    NoHistoryError,
    RowKind,
    RunHistory,
    history_count,
    history_rows,
    paged,
)
from trio_debugmcp.runs.past.frame_moments import value_in
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_conditions import ValueLookup
from trio_debugmcp.runs.slicing.shown.because_lines import because_line
from trio_debugmcp.runs.source.read_paths import ValuePath


def line_history(past: PastProcess, file: str, line: int, page: HistoryPage) -> RunHistory:
    """Return every run of a line with the values that it wrote, or else read; conditions are judged when it had run.

    Raises:
        NoHistoryError: it did not run.
    """
    record = past.record
    kinds = [RowKind(rows.LINE, site) for site in sites_at(past, file, line)]
    if not next(history_rows(record, kinds, page.before), 0):
        when = f" before #{page.before}" if page.before else " in this run"
        name = file.rpartition("/")[2]
        raise NoHistoryError(
            past.scopes.without_code(file, line)
            or f"{name}:{line} did not run{when}: why(file='{name}', line={line}) says what kept it from that"
        )

    def lookup_at(number: int) -> ValueLookup:
        execution = past.executions.at(number)
        after = past.executions.ended(number) if execution is None else past.executions.over(execution)
        return frame_lookup(past, record.row(number).subject, after)

    known = history_count(record, kinds, page.before)
    found = history_rows(record, kinds, page.before)
    return paged(page, found, known, lookup_at, lambda number: because_line(past, number))


def sites_at(past: PastProcess, file: str, line: int) -> list[int]:
    """Return the statements that begin in a line of a file, or else those that it is in."""
    record, found = past.record, list[int]()
    for code in record.codes:
        if code.file != file:
            continue
        scope, sites = past.scopes.of_code(code.number), record.sites_of(code.number)
        exact = [site.number for site in sites if site.line == line]
        statement = None if scope is None or exact else scope.statement(line)
        if statement is not None:
            exact = [site.number for site in sites if statement.first <= site.line <= statement.last]
        found += exact
    return found


def frame_lookup(past: PastProcess, frame: int, before: int) -> ValueLookup:
    """Return what looks up values as a frame saw them before a row."""

    def lookup(path: ValuePath) -> str | None:
        value = value_in(past, frame, path, before)
        return None if value is None else value.text

    return lookup


def line_counts(record: ProcessRecord, file: str) -> dict[int, int]:
    """Return how often each statement of a file ran, by the line that it begins in.

    A generator expression is a part of one, whose rounds are not counted.
    """
    ran = counts(record, rows.LINE)
    found: dict[int, int] = {}
    for code in record.codes:
        if code.file != file or code.kind == "genexpr":
            continue
        for site in record.sites_of(code.number):
            if ran.get(site.number):
                found[site.line] = found.get(site.line, 0) + ran[site.number]
    return dict(sorted(found.items()))
