"""Moments of a recorded run, and the way from one to the next: back, forward, in, out.

    line = moved(record, line, "back")          # the LINE row before it in the same frame, or of its caller
    moment = moment_at(past, line)              # stack, variables, and what the line then did

A moment is before a line ran.
"""

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.owned_rows import owned_rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.frame_moments import line_at, locals_in, stack_at
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.shown_moments import PastPlace, RunMoment
from trio_debugmcp.runs.slicing.shown.because_lines import because_line

_LEFT = frozenset((rows.RETURN, rows.UNWIND, rows.YIELD))

_LINES = frozenset((rows.LINE,))

_MOST_FRAMES = 50


class NoMomentError(Exception):
    """A moment that there is not, and what can be asked instead."""


def moment_at(past: PastProcess, line: int) -> RunMoment:
    """Return the moment before a line ran."""
    record = past.record
    row = record.row(line)
    frames = stack_at(record, line)
    variables, has_more = locals_in(past, row.subject, line)
    places = []
    for frame in frames[:_MOST_FRAMES]:
        code = record.code(frame.code)
        places.append(PastPlace(code.name.replace(".<locals>", ""), code.file, frame.line, frame.row))
    return RunMoment(
        row=line,
        line=because_line(past, line),
        stack=places,
        frames=len(frames),
        variables={name: text for name, (text, _) in variables.items()},
        has_more=has_more,
        source=record.source(record.frame(row.subject).code),
        thread=record.frame(row.subject).thread,
        first=first_line(record),
        last=last_line(record),
    )


def moment_number(record: ProcessRecord, number: int) -> int:
    """Return the LINE row of the moment that a number means.

    Raises:
        NoMomentError: there is none.
    """
    if not record.first <= number <= record.last:
        raise NoMomentError(f"this run has #{record.first} to #{record.last}, and no #{number}")
    line = line_at(record, number)
    if not line:
        raise NoMomentError(f"#{number} belongs to no line that was recorded")
    return line


def first_line(record: ProcessRecord) -> int:
    """Return the first LINE row; 0: there is none."""
    return next((row for row in range(record.first, record.last + 1) if record.row(row).kind == rows.LINE), 0)


def last_line(record: ProcessRecord) -> int:
    """Return the last LINE row; 0: there is none."""
    return next((row for row in range(record.last, record.first - 1, -1) if record.row(row).kind == rows.LINE), 0)


def under_way(record: ProcessRecord, line: int) -> int:
    """Return a LINE row, or where its call has ended by now, or waits, that of the caller which is under way still."""
    while record.forth_of(_LEFT, record.row(line).subject, line) and (caller := _caller(record, line)):
        line = caller
    return line


def cut_off(record: ProcessRecord) -> int:
    """Return the LINE row in which the record of a process that is over has no end: it was killed; 0: it has one.

    One that left by `os._exit` has none either. A fork does so with all calls of recorded code over, or by a line that
    says so, and is not meant.
    """
    number = 0 if record.facts.ended is not None else last_line(record)
    line = under_way(record, number) if number else 0
    if not line or record.forth_of(_LEFT, record.row(line).subject, line):
        return 0
    site = record.site(record.row(line).key)
    text = (record.source(site.code) or "").splitlines()[site.line - 1 : site.line]
    return 0 if "_exit" in "".join(text) else line


def moved(record: ProcessRecord, line: int, move: str) -> int:
    """Return the LINE row that a step leads to; 0: there is none.

    `back` and `forward` stay in the frame while it has lines that way, and then go to its caller; `in` goes into the
    first call that the line has made; `out` to the line that has called.
    """
    frame = record.row(line).subject
    match move:
        case "back":
            return record.back_of(_LINES, frame, line) or _caller(record, line)
        case "forward":
            found = record.forth_of(_LINES, frame, line)
            return found or after_callers(record, line)
        case "in":
            for number in owned_rows(record, line):
                row = record.row(number)
                if row.kind in (rows.START, rows.RESUME):
                    return record.forth_of(_LINES, row.subject, number)
            return 0
        case _:
            return _caller(record, line)


def _caller(record: ProcessRecord, line: int) -> int:
    """Return the LINE row that has called the frame of a line, or has continued it; 0: none is recorded."""
    frame = record.row(line).subject
    entered = max(record.frame(frame).start, record.back_of(frozenset((rows.RESUME,)), frame, line))
    owner = record.row(entered).owner if entered >= record.first else 0
    return owner if owner >= record.first else 0


def after_callers(record: ProcessRecord, line: int) -> int:
    """Return the next LINE row of the nearest caller of a line's frame that has one; 0: none has."""
    while line:
        line = _caller(record, line)
        found = record.forth_of(_LINES, record.row(line).subject, line) if line else 0
        if found:
            return found
    return 0
