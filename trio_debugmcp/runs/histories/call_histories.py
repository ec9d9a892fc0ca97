"""Every call of a function in a recorded run: with arguments, result and caller."""

from fnmatch import fnmatchcase

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord, Row
from trio_debugmcp.runs.histories.histories import (
    HistoryPage,
    NoHistoryError,
    RowKind,
    RunHistory,
    history_count,
    history_rows,
    paged,
    value_text,
)
from trio_debugmcp.runs.past.frame_moments import value_in
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_conditions import ValueLookup
from trio_debugmcp.runs.shown_moments import BecauseLine
from trio_debugmcp.runs.slicing.shown.because_lines import because_line
from trio_debugmcp.runs.source.read_paths import ValuePath

_MOST_TEXT = 60

_MOST_ARGUMENTS = 6

_MOST_NAMES = 20

_ENDS = frozenset((rows.RETURN, rows.UNWIND))

NO_FUNCTIONS = frozenset(("module", "class"))


def call_history(past: PastProcess, function: str, page: HistoryPage) -> RunHistory:
    """Return every call of the functions of a name or pattern.

    Raises:
        NoHistoryError: none was called.
    """
    record = past.record
    kinds = [RowKind(rows.START, code) for code in codes_named(record, function)]
    if not next(history_rows(record, kinds, page.before), 0):
        when = f" before #{page.before}" if page.before else ""
        raise NoHistoryError(f"no function {function} was called in recorded code{when}. {called_names(record)}")
    found = history_rows(record, kinds, page.before)
    known = history_count(record, kinds, page.before)
    return paged(page, found, known, lambda number: call_lookup(past, number), lambda number: call_line(past, number))


def codes_named(record: ProcessRecord, function: str) -> list[int]:
    """Return the code of functions by their name, their qualified name, or a pattern of one."""

    def fits(name: str) -> bool:
        full = name.replace(".<locals>", "")
        return fnmatchcase(full, function) or fnmatchcase(full.rpartition(".")[2], function)

    return [code.number for code in record.codes if code.kind not in NO_FUNCTIONS and fits(code.name)]


def called_names(record: ProcessRecord) -> str:
    """Return a sentence with the functions that were called."""
    names = sorted({code.name.replace(".<locals>", "") for code in record.codes if code.kind not in NO_FUNCTIONS})
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"Called were: {', '.join(names[:_MOST_NAMES]) or 'none'}{more}."


def call_lookup(past: PastProcess, start: int) -> ValueLookup:
    """Return what looks up the arguments of a call, its `result`, and what it `raised`."""
    record = past.record

    def lookup(path: ValuePath) -> str | None:
        if path.name in ("result", "raised") and not path.steps:
            end = outcome_of(record, start)
            wanted = rows.RETURN if path.name == "result" else rows.UNWIND
            return None if end is None else record.text(end) if end.kind == wanted else "None"
        value = value_in(past, record.row(start).subject, path, _behind_arguments(record, start))
        return None if value is None else value.text

    return lookup


def outcome_of(record: ProcessRecord, start: int) -> Row | None:
    """Return the row with which a call has ended for good: RETURN or UNWIND; None: it has not."""
    row = record.row(start)
    number = record.forth_of(_ENDS, row.subject, start)
    return record.row(number) if number else None


def arguments_of(record: ProcessRecord, start: int) -> list[str]:
    """Return the arguments of a call: `price=4`."""
    found = [record.row(number) for number in range(start + 1, _behind_arguments(record, start))]
    shown = [
        f"{record.label(row.key)}={value_text(record, row, _MOST_TEXT)}" for row in found if row.kind == rows.WRITE
    ]
    return (
        shown if len(shown) <= _MOST_ARGUMENTS else [*shown[:_MOST_ARGUMENTS], f"… {len(shown) - _MOST_ARGUMENTS} more"]
    )


def _behind_arguments(record: ProcessRecord, start: int) -> int:
    number = start + 1
    while number <= record.last:
        row = record.row(number)
        if row.owner != start or row.kind not in (rows.WRITE, rows.SEEN_NAME):
            break
        number += 1
    return number


def ending_of(record: ProcessRecord, start: int) -> str:
    """Return how a call ended: `-> 10`, `raises <KeyError>`, or that it has not."""
    return outcome_text(record, outcome_of(record, start))


def outcome_text(record: ProcessRecord, end: Row | None) -> str:
    """Return how a call ended whose last row is known; None: it has not."""
    if end is None:
        return "has not returned"
    return f"{'->' if end.kind == rows.RETURN else 'raises'} {value_text(record, end, _MOST_TEXT)}"


def call_line(past: PastProcess, start: int) -> BecauseLine:
    """Return the line of a call: arguments, result, and where it was called."""
    record = past.record
    code, owner, notes = record.code(record.row(start).key), record.row(start).owner, []
    if owner and owner >= record.first:
        caller = because_line(past, owner)
        notes = [f"called at {caller.at} {caller.function}:{caller.line}"]
    values = [*arguments_of(record, start), ending_of(record, start)]
    name = code.name.replace(".<locals>", "")
    return BecauseLine(f"#{start}", code.file, code.first, name, "", values, notes)
