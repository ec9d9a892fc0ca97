"""Exceptions that were raised in recorded code and have ended nothing: a lead where a run has no failure.

    no_failure(past)    # "nothing failed in this run; 3 exceptions were raised in it and caught: KeyError(1) at …"

Each is named with the place that raised it first, and a number for the next question.
"""

from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import each_of_code_back
from trio_debugmcp.runs.past.past_process import PastProcess

_MOST_LOOKED = 5_000
"""Rows of exceptions, the last ones."""

_MOST_SAID = 3

_MOST_TEXT = 80

_SIGNALS = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "SystemExit", "CancelledError")
"""Exceptions that say something and are not errors."""


def no_failure(past: PastProcess) -> str:
    """Return what is to be said of a run in which nothing failed."""
    caught = _caught(past)
    return (
        f"nothing failed in this run{f'; {caught}' if caught else ''}: name what is wrong by `expression`, a line "
        "that did not run by `file` and `line`, or a moment by `at`"
    )


def _caught(past: PastProcess) -> str:
    """Return a sentence about the exceptions that were raised, the last ones first; empty: there was none.

    It is for runs that did not fail: there each was caught, in recorded code or by a library.
    """
    places: dict[tuple[str, int], list[Row]] = {}
    looked = 0
    for number in islice(each_of_code_back(past.record, (rows.RAISE,), past.record.last + 1), _MOST_LOOKED):
        looked += 1
        row = past.record.row(number)
        if past.record.text(row).startswith(_SIGNALS) or past.values.first_raise(row.object) not in (0, number):
            continue
        execution = past.executions.at(row.owner) if row.owner else None
        if execution is not None:
            file = past.record.code(execution.code).file
            place = file.rpartition("/")[2], execution.statement.first
            places.setdefault(place, []).append(row)
    if not places:
        return ""
    said = [_said(past, f"{file}:{line}", found) for (file, line), found in islice(places.items(), _MOST_SAID)]
    said += [f"and at {len(places) - _MOST_SAID} more lines"] if len(places) > _MOST_SAID else []
    total = sum(map(len, places.values()))
    least = "at least " if looked == _MOST_LOOKED else ""
    were = "exception was" if total == 1 else "exceptions were"
    return f"{least}{total:,} {were} raised in it and caught: {', '.join(said)}"


def _said(past: PastProcess, place: str, raised: list[Row]) -> str:
    text = past.record.text(raised[0])
    text = text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"
    times = f", the last of {len(raised):,}" if len(raised) > 1 else ""
    return f"{text} at {place} (#{raised[0].owner}{times})"
