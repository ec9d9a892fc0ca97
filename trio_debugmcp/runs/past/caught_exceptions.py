"""Exceptions that were raised in recorded code and have ended nothing: a lead where a run has no failure.

    no_failure(past)    # "nothing failed in this run; 3 exceptions were raised in it and caught: KeyError(1) at …"

Each is named with the place that raised it first, and a number for the next question.
"""

from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import each_of_code_back
from trio_debugmcp.runs.past.nothing_ran import nothing_ran
from trio_debugmcp.runs.past.past_process import PastProcess

_MOST_LOOKED = 5_000
"""Rows of exceptions, the last ones."""

_MOST_BEFORE = 300
"""The same, before a failure."""

_MOST_SAID = 3

_MOST_TEXT = 80

_SIGNALS = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "SystemExit", "CancelledError")
"""Exceptions that say something and are not errors."""


def no_failure(past: PastProcess) -> str:
    """Return what is to be said of a run in which nothing failed."""
    caught = _caught(past)
    if nothing := nothing_ran(past.record):
        said = f"; {caught}" if caught else ""
        elsewhere = "" if past.record.codes else ", or the code is elsewhere, which record={include: [PATH]} records"
        why = f"what it printed says why (process_read_output){elsewhere}"
        return f"nothing failed in this run, in which {nothing}{said}: {why}"
    return (
        f"nothing failed in this run{f'; {caught}' if caught else ''}: name what is wrong by `expression`, a line "
        "that did not run by `file` and `line`, or a moment by `at`"
    )


def caught_before(past: PastProcess, failed: int, shown: set[tuple[str, int]]) -> str:
    """Return a sentence about the exceptions that were caught before a failure; empty: there was none.

    Args:
        past: the process.
        failed: the RAISE row of the failure.
        shown: the files and lines that an answer has already; one of them that has caught explains the rest.
    """
    last = past.record.row(failed)
    raises = _first_raises(past, failed, _MOST_BEFORE)
    places = _places(past, [row for row in raises if row.object != last.object])
    own = past.executions.at(last.owner) if last.owner else None
    where = (past.record.code(own.code).file, own.statement.first) if own is not None else ("", 0)
    if not places or any(place in shown and place != where for place in places):
        return ""
    total = sum(map(len, places.values()))
    were, them = ("exception was", "it") if total == 1 else ("exceptions were", "one of them")
    number = next(iter(places.values()))[0].owner
    return (
        f"before it failed, {total:,} {were} raised and caught, in no line of this answer: {_listed(past, places)}; "
        f'`at="#{number}"` asks about {them}'
    )


def _caught(past: PastProcess) -> str:
    """Return a sentence about the exceptions that were raised, the last ones first; empty: there was none.

    It is for runs that did not fail: there each was caught, in recorded code or by a library.
    """
    raises = _first_raises(past, past.record.last + 1, _MOST_LOOKED)
    places = _places(past, raises)
    if not places:
        return ""
    total = sum(map(len, places.values()))
    least = "at least " if len(raises) == _MOST_LOOKED else ""
    were = "exception was" if total == 1 else "exceptions were"
    return f"{least}{total:,} {were} raised in it and caught: {_listed(past, places)}"


def _first_raises(past: PastProcess, before: int, most: int) -> list[Row]:
    """Return the rows at which the last exceptions before a row were raised first, the last ones first."""
    firsts: dict[int, Row] = {}
    for number in islice(each_of_code_back(past.record, (rows.RAISE,), before), most):
        row = past.record.row(number)
        firsts[row.object or -number] = row  # it has one in each frame that it passes
    return [row for row in firsts.values() if not past.record.text(row).startswith(_SIGNALS)]


def _places(past: PastProcess, raises: list[Row]) -> dict[tuple[str, int], list[Row]]:
    places: dict[tuple[str, int], list[Row]] = {}
    for row in raises:
        execution = past.executions.at(row.owner) if row.owner else None
        if execution is not None:
            place = past.record.code(execution.code).file, execution.statement.first
            places.setdefault(place, []).append(row)
    return places


def _listed(past: PastProcess, places: dict[tuple[str, int], list[Row]]) -> str:
    said = [
        _said(past, f"{file.rpartition('/')[2]}:{line}", found)
        for (file, line), found in islice(places.items(), _MOST_SAID)
    ]
    left = len(places) - _MOST_SAID
    said += [f"and at {left} more line{'s' if left > 1 else ''}"] if left > 0 else []
    return ", ".join(said)


def _said(past: PastProcess, place: str, raised: list[Row]) -> str:
    text = past.record.text(raised[0])
    text = text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"
    times = f", the last of {len(raised):,}" if len(raised) > 1 else ""
    return f"{text} at {place} (#{raised[0].owner}{times})"
