"""Lost updates: a thread or task reads a place, another one writes it, and the first writes back what it had read.

    found = overtaken(past, streams, row)           # row: a write, or SEEN, of an attribute, an item or a global
    found.read, found.other, found.own              # their LINE rows, in the order of time

Only the reads of lines are known, so the read is the last line of that frame that names the place.
"""

from typing import NamedTuple

from trio_debugmcp.runs.comparing.run_streams import RunStreams
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.row_search import each, subject_of
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS

_MOST_WRITES = 20_000

_MOST_LINES = 30
"""Of a frame, before a write, in which the read that it is computed from is looked for."""

_LINES = frozenset((rows.LINE,))


class SharedPlace(NamedTuple):
    """A place that several threads or tasks write: its key and object, its path, and how many write it."""

    key: int
    subject: int
    path: str
    writers: int


class OvertakenWrite(NamedTuple):
    """A read, another's write behind it, and the write that does not know of that: LINE rows."""

    read: int
    other: int
    own: int


def shared_place(past: PastProcess, streams: RunStreams, line: int) -> SharedPlace | None:
    """Return the first place that a line reads, and several threads or tasks write; None: there is none."""
    execution = past.executions.at(line)
    for read in execution.statement.reads if execution is not None else ():
        value = past.values.read(execution, read) if execution is not None else None
        row = past.record.row(value.row) if value is not None else None
        if row is None or row.kind not in FIELDS or not row.key:
            continue
        found: set[int] = set()
        for looked, number in enumerate(each(past.record, rows.FIELD, row.key)):
            if looked > _MOST_WRITES:
                break
            if subject_of(past.record, number) == row.subject:
                found.add(_stream(past, streams, past.record.row(number).owner))
        if len(found) > 1:
            return SharedPlace(row.key, row.subject, str(read.path), len(found))
    return None


def overtaken(past: PastProcess, streams: RunStreams, place: SharedPlace) -> OvertakenWrite | None:
    """Return the first write of a place that was overtaken; None: none was, of the writes that were looked at."""
    before = 0
    for looked, number in enumerate(each(past.record, rows.FIELD, place.key)):
        if looked > _MOST_WRITES:
            return None
        if subject_of(past.record, number) != place.subject:
            continue
        own = past.record.row(number).owner
        if before and own and _stream(past, streams, own) != _stream(past, streams, past.record.row(before).owner):
            read = _read_before(past, own, place)
            if read and read < before:
                return OvertakenWrite(read, past.record.row(before).owner, own)
        before = number
    return None


def _read_before(past: PastProcess, line: int, place: SharedPlace) -> int:
    """Return the last line of a frame, up to one, that has read a place; 0: none has."""
    frame, number = past.record.row(line).subject, line
    for _ in range(_MOST_LINES):
        execution = past.executions.at(number)
        if execution is not None and _reads(past, execution, place):
            return number
        number = past.record.back_of(_LINES, frame, number)
        if not number:
            return 0
    return 0


def _reads(past: PastProcess, execution: StatementExecution, place: SharedPlace) -> bool:
    """Whether a statement reads a place: what it found there may be of a class, and in no row about that place."""
    label = past.record.label(place.key)
    for read in execution.statement.reads:
        path = read.path
        if not path.steps and f".{path.name}" == label and execution.scope.home(path.name) is None:
            return past.record.code(execution.code).globals == place.subject
        holder = past.values.value(execution, path.holder) if path.steps else None
        if holder is None or holder.object != place.subject:
            continue
        value = past.values.read(execution, read)
        if str(path.steps[-1]) == label or (value is not None and past.record.row(value.row).key == place.key):
            return True
    return False


def _stream(past: PastProcess, streams: RunStreams, line: int) -> int:
    return streams.of(past.record.row(line).subject) if line else 0
